"""Axes as the rules need them, and the inverse of a reduction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.primitive import broadcast

__all__ = ["axes_of", "count", "reshaped", "spread"]


def axes_of(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The axes that an ``axis`` argument means, from 0 on, in the order given; all of them for None."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, int):
        axis = (axis,)
    return tuple(a + ndim if a < 0 else a for a in axis)


def count(shape: Sequence[int], axis: int | Sequence[int] | None) -> int:
    """How many elements a reduction over `axis` brings together."""
    n = 1
    for a in axes_of(axis, len(shape)):
        n *= shape[a]
    return n


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` in another shape; itself where it has it."""
    from .manipulation import reshape

    return x if tuple(x.shape) == shape else reshape(x, shape)


def spread(y: Any, shape: Sequence[int], axis: int | Sequence[int] | None) -> Any:
    """What a reduction of an array of `shape` over `axis` gave, repeated to that shape."""
    reduced = set(axes_of(axis, len(shape)))
    kept = tuple(1 if i in reduced else n for i, n in enumerate(shape))
    return broadcast(reshaped(y, kept), tuple(shape))
