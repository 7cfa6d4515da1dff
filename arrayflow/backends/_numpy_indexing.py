"""Indexing in NumPy, whose rules `kernels.indexing` follows, so that most of it is NumPy's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import array_api_compat.numpy as xp
import numpy as np

from .kernels import indexing as portable

__all__ = ["NATIVES"]


def get_item(x: Any, *, key: Any) -> Any:
    return x[key]


def set_item(x: Any, value: Any, *, key: Any) -> Any:
    copy = np.array(x)
    copy[key] = value
    return copy


def segment_sum(_: Any, values: Any, index: Any, n: int) -> Any:
    m, width = values.shape
    if width == 1 and values.dtype.kind == "f":
        return np.bincount(index, values[:, 0], n).astype(values.dtype, copy=False)[:, None]
    out = np.zeros((n, width), values.dtype)
    if width == 1:
        np.add.at(out[:, 0], index, values[:, 0])
    elif m:
        order = np.argsort(index, kind="stable")
        index = index[order]
        starts = np.flatnonzero(np.concatenate(([True], index[1:] != index[:-1])))
        out[index[starts]] = np.add.reduceat(values[order], starts, axis=0)
    return out


_scatter_fancy = partial(portable.scatter_add, xp, sums=segment_sum)


def scatter_add(x: Any, *, key: Any, to: tuple[int, ...]) -> Any:
    several = key.__class__ is tuple
    mask = not several and portable.is_mask(key)
    if not mask and any(isinstance(item, np.ndarray) for item in (key if several else (key,))):
        return _scatter_fancy(x, key=key, to=to)
    out = np.zeros(to, x.dtype)
    out[key] = x
    return out


NATIVES: dict[str, Callable[..., Any]] = {
    "get_item": get_item,
    "scatter_add": scatter_add,
    "set_item": set_item,
}
