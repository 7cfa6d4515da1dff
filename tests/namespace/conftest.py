"""Arrays on the device under test, and their values back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayflow.namespace  # noqa: F401  (puts the operators on Variable)
from arrayflow.autograd import Variable
from arrayflow.device import Device, device_of_raw, move, to_host

# What stands in for a data type on a device that lacks it.
NARROWER = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


@pytest.fixture
def make(device: Device) -> Callable[..., Variable]:
    """Variables on the device from anything NumPy takes; floating ones are float32 unless told otherwise."""

    def make(values: Any, dtype: str | None = None, grad: bool = False, on: Any = None) -> Variable:
        host = np.asarray(values)
        if dtype is None:
            dtype = {"f": "float32", "c": "complex64"}.get(host.dtype.kind, host.dtype.name)
        there = device if on is None else Device(on)
        if not any(d == dtype for d in there.backend.dtypes_on(there.native)):
            dtype = NARROWER[dtype]
        return Variable(move(host.astype(dtype), there), requires_grad=grad)

    return make


@pytest.fixture
def read(device: Device) -> Callable[[Any], Any]:
    """Values on the host of something that must be on the device."""

    def read(x: Any) -> Any:
        raw = x.array if isinstance(x, Variable) else x
        assert device_of_raw(raw) is device
        return to_host(raw)

    return read


@pytest.fixture
def same(read: Callable[[Any], Any]) -> Callable[..., None]:
    """A result on the device has the values and the shape expected."""

    def same(got: Any, want: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
        found = read(got)
        want = np.asarray(want)
        assert found.shape == want.shape
        np.testing.assert_allclose(found, want, rtol=rtol, atol=atol)

    return same
