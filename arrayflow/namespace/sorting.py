"""Sorting functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import primitive
from ._docs import numpydoc
from .indexing import _scatter_along

__all__ = ["argsort", "sort"]

_ARGUMENTS = (
    "x : array or Variable, real\n    The input.",
    "axis : int\n    Along which.",
    "descending : bool\n    Whether the largest comes first.",
    "stable : bool\n    Whether equal elements keep the order they have.",
)

argsort: Callable[..., Any] = primitive(
    "argsort(x, /, *, axis=-1, descending=False, stable=True)",
    None,  # positions are integers
    doc=numpydoc(
        "The positions that bring an array into order.",
        *_ARGUMENTS,
        returns="array or Variable, of the shape of `x` and the default index type",
        example="""
        >>> af.argsort(af.asarray([3.0, 1.0, 2.0], device="cpu"))
        Variable([1, 2, 0], dtype=int64, device='cpu')
        """,
    ),
)

sort: Callable[..., Any] = primitive(
    "sort(x, /, *, axis=-1, descending=False, stable=True)",
    # Sorting reads along the positions that argsort gives: the gradient goes back there.
    lambda g, x, axis, descending, stable: _scatter_along(
        g, argsort(x, axis=axis, descending=descending, stable=stable), axis, tuple(x.shape)
    ),
    doc=numpydoc(
        "An array brought into order.",
        *_ARGUMENTS,
        returns="array or Variable, of the shape and data type of `x`",
        example="""
        >>> af.sort(af.asarray([3.0, 1.0, 2.0], device="cpu"), descending=True)
        Variable([3., 2., 1.], dtype=float32, device='cpu')
        """,
    ),
)
