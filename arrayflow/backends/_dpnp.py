"""dpnp: Intel's NumPy over SYCL. Device strings ``dpnp:cpu``, ``dpnp:gpu:N``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import BackendUnavailableError
from ._host import ready
from .protocol import Backend

__all__ = ["DpnpBackend"]


def point_to_driver() -> None:
    """Tell the OpenCL loader of the CPU driver that ``pip install dpnp`` brings, unless the user named one.

    It must happen before dpnp is first imported: the loader reads its variable once.
    """
    if "OCL_ICD_FILENAMES" not in os.environ:
        drivers = sorted(Path(sys.prefix, "lib").glob("libintelocl.so*"), key=lambda p: len(p.name))
        if drivers:
            os.environ["OCL_ICD_FILENAMES"] = str(drivers[0])


class DpnpBackend(Backend):
    """Arrays of dpnp."""

    prefix = "dpnp"
    packages = ("dpnp", "dpctl")
    install = "pip install dpnp"

    def __init__(self) -> None:
        point_to_driver()
        import dpctl

        if not dpctl.get_devices():  # dpnp itself would fail with less to say
            raise BackendUnavailableError(
                "dpnp is installed, but finds no SYCL device: it needs an OpenCL or Level Zero driver. The OpenCL "
                "driver for CPUs is libintelocl.so, which pip installs with dpnp; name it in OCL_ICD_FILENAMES"
            )
        import dpnp

        self.dpctl = dpctl
        self.xp = dpnp
        self.array_types = (dpnp.ndarray,)
        self._by_name = self._find()

    def _find(self) -> dict[str, Any]:
        found = {}
        for kind in ("gpu", "cpu"):
            devices = self.dpctl.get_devices(device_type=kind)
            # One chip shows up once for each driver; the first driver listed is the one preferred.
            same = [d for d in devices if d.backend == devices[0].backend]
            for i, sycl in enumerate(same):
                name = "dpnp:cpu" if (kind, i) == ("cpu", 0) else f"dpnp:{kind}:{i}"
                # The library's Device carries the one queue that all arrays of a device must share.
                found[name] = self.xp.empty(0, dtype="int8", device=sycl).device
        return found

    def devices(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def native(self, name: str) -> Hashable:
        return self._by_name[name]

    def name_of(self, native: Hashable) -> str:
        for name, known in self._by_name.items():
            if known == native or known.sycl_device == native.sycl_device:  # type: ignore[attr-defined]
                return name
        return f"dpnp:{native}"

    def to_host(self, array: Any) -> Any:
        return self.xp.asnumpy(array)

    def from_host(self, host: Any, native: Hashable) -> Any:
        return self.xp.asarray(ready(self, host, native), device=native, copy=True)

    def transfer(self, array: Any, native: Hashable) -> Any:
        return array.to_device(native)

    def synchronize(self, native: Hashable) -> None:
        native.sycl_queue.wait()  # type: ignore[attr-defined]

    def normal_dtype(self, raw: Any) -> Any:
        import numpy as np

        return np.dtype(raw)

    def dtypes_on(self, native: Hashable) -> dict[Any, Any]:
        device = native.sycl_device  # type: ignore[attr-defined]
        lacking: set[str] = set()
        if not device.has_aspect_fp64:
            lacking |= {"float64", "complex128"}
        if not device.has_aspect_fp16:
            lacking |= {"float16"}
        return {d: raw for d, raw in self.raw_dtypes.items() if d not in lacking}

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        # oneMKL, under dpnp 0.20's matmul, refuses the strides of 0 that a broadcast view has: make it an array.
        def broadcast(x: Any, to: tuple[int, ...]) -> Any:
            return self.xp.copy(self.xp.broadcast_to(x, to))

        return {"broadcast": broadcast, "broadcast_to": lambda x, shape: broadcast(x, shape)}
