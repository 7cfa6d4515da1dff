"""Host memory in and out of each library: the values arrive, and nobody shares memory with anybody."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from arrayflow.dtypes import DTYPES
from arrayflow.errors import DTypeError

LAYOUTS = {
    "contiguous": np.arange(6, dtype="float32").reshape(2, 3),
    "transposed": np.arange(6, dtype="float32").reshape(2, 3).T,
    "reversed": np.arange(6, dtype="float32")[::-1],
    "every other": np.arange(12, dtype="float32").reshape(3, 4)[::2, 1::2],
    "0-d": np.array(3.0, dtype="float32"),
    "empty": np.zeros((0, 3), dtype="float32"),
    "big-endian": np.arange(3, dtype=">f4"),
    "broadcast": np.broadcast_to(np.float32(2), (2, 3)),
    "unaligned": np.frombuffer(b"x" + np.arange(3, dtype="float32").tobytes(), dtype="float32", offset=1),
}


class TestFromHost:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_every_layout_arrives(self, device, layout):
        host = LAYOUTS[layout]
        x = device.backend.from_host(host, device.native)
        back = device.backend.to_host(x)
        assert device.backend.key(x) == device.native
        assert device.backend.dtype_of_raw[x.dtype] == "float32"
        assert type(back) is np.ndarray
        assert back.shape == host.shape
        np.testing.assert_array_equal(back, host)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_every_data_type_that_a_device_has_arrives_and_the_others_are_refused(self, device, dtype):
        if dtype == "bfloat16":
            pytest.importorskip("ml_dtypes")
        host = np.asarray([0, 1, 1]).astype(dtype)
        if dtype in device.backend.dtypes_on(device.native):
            back = device.backend.to_host(device.backend.from_host(host, device.native))
            assert back.dtype == host.dtype
            np.testing.assert_array_equal(back, host)
        else:
            with pytest.raises(DTypeError, match=rf"Device {device} has no {dtype}"):
                device.backend.from_host(host, device.native)

    @pytest.mark.parametrize(
        "host", [np.asarray([None]), np.asarray(["a"]), np.zeros(1, "M8[s]"), np.zeros(1, "f4,i4")]
    )
    def test_what_is_no_number_is_refused_by_name(self, device, host):
        with pytest.raises(DTypeError, match="is no data type of the array API standard"):
            device.backend.from_host(host, device.native)

    @pytest.mark.parametrize("size", [1, 16, 4096, 300_000])
    @pytest.mark.parametrize("offset", [0, 4], ids=["aligned", "unaligned"])
    def test_the_callers_buffer_can_be_used_again_at_once(self, device, size, offset):
        # JAX keeps a buffer that is aligned to 64 bytes; others may read it after the call has returned.
        room = np.zeros(4 * size + 128, dtype="uint8")
        start = -room.ctypes.data % 64 + offset
        buffer = room[start : start + 4 * size].view("float32")
        moved = []
        for number in range(10):
            buffer[:] = number
            moved.append(device.backend.from_host(buffer, device.native))
            buffer[:] = -1
        for number, x in enumerate(moved):
            assert np.all(device.backend.to_host(x) == number)

    def test_a_read_only_array_stays_as_it_is(self, device):
        host = np.arange(3, dtype="float32")
        host.flags.writeable = False
        x = device.backend.from_host(host, device.native)
        if device.backend.mutable:
            x[0] = 7
        np.testing.assert_array_equal(host, [0, 1, 2])


class TestToHost:
    def test_the_copy_is_the_callers_own(self, device):
        x = device.backend.from_host(np.arange(3, dtype="float32"), device.native)
        host = device.backend.to_host(x)
        host[0] = 7
        np.testing.assert_array_equal(device.backend.to_host(x), [0, 1, 2])

    def test_views_arrive_too(self, device):
        x = device.backend.from_host(np.arange(6, dtype="float32").reshape(2, 3), device.native)
        transposed = device.backend.op("matrix_transpose")(x)
        np.testing.assert_array_equal(device.backend.to_host(transposed), [[0, 3], [1, 4], [2, 5]])
        np.testing.assert_array_equal(device.backend.to_host(device.backend.op("flip")(x[1, :])), [5, 4, 3])

    def test_a_conjugate_view_of_torch_arrives_conjugated(self):
        torch = pytest.importorskip("torch")
        from arrayflow.backends.registry import get

        z = torch.tensor([1 + 2j])
        assert get("torch").to_host(torch.conj(z))[0] == 1 - 2j
        assert get("torch").to_host(torch.conj(z).imag)[0] == -2

    def test_bfloat16_without_ml_dtypes_says_what_to_do(self, monkeypatch):
        torch = pytest.importorskip("torch")
        from arrayflow.backends.registry import get

        monkeypatch.setitem(sys.modules, "ml_dtypes", None)
        with pytest.raises(DTypeError, match=r"pip install ml_dtypes\), or cast first: af\.astype\(x, af\.float32\)"):
            get("torch").to_host(torch.zeros(2, dtype=torch.bfloat16))


class TestCopy:
    def test_a_copy_stays_and_shares_nothing(self, device):
        x = device.backend.from_host(np.arange(3, dtype="float32"), device.native)
        y = device.backend.copy(x)
        assert device.backend.key(y) == device.native
        if device.backend.mutable:
            y[0] = 7
        np.testing.assert_array_equal(device.backend.to_host(x), [0, 1, 2])

    def test_between_two_devices_of_one_library_nothing_is_shared(self, device):
        backend = device.backend
        x = backend.from_host(np.arange(3, dtype="float32"), device.native)
        for name in backend.devices():
            if name == device:
                continue
            y = backend.transfer(x, backend.native(name))
            assert backend.name_of(backend.key(y)) == name
            if backend.mutable:
                y[0] = 7
        np.testing.assert_array_equal(backend.to_host(x), [0, 1, 2])

    def test_synchronize_returns(self, device):
        x = device.backend.from_host(np.ones((64, 64), dtype="float32"), device.native)
        y = device.backend.op("matmul")(x, x)
        device.synchronize()
        assert device.backend.to_host(y)[0, 0] == 64


class TestDevices:
    def test_names_and_native_devices_are_one_to_one(self, device):
        backend = device.backend
        names = backend.devices()
        assert [backend.name_of(backend.native(n)) for n in names] == list(names)
        assert len({backend.native(n) for n in names}) == len(names)
        assert backend.resolve("") == backend.native(names[0])

    def test_a_missing_index_is_zero(self, device):
        backend = device.backend
        for name in backend.devices():
            rest = name.partition(":")[2]
            assert backend.resolve(rest) == backend.native(name)
            if name.endswith(":0"):
                assert backend.resolve(rest.removesuffix(":0") if ":" in rest else "") == backend.native(name)

    def test_results_of_constants_stay_with_the_inputs(self, device):
        # JAX makes what does not depend on the values, isfinite of integers, on its default device.
        x = device.backend.from_host(np.asarray([1, 2], dtype="int32"), device.native)
        for name in ("isfinite", "isnan", "isinf", "zeros_like"):
            assert device.backend.key(device.backend.op(name)(x)) == device.native


class TestDTypesOnADevice:
    def test_jax_without_x64_offers_the_way_out(self):
        pytest.importorskip("jax")
        from arrayflow.backends.registry import get

        backend = get("jax")
        with pytest.raises(
            DTypeError, match=r"has no float64\. Cast first, where the data is: af\.astype\(x, af\.float32\)"
        ):
            backend.raw_dtype(DTYPES["float64"], backend.resolve("cpu"))
        with pytest.raises(
            DTypeError, match=r"has no int64\. Cast first, where the data is: af\.astype\(x, af\.int32\)"
        ):
            backend.raw_dtype(DTYPES["int64"], backend.resolve("cpu"))

    def test_jax_with_x64_has_them(self):
        jax = pytest.importorskip("jax")
        from arrayflow.backends.registry import get

        backend = get("jax")
        with jax.enable_x64(True):
            x = backend.from_host(np.ones(2), backend.resolve("cpu"))
            assert backend.dtype_of_raw[x.dtype] == "float64"

    def test_torchs_unsigned_types_fail_with_the_way_out(self):
        pytest.importorskip("torch")
        from arrayflow.backends.registry import get

        backend = get("torch")
        x = backend.from_host(np.ones(2, dtype="uint32"), backend.resolve("cpu"))
        with pytest.raises(
            DTypeError, match=r"PyTorch has no add for uint32 here\. Cast first: af\.astype\(x, af\.int64\)"
        ):
            backend.op("add")(x, x)
