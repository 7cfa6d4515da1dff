"""Manipulation functions: the same elements in another shape or order, repeated, or joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd import primitive
from ..autograd.operands import check_one_device
from ..autograd.primitive import broadcast, cast
from ..autograd.variable import as_raw
from ..backends import registry
from ..errors import ShapeError
from ._axes import axes_of, reshaped
from ._docs import X, numpydoc
from .indexing import get_item

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]

# --- one shape from several ------------------------------------------------------------------------


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
                f"broadcast_shapes: the shapes {', '.join(map(str, map(tuple, shapes)))} must have equal lengths or 1 along "
                f"each axis, but along axis {axis} they have {' and '.join(map(str, sorted(known)))}. Put axes of "
                f"length 1 in first: af.expand_dims(x, axis=...)."
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


# --- shapes and orders -----------------------------------------------------------------------------

reshape = primitive(
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


permute_dims = primitive(
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

expand_dims = primitive(
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

squeeze = primitive(
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

flip = primitive(
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


roll = primitive(
    "roll(x, /, shift, *, axis=None)",
    lambda g, shift, axis: roll(g, _opposite(shift), axis=axis),
    doc=numpydoc(
        "The elements moved along, those that leave at the end coming in at the start.",
        X,
        "shift : int or tuple of int\n    By how many places; one number for each axis.",
        "axis : int or tuple of int, optional\n    Along which. By default `x` is flattened, rolled and given its shape back.",
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
            f"moveaxis: source and destination must name as many axes, each once, of the {ndim} of x, but source is {source} "
            f"and destination is {destination}."
        )
    order: list[int] = [a for a in range(ndim) if a not in came]
    for to, a in sorted(zip(go, came, strict=True)):
        order.insert(to, a)
    return permute_dims(x, tuple(order))


# --- repeating -------------------------------------------------------------------------------------


def tile(x: Any, repetitions: Sequence[int], /) -> Any:
    """`x` laid side by side.

    Parameters
    ----------
    x : array or Variable
        The input.
    repetitions : tuple of int
        How often along each axis. Ones are put before the shorter of `repetitions` and ``x.shape``.

    Returns
    -------
    array or Variable

    Examples
    --------
    >>> import arrayflow as af
    >>> af.tile(af.asarray([1, 2], device="cpu"), (2, 2))
    Variable([[1, 2, 1, 2],
              [1, 2, 1, 2]], dtype=int64, device='cpu')
    """
    times = tuple(repetitions)
    shape = tuple(x.shape)
    ndim = max(len(times), len(shape))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - len(shape)) + shape
    # (n, m) -> (1, n, 1, m) -> (r, n, s, m) -> (r n, s m)
    apart = tuple(k for n in shape for k in (1, n))
    full = tuple(k for r, n in zip(times, shape, strict=True) for k in (r, n))
    joined = tuple(r * n for r, n in zip(times, shape, strict=True))
    return reshape(broadcast(reshape(x, apart), full), joined)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element repeated in place.

    Parameters
    ----------
    x : array or Variable
        The input.
    repeats : int or integer array of shape () or (n,)
        How often each of the n elements along `axis`. An array fixes the shape of the result by its values, which must
        be read for that.
    axis : int, optional
        Along which. By default `x` is flattened first.

    Returns
    -------
    array or Variable

    Raises
    ------
    ShapeError
        If `repeats` has another length than `axis`.
    DeviceMismatchError
        If `repeats` is on another device.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.repeat(af.asarray([1, 2], device="cpu"), 2)
    Variable([1, 1, 2, 2], dtype=int64, device='cpu')
    """
    if axis is None:
        x, axis = reshaped(x, (_size(x.shape),)), 0
    (axis,) = axes_of(axis, len(x.shape))
    shape = tuple(x.shape)
    if not isinstance(repeats, int):
        repeats_shape = tuple(repeats.shape)
        if repeats_shape not in ((), (1,), (shape[axis],)):
            raise ShapeError(
                f"repeat: repeats must be one number or as many as x is long along axis {axis}, but repeats.shape is "
                f"{repeats_shape} and x.shape is {shape}."
            )
        check_one_device("repeat", ("x", "repeats"), (x, repeats))
        return get_item(x, (slice(None),) * axis + (_positions(shape[axis], as_raw(repeats)),))
    before, n, after = shape[:axis], shape[axis], shape[axis + 1 :]
    # (..., n, ...) -> (..., n, 1, ...) -> (..., n, r, ...) -> (..., n r, ...)
    each = broadcast(reshape(x, (*before, n, 1, *after)), (*before, n, repeats, *after))
    return reshape(each, (*before, n * repeats, *after))


