"""Arithmetic, rounding, and parts of numbers, each function with its derivative beside it."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

from ..autograd.operands import SCALARS
from ..autograd.primitive import cast
from ..autograd.variable import as_raw
from ._docs import numpydoc
from ._elementwise import binary, conj, is_complex, primitive, unary, where
from ._elementwise import conjugate as bar
from .creation import zeros_like

__all__ = [
    "abs",
    "add",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "divide",
    "floor",
    "floor_divide",
    "hypot",
    "imag",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "square",
    "subtract",
    "trunc",
]

_PAIR = ("[6.0, 7.0]", "[2.0, 4.0]")
add = binary("add", lambda g: g, lambda g: g, "``x1 + x2``.", "numeric", _PAIR, "[ 8., 11.]")
subtract = binary("subtract", lambda g: g, lambda g: -g, "``x1 - x2``.", "numeric", _PAIR, "[4., 3.]")
multiply = binary(
    "multiply", lambda g, x2: g * bar(x2), lambda g, x1: g * bar(x1), "``x1 * x2``.", "numeric", _PAIR, "[12., 28.]"
)
divide = binary(
    "divide",
    lambda g, x2: g / bar(x2),
    lambda g, x2, y: -g * bar(y / x2),
    "``x1 / x2``.",
    "floating",
    _PAIR,
    "[3.  , 1.75]",
)
floor_divide = binary("floor_divide", None, None, "``floor(x1 / x2)``.", "real", _PAIR, "[3., 1.]")
remainder = binary(
    "remainder", lambda g: g, lambda g, x1, x2: -g * floor_divide(x1, x2),
    "``x1 - x2 * floor(x1 / x2)``, of the sign of `x2`.", "real", ("[7.0, -7.0]", "4.0"), "[3., 1.]",
)  # fmt: skip
negative = unary("negative", lambda g: -g, "``-x``.", "numeric", "[1.0, -2.0]", "[-1.,  2.]")
positive = unary("positive", lambda g: g, "``+x``.", "numeric", "[1.0, -2.0]", "[ 1., -2.]")
reciprocal = unary("reciprocal", lambda g, y: -g * bar(y * y), "``1 / x``.", "floating", "[2.0, 4.0]", "[0.5 , 0.25]")
square = unary("square", lambda g, x: g * bar(2 * x), "``x * x``.", "numeric", "[2.0, 3.0]", "[4., 9.]")


# --- powers ---------------------------------------------------------------------------------------


def _pow_base(g: Any, x1: Any, x2: Any) -> Any:
    """``g x2 x1^(x2 - 1)``; 0 for an exponent of 0, at a base of 0 too."""
    if isinstance(x2, SCALARS):
        if x2 == 0:
            return zeros_like(g)
        if x2 == 1:
            return g
        return g * bar(2 * x1 if x2 == 2 else x2 * pow(x1, x2 - 1))
    return g * bar(x2 * pow(where((x1 == 0) & (x2 == 0), 1, x1), x2 - 1))


def _pow_exponent(g: Any, x1: Any, x2: Any, y: Any) -> Any:
    """``g y log(x1)``; 0 at a base of 0, and at a negative one, where a real power has no slope."""
    complex_ = is_complex(as_raw(y))
    if isinstance(x1, SCALARS):
        if x1 == 0 or (x1.real < 0 and not complex_):
            return zeros_like(g)
        return g * bar(y * (cmath.log(x1) if complex_ else math.log(x1.real)))
    slopes = x1 != 0 if complex_ else x1 > 0
    return g * bar(where(slopes, y, 0) * _log(where(slopes, x1, 1)))


def _log(x: Any) -> Any:
    from ._transcendental import log

    return log(x)


pow = binary(
    "pow",
    lambda g, x1, x2: _pow_base(g, x1, x2),
    lambda g, x1, x2, y: _pow_exponent(g, x1, x2, y),
    "``x1 ** x2``.",
    "numeric",
    ("[2.0, 3.0]", "2"),
    "[4., 9.]",
    notes="The gradient by the exponent is 0 where a real base is not positive: the power has no slope there.",
)


# --- the larger, the smaller ----------------------------------------------------------------------


def _share(g: Any, tied: Any, lost: Any) -> Any:
    """`g` for the operand that was taken, none for the other, half for each of two that are equal."""
    return where(lost, 0, where(tied, 0.5 * g, g))


maximum = binary(
    "maximum",
    lambda g, x1, x2: _share(g, x1 == x2, x1 < x2),
    lambda g, x1, x2: _share(g, x1 == x2, x2 < x1),
    "The larger of `x1` and `x2`; NaN if either is.",
    "real",
    ("[1.0, 5.0]", "[2.0, 4.0]"),
    "[2., 5.]",
    notes="Equal operands share the gradient.",
)
minimum = binary(
    "minimum",
    lambda g, x1, x2: _share(g, x1 == x2, x1 > x2),
    lambda g, x1, x2: _share(g, x1 == x2, x2 > x1),
    "The smaller of `x1` and `x2`; NaN if either is.",
    "real",
    ("[1.0, 5.0]", "[2.0, 4.0]"),
    "[1., 4.]",
    notes="Equal operands share the gradient.",
)


def _inside(g: Any, x: Any, min: Any, max: Any) -> Any:
    """`g` where `x` was not clipped; a bound itself passes."""
    if min is not None:
        g = where(x < min, 0, g)
    return g if max is None else where(x > max, 0, g)


def _at_min(g: Any, x: Any, min: Any, max: Any) -> Any:
    g = where(x < min, g, 0)
    return g if max is None else where(min > max, 0, g)


def _at_max(g: Any, x: Any, min: Any, max: Any) -> Any:
    g_above = where(x > max, g, 0)
    return g_above if min is None else where(min > max, g, g_above)


clip = primitive(
    "clip(x, /, min=None, max=None)",
    lambda g, x, min, max: _inside(g, x, min, max),
    lambda g, x, min, max: _at_min(g, x, min, max),
    lambda g, x, min, max: _at_max(g, x, min, max),
    promote=("x", "min", "max"),
    doc=numpydoc(
        "``minimum(maximum(x, min), max)``: each element brought into a range.",
        "x : array or Variable, real",
        "min, max : array, Variable or Python scalar, optional\n    The range. None leaves that side open.",
        returns="array or Variable, broadcast shape and common dtype of the three",
        raises="DeviceMismatchError\n    If they live on different devices.",
        notes="The gradient passes where `x` was not changed, the bounds themselves included.",
        example="""
        >>> af.clip(af.asarray([-2.0, 0.5, 2.0], device="cpu"), 0.0, 1.0)
        Variable([0. , 0.5, 1. ], dtype=float32, device='cpu')
        """,
    ),
)

# --- rounding -------------------------------------------------------------------------------------

ceil = unary("ceil", None, "The integer not below `x` that is nearest.", "real", "[1.2, -1.2]", "[ 2., -1.]")
floor = unary("floor", None, "The integer not above `x` that is nearest.", "real", "[1.2, -1.2]", "[ 1., -2.]")
round = unary("round", None, "The nearest integer; of two, the even one.", "numeric", "[0.5, 1.5]", "[0., 2.]")
trunc = unary("trunc", None, "The nearest integer towards 0.", "real", "[1.7, -1.7]", "[ 1., -1.]")
nextafter = binary(
    "nextafter", None, None, "The next number of the data type from `x1` towards `x2`.", "real floating",
    ("[1.0]", "[2.0]"), "[1.0000001]",
)  # fmt: skip

# --- sign and size --------------------------------------------------------------------------------


def _sign_slope(g: Any, x: Any, y: Any) -> Any:
    if not is_complex(as_raw(x)):
        return zeros_like(g)
    # What is along y changes |x| alone; the rest turns x.
    r = abs(x)
    across = g - real(g * conj(y)) * y
    return where(r == 0, 0, across / where(r == 0, 1, r))


abs = unary(
    "abs", lambda g, x: g * sign(x), "Absolute value; the modulus of a complex number.", "numeric", "[-3.0, 4.0]",
    "[3., 4.]", notes="The gradient at 0 is 0.",
)  # fmt: skip
sign: Callable[..., Any] = unary(
    "sign", lambda g, x, y: _sign_slope(g, x, y), "-1, 0 or 1; ``x / abs(x)`` for complex numbers, and 0 for 0.",
    "numeric", "[-3.0, 0.0, 4.0]", "[-1.,  0.,  1.]",
)  # fmt: skip
copysign = binary(
    "copysign", lambda g, x1, y: g * (sign(x1) * sign(y)), None, "The size of `x1` with the sign of `x2`.",
    "real floating", ("[1.0, 2.0]", "[-1.0, 0.0]"), "[-1.,  2.]", notes="The gradient at 0 is 0.",
)  # fmt: skip


def _leg(g: Any, x: Any, y: Any) -> Any:
    return g * (x / where(y == 0, 1, y))


hypot = binary(
    "hypot",
    lambda g, x1, y: _leg(g, x1, y),
    lambda g, x2, y: _leg(g, x2, y),
    "``sqrt(x1 * x1 + x2 * x2)``, without overflow.",
    "real floating",
    ("[3.0]", "[4.0]"),
    "[5.]",
    notes="The gradient at the origin is 0.",
)

# --- complex numbers ------------------------------------------------------------------------------

real = unary(
    "real",
    lambda g, own_dtype: cast(g, dtype=own_dtype),
    "Real part; `x` itself where it is real.",
    "numeric",
    "[1 + 2j]",
    "[1.]",
)
_imag = primitive("imag", lambda g, own_dtype: cast(g, dtype=own_dtype) * 1j)


def imag(x: Any, /) -> Any:
    """Imaginary part; zeros where `x` is real.

    Parameters
    ----------
    x : array or Variable, numeric

    Returns
    -------
    array or Variable, shape of `x`, real

    Examples
    --------
    >>> import arrayflow as af
    >>> af.imag(af.asarray([1 + 2j], device="cpu"))
    Variable([2.], dtype=float32, device='cpu')
    """
    return _imag(x) if is_complex(as_raw(x)) else zeros_like(x)


imag.primitive = _imag.primitive  # type: ignore[attr-defined]
