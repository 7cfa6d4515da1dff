"""Native bodies for CuPy: where its functions fall short of the standard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


def sums(_: Any, values: Any, index: Any, n: int) -> Any:
    if values.dtype.kind not in "fc":  # CuPy adds no int64 in place
        return portable.segment_sum(xp, values, index, n)
    out = cupy.zeros((n, values.shape[1]), values.dtype)
    cupy.add.at(out, index, values)
    return out


def puts(_: Any, rows: Any, values: Any, index: Any) -> Any:
    out = rows.copy()
    out[index] = values
    return out


NATIVES: dict[str, Callable[..., Any]] = {
    "repeat": repeat,
    "scatter_add": partial(portable.scatter_add, xp, sums=sums),
    "set_item": partial(portable.set_item, xp, puts=puts),
}
