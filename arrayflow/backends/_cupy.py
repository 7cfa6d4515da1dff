"""CuPy: NVIDIA's GPUs, and AMD's where CuPy was built for ROCm. Device strings ``cuda`` and ``cuda:N``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from functools import cached_property, wraps
from typing import Any

from ..errors import BackendUnavailableError
from ._host import ready
from .protocol import Backend

__all__ = ["CupyBackend"]


class CupyBackend(Backend):
    """Arrays of CuPy.

    CuPy allocates and computes on its *current* device, whichever that is, and array-api-compat ignores
    ``device=`` when it creates. So every call is made with the device of its inputs as the current one.
    """

    prefix = "cuda"
    packages = ("cupy",)
    install = "pip install cupy-cuda13x (CUDA 13) or pip install cupy-cuda12x (CUDA 12)"

    def __init__(self) -> None:
        import cupy

        try:
            self.count = cupy.cuda.runtime.getDeviceCount()
        except Exception as error:  # CuPy imports without a driver, and fails in its own ways when used
            raise BackendUnavailableError(f"cupy is installed, but cannot use a GPU here: {error}") from error
        if not self.count:
            raise BackendUnavailableError(
                "cupy is installed, but the CUDA driver shows no GPU. Is CUDA_VISIBLE_DEVICES empty?"
            )
        import array_api_compat.cupy as xp

        self.cupy = cupy
        self.xp = xp
        self.array_types = (cupy.ndarray,)

    def devices(self) -> tuple[str, ...]:
        return tuple(f"cuda:{i}" for i in range(self.count))

    def native(self, name: str) -> Hashable:
        return int(name.partition(":")[2])

    def name_of(self, native: Hashable) -> str:
        return f"cuda:{native}"

    def key(self, array: Any) -> Hashable:
        return array.data.device_id

    def context(self, native: Hashable) -> AbstractContextManager[Any]:
        return self.cupy.cuda.Device(native)

    def to_host(self, array: Any) -> Any:
        with self.context(self.key(array)):
            return self.cupy.asnumpy(array)  # waits for the stream that computes it

    def from_host(self, host: Any, native: Hashable) -> Any:
        own = ready(self, host, native)
        with self.context(native):
            return self.cupy.array(own)  # copies into pinned memory of its own before it returns

    def transfer(self, array: Any, native: Hashable) -> Any:
        # Neither device's stream knows of the other: the source is computed before it is read, and
        # read before its memory can be used again.
        self.synchronize(self.key(array))
        with self.context(native):
            moved = array.copy()
        self.synchronize(native)
        return moved

    def copy(self, array: Any) -> Any:
        with self.context(self.key(array)):
            return array.copy()

    def synchronize(self, native: Hashable) -> None:
        with self.context(native):
            self.cupy.cuda.get_current_stream().synchronize()

    def normal_dtype(self, raw: Any) -> Any:
        return self.cupy.dtype(raw)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.count == 1:  # the current device can be no other
            return function
        array_type = self.cupy.ndarray
        context = self.cupy.cuda.Device

        @wraps(function)
        def on_the_device_of_its_inputs(*args: Any, **kwargs: Any) -> Any:
            for x in (*args, *kwargs.values()):
                if x.__class__ is list or x.__class__ is tuple:
                    x = next((item for item in x if isinstance(item, array_type)), None)
                if isinstance(x, array_type):
                    with context(x.data.device_id):
                        return function(*args, **kwargs)
            return function(*args, **kwargs)

        return on_the_device_of_its_inputs

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        from ._cupy_kernels import NATIVES

        return NATIVES
