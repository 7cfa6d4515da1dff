"""JAX. Device strings ``jax:cpu:N``, ``jax:gpu:N``, ``jax:tpu:N``; its arrays are immutable."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, suppress
from functools import cached_property, wraps
from typing import Any

from ..dtypes import DTYPES, DType
from ..errors import DeviceError
from ._host import ready_copy
from .protocol import Backend

__all__ = ["JaxBackend"]

_NEED_X64 = frozenset(DTYPES[n] for n in ("int64", "uint64", "float64", "complex128"))


class JaxBackend(Backend):
    """Arrays of JAX."""

    prefix = "jax"
    packages = ("jax", "jaxlib")
    install = "pip install jax"
    mutable = False

    def __init__(self) -> None:
        import jax
        import jax.numpy as xp

        self.jax = jax
        self.xp = xp
        self.array_types = (jax.Array, jax.core.Tracer)
        self._devices: dict[str, Any] = {}

    def _find(self) -> dict[str, Any]:
        if not self._devices:
            found = list(self.jax.local_devices())
            if found[0].platform != "cpu":
                with suppress(RuntimeError):  # JAX_PLATFORMS can leave the host out
                    found += self.jax.local_devices(backend="cpu")
            self._devices = {self.name_of(d): d for d in found}
        return self._devices

    def devices(self) -> tuple[str, ...]:
        return tuple(self._find())

    def native(self, name: str) -> Hashable:
        return self._find()[name]

    def key(self, array: Any) -> Hashable:
        try:
            return array.device
        except AttributeError:
            raise DeviceError(
                "An array that jax.jit, jax.grad or jax.vmap traces has no device. Call the functions of arrayflow "
                "outside, or those of jax.numpy inside."
            ) from None

    def name_of(self, native: Hashable) -> str:
        if not isinstance(native, self.jax.Device):
            raise DeviceError(
                f"An array spread over several devices has no one device: {native}. Gather it: "
                f"jax.device_put(x, jax.devices()[0])."
            )
        return f"jax:{native.platform}:{native.id}"

    def to_host(self, array: Any) -> Any:
        import numpy as np

        return np.array(array)

    def from_host(self, host: Any, native: Hashable) -> Any:
        # On the host JAX may keep the buffer that it is given: it gets one that is nobody else's.
        return self.jax.device_put(ready_copy(self, host, native), native)

    def transfer(self, array: Any, native: Hashable) -> Any:
        return self.jax.device_put(array, native)

    def copy(self, array: Any) -> Any:
        return array.copy()

    def synchronize(self, native: Hashable) -> None:
        # JAX has no call for a device: all work that anybody can still see the results of is done.
        for array in self.jax.live_arrays(native.platform):  # type: ignore[attr-defined]
            if native in array.devices():
                array.block_until_ready()

    def normal_dtype(self, raw: Any) -> Any:
        return raw.dtype

    def dtypes_on(self, native: Hashable) -> dict[DType, Any]:
        if self.jax.config.jax_enable_x64:
            return self.raw_dtypes
        return self._narrow_dtypes

    @cached_property
    def _narrow_dtypes(self) -> dict[DType, Any]:
        return {d: raw for d, raw in self.raw_dtypes.items() if d not in _NEED_X64}

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        from ._jax_kernels import NATIVES

        return NATIVES

    def context(self, native: Hashable) -> AbstractContextManager[Any]:
        return self.jax.default_device(native)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """JAX makes constants, `isfinite` of integers say, on its default device: it becomes that of the inputs."""
        if len(self._find()) == 1:
            return function
        array_type = type(self.xp.empty(0, dtype="int8"))  # of arrays, not of tracers
        device_type = self.jax.Device
        config = self.jax.config
        first = self.jax.local_devices()[0]

        @wraps(function)
        def on_the_device_of_its_inputs(*args: Any, **kwargs: Any) -> Any:
            for x in args:
                if x.__class__ is list or x.__class__ is tuple:
                    x = x[0] if x else None
                if x.__class__ is array_type:
                    device = x.device
                    if device != (config.jax_default_device or first) and isinstance(device, device_type):
                        with self.jax.default_device(device):
                            return function(*args, **kwargs)
                    break
            return function(*args, **kwargs)

        return on_the_device_of_its_inputs
