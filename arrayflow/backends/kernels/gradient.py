"""What the tape itself needs: broadcasting, its adjoint, and casts that may drop an imaginary part."""

from __future__ import annotations

from typing import Any

from . import kernel

__all__ = ["astype", "broadcast", "cast", "identity", "shares_of_extreme", "sum_to"]


@kernel
def identity(xp: Any, x: Any) -> Any:
    """`x` itself."""
    return x


@kernel
def broadcast(xp: Any, x: Any, *, to: tuple[int, ...]) -> Any:
    """`x` repeated to the shape `to`."""
    return xp.broadcast_to(x, to)


@kernel
def sum_to(xp: Any, x: Any, *, to: tuple[int, ...]) -> Any:
    """`x` summed to the shape `to`, from which it was broadcast."""
    extra = len(x.shape) - len(to)
    axes = (*range(extra), *(extra + i for i, n in enumerate(to) if n == 1 and x.shape[extra + i] != 1))
    if axes:
        x = xp.sum(x, axis=axes, dtype=x.dtype)
    return x if tuple(x.shape) == to else xp.reshape(x, to)


@kernel
def astype(xp: Any, x: Any, dtype: Any, copy: bool = True) -> Any:
    """`x` as `dtype`, as the standard has it, with arguments that may be named."""
    return xp.astype(x, dtype, copy=copy)


@kernel
def cast(xp: Any, x: Any, *, dtype: Any) -> Any:
    """`x` as `dtype`; the real part of a complex array for a real type."""
    if xp.isdtype(x.dtype, "complex floating") and not xp.isdtype(dtype, "complex floating"):
        x = xp.real(x)
    return xp.astype(x, dtype, copy=False)


@kernel
def shares_of_extreme(xp: Any, x: Any, y: Any, *, axis: Any) -> Any:
    """1/n at each of the n elements of `x` along `axis` that equal `y`, 0 elsewhere. Where `y` is NaN, so are they."""
    hit = xp.astype(xp.logical_or(x == y, x != x), x.dtype)
    return hit / xp.sum(hit, axis=axis, keepdims=True, dtype=x.dtype)
