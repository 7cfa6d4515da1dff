"""What several functions ask of their arguments."""

from __future__ import annotations

from typing import Any

from .. import namespace as xp
from ..autograd.variable import Variable
from ..config import config
from ..errors import DTypeError
from ..transfers import user_site

__all__ = ["as_floating"]


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
