"""Native bodies for CuPy: where its functions fall short of the standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat.cupy as xp
import cupy

from .kernels import indexing as portable

__all__ = ["NATIVES"]


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """cupy.repeat takes counts from the host alone; here they stay where they are, only their sum is read."""
    if not isinstance(repeats, cupy.ndarray):
        return cupy.repeat(x, repeats, axis)
    if axis is None:
        x, axis = x.reshape(-1), 0
    ends = cupy.cumsum(cupy.broadcast_to(repeats, (x.shape[axis],)))
    total = int(ends[-1]) if ends.size else 0
    return cupy.take(x, cupy.searchsorted(ends, cupy.arange(total), side="right"), axis)


def get_item(x: Any, *, key: Any) -> Any:
    return x[key]


def set_item(x: Any, value: Any, *, key: Any) -> Any:
    copy = x.copy()
    copy[key] = value
    return copy


def scatter_add(x: Any, *, key: Any, to: tuple[int, ...]) -> Any:
    if x.dtype.kind not in "fc" or portable.is_mask(key):  # CuPy adds no int64 in place
        return portable.scatter_add(xp, x, key=key, to=to)
    zeros = cupy.zeros(to, x.dtype)
    cupy.add.at(zeros, key, x)
    return zeros


NATIVES: dict[str, Callable[..., Any]] = {
    "get_item": get_item,
    "repeat": repeat,
    "scatter_add": scatter_add,
    "set_item": set_item,
}
