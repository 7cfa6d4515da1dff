"""The random stream: the same numbers on every device, by path and step."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import stats

from arrayflow import random
from arrayflow.errors import DTypeError
from arrayflow.transfers import transfers

DRAWS = {
    "uniform": lambda **kw: random.uniform((5, 3), -1.0, 3.0, **kw),
    "normal": lambda **kw: random.normal((5, 3), 1.0, 2.0, **kw),
    "mask": lambda **kw: random.mask((5, 3), 0.25, **kw),
    "permutation": lambda **kw: random.permutation(15, **kw),
    "integers": lambda **kw: random.integers((5, 3), -3, 100, **kw),
}


@pytest.fixture(autouse=True)
def own_stream():
    state = random.get_state()
    random.seed(0)
    yield
    random.set_state(state)


class TestDevices:
    @pytest.mark.parametrize("name", DRAWS)
    def test_every_draw_is_bit_identical_to_the_hosts(self, device, name):
        there = DRAWS[name](device=device, path="p")
        random.seed(0)
        here = DRAWS[name](device="cpu", path="p")
        assert there.device is device
        assert there.numpy().tobytes() == here.numpy().astype(there.dtype).tobytes()

    def test_an_upload_is_one_recorded_event(self, device):
        with transfers() as ledger:
            random.uniform((4,), device=device)
        expected = [] if device.is_host else [("h2d", "explicit", "random", 16)]
        assert [(e.direction, e.kind, e.entry, e.bytes) for e in ledger.entries] == expected

    def test_float64_where_there_is_none_is_refused_and_counts_as_no_draw(self, device):
        if "float64" in device.backend.dtypes_on(device.native):
            assert random.normal((2,), dtype="float64", device=device).dtype == "float64"
        else:
            with pytest.raises(DTypeError, match=r"has no float64\. Cast first"):
                random.normal((2,), dtype="float64", device=device)
            assert random.get_state()["steps"] == {}

    def test_half_precision_stays_below_the_upper_bound(self, device):
        if "float16" in device.backend.dtypes_on(device.native):
            x = random.uniform((4096,), dtype="float16", device=device).numpy()
            assert x.dtype == np.float16
            assert x.max() < 1.0


class TestStream:
    def test_numbers_are_pinned_for_all_times(self):
        # A change here changes every seeded experiment: it must not come by accident.
        draw = np.concatenate(
            [
                random.uniform((1000,), device="cpu", path="a").numpy().view(np.uint32),
                random.normal((1000,), device="cpu", path="a").numpy().view(np.uint32),
                random.normal((999,), dtype="float64", device="cpu", path="b").numpy().view(np.uint32),
                random.permutation(100, device="cpu", path="c").numpy().astype(np.uint32),
                random.mask((100,), 0.3, device="cpu", path="c").numpy().astype(np.uint32),
                random.integers((100,), 0, 7, device="cpu", path="c").numpy().astype(np.uint32),
            ]
        )
        digest = hashlib.sha256(draw.astype("<u4").tobytes()).hexdigest()
        assert digest[:16] == "d8825970906724b7"

    def test_a_draw_elsewhere_changes_no_other_paths_numbers(self):
        alone = random.normal((3,), device="cpu", path="a").numpy()
        random.seed(0)
        random.normal((7,), device="cpu", path="b")
        assert (random.normal((3,), device="cpu", path="a").numpy() == alone).all()

    def test_each_draw_of_a_path_is_another(self):
        first, second = (random.normal((3,), device="cpu", path="a").numpy() for _ in range(2))
        assert (first != second).all()

    def test_a_longer_draw_begins_like_a_shorter_one(self):
        short = random.normal((4,), device="cpu", path="a").numpy()
        random.seed(0)
        assert (random.normal((9,), device="cpu", path="a").numpy()[:4] == short).all()

    def test_state_resumes_exactly_in_another_process(self):
        random.uniform((2,), device="cpu", path="a")
        state = random.get_state()
        expected = random.uniform((2,), device="cpu", path="a").numpy().tolist()
        program = (
            f"from arrayflow import random\nrandom.set_state({state!r})\n"
            "print(random.uniform((2,), device='cpu', path='a').numpy().tolist())"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == repr(expected)

    def test_a_process_without_a_seed_has_one_of_its_own(self):
        program = "from arrayflow import random; print(random.get_state()['seed'])"
        seeds = {
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            for _ in range(2)
        }
        assert len(seeds) == 2

    def test_the_path_by_default_is_the_function_that_calls(self):
        def first():
            return random.uniform((2,), device="cpu").numpy()

        def second():
            return random.uniform((2,), device="cpu").numpy()

        a = first()
        random.seed(0)
        second()
        assert (first() == a).all()
        assert all("first" in path or "second" in path for path in random.get_state()["steps"])

    def test_threads_lose_no_step(self):
        def draw():
            for _ in range(200):
                random.mask((1,), 0.5, device="cpu", path="shared")

        threads = [threading.Thread(target=draw) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert random.get_state()["steps"] == {"shared": 800}

    @pytest.mark.parametrize("value", [-1, 2**64])
    def test_a_seed_out_of_range_is_refused_and_changes_nothing(self, value):
        before = random.get_state()
        with pytest.raises(ValueError, match=rf"must lie in \[0, 2\*\*64\), but it is {value}"):
            random.seed(value)
        assert random.get_state() == before

    def test_a_seed_that_is_no_integer_is_refused(self):
        with pytest.raises(TypeError):
            random.seed(0.5)


class TestDistributions:
    def test_uniform_numbers_are_uniform(self):
        x = random.uniform((20000,), -1.0, 3.0, device="cpu").numpy()
        assert stats.kstest(x, stats.uniform(-1, 4).cdf).pvalue > 1e-3
        assert x.min() >= -1
        assert x.max() < 3

    def test_uniform_never_gives_its_upper_bound(self):
        x = random.uniform((200000,), 1.0, 1.0 + 2**-20, device="cpu").numpy()
        assert x.max() < np.float32(1.0 + 2**-20)

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_normal_numbers_are_normal(self, dtype):
        x = random.normal((20001,), 2.0, 0.5, dtype=dtype, device="cpu").numpy()
        assert stats.kstest(x, stats.norm(2, 0.5).cdf).pvalue > 1e-3
        assert abs(np.corrcoef(x[:-1:2], x[1::2])[0, 1]) < 0.03

    def test_the_logarithm_and_the_circle_are_exact_to_the_last_bits(self):
        from arrayflow.backends import _numpy_random as inner

        u = random.uniform((100000,), dtype="float64", device="cpu").numpy() + 2.0**-53
        u = np.concatenate([u, 2.0 ** -np.arange(54.0), 1 - 2.0 ** -np.arange(1, 54.0)])
        np.testing.assert_array_max_ulp(inner._log(u), np.log(u), 2)
        cosine, sine = inner._cos_sin_of_turn(u % 1.0)
        np.testing.assert_allclose(cosine, np.cos(2 * np.pi * (u % 1.0)), rtol=0, atol=1e-15)
        np.testing.assert_allclose(sine, np.sin(2 * np.pi * (u % 1.0)), rtol=0, atol=1e-15)

    @pytest.mark.parametrize("keep", [0.0, 0.3, 1.0])
    def test_a_mask_keeps_its_share(self, keep):
        x = random.mask((20000,), keep, device="cpu").numpy()
        assert x.dtype == np.bool_
        assert abs(x.mean() - keep) < 0.015 * (0 < keep < 1) or x.mean() == keep

    def test_integers_cover_their_range_evenly(self):
        x = random.integers((70000,), -3, 4, device="cpu").numpy()
        assert stats.chisquare(np.bincount(x + 3, minlength=7)).pvalue > 1e-3

    @pytest.mark.parametrize(
        ("low", "high"), [(-(2**63), 2**63), (-(2**63), 2**63 - 3), (0, 2**32), (5, 6), (-(2**62), 2**62 + 1)]
    )
    def test_integers_stay_in_wide_and_narrow_ranges(self, low, high):
        x = random.integers((1000,), low, high, device="cpu").numpy()
        assert all(low <= int(v) < high for v in x)

    def test_a_permutation_has_each_number_once(self):
        assert sorted(random.permutation(1000, device="cpu").numpy().tolist()) == list(range(1000))

    def test_empty_and_0d_shapes(self, device):
        assert random.normal((0, 3), device=device).shape == (0, 3)
        assert random.uniform((), device=device).shape == ()
        assert random.permutation(0, device=device).shape == (0,)


class TestRefusals:
    @pytest.mark.parametrize(
        ("draw", "text"),
        [
            (lambda d: random.uniform((2,), 1.0, 0.0, device=d), "low is 1.0 and high is 0.0"),
            (lambda d: random.uniform((2,), float("nan"), device=d), "low must be finite, but it is nan"),
            (lambda d: random.normal((2,), 0.0, -1.0, device=d), "std must not be negative, but it is -1.0"),
            (lambda d: random.mask((2,), 1.5, device=d), r"in \[0, 1\], but it is 1.5"),
            (lambda d: random.integers((2,), 3, 3, device=d), "low is 3 and high is 3"),
            (lambda d: random.integers((2,), 0, 300, dtype="uint8", device=d), r"\[0, 300\) is not within \[0, 256\)"),
            (lambda d: random.uniform((-1,), device=d), r"the shape is \(-1,\)"),
        ],
    )
    def test_bad_numbers_are_named_and_draw_nothing(self, draw, text):
        with pytest.raises(ValueError, match=text):
            draw("cpu")
        assert random.get_state()["steps"] == {}

    def test_types_of_the_wrong_kind_are_refused(self):
        with pytest.raises(DTypeError, match="real floating data type is needed, but int32"):
            random.uniform((2,), dtype="int32", device="cpu")
        with pytest.raises(DTypeError, match="integral data type is needed, but float32"):
            random.integers((2,), 0, 3, dtype="float32", device="cpu")
