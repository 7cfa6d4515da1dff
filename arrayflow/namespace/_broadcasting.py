"""One shape from several, and arrays repeated to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.operands import check_one_device
from ..autograd.primitive import broadcast
from ..errors import ShapeError

__all__ = ["broadcast_arrays", "broadcast_shapes", "broadcast_to"]


def broadcast_shapes(*shapes: Sequence[int | None]) -> tuple[int | None, ...]:
    """The shape that arrays of the shapes given have together.

    Parameters
    ----------
    *shapes : tuple of int or None
        Shapes; None stands for a length that is not known.

    Returns
    -------
    tuple of int or None
        For each axis, counted from the last, the one length that is not 1. None where a length is not known.

    Raises
    ------
    ShapeError
        If an axis has two lengths other than 1.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.broadcast_shapes((8, 1, 6), (7, 1))
    (8, 7, 6)
    """
    ndim = max(map(len, shapes), default=0)
    out: list[int | None] = []
    for axis in range(-ndim, 0):
        lengths = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        known = lengths - {None}
        if len(known) > 1:
            raise ShapeError(
                f"broadcast_shapes: along each axis lengths must be equal or 1, but along axis {axis} of the shapes "
                f"{', '.join(str(tuple(s)) for s in shapes)} they are {' and '.join(sorted(map(str, known)))}. "
                f"Put axes of length 1 in first: af.expand_dims(x, axis=...)."
            )
        out.append(known.pop() if known else None if None in lengths else 1)
    return tuple(out)


def broadcast_to(x: Any, /, shape: Sequence[int]) -> Any:
    """`x` repeated along axes of length 1, and along new leading axes, to a shape.

    Parameters
    ----------
    x : array or Variable
        The input.
    shape : tuple of int
        Its shape must broadcast to this one.

    Returns
    -------
    array or Variable, of `shape`
        It may be a view that must not be written to.

    Raises
    ------
    ShapeError
        If it does not broadcast to `shape`.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.broadcast_to(af.asarray([1.0, 2.0], device="cpu"), (2, 2))
    Variable([[1., 2.],
              [1., 2.]], dtype=float32, device='cpu')
    """
    shape = tuple(shape)
    own = tuple(x.shape)
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)):
        raise ShapeError(
            f"broadcast_to: x.shape must broadcast to shape, but x.shape is {own} and shape is {shape}. "
            f"Put axes of length 1 in first: af.expand_dims(x, axis=...)."
        )
    return broadcast(x, shape)


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Arrays repeated to the shape that they have together.

    Parameters
    ----------
    *arrays : array or Variable
        On one device.

    Returns
    -------
    tuple of array or Variable
        Each of its own data type.

    Raises
    ------
    ShapeError
        If their shapes do not fit together.
    DeviceMismatchError
        If they are on several devices.

    Examples
    --------
    >>> import arrayflow as af
    >>> x, y = af.broadcast_arrays(af.zeros((2, 1), device="cpu"), af.zeros((3,), device="cpu"))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    check_one_device("broadcast_arrays", [f"arrays[{k}]" for k in range(len(arrays))], arrays)
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(x if tuple(x.shape) == shape else broadcast(x, shape) for x in arrays)  # type: ignore[arg-type]
