"""Elementwise functions: NumPy's values, slopes as differences give them, sub-gradients as the field takes them."""

import math

import array_api_compat.numpy as np
import pytest

import arrayflow as af
from arrayflow.errors import DeviceMismatchError
from arrayflow.namespace import elementwise
from arrayflow.testing import check_grads

X = [[0.3, -0.7, 0.9], [-0.4, 0.6, 0.2]]
POSITIVE = [[0.3, 0.7, 1.9], [1.4, 2.6, 0.2]]
ABOVE_ONE = [[1.3, 1.7, 2.9], [1.4, 2.6, 1.2]]
AWAY = [[1.3, -1.7, 0.9], [-2.4, 0.6, -0.8]]

INSIDE = [[0.3, -0.5, 0.1], [-0.4, 0.5, 0.2]]

SMOOTH = {
    "abs": AWAY, "acos": INSIDE, "acosh": ABOVE_ONE, "asin": INSIDE, "asinh": X, "atan": X,
    "atanh": INSIDE, "ceil": X, "conj": X,
    "cos": X, "cosh": X, "exp": X, "expm1": X, "floor": X, "imag": X, "log": ABOVE_ONE, "log10": ABOVE_ONE,
    "log1p": POSITIVE,
    "log2": ABOVE_ONE, "negative": X, "positive": X, "real": X,
    "reciprocal": ABOVE_ONE, "round": X, "sign": AWAY,
    "sin": X, "sinh": X, "sqrt": ABOVE_ONE, "square": X, "tan": X, "tanh": X, "trunc": X,
}  # fmt: skip
OTHER = [1.5, 0.8, 2.3]
SMOOTH2 = {
    "add": (X, OTHER), "atan2": (AWAY, OTHER), "copysign": (AWAY, [-1.0, 2.0, -3.0]), "divide": (X, OTHER),
    "hypot": (AWAY, OTHER),
    "logaddexp": (X, OTHER), "maximum": (AWAY, [0.2, -1.0, 0.4]), "minimum": (AWAY, [0.2, -1.0, 0.4]),
    "multiply": (X, OTHER),
    "pow": (POSITIVE, OTHER), "remainder": ([[1.0, -1.2, 0.9], [-2.2, 0.4, -1.0]], OTHER), "subtract": (X, OTHER),
}  # fmt: skip
# Constant almost everywhere: their rule is None, so that no gradient is asked of them.
CONSTANT = {"ceil", "floor", "round", "trunc"}
CONSTANT2 = {"floor_divide", "nextafter"}
TRUTHS = {"isfinite", "isinf", "isnan", "signbit"}
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
LOGIC = {"logical_and", "logical_or", "logical_xor"}
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}


def grads(f, *values, device, dtype=None):
    xs = [af.asarray(v, device=device, dtype=dtype, requires_grad=True) for v in values]
    af.sum(f(*xs)).backward()
    return [x.grad.numpy().tolist() for x in xs]


def same(found, expected, rtol=1e-5):
    assert found.shape == expected.shape
    assert np.allclose(found.numpy(), expected, rtol=rtol, atol=1e-6, equal_nan=True)


class TestTable:
    def test_each_function_of_the_chapter_is_in_a_table_below(self):
        tested = {*SMOOTH, *SMOOTH2, *CONSTANT, *CONSTANT2, *TRUTHS, *COMPARISONS, *LOGIC, *BITS}
        assert tested | {"clip", "logical_not", "bitwise_invert"} == set(elementwise.__all__)

    @pytest.mark.parametrize("name", elementwise.__all__)
    def test_each_has_its_rules_and_a_docstring(self, name):
        function = getattr(af, name)
        assert len(function.primitive.rules) == len(function.primitive.operands)
        assert f"af.{name}(" in function.__doc__
        assert "Parameters\n" in function.__doc__
        assert function.__name__ == name


