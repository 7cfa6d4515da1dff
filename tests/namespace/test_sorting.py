"""Sorting: both directions, stable, and its gradient goes back to where elements came from."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import gradients
from arrayflow.testing import check_grads

X = np.random.default_rng(5).permutation(np.arange(24.0)).reshape(2, 3, 4)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
class TestSorting:
    def test_sort(self, xp, make, same, axis, descending):
        want = np.sort(X, axis=axis)
        same(xp.sort(make(X), axis=axis, descending=descending), np.flip(want, axis=axis) if descending else want)
        check_grads(lambda x: xp.sort(x, axis=axis, descending=descending) ** 2, make(X))

    def test_argsort(self, xp, make, same, axis, descending):
        same(xp.argsort(make(X), axis=axis, descending=descending), np.argsort(-X if descending else X, axis=axis))
        assert not xp.argsort(make(X, grad=True), axis=axis).requires_grad


@pytest.mark.parametrize("descending", [False, True])
def test_equal_elements_stay_in_their_order(xp, make, same, descending):
    values = np.random.default_rng(0).integers(0, 3, 50)
    want = np.argsort(-values if descending else values, kind="stable")
    same(xp.argsort(make(values, "int32"), descending=descending, stable=True), want)
    x = make(values, "float32", grad=True)
    (g,) = gradients([xp.sum(xp.sort(x, descending=descending) * make(np.arange(50.0)))], [x])
    expected = np.zeros(50)
    expected[want] = np.arange(50)
    same(g, expected)


def test_empty_and_one(xp, make, same):
    same(xp.sort(make(np.zeros((2, 0)))), np.zeros((2, 0)))
    same(xp.argsort(make([3.0])), [0])
    check_grads(xp.sort, make(np.zeros((2, 0))))
