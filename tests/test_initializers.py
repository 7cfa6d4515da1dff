"""Initializers: spread, place, and the same bits on every device."""

from __future__ import annotations

import math

import pytest

from arrayflow import initializers as I
from arrayflow import random
from arrayflow.transfers import transfers

RANDOM = {
    "Uniform": (I.Uniform(0.3), 0.3 / math.sqrt(3)),
    "Normal": (I.Normal(0.3), 0.3),
    "LeCunNormal": (I.LeCunNormal(), math.sqrt(1 / 200)),
    "HeNormal": (I.HeNormal(), math.sqrt(2 / 200)),
    "HeUniform": (I.HeUniform(), math.sqrt(2 / 200)),
    "GlorotNormal": (I.GlorotNormal(2.0), 2 * math.sqrt(2 / 500)),
    "GlorotUniform": (I.GlorotUniform(), math.sqrt(2 / 500)),
}


@pytest.fixture(autouse=True)
def own_stream():
    state = random.get_state()
    random.seed(0)
    yield
    random.set_state(state)


@pytest.mark.parametrize("name", RANDOM)
class TestRandom:
    def test_the_spread_follows_from_the_fans(self, name):
        draw, std = RANDOM[name]
        x = draw((300, 200), device="cpu", path="w").numpy()
        assert x.std() == pytest.approx(std, rel=0.02)
        assert abs(x.mean()) < 0.02 * std

    def test_the_bits_are_the_same_on_every_device(self, name, device):
        draw, _ = RANDOM[name]
        there = draw((4, 3), dtype="float32", device=device, path="w")
        random.seed(0)
        here = draw((4, 3), dtype="float32", device="cpu", path="w")
        assert there.device is device
        assert there.numpy().tobytes() == here.numpy().tobytes()

    def test_empty_shapes_divide_by_no_zero(self, name):
        assert RANDOM[name][0]((3, 0), device="cpu", path="w").shape == (3, 0)

    def test_a_bad_scale_is_refused(self, name):
        with pytest.raises(ValueError, match="scale must be finite and at least 0, but it is -1"):
            type(RANDOM[name][0])(-1)


class TestConstant:
    def test_constants_are_made_where_they_live_and_move_nothing(self, device):
        with transfers() as ledger:
            x = I.Constant(0.5)((2, 3), dtype="float32", device=device, path="w")
        assert (x.device, x.dtype, x.shape) == (device, "float32", (2, 3))
        assert ledger.count == 0
        assert (x.numpy() == 0.5).all()
        assert (I.Ones()((2,), device=device).numpy() == 1).all()
        assert (I.Zeros()((2,), device=device).numpy() == 0).all()


class TestFans:
    @pytest.mark.parametrize(
        ("shape", "expected"), [((10, 784), (784, 10)), ((16, 3, 5, 5), (75, 400)), ((7,), (7, 7)), ((), (1, 1))]
    )
    def test_fans_count_the_terms_of_a_sum(self, shape, expected):
        assert I.fans(shape) == expected
