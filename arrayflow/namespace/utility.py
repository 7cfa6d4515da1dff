"""Utility functions."""

from __future__ import annotations

from typing import Any

from ..autograd import primitive
from ..autograd.variable import as_raw
from ..backends import registry
from ..errors import ShapeError
from ..transfers import user_site
from ._axes import axes_of
from ._docs import ANY_AXIS, KEEPDIMS, X, numpydoc
from .indexing import get_item
from .manipulation import concat

__all__ = ["all", "any", "diff"]

all = primitive(
    "all(x, /, *, axis=None, keepdims=False)",
    None,
    doc=numpydoc(
        "Whether all elements are true, that is not zero; true of none. NaN is true.",
        X,
        ANY_AXIS,
        KEEPDIMS,
        returns="array or Variable, bool",
        example="""
        >>> af.all(af.asarray([1.0, 0.0], device="cpu")).item()
        False
        """,
    ),
)
any = primitive(
    "any(x, /, *, axis=None, keepdims=False)",
    None,
    doc=numpydoc(
        "Whether any element is true, that is not zero; false of none. NaN is true.",
        X,
        ANY_AXIS,
        KEEPDIMS,
        returns="array or Variable, bool",
        example="""
        >>> af.any(af.asarray([1.0, 0.0], device="cpu")).item()
        True
        """,
    ),
)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, ``x[i + 1] - x[i]`` along an axis.

    Parameters
    ----------
    x : array or Variable, numeric, with one axis or more
    axis : int
    n : int
        How many times over.
    prepend, append : array or Variable, optional
        Joined to `x` before and after along `axis`, first.

    Returns
    -------
    array or Variable
        Shorter by `n` along `axis`, but not below 0.

    Raises
    ------
    ShapeError
        If `x` is 0-d, or `n` negative.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.diff(af.asarray([1.0, 4.0, 9.0], device="cpu"))
    Variable([3., 5.], dtype=float32, device='cpu')
    """
    ndim = len(x.shape)
    if n < 0 or not -ndim <= axis < ndim:
        raise ShapeError(
            f"diff: n must be 0 or more, and axis one of the {ndim} of x, but n is {n} and axis {axis} (at "
            f"{user_site()})."
        )
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, axis=axis)
    before = (slice(None),) * axes_of(axis, ndim)[0]
    flips = registry.backend_of(as_raw(x)).dtype_of_raw[as_raw(x).dtype] == "bool"  # type: ignore[union-attr]
    for _ in range(n):
        later, earlier = get_item(x, (*before, slice(1, None))), get_item(x, (*before, slice(None, -1)))
        x = later != earlier if flips else later - earlier
    return x
