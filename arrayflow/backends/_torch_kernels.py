"""Native bodies for PyTorch: where array-api-compat's wrapper falls short of the standard."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import array_api_compat.torch as xp
import torch

from . import _torch_indexing, _torch_neural

__all__ = ["NATIVES"]

_NARROW_UNSIGNED = frozenset({torch.uint8, torch.uint16, torch.uint32})


def _unsigned_stays_unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch sums uint8 into int64; the standard, into uint64."""

    def accumulate(x: Any, /, *, axis: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is None and x.dtype in _NARROW_UNSIGNED:
            return function(x, axis=axis, dtype=torch.int64, **kwargs).to(torch.uint64)
        return function(x, axis=axis, dtype=dtype, **kwargs)

    return accumulate


# The standard's names, where PyTorch has others.
_OTHER_NAMES = {
    "equal": "eq",
    "not_equal": "ne",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
}


def _of_two(name: str) -> Callable[..., Any]:
    """Either argument may be a Python scalar, where PyTorch asks for tensors."""
    function = getattr(torch, _OTHER_NAMES.get(name, name))

    def call(x1: Any, x2: Any, /) -> Any:
        if not isinstance(x1, torch.Tensor):
            x1 = torch.full((), x1, dtype=x2.dtype, device=x2.device)
        elif not isinstance(x2, torch.Tensor):
            x2 = torch.full((), x2, dtype=x1.dtype, device=x1.device)
        return function(x1, x2)

    call.__name__ = name
    return call


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    if copy:
        x = x.clone()
    return x.reshape(shape) if copy is None or copy else x.view(shape)


def _any_correction(function: Callable[..., Any], power: float) -> Callable[..., Any]:
    """PyTorch's variance takes a whole number from the number of elements; the standard, any."""

    def spread(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        if correction == int(correction):
            return function(x, axis=axis, correction=int(correction), keepdims=keepdims)
        y = function(x, axis=axis, correction=0, keepdims=keepdims)
        n = x.numel() / max(y.numel(), 1)
        return y * (n / (n - correction)) ** power if n > correction else torch.full_like(y, torch.nan)

    return spread


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


_BINARY = (
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "copysign",
    "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal", "logaddexp",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow",
    "remainder", "subtract",
)  # fmt: skip

NATIVES: dict[str, Callable[..., Any]] = {
    **{name: _of_two(name) for name in _BINARY},
    "cumulative_prod": _unsigned_stays_unsigned(xp.cumulative_prod),
    "cumulative_sum": _unsigned_stays_unsigned(xp.cumulative_sum),
    "prod": _unsigned_stays_unsigned(xp.prod),
    "reshape": reshape,
    "searchsorted": searchsorted,
    "std": _any_correction(xp.std, 0.5),
    "var": _any_correction(xp.var, 1),
    "sum": _unsigned_stays_unsigned(xp.sum),
    "take_along_axis": take_along_axis,
    "unique_all": unique_all,
    **_torch_indexing.NATIVES,
    **_torch_neural.NATIVES,
}