def _size(shape: Sequence[int]) -> int:
    n = 1
    for length in shape:
        n *= length
    return n


_repeat = primitive("repeat(x, repeats, /, *, axis=0)", None, None, promote=())


def _positions(n: int, repeats: Any) -> Any:
    """0, 1, ... below `n`, each repeated: what `repeat` with an array of numbers reads."""
    backend: Any = registry.backend_of(repeats)
    device = backend.key(repeats)
    wide = next(d for d in reversed(backend.dtypes_on(device)) if d in ("int32", "int64"))
    every = backend.create("arange", device, n, dtype=wide)
    return _repeat(every, broadcast(cast(repeats, dtype=wide), (n,)), axis=0)


# --- joining ---------------------------------------------------------------------------------------


def _cut(g: Any, shapes: Sequence[tuple[int, ...]], axis: int | None) -> list[Any]:
    """A joined array's cotangent, cut at the joints."""
    parts = []
    start = 0
    before = (slice(None),) * (0 if axis is None else axes_of(axis, len(shapes[0]))[0])
    for shape in shapes:
        stop = start + (_size(shape) if axis is None else shape[len(before)])
        part = get_item(g, (*before, slice(start, stop)))
        parts.append(reshaped(part, shape))
        start = stop
    return parts


concat = primitive(
    "concat(*arrays, /, *, axis=0)",
    lambda g, shapes, axis: _cut(g, shapes, axis),
    doc=numpydoc(
        "Arrays joined along an axis they have.",
        "arrays : list or tuple of array or Variable\n    On one device, of one shape but for the length along `axis`. "
        "They are brought to one data type.",
        "axis : int, optional\n    Along which. None flattens them first.",
        returns="array or Variable",
        raises="DeviceMismatchError\n    If they are on several devices.\nValueError\n    If their shapes do not fit.",
        example="""
        >>> af.concat([af.zeros((2, 3), device="cpu"), af.ones((1, 3), device="cpu")]).shape
        (3, 3)
        """,
    ),
)

stack = primitive(
    "stack(*arrays, /, *, axis=0)",
    lambda g, axis: unstack(g, axis=axis),
    doc=numpydoc(
        "Arrays joined along a new axis.",
        "arrays : list or tuple of array or Variable\n    On one device, of one shape. They are brought to one data type.",
        "axis : int\n    Where the new axis stands in the result.",
        returns="array or Variable",
        raises="DeviceMismatchError\n    If they are on several devices.\nValueError\n    If their shapes differ.",
        example="""
        >>> af.stack([af.zeros((2, 3), device="cpu"), af.ones((2, 3), device="cpu")], axis=-1).shape
        (2, 3, 2)
        """,
    ),
)


_zeros_like = primitive("zeros_like", None)


def _restack(parts: Sequence[Any], axis: int) -> Any:
    zeros = _zeros_like(next(g for g in parts if g is not None))
    return stack([zeros if g is None else g for g in parts], axis=axis)


unstack = primitive(
    "unstack(x, /, *, axis=0)",
    lambda g, axis: _restack(g, axis),
    outputs=-1,
    doc=numpydoc(
        "An array cut into those that lie along an axis.",
        X,
        "axis : int\n    Which; it is not in the results.",
        returns="tuple of array or Variable",
        example="""
        >>> a, b = af.unstack(af.asarray([[1, 2], [3, 4]], device="cpu"))
        >>> b
        Variable([3, 4], dtype=int64, device='cpu')
        """,
    ),
)