class TestValues:
    @pytest.mark.parametrize("name", sorted({*SMOOTH, *TRUTHS}))
    def test_functions_of_one_array_have_numpys_values(self, name, device):
        values = SMOOTH.get(name, [1.0, -math.inf, math.nan])
        y = getattr(af, name)(af.asarray(values, device=device))
        assert y.device is device
        same(y, getattr(np, name)(np.asarray(values, dtype=np.float32)))

    @pytest.mark.parametrize("name", sorted({*SMOOTH2, *CONSTANT2, *COMPARISONS}))
    def test_functions_of_two_arrays_have_numpys_values(self, name, device):
        a, b = SMOOTH2.get(name, (AWAY, OTHER))
        y = getattr(af, name)(af.asarray(a, device=device), af.asarray(b, device=device))
        assert y.device is device
        same(y, getattr(np, name)(np.asarray(a, dtype=np.float32), np.asarray(b, dtype=np.float32)))

    @pytest.mark.parametrize("name", sorted(BITS))
    def test_functions_of_bits(self, name, device):
        a, b = [1, 6, 12], [3, 1, 2]
        y = getattr(af, name)(af.asarray(a, device=device), af.asarray(b, device=device))
        assert y.numpy().tolist() == getattr(np, name)(np.asarray(a), np.asarray(b)).tolist()

    @pytest.mark.parametrize("name", sorted(LOGIC))
    def test_functions_of_truths(self, name, device):
        a, b = [True, True, False, False], [True, False, True, False]
        y = getattr(af, name)(af.asarray(a, device=device), af.asarray(b, device=device))
        assert y.numpy().tolist() == getattr(np, name)(np.asarray(a), np.asarray(b)).tolist()

    def test_negations(self, device):
        flags = af.asarray([True, False], device=device)
        assert af.logical_not(flags).numpy().tolist() == [False, True]
        assert af.bitwise_invert(flags).numpy().tolist() == [False, True]
        assert af.bitwise_invert(af.asarray([0, 5], device=device)).numpy().tolist() == [-1, -6]

    @pytest.mark.parametrize("name", sorted({*SMOOTH2, *CONSTANT2, *COMPARISONS}))
    def test_a_python_number_may_stand_on_either_side(self, name, device):
        x = af.asarray([[0.25, 0.5]], device=device)
        f, g = getattr(af, name), getattr(np, name)
        host = np.asarray([[0.25, 0.5]], dtype=np.float32)
        y = f(x, 2.0)
        same(y, g(host, np.float32(2.0)))
        assert y.dtype in (af.float32, af.bool)
        same(f(2.0, x), g(np.float32(2.0), host))

    @pytest.mark.parametrize("name", sorted(n for n in SMOOTH if getattr(af, n).primitive.floating))
    def test_integers_become_the_default_floating_type(self, name, device):
        one = 0 if name == "atanh" else 1  # atanh(1) is infinite
        assert getattr(af, name)(af.asarray([one], device=device)).dtype == af.float32

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
    def test_0d_and_empty_arrays(self, device, shape):
        for name in SMOOTH:
            x = af.full(shape, 1.5 if name == "acosh" else 0.5, device=device)
            assert getattr(af, name)(x).shape == shape
        for name in SMOOTH2:
            x = af.full(shape, 1.0, device=device)
            assert getattr(af, name)(x, x).shape == shape


