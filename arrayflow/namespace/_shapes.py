"""The same elements in another shape or another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd import primitive
from ..errors import ShapeError
from ._axes import axes_of
from ._docs import X, numpydoc

__all__ = ["expand_dims", "flip", "moveaxis", "permute_dims", "reshape", "roll", "squeeze"]

reshape: Callable[..., Any] = primitive(
    "reshape(x, /, shape, *, copy=None)",
    lambda g, own_shape: reshape(g, tuple(own_shape)),
    doc=numpydoc(
        "The same elements, in row-major order, in another shape.",
        X,
        "shape : tuple of int\n    One length may be -1: it follows from the others.",
        "copy : bool, optional\n    True always copies, False never does; None copies where it must.",
        returns="array or Variable, of `shape`",
        raises="ValueError\n    Where the elements do not fit, or ``copy=False`` and a copy is needed.",
        example="""
        >>> af.reshape(af.arange(6, device="cpu"), (2, -1))
        Variable([[0, 1, 2],
                  [3, 4, 5]], dtype=int64, device='cpu')
        """,
    ),
)


def _inverse(axes: Sequence[int]) -> tuple[int, ...]:
    axes = axes_of(axes, len(axes))
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


permute_dims: Callable[..., Any] = primitive(
    "permute_dims(x, /, axes)",
    lambda g, axes: permute_dims(g, _inverse(axes)),
    doc=numpydoc(
        "The axes in another order.",
        X,
        "axes : tuple of int\n    ``axes[i]`` is the axis of `x` that becomes axis i.",
        returns="array or Variable",
        raises="ValueError\n    If `axes` does not name each axis once.",
        example="""
        >>> af.permute_dims(af.zeros((2, 3, 4), device="cpu"), (2, 0, 1)).shape
        (4, 2, 3)
        """,
    ),
)

expand_dims: Callable[..., Any] = primitive(
    "expand_dims(x, /, axis=0)",
    lambda g, shape: reshape(g, tuple(shape)),
    doc=numpydoc(
        "Axes of length 1 put in.",
        X,
        "axis : int or tuple of int\n    Where, counted in the result.",
        returns="array or Variable",
        raises="IndexError or ValueError\n    If the result has no such axis.",
        example="""
        >>> af.expand_dims(af.zeros((2, 3), device="cpu"), axis=(0, -1)).shape
        (1, 2, 3, 1)
        """,
    ),
)

squeeze: Callable[..., Any] = primitive(
    "squeeze(x, /, axis)",
    lambda g, shape: reshape(g, tuple(shape)),
    doc=numpydoc(
        "Axes of length 1 taken out.",
        X,
        "axis : int or tuple of int\n    Which.",
        returns="array or Variable",
        raises="ValueError\n    If one has another length than 1.",
        example="""
        >>> af.squeeze(af.zeros((1, 3, 1), device="cpu"), axis=(0, 2)).shape
        (3,)
        """,
    ),
)

flip: Callable[..., Any] = primitive(
    "flip(x, /, *, axis=None)",
    lambda g, axis: flip(g, axis=axis),
    doc=numpydoc(
        "The elements in reverse order.",
        X,
        "axis : int or tuple of int, optional\n    Along which; all by default.",
        returns="array or Variable, of the shape of `x`",
        example="""
        >>> af.flip(af.asarray([1, 2, 3], device="cpu"))
        Variable([3, 2, 1], dtype=int64, device='cpu')
        """,
    ),
)


def _opposite(shift: int | Sequence[int]) -> int | tuple[int, ...]:
    return -shift if isinstance(shift, int) else tuple(-s for s in shift)


roll: Callable[..., Any] = primitive(
    "roll(x, /, shift, *, axis=None)",
    lambda g, shift, axis: roll(g, _opposite(shift), axis=axis),
    doc=numpydoc(
        "The elements moved along, those that leave at the end coming in at the start.",
        X,
        "shift : int or tuple of int\n    By how many places; one number for each axis.",
        "axis : int or tuple of int, optional\n    Along which. By default `x` is rolled as if it were flat.",
        returns="array or Variable, of the shape of `x`",
        example="""
        >>> af.roll(af.asarray([1, 2, 3], device="cpu"), 1)
        Variable([3, 1, 2], dtype=int64, device='cpu')
        """,
    ),
)


def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int], /) -> Any:
    """Some axes put elsewhere, the others left in their order.

    Parameters
    ----------
    x : array or Variable
        The input.
    source, destination : int or tuple of int
        Axis ``source[i]`` of `x` becomes axis ``destination[i]``.

    Returns
    -------
    array or Variable

    Raises
    ------
    ShapeError
        If they name an axis twice or one that is not there, or as many sources as destinations are not given.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.moveaxis(af.zeros((2, 3, 4), device="cpu"), 0, -1).shape
    (3, 4, 2)
    """
    ndim = len(x.shape)
    came, go = axes_of(source, ndim), axes_of(destination, ndim)
    if len(came) != len(go) or any(len(set(a)) != len(a) or not set(a) <= set(range(ndim)) for a in (came, go)):
        raise ShapeError(
            f"moveaxis: source and destination must name as many axes, each once, of the {ndim} of x, but source is "
            f"{source} and destination is {destination}."
        )
    order: list[int] = [a for a in range(ndim) if a not in came]
    for to, a in sorted(zip(go, came, strict=True)):
        order.insert(to, a)
    return permute_dims(x, tuple(order))
