"""One line for each function of the standard: which data types it takes and calls that say what it does.

The chapter creation is apart, in `test_standard.py`: its functions take devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .maker import (
    ALL,
    BOOL,
    COMPLEX,
    FLOAT,
    INEXACT,
    INT,
    NUMERIC,
    REAL,
    binary,
    cumulative,
    ordering,
    positions,
    reduction,
    shifts,
    unary,
)

__all__ = ["CASES"]

CASES: dict[str, tuple[tuple[str, ...], list[Callable[..., Any]]]] = {
    # --- elementwise ---
    "abs": (NUMERIC, unary()),
    "acos": (INEXACT, unary(-1, 1)),
    "acosh": (INEXACT, unary(1, 9)),
    "add": (NUMERIC, binary()),
    "asin": (INEXACT, unary(-1, 1)),
    "asinh": (INEXACT, unary()),
    "atan": (INEXACT, unary()),
    "atan2": (FLOAT, binary()),
    "atanh": (INEXACT, unary(-0.9, 0.9)),
    "bitwise_and": (INT + BOOL, binary()),
    "bitwise_invert": (INT + BOOL, unary()),
    "bitwise_left_shift": (INT, shifts()),
    "bitwise_or": (INT + BOOL, binary()),
    "bitwise_right_shift": (INT, shifts()),
    "bitwise_xor": (INT + BOOL, binary()),
    "ceil": (REAL, unary()),
    "clip": (
        REAL,
        [
            lambda f, m: f(m.random(9), 1, 2),
            lambda f, m: f(m.random(9), min=1),
            lambda f, m: f(m.random(9), max=1),
            lambda f, m: f(m.random(9)),
            lambda f, m: f(m.random(4, 3), m([0, 1, 2]), m([1, 2, 3])),
            lambda f, m: f(m.random(3), m([[0], [1]]), None),
            lambda f, m: f(m.random(4, 3), m([0, 1, 2]), 3),
            lambda f, m: f(m.random(), 1, 2),
            lambda f, m: f(m([np.nan, 5.0, -5.0]), -1, 1) if m.dtype in FLOAT else None,
            lambda f, m: f(m.random(0, 2), 1, 2),
        ],
    ),
    "conj": (NUMERIC, unary()),
    "copysign": (FLOAT, binary()),
    "cos": (INEXACT, unary()),
    "cosh": (INEXACT, unary()),
    "divide": (INEXACT, binary()),
    "equal": (ALL, binary()),
    "exp": (INEXACT, unary()),
    "expm1": (INEXACT, unary(-1, 1)),
    "floor": (REAL, unary()),
    "floor_divide": (REAL, binary(1, 9)),
    "greater": (REAL, binary()),
    "greater_equal": (REAL, binary()),
    "hypot": (FLOAT, binary()),
    "imag": (COMPLEX, unary()),
    "isfinite": (NUMERIC, unary()),
    "isinf": (NUMERIC, unary()),
    "isnan": (NUMERIC, unary()),
    "less": (REAL, binary()),
    "less_equal": (REAL, binary()),
    "log": (INEXACT, unary(0.1, 9)),
    "log10": (INEXACT, unary(0.1, 9)),
    "log1p": (INEXACT, unary(0.1, 9)),
    "log2": (INEXACT, unary(0.1, 9)),
    "logaddexp": (FLOAT, binary()),
    "logical_and": (BOOL, binary()),
    "logical_not": (BOOL, unary()),
    "logical_or": (BOOL, binary()),
    "logical_xor": (BOOL, binary()),
    "maximum": (REAL, binary()),
    "minimum": (REAL, binary()),
    "multiply": (NUMERIC, binary()),
    "negative": (NUMERIC, unary()),
    "nextafter": (FLOAT, binary(scalar=None)),
    "not_equal": (ALL, binary()),
    "positive": (NUMERIC, unary()),
    "pow": (NUMERIC, binary(1, 3)),
    "real": (NUMERIC, unary()),
    "reciprocal": (INEXACT, unary(1, 9)),
    "remainder": (
        REAL,
        [*binary(1, 9), lambda f, m: f(m([5, -5, 5, -5]), m([3, 3, -3, -3])) if m.dtype != "uint8" else None],
    ),
    "round": (NUMERIC, [*unary(), lambda f, m: f(m([0.5, 1.5, -0.5, 2.5])) if m.dtype in FLOAT else None]),
    "sign": (NUMERIC, [*unary(), lambda f, m: f(m([0, 3]))]),
    "signbit": (FLOAT, unary()),
    "sin": (INEXACT, unary()),
    "sinh": (INEXACT, unary()),
    "sqrt": (INEXACT, unary(0, 9)),
    "square": (NUMERIC, unary()),
    "subtract": (NUMERIC, binary()),
    "tan": (INEXACT, unary()),
    "tanh": (INEXACT, unary()),
    "trunc": (REAL, unary()),
    # --- statistical ---
    "cumulative_prod": (NUMERIC, cumulative()),
    "cumulative_sum": (NUMERIC, [*cumulative(), lambda f, m: f(m.random(4), dtype=m.random(1).dtype)]),
    "max": (REAL, [*reduction(), lambda f, m: f(m([1.0, np.nan])) if m.dtype in FLOAT else None]),
    "mean": (INEXACT, reduction()),
    "min": (REAL, [*reduction(), lambda f, m: f(m([1.0, np.nan])) if m.dtype in FLOAT else None]),
    "prod": (NUMERIC, [*reduction(), lambda f, m: f(m.random(0, 2), axis=0)]),
    "std": (FLOAT, [*reduction(), *reduction(correction=1.0)[:3]]),
    "sum": (
        NUMERIC,
        [*reduction(), lambda f, m: f(m.random(0, 2), axis=0), lambda f, m: f(m([1, 2]), dtype=m([1]).dtype)],
    ),
    "var": (FLOAT, [*reduction(), *reduction(correction=1.0)[:3]]),
    # --- manipulation ---
    "broadcast_arrays": (ALL, [lambda f, m: f(m.random(3, 1), m.random(4)), lambda f, m: f(m.random(2))]),
    "broadcast_to": (ALL, [lambda f, m: f(m.random(3, 1), (2, 3, 4)), lambda f, m: f(m.random(), (2,))]),
    "concat": (
        ALL,
        [
            lambda f, m: f([m.random(2, 3), m.random(1, 3, seed=1)]),
            lambda f, m: f((m.random(2, 3), m.random(2, 1)), axis=-1),
            lambda f, m: f([m.random(2, 3), m.random(1, 2)], axis=None),
            lambda f, m: f([m.random(), m.random(2)], axis=None),
            lambda f, m: f([m.random(0), m.random(2)]),
        ],
    ),
    "expand_dims": (
        ALL,
        [
            lambda f, m: f(m.random(2, 3), axis=0),
            lambda f, m: f(m.random(2, 3), axis=-1),
            lambda f, m: f(m.random(2, 3), axis=(0, 2)),
            lambda f, m: f(m.random(), axis=0),
        ],
    ),
    "flip": (
        ALL,
        [
            lambda f, m: f(m.random(2, 3)),
            lambda f, m: f(m.random(2, 3), axis=-1),
            lambda f, m: f(m.random(2, 3), axis=(0, 1)),
        ],
    ),
    "moveaxis": (ALL, [lambda f, m: f(m.random(2, 3, 4), 0, -1), lambda f, m: f(m.random(2, 3, 4), (0, 1), (2, 0))]),
    "permute_dims": (ALL, [lambda f, m: f(m.random(2, 3, 4), (2, 0, 1)), lambda f, m: f(m.random(), ())]),
    "repeat": (
        ALL,
        [
            lambda f, m: f(m.random(2, 3), 2),
            lambda f, m: f(m.random(2, 3), 2, axis=1),
            lambda f, m: f(m.random(2, 3), m.index([0, 2, 1]), axis=-1),
            lambda f, m: f(m.random(3), m.index(2), axis=0),
        ],
    ),
    "reshape": (
        ALL,
        [
            lambda f, m: f(m.random(2, 6), (3, 4)),
            lambda f, m: f(m.random(2, 6), (-1,)),
            lambda f, m: f(m.random(1), ()),
            lambda f, m: f(m.random(4, 3).T, (2, 6)),
            lambda f, m: f(m.random(2, 6), (3, 4), copy=True),
        ],
    ),
    "roll": (
        ALL,
        [
            lambda f, m: f(m.random(7), 2),
            lambda f, m: f(m.random(2, 3), -1, axis=1),
            lambda f, m: f(m.random(2, 3), (1, 2), axis=(0, 1)),
            lambda f, m: f(m.random(2, 3), 1),
            lambda f, m: f(m.random(0), 1),
        ],
    ),
    "squeeze": (ALL, [lambda f, m: f(m.random(1, 2, 1), axis=0), lambda f, m: f(m.random(1, 2, 1), axis=(0, -1))]),
    "stack": (
        ALL,
        [lambda f, m: f([m.random(2), m.random(2, seed=1)]), lambda f, m: f((m.random(2, 3), m.random(2, 3)), axis=-1)],
    ),
    "tile": (
        ALL,
        [
            lambda f, m: f(m.random(2, 3), (2, 1, 2)),
            lambda f, m: f(m.random(2, 3), (2,)),
            lambda f, m: f(m.random(2), (0,)),
        ],
    ),
    "unstack": (
        ALL,
        [lambda f, m: f(m.random(2, 3)), lambda f, m: f(m.random(2, 3), axis=-1), lambda f, m: f(m.random(0, 2))],
    ),
    "tril": (
        ALL,
        [lambda f, m: f(m.random(3, 4)), lambda f, m: f(m.random(2, 3, 3), k=-1), lambda f, m: f(m.random(2, 3), k=2)],
    ),
    "triu": (
        ALL,
        [lambda f, m: f(m.random(3, 4)), lambda f, m: f(m.random(2, 3, 3), k=1), lambda f, m: f(m.random(2, 3), k=-9)],
    ),
    "meshgrid": (
        NUMERIC,
        [
            lambda f, m: f(m.random(2), m.random(3)),
            lambda f, m: f(m.random(2), m.random(3), indexing="ij"),
            lambda f, m: f(m.random(2)),
        ],
    ),
    # --- linear algebra ---
    "matmul": (
        NUMERIC,
        [
            lambda f, m: f(m.random(2, 3), m.random(3, 4)),
            lambda f, m: f(m.random(5, 2, 3), m.random(3, 4)),
            lambda f, m: f(m.random(3), m.random(3)),
            lambda f, m: f(m.random(3), m.random(2, 3, 4)),
            lambda f, m: f(m.random(2, 3), m.random(3)),
            lambda f, m: f(m.random(2, 0), m.random(0, 3)),
            lambda f, m: f(m.random(3, 2).T, m.random(4, 3).T),
        ],
    ),
    "matrix_transpose": (ALL, [lambda f, m: f(m.random(2, 3)), lambda f, m: f(m.random(4, 2, 3))]),
    "tensordot": (
        NUMERIC,
        [
            lambda f, m: f(m.random(2, 3, 4), m.random(3, 4, 5)),
            lambda f, m: f(m.random(2, 3), m.random(3, 4), axes=1),
            lambda f, m: f(m.random(2), m.random(3), axes=0),
            lambda f, m: f(m.random(2, 3, 4), m.random(4, 2), axes=((0, -1), (1, 0))),
        ],
    ),
    "vecdot": (
        NUMERIC,
        [
            lambda f, m: f(m.random(2, 3), m.random(2, 3, seed=1)),
            lambda f, m: f(m.random(2, 3), m.random(3, seed=1)),
            lambda f, m: f(m.random(2, 3), m.random(2, 3, seed=1), axis=-2),
        ],
    ),
    # --- indexing ---
    "take": (
        ALL,
        [
            lambda f, m: f(m.random(5), m.index([0, 4, 4])),
            lambda f, m: f(m.random(5), m.index([-1, -5, 2])),
            lambda f, m: f(m.random(2, 5), m.index([3, 0]), axis=1),
            lambda f, m: f(m.random(2, 5), m.index([1]), axis=-2),
            lambda f, m: f(m.random(2, 5), m.index([]), axis=1),
        ],
    ),
    "take_along_axis": (
        ALL,
        [
            lambda f, m: f(m.random(2, 3), m.index([[0], [2]])),
            lambda f, m: f(m.random(2, 3), m.index([[-1], [-3]])),
            lambda f, m: f(m.random(2, 3), m.index([[1, 0, 1]]), axis=0),
            lambda f, m: f(m.random(1, 3), m.index([[1, 0], [2, 2]]), axis=-1),
        ],
    ),
    # --- searching ---
    "argmax": (REAL, positions()),
    "argmin": (REAL, positions()),
    "count_nonzero": (
        ALL,
        [
            lambda f, m: f(m.random(3, 4)),
            lambda f, m: f(m.random(3, 4), axis=-1),
            lambda f, m: f(m.random(3, 4), axis=(0, 1), keepdims=True),
            lambda f, m: f(m.random(3, 4), keepdims=True),
            lambda f, m: f(m.random()),
        ],
    ),
    "nonzero": (ALL, [lambda f, m: f(m.random(3, 4)), lambda f, m: f(m([0, 0]))]),
    "searchsorted": (
        REAL,
        [
            lambda f, m: f(m([1, 2, 2, 3]), m([0, 1, 2, 3, 4])),
            lambda f, m: f(m([1, 2, 2, 3]), m([[0, 1], [2, 3]]), side="right"),
            lambda f, m: f(m([3, 1, 2, 2]), m([2, 3]), sorter=m.index([1, 2, 3, 0])),
            lambda f, m: f(m([1, 2, 2, 3]), m(2)),
            lambda f, m: f(m([1, 2, 2, 3]), 2, side="right"),
        ],
    ),
    "where": (
        ALL,
        [
            lambda f, m: f(m([True, False, True], "bool"), m.random(3), m.random(3, seed=1)),
            lambda f, m: f(m([[True], [False]], "bool"), m.random(3), m.random(1, seed=1)),
            lambda f, m: f(m([True, False, True], "bool"), m.random(3), m.dtype in BOOL or 1),
            lambda f, m: f(m([True, False, True], "bool"), m.dtype in BOOL or 1, m.random(3)),
            lambda f, m: f(m(True, "bool"), m.random(3), m.random()),
        ],
    ),
    # --- sorting ---
    "argsort": (REAL, ordering()),
    "sort": (REAL, ordering()),
    # --- set ---
    "isin": (
        INT + FLOAT,
        [
            lambda f, m: f(m([1, 2, 3, 2]), m([2, 5])),
            lambda f, m: f(m([[1, 2], [3, 2]]), m([[2], [3]]), invert=True),
            lambda f, m: f(m([1, 2]), 2),
            lambda f, m: f(m([]), m([1])),
        ],
    ),
    "unique_all": (REAL, [lambda f, m: f(m.random(3, 5)), lambda f, m: f(m([5, 5, 1]))]),
    "unique_counts": (REAL, [lambda f, m: f(m.random(3, 5)), lambda f, m: f(m([5, 5, 1]))]),
    "unique_inverse": (REAL, [lambda f, m: f(m.random(3, 5)), lambda f, m: f(m([5, 5, 1]))]),
    "unique_values": (REAL, [lambda f, m: f(m.random(3, 5)), lambda f, m: f(m([5, 5, 1]))]),
    # --- utility ---
    "all": (ALL, reduction()),
    "any": (ALL, reduction()),
    "diff": (
        NUMERIC,
        [
            lambda f, m: f(m.random(5)),
            lambda f, m: f(m.random(2, 5), n=2),
            lambda f, m: f(m.random(2, 5), axis=0, prepend=m.random(1, 5), append=m.random(2, 5, seed=1)),
            lambda f, m: f(m.random(5), n=0),
        ],
    ),
}