class TestSlopes:
    @pytest.mark.parametrize("name", sorted(SMOOTH.keys() - CONSTANT))
    def test_of_functions_of_one_array_to_second_order(self, name, device):
        check_grads(getattr(af, name), af.asarray(SMOOTH[name], device=device), order=2)

    @pytest.mark.parametrize("name", sorted(SMOOTH2))
    def test_of_functions_of_two_arrays_to_second_order(self, name, device):
        a, b = SMOOTH2[name]
        if getattr(af, name).primitive.rules[1] is None:
            other = af.asarray(b, device=device)
            check_grads(lambda x: getattr(af, name)(x, other), af.asarray(a, device=device), order=2)
        else:
            check_grads(getattr(af, name), af.asarray(a, device=device), af.asarray(b, device=device), order=2)

    @pytest.mark.parametrize("name", sorted(SMOOTH2))
    def test_beside_a_python_number(self, name, device):
        function = getattr(af, name)
        x = af.asarray([0.87, 1.25], device=device)
        check_grads(lambda x: function(x, 3.0), x, order=2)
        if function.primitive.rules[1] is not None:
            check_grads(lambda x: function(3.0, x), x, order=2)

    @pytest.mark.parametrize("name", sorted(CONSTANT))
    def test_steps_have_none(self, name, device):
        x = af.asarray(AWAY, device=device, requires_grad=True)
        assert not getattr(af, name)(x).requires_grad

    def test_of_clip(self, device):
        x = af.asarray([-2.0, 0.4, 2.0], device=device)
        check_grads(lambda x: af.clip(x, -1.0, 1.0), x, order=2)
        low, high = af.asarray(-1.0, device=device), af.asarray([1.0, 1.2, 1.4], device=device)
        check_grads(af.clip, x, low, high, order=2)
        check_grads(lambda x: af.clip(x, max=1.0), x, order=2)

    def test_broadcasting_and_promotion_are_undone_in_both(self, device):
        check_grads(lambda a, b: af.hypot(a, b) * af.atan2(a, b), af.asarray([[1.0], [2.0]], device=device),
                    af.asarray([0.5, 1.5, 2.5], device=device), order=2)  # fmt: skip


class TestSubgradients:
    def test_abs_and_sign_have_none_at_0(self, device):
        assert grads(af.abs, [0.0, -2.0, 3.0], device=device) == [[0.0, -1.0, 1.0]]
        assert grads(af.sign, [0.0, -2.0, 3.0], device=device) == [[0.0, 0.0, 0.0]]

    def test_equal_operands_of_maximum_and_minimum_share(self, device):
        assert grads(af.maximum, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], device=device) == [[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]
        assert grads(af.minimum, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], device=device) == [[0.5, 1.0, 0.0], [0.5, 0.0, 1.0]]

    def test_bounds_of_clip_pass(self, device):
        assert grads(lambda x: af.clip(x, 0.0, 1.0), [-1.0, 0.0, 0.5, 1.0, 2.0], device=device) == [
            [0.0, 1.0, 1.0, 1.0, 0.0]
        ]

    def test_bounds_of_clip_have_gradients_where_they_are_taken(self, device):
        found = grads(af.clip, [-1.0, 0.5, 2.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], device=device)
        assert found == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

    def test_crossed_bounds_give_all_to_the_upper_one(self, device):
        x = af.asarray([-1.0, 0.5, 2.0], device=device)
        low, high = (af.asarray(v, device=device, requires_grad=True) for v in (1.0, 0.0))
        y = af.clip(x, low, high)
        assert y.numpy().tolist() == [0.0, 0.0, 0.0]
        af.sum(y).backward()
        assert (float(low.grad), float(high.grad)) == (0.0, 3.0)

    def test_powers_of_0(self, device):
        base, exponent = grads(af.pow, [0.0, 0.0, 0.0], [0.0, 1.0, 2.0], device=device)
        assert base == [0.0, 1.0, 0.0]
        assert exponent == [0.0, 0.0, 0.0]
        for n, slope in ((0, 0.0), (1, 1.0), (2, 0.0), (3.0, 0.0)):
            assert grads(lambda x, n=n: x**n, [0.0], device=device) == [[slope]]

    def test_a_negative_base_has_no_slope_by_the_exponent(self, device):
        base, exponent = grads(af.pow, [-2.0, -1.0], [2.0, 3.0], device=device)
        assert base == [-4.0, 3.0]
        assert exponent == [0.0, 0.0]
        assert grads(lambda x: 0.0**x, [1.0, 2.0], device=device) == [[0.0, 0.0]]

    def test_the_second_slope_of_a_power_with_exponent_0(self, device):
        x, n = (af.asarray(v, device=device, requires_grad=True) for v in (2.0, 0.0))
        (dx,) = af.autograd.gradients([x**n], [x], create_graph=True)
        (dxdn,) = af.autograd.gradients([dx], [n])
        assert float(dxdn) == pytest.approx(0.5)

    def test_origins(self, device):
        assert grads(af.hypot, [0.0, 3.0], [0.0, 4.0], device=device)[0] == pytest.approx([0.0, 0.6])
        assert grads(af.atan2, [0.0, 1.0], [0.0, 1.0], device=device) == [[0.0, 0.5], [0.0, -0.5]]
        assert grads(lambda x: af.copysign(x, -1.0), [0.0, 2.0, -2.0], device=device) == [[0.0, -1.0, 1.0]]

    def test_logaddexp_of_infinities(self, device):
        inf = math.inf
        a = af.asarray([inf, -inf, inf, -inf, 0.0], device=device, requires_grad=True)
        b = af.asarray([inf, -inf, 0.0, 0.0, 0.0], device=device, requires_grad=True)
        af.logaddexp(a, b).backward(af.ones((5,), device=device))
        assert a.grad.numpy().tolist() == pytest.approx([0.5, 0.5, 1.0, 0.0, 0.5])
        assert b.grad.numpy().tolist() == pytest.approx([0.5, 0.5, 0.0, 1.0, 0.5])

    def test_logaddexp_does_not_overflow(self, device):
        assert grads(af.logaddexp, [1000.0, -1000.0], [0.0, 0.0], device=device) == [[1.0, 0.0], [0.0, 1.0]]

    @pytest.mark.filterwarnings("ignore:divide by zero")
    def test_roots_are_infinitely_steep_at_0(self, device):
        assert grads(af.sqrt, [0.0], device=device) == [[math.inf]]

    def test_remainder_counts_the_turns(self, device):
        assert grads(af.remainder, [7.0, -7.0], [3.0, 3.0], device=device) == [[1.0, 1.0], [-2.0, 3.0]]

    def test_nan_keeps_its_gradient(self, device):
        assert grads(af.maximum, [math.nan], [1.0], device=device) == [[1.0], [1.0]]


