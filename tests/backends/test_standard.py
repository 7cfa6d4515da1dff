"""Each function of the standard's chapters exists on each backend and computes what NumPy computes."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy as reference
import numpy as np
import pytest

from arrayflow.dtypes import as_dtype

from .cases import CASES
from .maker import Maker

# Shapes that depend on values, or boolean masks: array-api-strict has them switched off elsewhere.
DATA_DEPENDENT = ("nonzero", "repeat", "unique_all", "unique_counts", "unique_inverse", "unique_values")
# The sign of a zero is left open by the standard, means nothing, or, in PyTorch's remainder, is not the divisor's.
ZERO_SIGN_OPEN = ("maximum", "minimum", "remainder", "sign")
# Libraries that compile each call of a new shape or type run fewer of both.
COMPILED = {"cuda": ("int32", "float32", "complex64", "bool"), "jax": ("int32", "float32", "complex64", "bool")}
COMPILED["dpnp"] = ("float32", "bool")  # up to a second for each
WIDTH_MATTERS = ("cumulative_prod", "cumulative_sum", "prod", "sum")


def flat(result: Any) -> list[Any]:
    """The arrays of a result, which may be a tuple of them."""
    return [array for part in result for array in flat(part)] if isinstance(result, tuple | list) else [result]


def widest(name: str, device: Any) -> str:
    """NumPy's type of a result, or the 32-bit one where a device has no other."""
    return name if name in device.backend.dtypes_on(device.native) else name.replace("64", "32")


def assert_same(name: str, got: Any, want: Any, device: Any) -> None:
    backend = device.backend
    got, want = [backend.as_array(x) for x in flat(got)], [np.asarray(x) for x in flat(want)]
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        assert isinstance(x, backend.array_types)
        assert backend.key(x) == device.native
        assert backend.dtype_of_raw[x.dtype] == widest(y.dtype.name, device)
        host = backend.to_host(x)
        assert host.shape == y.shape
        single = host.dtype.name in ("float32", "complex64")
        np.testing.assert_allclose(host, y, rtol=1e-5 if single else 1e-12, atol=1e-6 if single else 1e-13)
        if host.dtype.kind == "f" and name not in ZERO_SIGN_OPEN:
            assert np.all((np.signbit(host) == np.signbit(y)) | np.isnan(y))


@pytest.mark.data_dependent
@pytest.mark.parametrize("name", CASES)
class TestFunctions:
    def test_it_agrees_with_numpy(self, name, device):
        dtypes, calls = CASES[name]
        if device.backend.prefix in COMPILED:
            calls = calls[:3]
            few = COMPILED[device.backend.prefix]
            if name in WIDTH_MATTERS and "int32" in few:
                few = (*few, "uint8")
            dtypes = [d for d in dtypes if d in few] or dtypes[:1]
        function = device.backend.op(name)
        has = device.backend.dtypes_on(device.native)
        with np.errstate(all="ignore"):
            for dtype in (d for d in dtypes if d in has):
                for number, call in enumerate(calls):
                    want = call(getattr(reference, name), Maker(dtype, lambda host: host))
                    if want is None:
                        continue
                    try:
                        got = call(function, Maker(dtype, lambda host: device.backend.from_host(host, device.native)))
                        assert_same(name, got, want, device)
                    except Exception as error:
                        error.add_note(f"{name}, {dtype}, call {number} of tests/backends/cases.py")
                        raise


class TestCreation:
    """Through `Backend.create`, which is how the framework makes arrays."""

    @pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
    @pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
    def test_zeros_ones_empty_full(self, device, shape, dtype):
        create, dtype = device.backend.create, as_dtype(dtype)
        assert_same("zeros", create("zeros", device.native, shape, dtype=dtype), np.zeros(shape, dtype), device)
        assert_same("ones", create("ones", device.native, shape, dtype=dtype), np.ones(shape, dtype), device)
        assert_same("full", create("full", device.native, shape, 1, dtype=dtype), np.full(shape, 1, dtype), device)
        empty = create("empty", device.native, shape, dtype=dtype)
        assert tuple(empty.shape) == shape
        assert device.backend.key(empty) == device.native

    def test_arange_linspace_eye(self, device):
        create, int32, float32 = device.backend.create, as_dtype("int32"), as_dtype("float32")
        assert_same("arange", create("arange", device.native, 4, dtype=int32), np.arange(4, dtype="int32"), device)
        got = create("arange", device.native, 5, -1, -2, dtype=float32)
        assert_same("arange", got, np.arange(5, -1, -2, dtype="float32"), device)
        got = create("linspace", device.native, 0.0, 1.0, 4, dtype=float32, endpoint=False)
        assert_same("linspace", got, np.linspace(0, 1, 4, endpoint=False, dtype="float32"), device)
        got = create("eye", device.native, 2, 3, k=1, dtype=float32)
        assert_same("eye", got, np.eye(2, 3, k=1, dtype="float32"), device)

    @pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like"])
    def test_like_stays_where_the_array_is(self, device, name):
        x = device.backend.from_host(np.ones((2, 3), dtype="float32"), device.native)
        made = device.backend.op(name)(x, 2) if name == "full_like" else device.backend.op(name)(x)
        assert device.backend.key(made) == device.native
        assert tuple(made.shape) == (2, 3)
        assert device.backend.dtype_of_raw[made.dtype] == "float32"


class TestDataTypes:
    def test_astype(self, device):
        x = device.backend.from_host(np.asarray([1.7, 0.0, -1.2], dtype="float32"), device.native)
        for dtype in ("int32", "bool", "float32", "complex64"):
            raw = device.backend.raw_dtype(as_dtype(dtype), device.native)
            got = device.backend.op("astype")(x, raw)
            assert_same("astype", got, np.asarray([1.7, 0.0, -1.2], dtype="float32").astype(dtype), device)

    def test_finfo_iinfo_isdtype(self, device):
        single = device.backend.raw_dtype(as_dtype("float32"), device.native)
        byte = device.backend.raw_dtype(as_dtype("uint8"), device.native)
        info = device.backend.op("finfo")(single)
        assert (info.bits, float(info.eps)) == (32, float(np.finfo("float32").eps))
        assert int(device.backend.op("iinfo")(byte).max) == 255
        assert device.backend.op("isdtype")(single, "real floating")
        assert not device.backend.op("isdtype")(byte, ("bool", "real floating"))

    def test_result_type(self, device):
        half, single = (device.backend.raw_dtype(as_dtype(n), device.native) for n in ("int8", "int32"))
        assert device.backend.op("result_type")(half, single) == single

    def test_broadcast_shapes(self, device):
        assert tuple(device.backend.op("broadcast_shapes")((3, 1), (4,))) == (3, 4)
