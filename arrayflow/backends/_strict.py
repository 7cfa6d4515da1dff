"""array-api-strict: the standard and nothing else, for tests. Devices ``strict:cpu``, ``strict:device1``, ..."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

from ..dtypes import DType, as_dtype
from ._host import ready
from .protocol import Backend

__all__ = ["StrictBackend"]


class StrictBackend(Backend):
    """Arrays of array-api-strict: NumPy's numbers on devices that refuse to mix."""

    prefix = "strict"
    packages = ("array_api_strict",)
    install = "pip install array-api-strict"

    def __init__(self) -> None:
        import array_api_strict as xp

        self.xp = xp
        self.array_types = (type(xp.zeros(1)),)
        info = xp.__array_namespace_info__()
        self._host = info.default_device()
        self._by_name = {self.name_of(d): d for d in info.devices()}
        self._dtypes = {d: {as_dtype(name): raw for name, raw in info.dtypes(device=d).items()} for d in info.devices()}

    def devices(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def native(self, name: str) -> Hashable:
        return self._by_name[name]

    def name_of(self, native: Hashable) -> str:
        if native == self._host:
            return "strict:cpu"
        return "strict:" + str(native).partition("'")[2].partition("'")[0]

    def to_host(self, array: Any) -> Any:
        import numpy as np

        return np.array(array if array.device == self._host else array.to_device(self._host))

    def from_host(self, host: Any, native: Hashable) -> Any:
        return self.xp.asarray(ready(self, host, native), device=native, copy=True)

    def transfer(self, array: Any, native: Hashable) -> Any:
        # Between devices it shares the one memory there is.
        return self.xp.asarray(array.to_device(native), copy=True)

    def dtypes_on(self, native: Hashable) -> dict[DType, Any]:
        return self._dtypes[native]

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        return {"clip": self._clip, "isin": self._isin}

    def _clip(self, x: Any, min: Any = None, max: Any = None) -> Any:
        # array-api-strict reads the bounds to refuse crossed ones; elsewhere the upper one wins.
        xp = self.xp
        if min is not None:
            x = xp.maximum(x, min)
        return xp.positive(x) if max is None else xp.minimum(x, max)

    def _isin(self, x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
        # array-api-strict 2.6 ignores `invert`, and refuses floating arrays.
        xp = self.xp
        array: Any = x1 if isinstance(x1, self.array_types) else x2
        x1, x2 = (
            x if isinstance(x, self.array_types) else xp.asarray(x, dtype=array.dtype, device=array.device)
            for x in (x1, x2)
        )
        found = xp.any(xp.expand_dims(x1, axis=-1) == xp.reshape(x2, (-1,)), axis=-1)
        return xp.logical_not(found) if invert else found