HOLOMORPHIC = sorted(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2",
     "negative", "positive", "reciprocal", "sin", "sinh", "sqrt", "square", "tan", "tanh"}
)  # fmt: skip
Z = [0.3 + 0.4j, -0.7 + 1.2j, 1.5 - 0.6j, -1.3 - 0.2j]
W = [1.1 - 0.3j, 0.4 + 0.9j, -0.8 + 0.5j, 0.7 + 0.2j]


class TestComplex:
    """The gradient of a real loss is dL/dRe + i dL/dIm, as in PyTorch."""

    def _torch(self, name, *values):
        torch = pytest.importorskip("torch")
        xs = [torch.tensor(v, dtype=torch.complex64, requires_grad=True) for v in values]
        names = {"negative": "neg", "conj": "conj_physical"}
        y = getattr(torch, names.get(name, name))(*xs)
        weights = torch.tensor(W, dtype=torch.complex64) if y.is_complex() else torch.tensor([w.real for w in W])
        (y * weights).sum().real.backward()
        return [x.grad.numpy() for x in xs]

    def _ours(self, name, device, *values):
        xs = [af.asarray(v, dtype=af.complex64, device=device, requires_grad=True) for v in values]
        y = getattr(af, name)(*xs)
        weights = W if y.dtype == af.complex64 else [w.real for w in W]
        af.real(af.sum(y * af.asarray(weights, device=device))).backward()
        assert all(x.grad.dtype == af.complex64 for x in xs)
        return [x.grad.numpy() for x in xs]

    @pytest.mark.parametrize("name", [*HOLOMORPHIC, "abs", "conj", "real", "imag"])
    def test_gradients_of_functions_of_one_are_pytorchs(self, name, device):
        if name == "expm1":  # which PyTorch lacks for complex numbers; the slope of exp is the same
            expected = self._torch("exp", Z)
        else:
            expected = self._torch(name, Z)
        assert np.allclose(self._ours(name, device, Z)[0], expected[0], rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "pow"])
    def test_gradients_of_functions_of_two_are_pytorchs(self, name, device):
        for found, expected in zip(self._ours(name, device, Z, W), self._torch(name, Z, W), strict=True):
            assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("name", [*HOLOMORPHIC, "abs", "conj", "real", "imag", "sign"])
    def test_slopes_to_second_order(self, name, device):
        check_grads(getattr(af, name), af.asarray(Z, device=device), order=2)

    @pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "pow"])
    def test_slopes_of_functions_of_two_to_second_order(self, name, device):
        check_grads(getattr(af, name), af.asarray(Z, device=device), af.asarray(W, device=device), order=2)

    def test_a_real_operand_gets_a_real_gradient(self, device):
        x = af.asarray([1.0, 2.0], device=device, requires_grad=True)
        z = af.asarray([1j, 1 + 1j], device=device, requires_grad=True)
        af.real(af.sum(x * z)).backward()
        assert x.grad.dtype == af.float32
        assert x.grad.numpy().tolist() == [0.0, 1.0]
        assert z.grad.numpy().tolist() == [1.0, 2.0]

    def test_a_python_complex_number_is_conjugated_too(self, device):
        z = af.asarray([1 + 1j], device=device, requires_grad=True)
        af.real(af.sum(z * 2j)).backward()
        assert z.grad.numpy().tolist() == [-2j]

    def test_abs_and_sign_at_0_have_none(self, device):
        for function in (af.abs, lambda z: af.real(af.sign(z))):
            z = af.asarray([0j], device=device, requires_grad=True)
            af.sum(function(z)).backward()
            assert z.grad.numpy().tolist() == [0j]

    def test_imag_of_a_real_array_is_zeros(self, device):
        assert af.imag(af.asarray([1.0], device=device)).numpy().tolist() == [0.0]


