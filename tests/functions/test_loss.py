"""Softmax cross entropy: values and gradients as PyTorch has them, and errors that say what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import arrayflow as af
from arrayflow import functions as F
from arrayflow.config import using_config
from arrayflow.device import move, to_host
from arrayflow.errors import DeviceMismatchError, DTypeError, ShapeError
from arrayflow.testing import check_grads
from arrayflow.transfers import transfers

RNG = np.random.default_rng(0)


def put(host, device):
    """A Variable with the host's values on a device, in the types that it has."""
    from arrayflow.autograd import Variable

    kinds = device.backend.dtypes_on(device.native)
    if str(host.dtype) not in kinds:
        host = host.astype({"float64": "float32", "int64": "int32"}[str(host.dtype)])
    return Variable(move(host, device))


class TestSoftmaxCrossEntropy:
    @pytest.mark.parametrize("batch", [(1,), (3,), (2, 3)])
    def test_equal_logits_cost_log_of_the_class_count(self, xp, device, batch):
        logits = xp.zeros((*batch, 4), device=device)
        loss = F.softmax_cross_entropy(logits, xp.zeros(batch, dtype="int32", device=device))
        assert (loss.shape, loss.dtype, loss.device) == ((), "float32", device)
        assert float(loss) == pytest.approx(math.log(4))

    @pytest.mark.parametrize("shape", [(5, 7), (2, 3, 4), (4,)])
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_value_and_gradient_are_pytorchs(self, device, float_dtypes, shape, dtype):
        if dtype not in float_dtypes:
            pytest.skip(f"{device} has no {dtype}")
        z = RNG.standard_normal(shape).astype(dtype)
        t = RNG.integers(0, shape[-1], shape[:-1])
        logits = put(z, device)
        logits.requires_grad = True
        loss = F.softmax_cross_entropy(logits, put(np.asarray(t), device))
        (loss * 3).backward()
        oracle = torch.tensor(z, requires_grad=True)
        k = shape[-1]
        expected = torch.nn.functional.cross_entropy(oracle.reshape(-1, k), torch.as_tensor(t).reshape(-1))
        (expected * 3).backward()
        tolerance = 1e-6 if dtype == "float32" else 1e-14
        assert loss.dtype == dtype
        assert float(loss) == pytest.approx(expected.item(), rel=tolerance)
        np.testing.assert_allclose(to_host(logits.grad.array), oracle.grad.numpy(), rtol=0, atol=tolerance)
        assert logits.grad.device is device

    def test_large_logits_do_not_overflow(self, device):
        loss = F.softmax_cross_entropy(
            put(np.asarray([[1e4, 0.0], [0.0, -1e4]], "float32"), device), put(np.asarray([0, 1]), device)
        )
        assert float(loss) == 5000.0

    @pytest.mark.parametrize("shape", [(3, 4), (2, 2, 3)])
    def test_second_derivatives(self, device, shape):
        t = put(RNG.integers(0, shape[-1], shape[:-1]), device)
        check_grads(lambda z: F.softmax_cross_entropy(z, t), put(RNG.standard_normal(shape), device))

    @pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
    def test_labels_of_every_integer_type(self, device, dtype):
        if dtype not in device.backend.dtypes_on(device.native):
            pytest.skip(f"{device} has no {dtype}")
        loss = F.softmax_cross_entropy(
            put(np.eye(3, dtype="float32"), device), put(np.asarray([0, 1, 2], dtype), device)
        )
        assert float(loss) == pytest.approx(math.log(2 + math.e) - 1, rel=1e-6)

    def test_integer_logits_are_taken_as_float32(self, device):
        loss = F.softmax_cross_entropy(
            put(np.eye(3, dtype="int32"), device), put(np.asarray([0, 1, 2], "int32"), device)
        )
        assert loss.dtype == "float32"
        assert float(loss) == pytest.approx(math.log(2 + math.e) - 1, rel=1e-6)

    def test_raw_arrays_give_a_raw_array(self, device):
        logits, labels = put(np.eye(3, dtype="float32"), device), put(np.asarray([0, 1, 2], "int32"), device)
        raw = F.softmax_cross_entropy(logits.array, labels.array)
        assert type(raw) is type(logits.array)
        assert float(raw) == float(F.softmax_cross_entropy(logits, labels))

    def test_columns_in_memory_order_give_the_same_gradient(self):
        z = np.asfortranarray(RNG.standard_normal((5, 3)))
        grads = []
        for array in (z, np.ascontiguousarray(z)):
            logits = put(array, __import__("arrayflow").Device("cpu"))
            logits.array = array
            logits.requires_grad = True
            F.softmax_cross_entropy(logits, np.asarray([0, 1, 2, 0, 1])).backward()
            grads.append(logits.grad.numpy())
        assert (grads[0] == grads[1]).all()

    def test_nothing_is_read_back(self, device):
        logits, labels = put(np.eye(3, dtype="float32"), device), put(np.asarray([0, 1, 2]), device)
        logits.requires_grad = True
        with transfers() as ledger:
            F.softmax_cross_entropy(logits, labels).backward()
        assert ledger.count == 0

    def test_nan_logits_give_nan(self, device):
        loss = F.softmax_cross_entropy(
            put(np.asarray([[np.nan, 0.0]], "float32"), device), put(np.asarray([0]), device)
        )
        assert math.isnan(float(loss))


