"""Reductions and running sums: values, gradients to second order, empty and 0-d arrays, ties, zeros."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import gradients
from arrayflow.testing import check_grads

AXES = [
    {},
    {"axis": 0},
    {"axis": -1},
    {"axis": (0, 2)},
    {"axis": (-1, 0), "keepdims": True},
    {"axis": ()},
    {"keepdims": True},
    {"axis": 1, "keepdims": True},
]
NUMPY = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min, "std": np.std, "var": np.var}
X = np.random.default_rng(3).permutation(np.linspace(0.4, 2.2, 12)).reshape(2, 3, 2)


def ids(options):
    return ",".join(f"{k}={v}" for k, v in options.items()) or "all"


@pytest.mark.parametrize("name", NUMPY)
class TestReductions:
    @pytest.mark.parametrize("options", AXES, ids=ids)
    def test_values(self, xp, make, same, name, options):
        x = make(X)
        want = NUMPY[name](X.astype("float32"), **options)
        same(getattr(xp, name)(x, **options), want)
        raw = getattr(xp, name)(x.array, **options)
        assert type(raw) is type(x.array)
        same(raw, want)

    @pytest.mark.parametrize("options", AXES, ids=ids)
    def test_gradients(self, xp, make, name, options):
        if name == "std" and options.get("axis") == ():
            pytest.skip("the deviation of single elements has no slope")
        # The extremes are apart, so that a step changes none.
        check_grads(lambda x: getattr(xp, name)(x, **options), make(3 * X if name in ("max", "min") else X))

    def test_a_0d_array(self, xp, make, same, name):
        same(getattr(xp, name)(make(2.5)), NUMPY[name](np.float32(2.5)))

    def test_the_data_type_stays(self, xp, make, name, float_dtypes):
        for dtype in float_dtypes:
            assert getattr(xp, name)(make(X, str(dtype))).dtype == dtype


class TestSum:
    def test_nothing_sums_to_0_and_multiplies_to_1(self, xp, make, same):
        x = make(np.zeros((0, 3)), grad=True)
        same(xp.sum(x, axis=0), np.zeros(3))
        same(xp.prod(x, axis=0), np.ones(3))
        for f in (xp.sum, xp.prod):
            (g,) = gradients([f(x)], [x])
            assert g.shape == (0, 3)

    def test_integers_count_in_the_default_integer_and_booleans_as_integers(self, xp, make, same):
        wide = make([1], "int64").dtype
        for name in ("sum", "prod", "cumulative_sum", "cumulative_prod"):
            assert getattr(xp, name)(make([1, 2], "int16")).dtype == wide
            assert getattr(xp, name)(make([True, True], "bool")).dtype == wide
        same(xp.sum(make([True, False, True])), 2)
        assert xp.sum(make([1, 2], "uint8")).dtype.kind == "unsigned integer"

    def test_the_type_to_sum_in(self, xp, make, float_dtypes):
        x = make([1.5, 2.5], grad=True)
        for dtype in float_dtypes:
            y = xp.sum(x, dtype=dtype)
            assert y.dtype == dtype
            (g,) = gradients([y], [x])
            assert g.dtype == x.dtype
        assert xp.sum(make([1, 2]), dtype=xp.float32).dtype == "float32"

    @pytest.mark.parametrize("name", ["mean", "std", "var"])
    def test_integers_become_the_default_floating_type(self, xp, make, same, name):
        y = getattr(xp, name)(make([1, 2, 6]))
        assert y.dtype == "float32"
        same(y, NUMPY[name]([1.0, 2.0, 6.0]))

    def test_complex(self, xp, make):
        z = np.asarray([1 + 2j, 0.5 - 1j, -1 + 0.3j])
        for name in ("sum", "mean", "prod", "cumulative_sum", "cumulative_prod"):
            check_grads(getattr(xp, name), make(z))


class TestVariance:
    @pytest.mark.parametrize("name", ["std", "var"])
    @pytest.mark.parametrize("options", [{"correction": 1}, {"axis": 1, "correction": 0.5}], ids=ids)
    def test_correction(self, xp, make, same, name, options):
        want = NUMPY[name](X, axis=options.get("axis"), ddof=options["correction"])
        same(getattr(xp, name)(make(X), **options), want)
        check_grads(lambda x: getattr(xp, name)(x, **options), make(X))

    def test_the_deviation_of_equal_elements_has_gradient_0(self, xp, make, same):
        x = make(np.asarray([[2.0, 2.0], [1.0, 3.0]]), grad=True)
        (g,) = gradients([xp.sum(xp.std(x, axis=1))], [x])
        same(g, [[0, 0], [-0.5, 0.5]])


class TestExtremes:
    @pytest.mark.parametrize("name", ["max", "min"])
    def test_equal_elements_share_the_gradient(self, xp, make, same, name):
        x = make([[1.0, 1.0, 1.0], [2.0, 2.0, 5.0 if name == "min" else -5.0]], grad=True)
        (g,) = gradients([xp.sum(getattr(xp, name)(x, axis=1))], [x])
        same(g, [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]])

    def test_nan_wins_and_takes_the_gradient(self, xp, make, same):
        x = make([1.0, np.nan, 2.0], grad=True)
        y = xp.max(x)
        same(y, np.nan)
        (g,) = gradients([y], [x])
        same(g, [0, 1, 0])

    def test_integers(self, xp, make, same):
        same(xp.max(make([3, 1]), axis=0), 3)
        same(xp.min(make([3, 1])), 1)


class TestProducts:
    @pytest.mark.parametrize("zeros", [[1], [0, 2], [0, 1, 2, 3]])
    def test_zeros_are_no_trouble(self, xp, make, same, zeros):
        values = np.asarray([2.0, 3.0, 0.5, -1.5])
        values[zeros] = 0
        x = make(values, grad=True)
        (g,) = gradients([xp.prod(x)], [x])
        same(g, [np.prod(np.delete(values, i)) for i in range(4)])
        check_grads(xp.prod, make(values), order=3)
        check_grads(xp.cumulative_prod, make(values), order=3)

    def test_several_axes_with_a_zero(self, xp, make):
        values = X.copy()
        values[0, 1, 0] = 0
        check_grads(lambda x: xp.prod(x, axis=(2, 0)), make(values))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
class TestCumulative:
    @pytest.mark.parametrize("options", [{"axis": 1}, {"axis": -1}, {"axis": 0, "include_initial": True}], ids=ids)
    def test_along_each_kind_of_axis(self, xp, make, same, name, options):
        f = {"cumulative_sum": np.cumulative_sum, "cumulative_prod": np.cumulative_prod}[name]
        same(getattr(xp, name)(make(X), **options), f(X, **options))
        check_grads(lambda x: getattr(xp, name)(x, **options), make(X))

    @pytest.mark.parametrize("n", [0, 1, 5])
    def test_one_axis_needs_no_name(self, xp, make, name, n):
        x = make(np.linspace(0.5, 1.5, n))
        assert getattr(xp, name)(x).shape == (n,)
        check_grads(getattr(xp, name), x)
        check_grads(lambda x: getattr(xp, name)(x, include_initial=True), x)

    def test_the_type_to_add_in(self, xp, make, name, float_dtypes):
        x = make([1.5, 2.5], grad=True)
        y = getattr(xp, name)(x, dtype=float_dtypes[-1])
        assert y.dtype == float_dtypes[-1]
        (g,) = gradients([xp.sum(y)], [x])
        assert g.dtype == "float32"
