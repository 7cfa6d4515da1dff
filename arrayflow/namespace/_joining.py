"""Arrays repeated, joined, and cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd import primitive
from ..autograd.operands import check_one_device
from ..autograd.primitive import broadcast, cast
from ..autograd.variable import as_raw
from ..backends import registry
from ..device import read_shape
from ..errors import ShapeError
from ._axes import axes_of, reshaped
from ._docs import X, numpydoc
from ._shapes import reshape
from .indexing import get_item

__all__ = ["concat", "repeat", "stack", "tile", "unstack"]

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


_repeat: Callable[..., Any] = primitive("repeat(x, repeats, /, *, axis=0)", None, None, promote=())


def _positions(n: int, repeats: Any) -> Any:
    """0, 1, ... below `n`, each repeated: what `repeat` with an array of numbers reads."""
    backend: Any = registry.backend_of(repeats)
    device = backend.key(repeats)
    wide = next(d for d in reversed(backend.dtypes_on(device)) if d in ("int32", "int64"))
    every = backend.create("arange", device, n, dtype=wide)
    read_shape(repeats, entry="repeat")
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


concat: Callable[..., Any] = primitive(
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

stack: Callable[..., Any] = primitive(
    "stack(*arrays, /, *, axis=0)",
    lambda g, axis: unstack(g, axis=axis),
    doc=numpydoc(
        "Arrays joined along a new axis.",
        "arrays : list or tuple of array or Variable\n    On one device, of one shape. They are brought to one type.",
        "axis : int\n    Where the new axis stands in the result.",
        returns="array or Variable",
        raises="DeviceMismatchError\n    If they are on several devices.\nValueError\n    If their shapes differ.",
        example="""
        >>> af.stack([af.zeros((2, 3), device="cpu"), af.ones((2, 3), device="cpu")], axis=-1).shape
        (2, 3, 2)
        """,
    ),
)


_zeros_like: Callable[..., Any] = primitive("zeros_like", None)


def _restack(parts: Sequence[Any], axis: int) -> Any:
    zeros = _zeros_like(next(g for g in parts if g is not None))
    return stack([zeros if g is None else g for g in parts], axis=axis)


unstack: Callable[..., Any] = primitive(
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
