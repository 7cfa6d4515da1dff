"""`check_grads` passes what is right and names what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import Variable, primitive
from arrayflow.device import move
from arrayflow.testing import GradientError, check_grads


@pytest.fixture
def x(device):
    return Variable(move(np.asarray([0.5, 1.0, -2.0], dtype="float32"), device))


@pytest.fixture
def z(device):
    return Variable(move(np.asarray([0.5 + 1j, 1.0 - 2j], dtype="complex64"), device))


class TestRightRules:
    def test_functions_of_several_arguments_and_outputs(self, xp, x):
        check_grads(lambda a, b: (xp.sin(a) * b, xp.sum(b * b * b)), x, x)

    def test_of_third_order(self, xp, x):
        check_grads(lambda a: xp.exp(a), x, order=3)

    def test_complex_arguments_and_outputs(self, xp, z):
        check_grads(lambda a: a * a * a, z)
        check_grads(lambda a: xp.real(a * xp.conj(a)), z)

    def test_other_arguments_are_handed_on(self, xp, x):
        check_grads(lambda a, n, s: xp.sum(a**n) * s, x, 3, 2.0)

    def test_raw_arrays_will_do(self, xp, x):
        check_grads(xp.tanh, x.array)

    def test_what_is_computed_in_is_float64_where_there_is_one(self, x, float_dtypes):
        seen = []
        check_grads(lambda a: seen.append(a.dtype) or a * a, x)
        assert set(seen) == {float_dtypes[-1]}

    def test_the_arguments_are_left_alone(self, x):
        before = x.numpy()
        check_grads(lambda a: a * a, x)
        assert np.array_equal(x.numpy(), before)
        assert x.grad is None
        assert not x.requires_grad


class TestWrongRules:
    def test_a_wrong_rule_is_named_with_both_numbers_and_the_tolerance(self, x):
        wrong = primitive("exp", lambda g, y: 1.01 * g * y)
        with pytest.raises(
            GradientError,
            match=r"derivative of order 1 by 'slope'.* is -?\d+\.\d+ by the rules and -?\d+\.\d+ by central "
            r"differences, tolerance \d.*test_gradients.py:\d+",
        ):
            check_grads(lambda slope: wrong(slope), x)

    def test_it_is_an_assertion_error(self, x):
        with pytest.raises(AssertionError):
            check_grads(lambda a: a.detach() * a, x)

    def test_the_argument_that_is_wrong_is_the_one_named(self, xp, x):
        wrong = primitive("multiply", lambda g, x2: g * x2, lambda g, x1: g * x1 * 2)
        with pytest.raises(GradientError, match="by 'b'"):
            check_grads(lambda a, b: wrong(a, b), x, x)

    def test_a_rule_that_is_wrong_at_second_order_alone(self, x):
        wrong = primitive("exp", lambda g, y: g * (y.detach() if isinstance(y, Variable) else y))
        check_grads(wrong, x, order=1)
        with pytest.raises(GradientError, match="derivative of order 2"):
            check_grads(wrong, x)

    def test_without_a_floating_argument_there_is_nothing_to_check(self, device):
        with pytest.raises(GradientError, match="an argument must be a floating array"):
            check_grads(lambda n: n, Variable(move(np.asarray([1, 2], dtype="int32"), device)))
