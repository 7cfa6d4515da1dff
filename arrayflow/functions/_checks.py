"""What several functions ask of their arguments."""

from __future__ import annotations

from typing import Any

from .. import namespace as xp
from ..autograd.variable import Variable
from ..config import config
from ..errors import DTypeError, ShapeError
from ..transfers import user_site

__all__ = ["as_floating", "check_axis"]


def as_floating(function: str, x: Any) -> Variable:
    """`x` as a real floating Variable.

    Raises
    ------
    TypeError
        If it is no array.
    DTypeError
        If it is complex.
    """
    if not isinstance(x, Variable):
        raise TypeError(
            f"{function}: x must be a Variable or an array, but it is a {type(x).__name__} (at {user_site()}). "
            f"Make it one: af.asarray(x, device=...)."
        )
    kind = x.dtype.kind
    if kind == "complex floating":
        raise DTypeError(
            f"{function}: x must be real, but its dtype is {x.dtype!s} (at {user_site()}). "
            f"Pass af.abs(x) or af.real(x)."
        )
    return x if kind == "real floating" else xp.astype(x, config.dtype)


def check_axis(function: str, x: Variable, axis: int) -> None:
    """Raise a `ShapeError` if `x` has no such axis; libraries differ in what they make of axis -1 of a 0-d array."""
    if not -x.ndim <= axis < x.ndim:
        raise ShapeError(
            f"{function}: axis must be one of the {x.ndim} axes of x, but it is {axis} and x.shape is {x.shape} "
            f"(at {user_site()}). One number alone? Pass af.reshape(x, (1,))."
        )
