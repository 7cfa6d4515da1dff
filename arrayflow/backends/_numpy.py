"""NumPy: the host. Device string ``cpu``. Host memory, in arrayflow, is a NumPy array."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import array_api_compat.numpy as xp
import numpy as np

from ..dtypes import DTYPES
from ..errors import DTypeError
from . import _numpy_kernels as kernels
from ._host import ready_copy
from .protocol import Backend

__all__ = ["NumpyBackend"]


class NumpyBackend(Backend):
    """Arrays of NumPy, on the host."""

    prefix = "cpu"
    packages = ("numpy",)
    install = "pip install numpy"
    one_device = True
    is_host = True

    def __init__(self) -> None:
        self.xp = xp
        self.array_types = (np.ndarray,)
        self.scalar_types = (np.generic,)

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    def native(self, name: str) -> Hashable:
        return "cpu"

    def name_of(self, native: Hashable) -> str:
        return "cpu"

    def key(self, array: Any) -> Hashable:
        return "cpu"

    def to_host(self, array: Any) -> Any:
        return np.array(array)

    def from_host(self, host: Any, native: Hashable) -> Any:
        return ready_copy(self, host, native)

    def copy(self, array: Any) -> Any:
        return np.array(array)

    def as_array(self, value: Any) -> Any:
        return np.asarray(value)

    def adopt(self, value: Any) -> Any:
        if value.__class__ is not np.ndarray:
            if getattr(value, "mask", None) is not None and np.any(value.mask):
                raise DTypeError(
                    f"A masked array would lose its mask, which hides {int(np.sum(value.mask))} elements. Fill them "
                    f"first: x.filled(value)."
                )
            value = np.asarray(value)
        return value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))

    def normal_dtype(self, raw: Any) -> Any:
        return np.dtype(raw)

    @cached_property
    def raw_dtypes(self) -> dict[Any, Any]:
        found = super().raw_dtypes
        found |= {DTYPES[name]: np.dtype(name) for name in kernels.half_dtypes()}
        return found

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        return kernels.NATIVES
