"""Linear maps: values and gradients as PyTorch has them, to second order, for inputs of every rank."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from arrayflow import functions as F
from arrayflow.autograd import Variable
from arrayflow.device import move, to_host
from arrayflow.errors import DeviceMismatchError, ShapeError
from arrayflow.testing import check_grads
from arrayflow.transfers import transfers

RNG = np.random.default_rng(0)
SHAPES = [(3,), (4, 3), (1, 3), (0, 3), (2, 4, 3), (2, 0, 3)]


def operands(device, shape, dtype="float32", bias=True):
    arrays = [RNG.standard_normal(shape), RNG.standard_normal((5, 3)), RNG.standard_normal(5)]
    return [Variable(move(a.astype(dtype), device), requires_grad=True) for a in arrays[: 2 + bias]]


class TestLinear:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_values_and_gradients_are_pytorchs(self, device, float_dtypes, shape, bias, dtype):
        if dtype not in float_dtypes:
            pytest.skip(f"{device} has no {dtype}")
        given = operands(device, shape, dtype, bias)
        g = RNG.standard_normal((*shape[:-1], 5)).astype(dtype)
        y = F.linear(*given)
        y.backward(Variable(move(g, device)))
        oracles = [torch.tensor(v.numpy(), requires_grad=True) for v in given]
        expected = torch.nn.functional.linear(*oracles)
        expected.backward(torch.tensor(g))
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(y.numpy(), expected.detach().numpy(), rtol=tolerance, atol=tolerance)
        for v, oracle in zip(given, oracles, strict=True):
            assert v.grad.device is device
            np.testing.assert_allclose(v.grad.numpy(), oracle.grad.numpy(), rtol=tolerance, atol=tolerance)

    @pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3)])
    def test_second_derivatives(self, device, shape):
        given = operands(device, shape)
        check_grads(F.linear, *given)
        check_grads(lambda x, w: F.linear(x * x, w * w), *given[:2])

    def test_gradients_of_two_uses_add_up(self, device):
        x, w, b = operands(device, (4, 3))
        (F.linear(x, w, b) + F.linear(x * 2, w, b)).backward(Variable(move(np.ones((4, 5), "float32"), device)))
        np.testing.assert_allclose(b.grad.numpy(), np.full(5, 8.0), rtol=1e-6)
        np.testing.assert_allclose(w.grad.numpy(), np.tile(3 * x.numpy().sum(0), (5, 1)), rtol=1e-4, atol=1e-5)

    def test_raw_arrays_give_a_raw_array(self, device):
        given = operands(device, (4, 3))
        raw = F.linear(*(v.array for v in given))
        assert type(raw) is type(given[0].array)
        assert to_host(raw).tobytes() == F.linear(*given).numpy().tobytes()

    def test_integers_are_taken_as_the_weights_type(self, device):
        x = Variable(move(np.arange(6, dtype="int32").reshape(2, 3), device))
        y = F.linear(x, *operands(device, (4, 3))[1:])
        assert y.dtype == "float32"

    def test_float64_inputs_promote_and_leave_gradients_in_the_weights_type(self, device, float_dtypes):
        if "float64" not in float_dtypes:
            pytest.skip(f"{device} has no float64")
        x = Variable(move(RNG.standard_normal((4, 3)), device))
        _, w, b = operands(device, (4, 3))
        y = F.linear(x, w, b)
        y.backward(Variable(move(np.ones((4, 5)), device)))
        assert (y.dtype, w.grad.dtype, b.grad.dtype) == ("float64", "float32", "float32")


class TestRefusals:
    @pytest.mark.parametrize(
        ("shapes", "text"),
        [
            (((4, 2), (5, 3), (5,)), r"in_features = 3 elements, but x.shape is \(4, 2\).*weight is \(5, 3\)"),
            (((), (5, 3), (5,)), r"in_features = 3 elements, but x.shape is \(\)"),
            (((4, 3), (3,), (5,)), r"weight must be a matrix.*its shape is \(3,\)"),
            (((4, 3), (5, 3), (1,)), r"bias must have the shape \(5,\), but its shape is \(1,\)"),
            (((4, 3), (5, 3), (4, 5)), r"bias must have the shape \(5,\), but its shape is \(4, 5\)"),
        ],
    )
    @pytest.mark.parametrize("mixed", [False, True])
    def test_shapes_that_do_not_fit_are_named(self, device, shapes, text, mixed):
        arrays = [Variable(move(np.zeros(s, "float32"), device)) for s in shapes]
        if mixed:  # not the short way
            arrays[0] = Variable(move(np.zeros(shapes[0], "int32"), device))
        with pytest.raises(ShapeError, match=text):
            F.linear(*arrays)

    @pytest.mark.parametrize("k", [0, 1, 2])
    def test_the_operand_elsewhere_is_named_and_nothing_moves(self, device, elsewhere, k):
        given = operands(device, (4, 3))
        given[k] = operands(elsewhere, (4, 3))[k]
        name = ("x", "weight", "bias")[k]
        with (
            transfers() as ledger,
            pytest.raises(DeviceMismatchError, match=rf"linear: .*{name} on {elsewhere}, shape"),
        ):
            F.linear(*given)
        assert ledger.count == 0

    def test_a_list_is_no_array(self, device):
        with pytest.raises(TypeError, match="x must be a Variable, an array or a Python scalar, but it is a list"):
            F.linear([[1.0, 2.0, 3.0]], *operands(device, (4, 3))[1:])

    def test_a_number_is_no_array_here(self, device):
        with pytest.raises(TypeError, match="linear: x must be an array"):
            F.linear(1.0, *operands(device, (4, 3))[1:])
