"""Host memory on its way to a library: what every backend does with a NumPy array before it hands it over."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from .protocol import Backend

__all__ = ["ready", "ready_copy"]


def ready_copy(backend: Backend, host: Any, native: Hashable) -> Any:
    """Like `ready`, and a copy that nobody else holds.

    For libraries that share a buffer given to them, or read it later, while a loader overwrites it.
    """
    return np.array(host, dtype=_checked_dtype(backend, host, native), order="C", copy=True)


def ready(backend: Backend, host: Any, native: Hashable) -> Any:
    """`host` in C order and native byte order, for a library that is done with it when its call returns.

    Raises
    ------
    DTypeError
        If the device lacks its data type, before anything is copied.
    """
    return np.array(host, dtype=_checked_dtype(backend, host, native), order="C", copy=None)


def _checked_dtype(backend: Backend, host: Any, native: Hashable) -> Any:
    dtype = host.dtype.newbyteorder("=")
    backend.raw_dtype(as_dtype(dtype), native)
    return dtype
