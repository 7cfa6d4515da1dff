"""Indexing in PyTorch, which has no negative steps, and takes integers beside index arrays for slices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import array_api_compat.torch as xp
import torch

from .kernels import indexing as portable

__all__ = ["NATIVES"]


def _forward(x: Any, basic: Any) -> tuple[list[int], tuple[Any, ...]]:
    """The axes that are read backwards, and the index that reads the same when they are flipped."""
    flipped: list[int] = []
    items: list[Any] = []
    axis = 0
    for item in basic:
        if isinstance(item, slice) and (item.step or 1) < 0:
            n = x.shape[axis]
            taken = range(*item.indices(n))
            flipped.append(axis)
            item = slice(n - 1 - taken[0], n - taken[-1], -item.step)
        items.append(item)
        axis += item is not None
    return flipped, tuple(items)


def read(_: Any, x: Any, basic: Any) -> Any:
    flipped, items = _forward(x, basic)
    return (torch.flip(x, flipped) if flipped else x)[items]


def write(_: Any, x: Any, basic: Any, values: Any) -> Any:
    if isinstance(basic, torch.Tensor):
        x[basic] = values
        return x
    flipped, items = _forward(x, basic)
    if flipped:
        x = torch.flip(x, flipped)
    x[items] = values
    return torch.flip(x, flipped) if flipped else x


def sums(_: Any, values: Any, index: Any, n: int) -> Any:
    return torch.zeros((n, values.shape[1]), dtype=values.dtype, device=values.device).index_add_(0, index, values)


def puts(_: Any, rows: Any, values: Any, index: Any) -> Any:
    return rows.clone().index_put_((index,), values)


def _plain(item: Any) -> bool:
    return (
        item is None or item is Ellipsis or item.__class__ is int or (item.__class__ is slice and (item.step or 1) > 0)
    )


_get_item = partial(portable.get_item, xp, read=read)


def get_item(x: Any, *, key: Any) -> Any:
    if all(map(_plain, key)) if key.__class__ is tuple else _plain(key):
        return x[key]
    return _get_item(x, key=key)


NATIVES: dict[str, Callable[..., Any]] = {
    "get_item": get_item,
    "scatter_add": partial(portable.scatter_add, xp, write=write, sums=sums),
    "set_item": partial(portable.set_item, xp, read=read, write=write, puts=puts),
}
