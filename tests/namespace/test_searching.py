"""Positions, counts and choices."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import Variable, gradients
from arrayflow.errors import DeviceMismatchError, DTypeError
from arrayflow.testing import check_grads

X = np.asarray([[1.0, 3.0, 3.0], [0.0, 0.0, 2.0]])


class TestPositions:
    @pytest.mark.parametrize("name", ["argmax", "argmin", "count_nonzero"])
    @pytest.mark.parametrize("axis", [None, 0, -1])
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_values(self, xp, make, same, name, axis, keepdims):
        x = make(X, grad=True)
        y = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
        same(y, getattr(np, name)(X, axis=axis, keepdims=keepdims))
        assert not y.requires_grad
        assert y.dtype.kind == "signed integer"

    def test_counts_over_several_axes(self, xp, make, same):
        same(xp.count_nonzero(make(X), axis=(0, 1)), 4)
        same(xp.count_nonzero(make(X), axis=(-1,), keepdims=True), [[3], [1]])

    @pytest.mark.data_dependent
    def test_nonzero(self, xp, make, same):
        found = xp.nonzero(make(X))
        assert isinstance(found, tuple)
        for got, want in zip(found, np.nonzero(X), strict=True):
            assert isinstance(got, Variable)
            same(got, want)

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_searchsorted(self, xp, make, same, side):
        x = make([1.0, 2.0, 2.0, 3.0])
        same(
            xp.searchsorted(x, make([[0, 2], [3, 9]], "int32"), side=side),
            np.searchsorted([1, 2, 2, 3], [[0, 2], [3, 9]], side),
        )
        same(xp.searchsorted(x, 2, side=side), np.searchsorted([1, 2, 2, 3], 2, side))
        order = make([1, 2, 3, 0], "int32")
        same(
            xp.searchsorted(make([3.0, 1.0, 2.0, 2.0]), make([2.0]), side=side, sorter=order),
            [1 if side == "left" else 3],
        )

    def test_searchsorted_refuses(self, xp, make, elsewhere):
        x = make([1.0, 2.0])
        with pytest.raises(ValueError, match="must be 'left' or 'right', but it is 'up'"):
            xp.searchsorted(x, 1.0, side="up")
        with pytest.raises(DeviceMismatchError, match=r"searchsorted: .*x2 on"):
            xp.searchsorted(x, make([1.0], on=elsewhere))
        with pytest.raises(DeviceMismatchError, match=r"searchsorted: .*sorter on"):
            xp.searchsorted(x, 1.0, sorter=make([0, 1], "int32", on=elsewhere))


class TestWhere:
    @pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((3,), (2, 1)), ((), (2, 3)), ((2, 2, 3), ())])
    def test_values_and_gradients(self, xp, make, same, shapes):
        a, b = (np.linspace(k, k + 1, int(np.prod(s))).reshape(s) for k, s in enumerate(shapes))
        c = make(X > 1)
        same(xp.where(c, make(a), make(b)), np.where(X > 1, a, b))
        check_grads(lambda x1, x2: xp.where(c, x1 * x2, x2) ** 2, make(a), make(b))

    def test_scalars_take_the_type_of_the_array(self, xp, make, same):
        c = make([True, False])
        y = xp.where(c, make([1.5, 2.5]), 0)
        assert y.dtype == "float32"
        same(y, [1.5, 0])
        same(xp.where(c, 7, make([1, 2], "int32")), [7, 2])
        check_grads(lambda x: xp.where(c, x, 1.0) ** 2, make([1.5, 2.5]))

    def test_two_scalars_give_a_default_type(self, xp, make, same):
        c = make([True, False])
        for x1, x2, kind in ((1.0, 0, "real floating"), (1, 0, "signed integer"), (True, False, "bool")):
            y = xp.where(c, x1, x2)
            assert y.dtype.kind == kind
            same(y, [x1, x2])

    def test_data_types_come_together(self, xp, make):
        assert xp.where(make([True]), make([1], "int32"), make([1.5])).dtype == "float32"

    def test_what_was_not_chosen_gets_0_even_where_its_slope_is_infinite(self, xp, make, same):
        x = make([0.0, 4.0], grad=True)
        (g,) = gradients([xp.sum(xp.where(x > 0, x, 1.0))], [x])
        same(g, [0, 1])
        (g,) = gradients([xp.sum(xp.where(make([False, True]), xp.sqrt(xp.where(x > 0, x, 1.0)), 0.0))], [x])
        same(g, [0, 0.25])

    def test_a_condition_that_is_not_boolean_is_refused(self, xp, make):
        with pytest.raises(DTypeError, match="where: condition must be a boolean array, but it is of int32"):
            xp.where(make([1, 0], "int32"), make([1.0]), 0.0)
        with pytest.raises(DTypeError, match="but it is a bool"):
            xp.where(True, make([1.0]), 0.0)

    def test_two_devices_are_refused(self, xp, make, elsewhere):
        there = make([True], on=elsewhere)
        with pytest.raises(DeviceMismatchError, match=r"where: .*condition on .*x1 on"):
            xp.where(there, make([1.0]), make([1.0]))
        with pytest.raises(DeviceMismatchError, match=r"where: .*x2 on"):
            xp.where(make([True]), make([1.0]), make(0.0, on=elsewhere))
