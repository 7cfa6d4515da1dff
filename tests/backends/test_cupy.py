"""`_cupy.py` against a stand-in for CuPy with two devices and no GPU; and CuPy itself, where it lacks a driver."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from arrayflow.backends._cupy import CupyBackend
from arrayflow.dtypes import DTYPES
from arrayflow.errors import BackendUnavailableError, DTypeError

from . import cupy_stand_in as stand_in

FLOAT32 = DTYPES["float32"]


@pytest.fixture
def log(monkeypatch):
    yield stand_in.install(monkeypatch)
    sys.modules.pop("arrayflow.backends._cupy_kernels", None)


@pytest.fixture
def backend(log):
    return CupyBackend()


def on(backend, index, *shape):
    return backend.from_host(np.ones(shape, dtype="float32"), index)


class TestDevices:
    def test_names(self, backend):
        assert backend.devices() == ("cuda:0", "cuda:1")
        assert [backend.native(n) for n in backend.devices()] == [0, 1]
        assert [backend.resolve(rest) for rest in ("", "0", "1")] == [0, 0, 1]

    def test_the_key_of_an_array_is_its_memorys_device(self, backend):
        assert [backend.key(on(backend, i, 2)) for i in (0, 1)] == [0, 1]


class TestTheCurrentDevice:
    @pytest.mark.parametrize("current", [0, 1])
    @pytest.mark.parametrize("index", [0, 1])
    def test_creation_allocates_where_it_was_asked_to(self, backend, log, current, index):
        log.current = current
        made = [
            backend.create("zeros", index, (2, 3), dtype=FLOAT32),
            backend.create("full", index, (2,), 1.0, dtype=FLOAT32),
            backend.create("arange", index, 4, dtype=FLOAT32),
            backend.create("empty", index, (0,), dtype=FLOAT32),
        ]
        assert {backend.key(x) for x in made} == {index}
        assert log.current == current

    def test_functions_compute_where_their_inputs_are(self, backend, log):
        x = on(backend, 1, 3, 2)
        made = [
            backend.op("exp")(x),
            backend.op("add")(2.0, x),
            backend.op("concat")([x, x], axis=0),
            backend.op("stack")((x, x)),
            backend.op("sum")(x, axis=0),
            *backend.op("unstack")(x),
            backend.op("linear")(x, on(backend, 1, 4, 2), on(backend, 1, 4)),
            backend.op("relu")(x),
        ]
        assert {backend.key(y) for y in made} == {1}
        assert log.current == 0
        assert log.strangers == []

    def test_the_current_device_comes_back_after_an_error(self, backend, log):
        with pytest.raises(ValueError, match="matmul"):
            backend.op("matmul")(on(backend, 1, 2, 3), on(backend, 1, 2, 3))
        assert log.current == 0
        with pytest.raises(TypeError):
            backend.create("zeros", 1, "no shape", dtype=FLOAT32)
        assert log.current == 0

    def test_with_one_device_nothing_is_wrapped(self, monkeypatch, log):
        stand_in.install(monkeypatch, count=lambda: 1)
        function = object()
        assert CupyBackend().bind(function) is function


class TestMoving:
    @pytest.mark.parametrize("index", [0, 1])
    def test_there_and_back(self, backend, log, index):
        host = np.arange(6, dtype=">f4").reshape(2, 3).T
        x = backend.from_host(host, index)
        assert backend.key(x) == index
        assert x.dtype == np.dtype("float32")
        back = backend.to_host(x)
        assert type(back) is np.ndarray
        np.testing.assert_array_equal(back, host)
        assert log.strangers == []
        assert log.current == 0

    def test_the_host_waits_for_the_device_that_computes(self, backend, log):
        x = on(backend, 1, 2)
        log.waits.clear()
        backend.to_host(x)
        assert log.waits == {1: 1}

    def test_between_devices_both_are_waited_for(self, backend, log):
        x = on(backend, 1, 2)
        log.waits.clear()
        y = backend.transfer(x, 0)
        assert backend.key(y) == 0
        assert log.waits == {0: 1, 1: 1}
        y[0] = 7
        assert backend.to_host(x)[0] == 1

    def test_a_copy_stays(self, backend, log):
        x = on(backend, 1, 2)
        y = backend.copy(x)
        assert backend.key(y) == 1
        y[0] = 7
        assert backend.to_host(x)[0] == 1
        assert log.current == 0

    def test_a_type_that_it_lacks_is_refused(self, backend):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        with pytest.raises(DTypeError, match="Device cuda:1 has no bfloat16"):
            backend.from_host(np.zeros(2, dtype=ml_dtypes.bfloat16), 1)


class TestNatives:
    @pytest.mark.parametrize("repeats", [[0, 2, 1], [2], 3])
    @pytest.mark.parametrize("axis", [0, -1])
    def test_repeat_with_counts_on_the_device(self, backend, log, repeats, axis):
        host = np.arange(9, dtype="float32").reshape(3, 3)
        counts = backend.from_host(np.asarray(repeats), 1)
        got = backend.op("repeat")(backend.from_host(host, 1), counts, axis=axis)
        np.testing.assert_array_equal(backend.to_host(got), np.repeat(host, repeats, axis))
        assert backend.key(got) == 1
        assert log.strangers == []

    def test_repeat_of_nothing(self, backend):
        counts = backend.from_host(np.zeros(0, dtype="int64"), 0)
        assert backend.op("repeat")(on(backend, 0, 0), counts).shape == (0,)


class TestNoGPU:
    def test_without_a_driver_the_reason_is_cupys(self, monkeypatch):
        def fail():
            raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

        stand_in.install(monkeypatch, count=fail)
        with pytest.raises(BackendUnavailableError, match=r"^cupy is installed, .* a GPU here: cudaErrorIns"):
            CupyBackend()

    def test_with_a_driver_and_no_gpu(self, monkeypatch):
        stand_in.install(monkeypatch, count=lambda: 0)
        with pytest.raises(BackendUnavailableError, match=r"shows no GPU\. Is CUDA_VISIBLE_DEVICES empty\?"):
            CupyBackend()

    def test_cupy_itself(self):
        cupy = pytest.importorskip("cupy")
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except RuntimeError:
            count = 0
        if count:
            assert CupyBackend().devices()[0] == "cuda:0"
        else:
            with pytest.raises(BackendUnavailableError, match="cupy is installed, but"):
                CupyBackend()
