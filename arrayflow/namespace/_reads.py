"""Functions whose results have a shape that only values tell."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.variable import as_raw
from ..device import read_shape

__all__ = ["reads_shape"]


def reads_shape(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one array that records the read of the number on which its result's shape depends."""

    @wraps(function)
    def recorded(x: Any, /) -> Any:
        read_shape(as_raw(x), entry=function.__name__)
        return function(x)

    return recorded
