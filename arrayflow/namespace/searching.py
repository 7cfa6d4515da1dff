"""Searching functions: positions, counts, and choosing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import primitive
from ..autograd.operands import SCALARS, check_one_device
from ..autograd.variable import as_raw
from ..backends import registry
from ..config import config
from ..device import device_of_raw
from ..errors import DTypeError
from ..transfers import user_site
from ._docs import ANY_AXIS, KEEPDIMS, X, numpydoc
from ._reads import reads_shape
from .indexing import take

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]

_ONE_AXIS = "axis : int, optional\n    Along which to look. None looks through all elements, in row-major order."


def _position(name: str, what: str, value: str) -> Any:
    return primitive(
        f"{name}(x, /, *, axis=None, keepdims=False)",
        None,  # a position is an integer
        doc=numpydoc(
            f"The position of the {what} element, the first one where several are.",
            "x : array or Variable, real\n    The input.",
            _ONE_AXIS,
            KEEPDIMS,
            returns="array or Variable, of the default index type",
            raises="ValueError\n    If there is no element to look at.",
            example=f"""
            >>> int(af.{name}(af.asarray([3.0, 1.0, 4.0, 4.0], device="cpu")))
            {value}
            """,
        ),
    )


argmax: Callable[..., Any] = _position("argmax", "largest", "2")
argmin: Callable[..., Any] = _position("argmin", "smallest", "1")

count_nonzero: Callable[..., Any] = primitive(
    "count_nonzero(x, /, *, axis=None, keepdims=False)",
    None,  # a count is an integer
    doc=numpydoc(
        "How many elements are not zero.",
        X,
        ANY_AXIS,
        KEEPDIMS,
        returns="array or Variable, of the default index type",
        example="""
        >>> int(af.count_nonzero(af.asarray([0.0, 1.0, 2.0], device="cpu")))
        2
        """,
    ),
)

nonzero: Callable[..., Any] = reads_shape(
    primitive(
        "nonzero(x, /)",
        None,  # positions are integers
        outputs=-1,
        doc=numpydoc(
            "The positions of the elements that are not zero, in row-major order.",
            "x : array or Variable, with one axis or more\n    The input.",
            returns="tuple of array or Variable\n    For each axis the positions along it. Their length is fixed by "
            "the values of `x`, which\n    must be read for that: an implicit transfer.",
            example="""
        >>> (i,) = af.nonzero(af.asarray([0, 5, 7], device="cpu"))
        >>> i
        Variable([1, 2], dtype=int64, device='cpu')
        """,
        ),
    )
)

_searchsorted: Callable[..., Any] = primitive(
    "searchsorted(x1, x2, /, *, side='left')",
    None,  # positions are integers
    None,
    promote=("x1", "x2"),
)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where elements would have to be put into a sorted array for it to stay sorted.

    Parameters
    ----------
    x1 : array or Variable, shape (N,), real
        In ascending order, unless there is a `sorter`.
    x2 : array, Variable or number
        The elements.
    side : {"left", "right"}
        Whether before or behind elements equal to them.
    sorter : integer array, shape (N,), optional
        Positions that bring `x1` into ascending order, such as ``argsort(x1)``.

    Returns
    -------
    array or Variable, of the shape of `x2` and the default index type
        There is no gradient: positions are integers.

    Raises
    ------
    ValueError
        For another `side`.
    DeviceMismatchError
        If the arrays are on several devices.

    Examples
    --------
    >>> import arrayflow as af
    >>> int(af.searchsorted(af.asarray([1.0, 2.0, 3.0], device="cpu"), 2.5))
    2
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', but it is {side!r}.")
    if sorter is not None:
        check_one_device("searchsorted", ("x1", "x2", "sorter"), (x1, x2, sorter))
        x1 = take(x1, sorter)
    return _searchsorted(x1, x2, side=side)


_where: Callable[..., Any] = primitive(
    "where(condition, x1, x2, /)",
    None,  # a condition is no number
    lambda g, condition: _where(condition, g, 0),
    lambda g, condition: _where(condition, 0, g),
    promote=("x1", "x2"),
)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Elements of `x1` where a condition holds, and of `x2` elsewhere.

    Parameters
    ----------
    condition : array or Variable, bool
        The choice.
    x1, x2 : array, Variable or number
        On its device. The three are broadcast together.

    Returns
    -------
    array or Variable
        Of the data type that `x1` and `x2` have together. A gradient goes to the one that was chosen, and to the other
        goes 0, even where it is infinite.

    Raises
    ------
    DTypeError
        If the condition is not boolean.
    DeviceMismatchError
        If the arrays are on several devices.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray([-1.0, 2.0], device="cpu")
    >>> af.where(x > 0, x, 0.0)
    Variable([0., 2.], dtype=float32, device='cpu')
    """
    raw = as_raw(condition)
    backend = registry.backend_of(raw)
    if backend is None or backend.dtype_of_raw[raw.dtype].kind != "bool":
        what = f"a {type(condition).__name__}" if backend is None else f"of {backend.dtype_of_raw[raw.dtype]!s}"
        raise DTypeError(
            f"where: condition must be a boolean array, but it is {what} (at {user_site()}). Compare first: x != 0."
        )
    if isinstance(x1, SCALARS) and isinstance(x2, SCALARS):
        device = device_of_raw(raw)
        rank = max(SCALARS.index(x1.__class__), SCALARS.index(x2.__class__))
        wide = "int64" if any(d == "int64" for d in backend.dtypes_on(device.native)) else "int32"
        complex_ = "complex128" if config.dtype == "float64" else "complex64"
        dtype = ("bool", wide, config.dtype, complex_)[rank]
        x1 = backend.create("full", device.native, (), x1, dtype=next(d for d in backend.raw_dtypes if d == dtype))
    return _where(condition, x1, x2)
