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

    Where every array given is raw, so is the result. What is no array passes as it is.
    """

    @wraps(function)
    def either(*args: Any, **options: Any) -> Any:
        values = (*args, *options.values())
        if not any(_is_raw(x) for x in values):
            return function(*args, **options)
        y = function(*map(_wrapped, args), **{name: _wrapped(x) for name, x in options.items()})
        if any(isinstance(x, Variable) for x in values):
            return y
        return tuple(part.array for part in y) if isinstance(y, tuple) else y.array

    return either  # type: ignore[return-value]


def _is_raw(x: Any) -> bool:
    backend = registry.backend_of(x)
    return backend is not None and not isinstance(x, backend.scalar_types)


def _wrapped(x: Any) -> Any:
    return _wrap(x) if _is_raw(x) else x
