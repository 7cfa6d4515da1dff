"""Comparisons, logic and bits. Their results are constant almost everywhere: no gradient passes."""

from __future__ import annotations

from ._elementwise import binary, unary

__all__ = [
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
]

_PAIR = ("[1.0, 2.0, 3.0]", "[3.0, 2.0, 1.0]")
equal = binary("equal", None, None, "``x1 == x2``.", "any", _PAIR, "[False,  True, False]", "bool")
not_equal = binary("not_equal", None, None, "``x1 != x2``.", "any", _PAIR, "[ True, False,  True]", "bool")
less = binary("less", None, None, "``x1 < x2``.", "real", _PAIR, "[ True, False, False]", "bool")
less_equal = binary("less_equal", None, None, "``x1 <= x2``.", "real", _PAIR, "[ True,  True, False]", "bool")
greater = binary("greater", None, None, "``x1 > x2``.", "real", _PAIR, "[False, False,  True]", "bool")
greater_equal = binary("greater_equal", None, None, "``x1 >= x2``.", "real", _PAIR, "[False,  True,  True]", "bool")

_STRANGE = "[1.0, float('inf'), float('nan')]"
isfinite = unary("isfinite", None, "Neither infinite nor NaN.", "numeric", _STRANGE, "[ True, False, False]", "bool")
isinf = unary("isinf", None, "Infinite.", "numeric", _STRANGE, "[False,  True, False]", "bool")
isnan = unary("isnan", None, "Not a number.", "numeric", _STRANGE, "[False, False,  True]", "bool")
signbit = unary(
    "signbit", None, "Negative, -0.0 included.", "real floating", "[-1.0, -0.0, 0.0]", "[ True,  True, False]", "bool"
)

_TRUTHS = ("[True, True, False]", "[True, False, False]")
logical_and = binary("logical_and", None, None, "``x1 and x2``.", "bool", _TRUTHS, "[ True, False, False]", "bool")
logical_or = binary("logical_or", None, None, "``x1 or x2``.", "bool", _TRUTHS, "[ True,  True, False]", "bool")
logical_xor = binary(
    "logical_xor", None, None, "``x1`` or ``x2``, not both.", "bool", _TRUTHS, "[False,  True, False]", "bool"
)
logical_not = unary("logical_not", None, "``not x``.", "bool", "[True, False]", "[False,  True]", "bool")

_BITS = ("[5, 6]", "[3, 3]")
bitwise_and = binary("bitwise_and", None, None, "``x1 & x2``, bit by bit.", "integer", _BITS, "[1, 2]", "int64")
bitwise_or = binary("bitwise_or", None, None, "``x1 | x2``, bit by bit.", "integer", _BITS, "[7, 7]", "int64")
bitwise_xor = binary("bitwise_xor", None, None, "``x1 ^ x2``, bit by bit.", "integer", _BITS, "[6, 5]", "int64")
bitwise_invert = unary(
    "bitwise_invert", None, "``~x``, bit by bit.", "integer", "[True, False]", "[False,  True]", "bool"
)
bitwise_left_shift = binary(
    "bitwise_left_shift",
    None,
    None,
    "``x1 << x2`` = ``x1 * 2 ** x2``.",
    "integer",
    ("[1, 2]", "3"),
    "[ 8, 16]",
    "int64",
)
bitwise_right_shift = binary(
    "bitwise_right_shift",
    None,
    None,
    "``x1 >> x2`` = ``floor(x1 / 2 ** x2)``.",
    "integer",
    ("[9, 16]", "3"),
    "[1, 2]",
    "int64",
)
