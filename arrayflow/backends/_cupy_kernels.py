"""Native bodies for CuPy: where its functions fall short of the standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

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


NATIVES: dict[str, Callable[..., Any]] = {
    "repeat": repeat,
}
