"""Set functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..autograd import primitive
from ._docs import numpydoc
from ._reads import reads_shape

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]

_X = "x : array or Variable\n    It is flattened. NaN equals nothing, not even NaN."
_VALUES = "values : each value once"
_INDICES = "indices : where it first stands, in the flattened array"
_INVERSE = "inverse_indices : of the shape of `x`, the place in `values` of each element"
_COUNTS = "counts : how often it is there"
_NOTE = (
    "There is no gradient: which elements are equal is no smooth matter. The shape of the result is fixed\n"
    "by the values of `x`, which must be read for that: an implicit transfer."
)

isin: Callable[..., Any] = primitive(
    "isin(x1, x2, /, *, invert=False)",
    None,  # a truth value
    None,
    promote=("x1", "x2"),
    doc=numpydoc(
        "Whether each element of one array is among those of another.",
        "x1, x2 : array, Variable or number\n    On one device.",
        "invert : bool\n    Whether to tell instead that it is not.",
        returns="array or Variable of bool, of the shape of `x1`",
        raises="DeviceMismatchError\n    If the two are on two devices.",
        example="""
        >>> af.isin(af.asarray([1, 2, 3], device="cpu"), af.asarray([3, 1], device="cpu"))
        Variable([ True, False,  True], dtype=bool, device='cpu')
        """,
    ),
)


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Any
    inverse_indices: Any


def _unique(name: str, made: type[tuple[Any, ...]], summary: str, parts: str, example: str) -> Callable[..., Any]:
    parallel = reads_shape(primitive(f"{name}(x, /)", None, outputs=len(made._fields)))  # type: ignore[attr-defined]

    def function(x: Any, /) -> Any:
        return made(*parallel(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = numpydoc(summary, _X, returns=parts, notes=_NOTE, example=example)
    function.primitive = parallel.primitive  # type: ignore[attr-defined]
    return function


unique_all = _unique(
    "unique_all",
    UniqueAll,
    "Each value once, where it first stands, which one each element is, and how often it is there.",
    f"namedtuple of arrays or Variables\n    {_VALUES}; {_INDICES};\n    {_INVERSE}; {_COUNTS}.",
    """
    >>> found = af.unique_all(af.asarray([3, 1, 3], device="cpu"))
    >>> found.values, found.counts
    (Variable([1, 3], dtype=int64, device='cpu'), Variable([1, 2], dtype=int64, device='cpu'))
    """,
)
unique_counts = _unique(
    "unique_counts",
    UniqueCounts,
    "Each value once, and how often it is there.",
    f"namedtuple of arrays or Variables\n    {_VALUES}; {_COUNTS}.",
    """
    >>> af.unique_counts(af.asarray([3, 1, 3], device="cpu")).counts
    Variable([1, 2], dtype=int64, device='cpu')
    """,
)
unique_inverse = _unique(
    "unique_inverse",
    UniqueInverse,
    "Each value once, and which one each element is.",
    f"namedtuple of arrays or Variables\n    {_VALUES};\n    {_INVERSE}.",
    """
    >>> af.unique_inverse(af.asarray([3, 1, 3], device="cpu")).inverse_indices
    Variable([1, 0, 1], dtype=int64, device='cpu')
    """,
)
unique_values: Callable[..., Any] = reads_shape(
    primitive(
        "unique_values(x, /)",
        None,  # which elements are equal is no smooth matter
        doc=numpydoc(
            "Each value once.",
            _X,
            returns="array or Variable",
            notes=_NOTE,
            example="""
        >>> af.unique_values(af.asarray([3, 1, 3], device="cpu"))
        Variable([1, 3], dtype=int64, device='cpu')
        """,
        ),
    )
)
