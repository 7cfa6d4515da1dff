"""Dropout: what it keeps, the same on every device, and when it does nothing."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow import functions as F
from arrayflow import random
from arrayflow.autograd import Variable
from arrayflow.config import using_config
from arrayflow.device import move
from arrayflow.transfers import transfers


@pytest.fixture(autouse=True)
def own_stream():
    state = random.get_state()
    random.seed(0)
    yield
    random.set_state(state)


def ones(device, shape=(50, 40), dtype="float32"):
    return Variable(move(np.ones(shape, dtype), device), requires_grad=dtype.startswith("float"))


class TestDropout:
    def test_elements_are_dropped_or_scaled_up_and_gradients_alike(self, device):
        x = ones(device)
        y = F.dropout(x, 0.25)
        y.backward(ones(device).detach())
        kept = y.numpy() != 0
        np.testing.assert_allclose(y.numpy()[kept], 4 / 3, rtol=1e-6)
        assert abs(kept.mean() - 0.75) < 0.05
        assert (x.grad.numpy() == y.numpy()).all()
        assert y.device is device

    def test_the_mask_is_the_same_on_every_device(self, device):
        there = F.dropout(ones(device), 0.5, path="p").numpy()
        random.seed(0)
        here = F.dropout(ones(__import__("arrayflow").Device("cpu")), 0.5, path="p").numpy()
        assert (there == here).all()

    def test_the_mask_goes_up_and_nothing_comes_back(self, device):
        x = ones(device)
        with transfers() as ledger:
            F.dropout(x, 0.5).backward(x.detach())
        assert [(e.direction, e.bytes) for e in ledger.entries] == ([] if device.is_host else [("h2d", 2000)])

    def test_in_evaluation_and_with_ratio_0_it_is_the_identity_and_draws_nothing(self, device):
        x = ones(device)
        with using_config(train=False):
            assert F.dropout(x, 0.5) is x
        assert F.dropout(x, 0.0) is x
        assert random.get_state()["steps"] == {}

    def test_raw_arrays_give_a_raw_array(self, device):
        raw = ones(device).array
        assert type(F.dropout(raw, 0.5)) is type(raw)

    def test_integers_are_taken_as_float32(self, device):
        assert F.dropout(ones(device, dtype="int32"), 0.5).dtype == "float32"

    @pytest.mark.parametrize("ratio", [-0.1, 1.0, 1.5, float("nan")])
    def test_a_ratio_that_is_no_probability_below_1_is_refused(self, ratio):
        with pytest.raises(ValueError, match=r"in \[0, 1\), but it is"):
            F.dropout(np.ones(3, "float32"), ratio)

    def test_a_list_is_refused(self):
        with pytest.raises(TypeError, match="dropout: x must be a Variable or an array, but it is a list"):
            F.dropout([1.0], 0.5)
