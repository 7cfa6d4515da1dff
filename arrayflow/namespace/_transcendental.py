"""Exponential, logarithmic, trigonometric and hyperbolic functions, each with its derivative beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._arithmetic import hypot
from ._comparison import isinf
from ._elementwise import binary, unary, where
from ._elementwise import conjugate as bar
from .creation import zeros_like

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]

exp = unary("exp", lambda g, y: g * bar(y), "``e ** x``.", "floating", "[0.0, 1.0]", "[1. ..., 2.7182...]")
expm1 = unary(
    "expm1", lambda g, y: g * bar(y + 1), "``e ** x - 1``, exact near 0.", "floating", "[0.0, 1e-8]", "[0.e+00, 1.e-08]"
)
log = unary("log", lambda g, x: g / bar(x), "Natural logarithm.", "floating", "[1.0, 10.0]", "[0.       , 2.3025851]")
log1p = unary(
    "log1p", lambda g, x: g / bar(x + 1), "``log(1 + x)``, exact near 0.", "floating", "[0.0, 1e-8]", "[0.e+00, 1.e-08]"
)
log2 = unary(
    "log2", lambda g, x: g / bar(x * math.log(2)), "Logarithm to base 2.", "floating", "[1.0, 8.0]", "[0., 3.]"
)
log10 = unary(
    "log10", lambda g, x: g / bar(x * math.log(10)), "Logarithm to base 10.", "floating", "[1.0, 100.0]", "[0., 2.]"
)
sqrt = unary(
    "sqrt", lambda g, y: g / bar(2 * y), "Square root.", "floating", "[4.0, 9.0]", "[2., 3.]",
    notes="The slope at 0 is infinite, and so is the gradient there; NaN where the cotangent is 0. Add a small number "
    "under the root, or choose with `where` before it.",
)  # fmt: skip


def _part(g: Any, x: Any, other: Any, y: Any) -> Any:
    """``g e^x / (e^x + e^other)``; equal infinities share, a lone one takes all."""
    infinite = isinf(y)
    zero = zeros_like(y)
    at_infinity = where(zero + x == zero + other, zero + 0.5, where(zero + x == y, zero + 1, zero))
    # Where y is infinite the difference is no number: it must not reach exp, whose slope would be none either.
    return g * where(infinite, at_infinity, exp(where(infinite, zero, x - where(infinite, zero, y))))


logaddexp = binary(
    "logaddexp",
    lambda g, x1, x2, y: _part(g, x1, x2, y),
    lambda g, x1, x2, y: _part(g, x2, x1, y),
    "``log(e ** x1 + e ** x2)``, without overflow.",
    "real floating",
    ("[0.0, 1000.0]", "[0.0, 1000.0]"),
    "[6.9314...e-01, 1.00069...e+03]",
)

sin = unary(
    "sin",
    lambda g, x: g * bar(cos(x)),
    "Sine of an angle in radians.",
    "floating",
    "[0.0, 1.0]",
    "[0.      , 0.841471]",
)
cos: Callable[..., Any] = unary(
    "cos",
    lambda g, x: -g * bar(sin(x)),
    "Cosine of an angle in radians.",
    "floating",
    "[0.0, 1.0]",
    "[1.       , 0.5403023]",
)
tan = unary(
    "tan", lambda g, y: g * bar(1 + y * y), "``sin(x) / cos(x)``.", "floating", "[0.0, 1.0]", "[0.       , 1.5574077]"
)
# (1 - x)(1 + x) keeps the digits near 1 that 1 - x x loses.
asin = unary(
    "asin", lambda g, x: g / bar(sqrt((1 - x) * (1 + x))), "Inverse of `sin`, in radians.", "floating", "[0.0, 1.0]",
    "[0.       , 1.5707964]", notes="The slope at -1 and 1 is infinite.",
)  # fmt: skip
acos = unary(
    "acos", lambda g, x: -g / bar(sqrt((1 - x) * (1 + x))), "Inverse of `cos`, in radians.", "floating", "[1.0, 0.0]",
    "[0.       , 1.5707964]", notes="The slope at -1 and 1 is infinite.",
)  # fmt: skip
atan = unary(
    "atan",
    lambda g, x: g / bar(1 + x * x),
    "Inverse of `tan`, in radians.",
    "floating",
    "[0.0, 1.0]",
    "[0.       , 0.7853982]",
)


def _turn(g: Any, x: Any, x1: Any, x2: Any) -> Any:
    """``g x / (x1^2 + x2^2)``, which neither over- nor underflows; 0 at the origin, where there is no slope."""
    r = hypot(x1, x2)
    r = where(r == 0, 1, r)
    return g * (x / r) / r


atan2 = binary(
    "atan2",
    lambda g, x1, x2: _turn(g, x2, x1, x2),
    lambda g, x1, x2: -_turn(g, x1, x1, x2),
    "Angle of the point (x2, x1) from the first axis, in radians.",
    "real floating",
    ("[1.0, -1.0]", "[1.0, 0.0]"),
    "[ 0.7853982, -1.5707964]",
    notes="At the origin, where it has no slope, the gradient is 0.",
)
sinh = unary(
    "sinh",
    lambda g, x: g * bar(cosh(x)),
    "``(e ** x - e ** -x) / 2``.",
    "floating",
    "[0.0, 1.0]",
    "[0.       , 1.1752012]",
)
cosh: Callable[..., Any] = unary(
    "cosh",
    lambda g, x: g * bar(sinh(x)),
    "``(e ** x + e ** -x) / 2``.",
    "floating",
    "[0.0, 1.0]",
    "[1. ..., 1.5430...]",
)
tanh = unary(
    "tanh",
    lambda g, y: g * bar(1 - y * y),
    "``sinh(x) / cosh(x)``.",
    "floating",
    "[0.0, 1.0]",
    "[0.       , 0.7615942]",
)
asinh = unary(
    "asinh",
    lambda g, x: g / bar(sqrt(x * x + 1)),
    "Inverse of `sinh`.",
    "floating",
    "[0.0, 1.0]",
    "[0.       , 0.8813736]",
)
# The product of two roots has the branch of acosh; the root of the product has not.
acosh = unary(
    "acosh", lambda g, x: g / bar(sqrt(x - 1) * sqrt(x + 1)), "Inverse of `cosh`.", "floating", "[1.0, 2.0]",
    "[0.       , 1.316958]", notes="The slope at 1 is infinite.",
)  # fmt: skip
atanh = unary(
    "atanh",
    lambda g, x: g / bar((1 - x) * (1 + x)),
    "Inverse of `tanh`.",
    "floating",
    "[0.0, 0.5]",
    "[0.       , 0.54930615]",
)
