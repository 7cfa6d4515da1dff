"""Accuracy: a number on the device, without a read."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow import functions as F
from arrayflow.autograd import Variable
from arrayflow.device import move
from arrayflow.errors import DeviceMismatchError, DTypeError, ShapeError
from arrayflow.transfers import transfers

LOGITS = np.asarray([[0, 1, 2], [2, 1, 0], [0, 3, 0], [1, 1, 0]], "float32")


class TestAccuracy:
    @pytest.mark.parametrize("dtype", ["int32", "uint8"])
    def test_the_share_of_largest_logits_at_the_label(self, device, dtype):
        logits = Variable(move(LOGITS, device), requires_grad=True)
        labels = Variable(move(np.asarray([2, 0, 0, 0], dtype), device))
        with transfers() as ledger:
            y = F.accuracy(logits, labels)
        assert ledger.count == 0
        assert (y.shape, y.dtype, y.device, y.requires_grad) == ((), "float32", device, False)
        assert float(y) == 0.75

    def test_several_leading_axes(self, device):
        logits, labels = move(LOGITS.reshape(2, 2, 3), device), move(np.asarray([[2, 0], [0, 0]], "int32"), device)
        assert float(F.accuracy(logits, labels)) == 0.75

    def test_raw_arrays_give_a_raw_array(self, device):
        logits, labels = move(LOGITS, device), move(np.asarray([2, 0, 1, 1], "int32"), device)
        assert type(F.accuracy(logits, labels)) is type(logits)


class TestRefusals:
    def test_shapes_types_and_empty_batches(self, device):
        logits = Variable(move(LOGITS, device))
        with pytest.raises(ShapeError, match=r"labels.shape is \(4, 3\) and logits.shape is \(4, 3\)"):
            F.accuracy(logits, Variable(move(LOGITS.astype("int32"), device)))
        with pytest.raises(DTypeError, match="labels must be integers, but their dtype is float32"):
            F.accuracy(logits, Variable(move(np.zeros(4, "float32"), device)))
        with pytest.raises(ShapeError, match="the mean over no labels"):
            F.accuracy(Variable(move(LOGITS[:0], device)), Variable(move(np.zeros(0, "int32"), device)))

    def test_labels_elsewhere(self, device, elsewhere):
        with pytest.raises(DeviceMismatchError, match=f"{elsewhere}"):
            F.accuracy(Variable(move(LOGITS, device)), Variable(move(np.zeros(4, "int32"), elsewhere)))
