"""Statistical functions: reductions and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

from ..autograd import primitive
from ..autograd.primitive import cast
from ._axes import axes_of, count, reshaped, spread
from ._docs import ANY_AXIS, AXIS, DTYPE, KEEPDIMS, X, numpydoc
from ._elementwise import conjugate
from .indexing import get_item
from .manipulation import concat, flip, permute_dims
from .searching import where

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]

_REAL = "x : array or Variable, real\n    The input."
_FLOATING = "x : array or Variable, numeric\n    The input; integers become the default floating type first."
_REDUCED = "array or Variable, of the shape of `x` without the axes reduced, or with length 1 there"
_CORRECTION = (
    "correction : int or float\n    Taken from the number of elements that is divided by: 1 for an unbiased variance."
)
_INITIAL = "include_initial : bool\n    Whether {} stands in front, so that the axis is one longer."


def _as(g: Any, dtype: Any) -> Any:
    """`g` in the data type of an operand that was computed with in another."""
    return g if g.dtype == dtype else cast(g, dtype=dtype)


# --- sums ------------------------------------------------------------------------------------------

sum: Callable[..., Any] = primitive(
    "sum(x, /, *, axis=None, dtype=None, keepdims=False)",
    lambda g, shape, own_dtype, axis: _as(spread(g, shape, axis), own_dtype),
    numeric=True,
    doc=numpydoc(
        "The sum of elements; 0 where there are none.",
        X,
        ANY_AXIS,
        DTYPE,
        KEEPDIMS,
        returns=_REDUCED,
        example="""
        >>> af.sum(af.ones((2, 3), device="cpu"), axis=0)
        Variable([2., 2., 2.], dtype=float32, device='cpu')
        """,
    ),
)


def _share(g: Any, n: float) -> Any:
    """`g` divided by a number of elements; none at all give NaN."""
    return g * (1 / n if n else nan)


mean: Callable[..., Any] = primitive(
    "mean(x, /, *, axis=None, keepdims=False)",
    lambda g, shape, axis: spread(_share(g, count(shape, axis)), shape, axis),
    floating=True,
    doc=numpydoc(
        "The arithmetic mean of elements; NaN where there are none.",
        _FLOATING,
        ANY_AXIS,
        KEEPDIMS,
        returns=_REDUCED,
        example="""
        >>> float(af.mean(af.asarray([1, 2, 6], device="cpu")))
        3.0
        """,
    ),
)


def _centred(x: Any, axis: int | Sequence[int] | None) -> Any:
    return x - mean(x, axis=axis, keepdims=True)


var: Callable[..., Any] = primitive(
    "var(x, /, *, axis=None, correction=0.0, keepdims=False)",
    # d/dx of sum((x - mean)^2) / (n - c); what the mean contributes sums to 0.
    lambda g, x, axis, correction: (
        spread(_share(g, (count(x.shape, axis) - correction) / 2), x.shape, axis) * _centred(x, axis)
    ),
    floating=True,
    doc=numpydoc(
        "The variance ``sum((x - mean(x))**2) / (n - correction)`` of n elements.",
        _FLOATING,
        ANY_AXIS,
        _CORRECTION,
        KEEPDIMS,
        returns=_REDUCED,
        example="""
        >>> float(af.var(af.asarray([1.0, 3.0], device="cpu"), correction=1))
        2.0
        """,
    ),
)


def _std_grad(g: Any, x: Any, y: Any, axis: Any, correction: float) -> Any:
    # Where all elements are equal the root has no slope: 0, a subgradient, rather than 0/0.
    flat = y == 0
    slope = where(flat, 0.0, g / where(flat, 1.0, y))
    return spread(_share(slope, count(x.shape, axis) - correction), x.shape, axis) * _centred(x, axis)


std: Callable[..., Any] = primitive(
    "std(x, /, *, axis=None, correction=0.0, keepdims=False)",
    lambda g, x, y, axis, correction: _std_grad(g, x, y, axis, correction),
    floating=True,
    doc=numpydoc(
        "The standard deviation: the root of the variance.",
        _FLOATING,
        ANY_AXIS,
        _CORRECTION,
        KEEPDIMS,
        returns=_REDUCED,
        notes="Where all elements are equal its gradient is 0.",
        example="""
        >>> float(af.std(af.asarray([1.0, 3.0], device="cpu")))
        1.0
        """,
    ),
)


def _cumulative_sum_grad(g: Any, own_dtype: Any, axis: int | None, include_initial: bool) -> Any:
    axis = axes_of(axis or 0, len(g.shape))[0]
    if include_initial:
        g = get_item(g, (slice(None),) * axis + (slice(1, None),))
    return _as(flip(cumulative_sum(flip(g, axis=axis), axis=axis, dtype=g.dtype), axis=axis), own_dtype)


cumulative_sum: Callable[..., Any] = primitive(
    "cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)",
    lambda g, own_dtype, axis, include_initial: _cumulative_sum_grad(g, own_dtype, axis, include_initial),
    numeric=True,
    doc=numpydoc(
        "Sums of the elements up to each one.",
        X,
        AXIS,
        DTYPE,
        _INITIAL.format(0),
        returns="array or Variable",
        raises="ValueError\n    If `axis` is missing and `x` has more than one.",
        example="""
        >>> af.cumulative_sum(af.asarray([1.0, 2.0, 3.0], device="cpu"), include_initial=True)
        Variable([0., 1., 3., 6.], dtype=float32, device='cpu')
        """,
    ),
)

# --- products --------------------------------------------------------------------------------------


def _suffix_recurrence(a: Any, b: Any, axis: int) -> Any:
    """``s[i] = b[i] + a[i] s[i + 1]`` along an axis, in as many steps as its length has binary digits.

    Over a block of k elements the recurrence is ``s[i] = b + a s[i + k]``; two blocks make one of twice the length.
    """
    before = (slice(None),) * axis
    n = a.shape[axis]
    k = 1
    while k < n:
        here, after, rest = (*before, slice(None, n - k)), (*before, slice(k, None)), (*before, slice(n - k, None))
        b = concat([get_item(b, here) + get_item(a, here) * get_item(b, after), get_item(b, rest)], axis=axis)
        if 2 * k < n:
            a = concat([get_item(a, here) * get_item(a, after), get_item(a, rest)], axis=axis)
        k *= 2
    return b


def _cumulative_prod_grad(g: Any, x: Any, axis: int | None, include_initial: bool, own_dtype: Any) -> Any:
    """``dx[i] = prod(x[:i]) * sum of g[k] prod(x[i + 1 : k + 1]) for k >= i``: no division, so zeros may be."""
    axis = axes_of(axis or 0, len(g.shape))[0]
    before = (slice(None),) * axis
    if include_initial:
        g = get_item(g, (*before, slice(1, None)))
    if 0 in g.shape:
        return _as(g, own_dtype)
    x = conjugate(_as(x, g.dtype))
    first = cumulative_prod(x, axis=axis, dtype=g.dtype, include_initial=True)
    first = get_item(first, (*before, slice(None, -1)))
    n = x.shape[axis]
    # The recurrence takes x[i + 1]; what stands for x[n] is never used.
    following = concat([get_item(x, (*before, slice(1, None))), get_item(x, (*before, slice(n - 1, None)))], axis=axis)
    return _as(first * _suffix_recurrence(following, g, axis), own_dtype)


cumulative_prod: Callable[..., Any] = primitive(
    "cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)",
    lambda g, x, axis, include_initial, own_dtype: _cumulative_prod_grad(g, x, axis, include_initial, own_dtype),
    numeric=True,
    doc=numpydoc(
        "Products of the elements up to each one.",
        X,
        AXIS,
        DTYPE,
        _INITIAL.format(1),
        returns="array or Variable",
        raises="ValueError\n    If `axis` is missing and `x` has more than one.",
        example="""
        >>> af.cumulative_prod(af.asarray([1.0, 2.0, 3.0], device="cpu"))
        Variable([1., 2., 6.], dtype=float32, device='cpu')
        """,
    ),
)


def _prod_grad(g: Any, x: Any, axis: Any, own_dtype: Any) -> Any:
    """``dx[i] = g prod(x[:i]) prod(x[i + 1:])``: no division, so zeros are no trouble."""
    shape = tuple(x.shape)
    axes = axes_of(axis, len(shape))
    if 0 in shape:
        return _as(spread(g, shape, axis), own_dtype)
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    order = (*kept, *axes)
    # (..., n): the elements that are multiplied along one axis
    rows = reshaped(permute_dims(x, order), (*(shape[a] for a in kept), count(shape, axis)))
    rows = conjugate(_as(rows, g.dtype))
    last = len(kept)
    upto = (..., slice(None, -1))
    left = get_item(cumulative_prod(rows, axis=last, dtype=g.dtype, include_initial=True), upto)
    right = get_item(cumulative_prod(flip(rows, axis=last), axis=last, dtype=g.dtype, include_initial=True), upto)
    others = reshaped(left * flip(right, axis=last), tuple(shape[a] for a in order))
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return _as(spread(g, shape, axis) * permute_dims(others, back), own_dtype)


prod: Callable[..., Any] = primitive(
    "prod(x, /, *, axis=None, dtype=None, keepdims=False)",
    lambda g, x, axis, own_dtype: _prod_grad(g, x, axis, own_dtype),
    numeric=True,
    doc=numpydoc(
        "The product of elements; 1 where there are none.",
        X,
        ANY_AXIS,
        DTYPE,
        KEEPDIMS,
        returns=_REDUCED,
        example="""
        >>> float(af.prod(af.asarray([2.0, 3.0], device="cpu")))
        6.0
        """,
    ),
)

# --- extremes --------------------------------------------------------------------------------------

# 1/n where an element is one of the n that equal the extreme, 0 elsewhere: piecewise constant.
_shares: Callable[..., Any] = primitive("shares_of_extreme(x, extreme, /, *, axis)", None, None, promote=())


def _extreme(name: str, what: str, value: str) -> Any:
    return primitive(
        f"{name}(x, /, *, axis=None, keepdims=False)",
        lambda g, x, y, axis: spread(g, x.shape, axis) * _shares(x, spread(y, x.shape, axis), axis=axis),
        doc=numpydoc(
            f"The {what} element; NaN where one is.",
            _REAL,
            ANY_AXIS,
            KEEPDIMS,
            returns=_REDUCED,
            raises="ValueError\n    If there is no element to look at.",
            notes="Elements that are equal share its gradient equally.",
            example=f"""
            >>> float(af.{name}(af.asarray([3.0, 1.0, 4.0], device="cpu")))
            {value}
            """,
        ),
    )


max: Callable[..., Any] = _extreme("max", "largest", "4.0")
min: Callable[..., Any] = _extreme("min", "smallest", "1.0")