class TestRefusals:
    def test_one_hot_labels_are_refused_with_both_shapes(self, xp, device):
        one_hot = xp.zeros((2, 4), dtype="int32", device=device)
        with pytest.raises(ShapeError, match=r"is \(2, 4\) and logits.shape is \(2, 4\).*xp|af.argmax"):
            F.softmax_cross_entropy(xp.zeros((2, 4), device=device), one_hot)

    def test_floating_labels_are_refused(self, xp, device):
        with pytest.raises(DTypeError, match=r"labels must be integers.*float32.*af\.astype"):
            F.softmax_cross_entropy(xp.zeros((2, 4), device=device), xp.zeros((2,), device=device))

    @pytest.mark.parametrize("shape", [(0, 4), (2, 0), (2, 0, 3)])
    def test_the_mean_over_nothing_is_refused(self, xp, device, shape):
        with pytest.raises(ShapeError, match=r"the mean over no labels.*Leave empty batches out"):
            F.softmax_cross_entropy(xp.zeros(shape, device=device), xp.zeros(shape[:-1], dtype="int32", device=device))

    @pytest.mark.parametrize("bad", [-1, 3])
    @pytest.mark.parametrize("shape", [(2,), (2, 1)])
    def test_labels_out_of_range_are_refused_under_debug(self, device, bad, shape):
        labels = put(np.asarray([0, bad]).reshape(shape), device)
        logits = put(np.zeros((*shape, 3), "float32"), device)
        with (
            using_config(debug=True),
            pytest.raises(ValueError, match=rf"in \[0, 3\).*from {min(0, bad)} to {max(0, bad)}"),
        ):
            F.softmax_cross_entropy(logits, labels)

    @pytest.mark.parametrize("bad", [-1, 3, 100])
    def test_elsewhere_they_make_the_loss_and_its_gradient_nan_without_a_read(self, device, bad):
        if device == "cpu":
            pytest.skip("on the host they are refused")
        logits = af.asarray([[0.0, 0.0, 5.0], [0.0, 0.0, 5.0]], device=device, requires_grad=True)
        labels = af.asarray([2, bad], dtype=af.int32, device=device)
        with af.transfers() as ledger:
            loss = F.softmax_cross_entropy(logits, labels)
            loss.backward()
        assert ledger.count == 0
        assert math.isnan(loss.item())
        assert np.isnan(logits.grad.numpy()[1]).all()

    @pytest.mark.parametrize("bad", [-1, 3])
    @pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
    def test_on_the_host_labels_out_of_range_are_always_refused(self, bad, dtype):
        with pytest.raises(ValueError, match=rf"in \[0, 3\).*from {min(0, bad)} to {max(0, bad)}"):
            F.softmax_cross_entropy(np.zeros((2, 3), "float32"), np.asarray([0, bad], dtype))

    def test_labels_on_another_device_are_named_before_any_arithmetic(self, device, elsewhere):
        logits, labels = put(np.eye(3, dtype="float32"), device), put(np.asarray([0, 1, 2]), elsewhere)
        with (
            transfers() as ledger,
            pytest.raises(DeviceMismatchError, match=rf"labels on {elsewhere}.*af.to_device\(labels, '{device}'\)"),
        ):
            F.softmax_cross_entropy(logits, labels)
        assert ledger.count == 0

    @pytest.mark.parametrize(("logits", "labels"), [([[0.0, 1.0]], [0]), (1.0, 0)])
    def test_lists_and_numbers_are_no_arrays(self, logits, labels):
        with pytest.raises(TypeError, match=r"logits|array"):
            F.softmax_cross_entropy(logits, labels)

    def test_a_number_beside_an_array_is_refused(self, device):
        with pytest.raises(TypeError, match="labels must be an array"):
            F.softmax_cross_entropy(put(np.eye(3, dtype="float32"), device), 0)
