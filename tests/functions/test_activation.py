"""Activations: values and gradients as PyTorch has them, to second order."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from arrayflow import functions as F
from arrayflow.autograd import Variable
from arrayflow.device import move, to_host
from arrayflow.errors import DTypeError, ShapeError
from arrayflow.testing import check_grads

RNG = np.random.default_rng(0)
ORACLES = {
    "relu": (F.relu, torch.relu),
    "softmax": (F.softmax, lambda x: torch.softmax(x, -1)),
    "softmax of axis 0": (lambda x: F.softmax(x, axis=0), lambda x: torch.softmax(x, 0)),
    "log_softmax": (F.log_softmax, lambda x: torch.log_softmax(x, -1)),
}


@pytest.mark.parametrize("name", ORACLES)
class TestAll:
    @pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (5,)])
    def test_values_and_gradients_are_pytorchs(self, device, float_dtypes, name, shape):
        function, oracle = ORACLES[name]
        for dtype in map(str, float_dtypes):
            host, g = (RNG.standard_normal(shape).astype(dtype) for _ in range(2))
            x = Variable(move(host, device), requires_grad=True)
            y = function(x)
            y.backward(Variable(move(g, device)))
            expected_x = torch.tensor(host, requires_grad=True)
            expected = oracle(expected_x)
            expected.backward(torch.tensor(g))
            tolerance = 3e-6 if dtype == "float32" else 1e-13
            assert (y.dtype, y.device, x.grad.device) == (dtype, device, device)
            np.testing.assert_allclose(y.numpy(), expected.detach().numpy(), rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(x.grad.numpy(), expected_x.grad.numpy(), rtol=tolerance, atol=tolerance)

    def test_second_derivatives(self, device, name):
        # Away from 0, where relu has a corner.
        x = Variable(move(np.asarray([[1.0, -1.5, 0.5], [-0.75, 2.0, 1.25]], "float32"), device))
        check_grads(lambda x: ORACLES[name][0](x * x * x), x)

    def test_raw_arrays_give_a_raw_array(self, device, name):
        function, _ = ORACLES[name]
        raw = move(RNG.standard_normal((4, 3)).astype("float32"), device)
        y = function(raw)
        assert type(y) is type(raw)
        assert to_host(y).tobytes() == function(Variable(raw)).numpy().tobytes()


class TestRelu:
    def test_nan_stays_nan_and_integers_stay_integers(self, device):
        y = F.relu(Variable(move(np.asarray([np.nan, -1.0, 0.0, -0.0], "float32"), device))).numpy()
        assert np.isnan(y[0])
        assert (y[1:] == 0).all()
        assert F.relu(Variable(move(np.asarray([-2, 3], "int32"), device))).numpy().tolist() == [0, 3]

    def test_empty_and_0d_arrays(self, device):
        assert F.relu(Variable(move(np.zeros((0, 3), "float32"), device))).shape == (0, 3)
        assert F.relu(Variable(move(np.asarray(-1.0, "float32"), device))).shape == ()

    def test_it_can_be_pickled(self):
        assert pickle.loads(pickle.dumps(F.relu)) is F.relu


class TestSoftmax:
    @pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
    def test_large_logits_do_not_overflow(self, device, function):
        y = function(Variable(move(np.asarray([1e4, 0.0], "float32"), device))).numpy()
        assert y.tolist() == ([1.0, 0.0] if function is F.softmax else [0.0, -1e4])

    @pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
    def test_integers_are_taken_as_float32(self, device, function):
        assert function(Variable(move(np.asarray([1, 2], "int32"), device))).dtype == "float32"

    @pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
    def test_complex_numbers_and_lists_are_refused(self, function):
        with pytest.raises(DTypeError, match="must be real, but its dtype is complex64"):
            function(np.zeros(2, "complex64"))
        with pytest.raises(TypeError, match=r"must be a Variable or an array, but it is a list"):
            function([1.0, 2.0])

    @pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
    def test_empty_arrays_stay_empty_along_every_axis(self, device, function):
        for axis in (0, 1):
            x = Variable(move(np.zeros((0, 3), "float32"), device), requires_grad=True)
            y = function(x, axis=axis)
            y.backward(y.detach())
            assert y.shape == x.grad.shape == (0, 3)

    @pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
    def test_an_axis_that_is_not_there_is_refused_alike(self, device, function):
        with pytest.raises(ShapeError, match=r"one of the 0 axes of x, but it is -1 and x.shape is \(\).*af.reshape"):
            function(Variable(move(np.asarray(1.0, "float32"), device)))
        with pytest.raises(ShapeError, match=r"softmax: axis must be one of the 1 axes of x, but it is 1"):
            function(Variable(move(np.ones(2, "float32"), device)), axis=1)