class TestRawArrays:
    def test_stay_arrays_of_their_library(self, device):
        raw = af.asarray([1.0, 2.0], device=device).array
        for y in (af.exp(raw), af.add(raw, raw), af.add(raw, 1.0), af.clip(raw, 0.0, 1.0)):
            assert type(y) is type(raw)
        assert isinstance(af.add(af.asarray(raw), raw), af.Variable)


class TestErrors:
    def test_two_devices(self, device, elsewhere):
        a, b = af.asarray([1.0], device=device), af.asarray([1.0, 2.0], device=elsewhere)
        with pytest.raises(
            DeviceMismatchError, match=rf"hypot: .*x1 on {device}, shape \(1,\).*x2 on {elsewhere}, shape \(2,\)"
        ):
            af.hypot(a, b)
        with pytest.raises(DeviceMismatchError, match=r"clip: .*max on"):
            af.clip(a, 0.0, b)

    def test_what_is_no_array(self, device):
        with pytest.raises(
            TypeError, match=r"add: x2 must be a Variable, an array or a Python scalar, but it is a list"
        ):
            af.add(af.asarray([1.0], device=device), [1.0])
        with pytest.raises(TypeError, match="exp: at least one of x must be an array"):
            af.exp(1.0)

    def test_types_without_a_common_one(self, device):
        if not {"uint64", "int64"} <= set(device.backend.dtypes_on(device.native)):
            pytest.skip(f"{device} lacks 64-bit integers")
        a, b = af.zeros((1,), dtype=af.uint64, device=device), af.zeros((1,), dtype=af.int64, device=device)
        with pytest.raises(TypeError, match="uint64 and int64 have no common data type"):
            a + b
