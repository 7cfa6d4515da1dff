"""Raw arrays in, raw arrays out: the one place where functions in plain array code take both kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..autograd.variable import Variable, _wrap
from ..backends import registry

__all__ = ["takes_arrays"]

F = TypeVar("F", bound=Callable[..., Any])


def takes_arrays(function: F) -> F:
    """Let a function written for Variables take raw arrays too, under the same rules of place and data type.

    Where every array given is raw, so is the result. Positional arguments are the arrays, keywords pass as they are.
    """

    @wraps(function)
    def either(*arrays: Any, **options: Any) -> Any:
        if all(isinstance(x, Variable) for x in arrays):
            return function(*arrays, **options)
        wrapped = [x if isinstance(x, Variable) or registry.backend_of(x) is None else _wrap(x) for x in arrays]
        y = function(*wrapped, **options)
        if any(isinstance(x, Variable) for x in arrays):
            return y
        return tuple(part.array for part in y) if isinstance(y, tuple) else y.array

    return either  # type: ignore[return-value]
