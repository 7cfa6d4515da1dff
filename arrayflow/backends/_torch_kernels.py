"""Native bodies for PyTorch: where array-api-compat's wrapper falls short of the standard."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import array_api_compat.torch as xp
import torch

__all__ = ["NATIVES"]

_NARROW_UNSIGNED = frozenset({torch.uint8, torch.uint16, torch.uint32})


def _unsigned_stays_unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch sums uint8 into int64; the standard, into uint64."""

    def accumulate(x: Any, /, *, axis: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is None and x.dtype in _NARROW_UNSIGNED:
            return function(x, axis=axis, dtype=torch.int64, **kwargs).to(torch.uint64)
        return function(x, axis=axis, dtype=dtype, **kwargs)

    return accumulate


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    return torch.take_along_dim(x, indices.to(torch.int64), axis)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    sorter = None if sorter is None else sorter.to(torch.int64)
    return xp.searchsorted(x1, x2, side=side, sorter=sorter)


UniqueAll = namedtuple("UniqueAll", ["values", "indices", "inverse_indices", "counts"])  # noqa: PYI024


def unique_all(x: Any, /) -> Any:
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    # Equal values side by side, in the order they came: each group begins with its first one.
    order = torch.argsort(inverse.reshape(-1), stable=True)
    return UniqueAll(values, order[torch.cumsum(counts, 0) - counts], inverse, counts)


NATIVES: dict[str, Callable[..., Any]] = {
    "cumulative_prod": _unsigned_stays_unsigned(xp.cumulative_prod),
    "cumulative_sum": _unsigned_stays_unsigned(xp.cumulative_sum),
    "prod": _unsigned_stays_unsigned(xp.prod),
    "searchsorted": searchsorted,
    "sum": _unsigned_stays_unsigned(xp.sum),
    "take_along_axis": take_along_axis,
    "unique_all": unique_all,
}
