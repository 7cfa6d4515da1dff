"""Arrays, and calls with them that many functions have in common, for the table in `cases.py`.

A call gets the function under test and a `Maker`, which makes the same arrays in NumPy and in the
library under test; it returns None where it does not apply. The calls that matter most come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

INT = ("int32", "int64", "uint8")
FLOAT = ("float32", "float64")
COMPLEX = ("complex64",)
BOOL = ("bool",)
REAL = INT + FLOAT
INEXACT = FLOAT + COMPLEX
NUMERIC = REAL + COMPLEX
ALL = NUMERIC + BOOL


class Maker:
    """Makes arrays of one data type through `place`, which takes a NumPy array to the library under test."""

    def __init__(self, dtype: str, place: Callable[[Any], Any]) -> None:
        self.dtype = dtype
        self.place = place

    def __call__(self, values: Any, dtype: str | None = None) -> Any:
        return self.place(np.asarray(values, dtype=dtype or self.dtype))

    def index(self, values: Any) -> Any:
        """Integers for indexing, of the narrowest type that every device has."""
        return self(values, "int32")

    def random(self, *shape: int, seed: int = 0, low: float = -4, high: float = 4) -> Any:
        """Reproducible values with repetitions; no negative ones where the type has none."""
        rng = np.random.default_rng(seed)
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            return self(rng.integers(0, 2, shape))
        if kind in "iu":
            return self(rng.integers(max(int(low), 0) if kind == "u" else int(low), int(high), shape))
        values = np.round(rng.uniform(low, high, shape), 1)
        return self(values + 1j * np.round(rng.uniform(low, high, shape), 1) if kind == "c" else values)


def unary(low: float = -4, high: float = 4) -> list[Callable[..., Any]]:
    """Many values, none, one, and for floating types those that no formula may stumble over."""
    return [
        lambda f, m: f(m.random(7, 3, low=low, high=high)),
        lambda f, m: f(m([np.inf, -np.inf, np.nan, 0.0, -0.0])) if m.dtype in FLOAT else None,
        lambda f, m: f(m.random(0, 3, low=low, high=high)),
        lambda f, m: f(m.random(low=low, high=high)),
        lambda f, m: f(m.random(4, 3, low=low, high=high).T[1:, ::2]),
    ]


def binary(low: float = -4, high: float = 4, scalar: Any = 2) -> list[Callable[..., Any]]:
    """Equal shapes, broadcast shapes, empty ones, and a Python scalar on either side."""
    return [
        lambda f, m: f(m.random(5, 1, low=low, high=high), m.random(3, low=low, high=high, seed=1)),
        lambda f, m: f(m.random(4, low=low, high=high), m.dtype in BOOL or scalar) if scalar else None,
        lambda f, m: f(m.dtype in BOOL or scalar, m.random(4, low=low, high=high)) if scalar else None,
        special_pairs,
        lambda f, m: f(m.random(5, 3, low=low, high=high), m.random(5, 3, low=low, high=high, seed=1)),
        lambda f, m: f(m.random(0, 3, low=low, high=high), m.random(3, low=low, high=high, seed=1)),
        lambda f, m: f(m.random(low=low, high=high), m.random(3, low=low, high=high, seed=1)),
    ]


def shifts() -> list[Callable[..., Any]]:
    """Shifts by what every width allows."""
    return [
        lambda f, m: f(m([1, 5, 100]), m([0, 2, 7])),
        lambda f, m: f(m([1, 5, 100]), 1),
        lambda f, m: f(1, m([1, 2, 3])),
    ]


def special_pairs(f: Any, m: Maker) -> Any:
    """Every pair of the values at which floating functions of two numbers differ."""
    if m.dtype not in FLOAT:
        return None
    values = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.5]
    return f(m(values)[:, None], m(values)[None, :])


def reduction(**more: Any) -> list[Callable[..., Any]]:
    """All axes, one, several, none of them, kept dimensions, a 0-d array."""
    return [
        lambda f, m: f(m.random(2, 3, 4, low=1, high=3), **more),
        lambda f, m: f(m.random(2, 3, 4, low=1, high=3), axis=-1, **more),
        lambda f, m: f(m.random(2, 3, 4, low=1, high=3), axis=(0, 2), keepdims=True, **more),
        lambda f, m: f(m.random(2, 3, 4, low=1, high=3), axis=(), **more),
        lambda f, m: f(m.random(3, low=1, high=3), axis=0, keepdims=True, **more),
        lambda f, m: f(m.random(low=1, high=3), **more),
    ]


def cumulative() -> list[Callable[..., Any]]:
    """Along each kind of axis, with and without the initial value."""
    return [
        lambda f, m: f(m.random(5, low=1, high=3)),
        lambda f, m: f(m.random(2, 3, low=1, high=3), axis=-1),
        lambda f, m: f(m.random(2, 3, low=1, high=3), axis=0, include_initial=True),
        lambda f, m: f(m.random(0, low=1, high=3), include_initial=True),
    ]


def positions() -> list[Callable[..., Any]]:
    """The first of equal extremes counts."""
    return [
        lambda f, m: f(m([[1, 3, 3], [0, 0, 2]])),
        lambda f, m: f(m([[1, 3, 3], [0, 0, 2]]), axis=-1),
        lambda f, m: f(m([[1, 3, 3], [0, 0, 2]]), axis=0, keepdims=True),
        lambda f, m: f(m([[1, 3, 3], [0, 0, 2]]), keepdims=True),
        lambda f, m: f(m(1)),
    ]


def ordering() -> list[Callable[..., Any]]:
    """Stable in both directions: equal values stay in the order they had."""
    return [
        lambda f, m: f(m.random(40)),
        lambda f, m: f(m.random(40), descending=True),
        lambda f, m: f(m.random(4, 9), axis=0, descending=True, stable=True),
        lambda f, m: f(m.random(4, 9), axis=1, stable=True),
        lambda f, m: f(m.random(4, 0)),
        lambda f, m: f(m([7, 0, 255, 1], "uint8"), descending=True),
    ]
