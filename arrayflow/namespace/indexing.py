"""Indexing functions, and what ``x[key]`` and ``x[key] = value`` mean.

An index array is checked, like every operand, for the device it is on. Reading and summing into zeros are
each other's adjoint, so gradients of every order come from two rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd import Variable, primitive
from ..autograd.dispatch import one_operand
from ..autograd.operands import SCALARS, check_one_device, check_range
from ..autograd.primitive import Primitive, cast, sum_to
from ..autograd.variable import as_raw
from ..backends import registry
from ..config import config
from ..device import read_shape
from ..errors import DTypeError, ShapeError
from ..transfers import user_site
from ._axes import axes_of
from ._keys import check_positions, checked, is_alone, selected_shape

__all__ = ["get_item", "scatter_add", "set_item", "take", "take_along_axis"]


_RANK = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3}


# --- reading and writing ---------------------------------------------------------------------------


class _Masked(Primitive):
    """An operation whose index, if it is a mask, fixes a shape by its values."""

    __slots__ = ()

    def apply(self, arguments: Sequence[Any], statics: dict[str, Any]) -> Any:
        key = statics["key"]
        if is_alone(key):
            read_shape(key, entry=self.name)
        return super().apply(arguments, statics)


_get_item: Primitive = _Masked(
    "get_item", ("x",), ("key",), (lambda g, shape, key: _scatter_add.apply((g,), {"key": key, "to": tuple(shape)}),)
)
_scatter_add: Primitive = Primitive(
    "scatter_add", ("x",), ("key", "to"), (lambda g, key: _get_item.apply((g,), {"key": key}),)
)
_set_item: Primitive = _Masked(
    "set_item",
    ("x", "value"),
    ("key",),
    (
        lambda g, key: _set_item.apply((g, 0), {"key": key}),
        lambda g, shape, key: sum_to(_get_item.apply((g,), {"key": key}), tuple(shape)),
    ),
)

_get_item_of_variable = one_operand(_get_item)


def get_item(x: Any, key: Any) -> Any:
    """``x[key]``: elements by position, slice, index array or mask.

    Parameters
    ----------
    x : array or Variable
        The input.
    key : int, slice, ..., None, integer or boolean array, or a tuple of these
        What it means in NumPy. Arrays are on the device of `x`; a boolean array fixes the shape of the result by its
        values, which must be read for that. Lists are refused: make them arrays.

    Returns
    -------
    array or Variable
        It may be a view of `x`.

    Raises
    ------
    IndexError
        If it is no index, or out of range. Index arrays are checked where the library does so, and everywhere with
        ``af.config.debug``.
    DeviceMismatchError
        If an index array is on another device.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.reshape(af.arange(6, device="cpu"), (2, 3))
    >>> x[:, af.asarray([2, 0], device="cpu")]
    Variable([[2, 0],
              [5, 3]], dtype=int64, device='cpu')
    """
    variable = isinstance(x, Variable)
    if not variable and registry.backend_of(x) is None:
        raise _not_an_array("get_item", x)
    key = checked("get_item", x, key, tuple(x.shape))
    if variable and not hasattr(key, "shape"):
        return _get_item_of_variable(x, {"key": key})
    return _get_item.apply((x,), {"key": key})


def scatter_add(x: Any, key: Any, shape: Sequence[int]) -> Any:
    """Zeros to which `x` is added where `key` points, as often as it points there: the adjoint of `get_item`.

    Parameters
    ----------
    x : array or Variable
        Of the shape that ``zeros(shape)[key]`` has.
    key
        As for `get_item`.
    shape : tuple of int
        Shape of the result.

    Returns
    -------
    array or Variable, of `shape`

    Raises
    ------
    ShapeError
        If `x` has another shape than the index reads.
    IndexError, DeviceMismatchError
        As for `get_item`.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow.namespace.indexing import scatter_add
    >>> x = af.asarray([1.0, 2.0, 4.0], device="cpu")
    >>> scatter_add(x, af.asarray([0, 2, 0], device="cpu"), (3,))
    Variable([5., 0., 2.], dtype=float32, device='cpu')
    """
    shape = tuple(shape)
    key = checked("scatter_add", x, key, shape)
    if not is_alone(key) and tuple(x.shape) != selected_shape(key, shape):
        raise ShapeError(
            f"scatter_add: x must have the shape that zeros(shape)[key] has, but x.shape is {tuple(x.shape)} and that "
            f"is {selected_shape(key, shape)}. Broadcast it: af.broadcast_to(x, {selected_shape(key, shape)})."
        )
    return _scatter_add.apply((x,), {"key": key, "to": shape})


def _not_an_array(operation: str, x: Any) -> DTypeError:
    return DTypeError(
        f"{operation}: x must be a Variable or an array, but it is a {type(x).__name__} (at {user_site()}). "
        f"Make it one: af.asarray(x, device=...)."
    )


def set_item(x: Any, key: Any, value: Any) -> Any:
    """A copy of `x` in which ``x[key] = value``; `x` itself is not changed.

    Parameters
    ----------
    x : array or Variable
        The input.
    key
        As for `get_item`. Where an index array points somewhere twice, one of the values stays.
    value : array, Variable or scalar
        On the device of `x`; it is broadcast to what ``x[key]`` has. It is cast to the type of `x`, but not from
        floating to integers, nor from complex to real numbers.

    Returns
    -------
    array or Variable, of the shape and data type of `x`
        Gradients go to `x`, where it was not overwritten, and to `value`.

    Raises
    ------
    IndexError
        If `key` is no index, or out of range.
    ShapeError
        If `value` does not broadcast to what is overwritten.
    DTypeError
        If the type of `x` cannot hold `value`.
    DeviceMismatchError
        If `value` or an index array is on another device. Nothing was changed.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow.namespace.indexing import set_item
    >>> set_item(af.zeros((3,), device="cpu"), slice(1, None), 5)
    Variable([0., 5., 5.], dtype=float32, device='cpu')
    """
    raw = as_raw(x)
    backend = registry.backend_of(raw)
    if backend is None:
        raise _not_an_array("set_item", x)
    if not isinstance(value, SCALARS) and registry.backend_of(as_raw(value)) is None:
        raise DTypeError(
            f"set_item: value must be an array, a Variable or a number, but it is a {type(value).__name__} "
            f"(at {user_site()}). Make it an array: af.asarray(value, device=x.device)."
        )
    check_one_device("set_item", ("x", "value"), (x, value))
    shape = tuple(x.shape)
    key = checked("set_item", x, key, shape)
    value = _fitting(value, backend, raw)
    value_shape = tuple(getattr(value, "shape", ()))
    if is_alone(key):
        kept = shape[len(key.shape) :]
        if _broadcasts(value_shape, kept) or (len(value_shape) == len(kept) + 1 and value_shape[0] == 1):
            return _where_mask(x, key, value, len(kept), shape)
    elif not _broadcasts(value_shape, selected_shape(key, shape)):
        raise ShapeError(
            f"set_item: value must broadcast to what is overwritten, but value.shape is {value_shape} and "
            f"x[key].shape is {selected_shape(key, shape)} (at {user_site()})."
        )
    return _set_item.apply((x, value), {"key": key})


def _broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def _fitting(value: Any, backend: Any, raw: Any) -> Any:
    """A value in the type of the array that it is written into."""
    own = backend.dtype_of_raw[raw.dtype]
    given = as_raw(value)
    if given.__class__ in SCALARS:
        rank = SCALARS.index(given.__class__)
        what = f"the {type(given).__name__} {given!r}"
    else:
        found = registry.backend_of(given)
        if isinstance(given, found.scalar_types):  # type: ignore[union-attr]
            number: Any = given
            return _fitting(number.item(), backend, raw)
        dtype = found.dtype_of_raw[given.dtype]  # type: ignore[union-attr]
        if dtype is own:
            return value
        rank, what = _RANK[dtype.kind], str(dtype)
    if rank > _RANK[own.kind]:
        raise DTypeError(
            f"set_item: x holds {own!s}, which cannot hold {what} (at {user_site()}). Cast one of them first: "
            f"af.astype(x, ...)."
        )
    if given.__class__ in SCALARS:
        if given.__class__ is int:
            check_range("set_item", given, own)
        return {0: bool, 1: int, 2: float, 3: complex}[_RANK[own.kind]](given)
    return cast(value, dtype=own)


def _where_mask(x: Any, mask: Any, value: Any, rest: int, shape: tuple[int, ...]) -> Any:
    """Writing one value, or one row, wherever a mask is true: no shape depends on how often it is."""
    from ._shapes import reshape
    from .searching import where

    value_shape = tuple(getattr(value, "shape", ()))
    if len(value_shape) > rest:
        value = reshape(value, value_shape[1:])
    if len(mask.shape) < len(shape):
        mask = reshape(mask, (*mask.shape, *(1,) * rest))
    return where(mask, value, x)


# --- the standard's functions ----------------------------------------------------------------------


def _scatter_take(g: Any, indices: Any, axis: int | None, shape: tuple[int, ...]) -> Any:
    """The adjoint of `take`: `g` added to zeros along one axis."""
    before = 0 if axis is None else axes_of(axis, len(shape))[0]
    return _scatter_add.apply((g,), {"key": (slice(None),) * before + (as_raw(indices),), "to": shape})


_take = primitive(
    "take(x, indices, /, *, axis=None)",
    lambda g, shape, indices, axis: _scatter_take(g, indices, axis, tuple(shape)),
    None,  # positions are integers
    promote=(),
)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Elements at positions along an axis.

    Parameters
    ----------
    x : array or Variable
        The input.
    indices : integer array
        Positions, on the device of `x`; negative ones count from the end.
    axis : int, optional
        The axis. Needed where `x` has more than one.

    Returns
    -------
    array or Variable
        Of the shape of `x` with that of `indices` in the place of `axis`.

    Raises
    ------
    IndexError
        For positions out of range: where the library checks them, and everywhere with ``af.config.debug``.
    ShapeError
        If `axis` is missing and `x` has more than one.
    DeviceMismatchError
        If `indices` is on another device.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.take(af.asarray([10, 20, 30], device="cpu"), af.asarray([2, 0], device="cpu"))
    Variable([30, 10], dtype=int64, device='cpu')
    """
    ndim = len(x.shape)
    if axis is None and ndim != 1:
        raise ShapeError(f"take: axis must be given where x has not one axis, but x.shape is {tuple(x.shape)}.")
    if config.debug:
        check_positions("take", as_raw(indices), x.shape, axes_of(axis, ndim)[0])
    return _take(x, indices, axis=axis)


def _scatter_along(g: Any, indices: Any, axis: int, shape: Sequence[int]) -> Any:
    """The adjoint of `take_along_axis`: `g` added to zeros along one axis, row by row."""
    indices = as_raw(indices)
    ndim = len(shape)
    (axis,) = axes_of(axis, ndim)
    full = tuple(g.shape)
    to = tuple(shape[axis] if a == axis else n for a, n in enumerate(full))
    backend = registry.backend_of(indices)
    dtype = backend.dtype_of_raw[indices.dtype]  # type: ignore[union-attr]
    device = backend.key(indices)  # type: ignore[union-attr]
    key = []
    for a, n in enumerate(full):
        if a == axis:
            key.append(indices)
            continue
        # A type that counts as far as the axis is long, which the narrow ones do not.
        rows = backend.create("arange", device, n, dtype=_wide(dtype, backend, device))  # type: ignore[union-attr]
        key.append(backend.op("reshape")(rows, tuple(n if b == a else 1 for b in range(ndim))))  # type: ignore[union-attr]
    return sum_to(_scatter_add.apply((g,), {"key": tuple(key), "to": to}), tuple(shape))


def _wide(dtype: Any, backend: Any, device: Any) -> Any:
    return dtype if dtype.bits >= 32 else next(d for d in backend.dtypes_on(device) if d == "int32")


_take_along_axis = primitive(
    "take_along_axis(x, indices, /, *, axis=-1)",
    lambda g, shape, indices, axis: _scatter_along(g, indices, axis, shape),
    None,  # positions are integers
    promote=(),
)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Elements at positions along an axis, each row at its own.

    Parameters
    ----------
    x : array or Variable
        The input.
    indices : integer array
        Positions, of as many axes as `x`, on its device. Along axes other than `axis` the two broadcast.
    axis : int
        The axis.

    Returns
    -------
    array or Variable

    Raises
    ------
    IndexError
        For positions out of range: where the library checks them, and everywhere with ``af.config.debug``.
    ShapeError
        If the two do not have as many axes.
    DeviceMismatchError
        If `indices` is on another device.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray([[1, 2], [3, 4]], device="cpu")
    >>> af.take_along_axis(x, af.asarray([[1], [0]], device="cpu"))
    Variable([[2],
              [3]], dtype=int64, device='cpu')
    """
    if len(x.shape) != len(indices.shape):
        raise ShapeError(
            f"take_along_axis: indices must have as many axes as x, but indices.shape is {tuple(indices.shape)} and "
            f"x.shape is {tuple(x.shape)}. Put axes of length 1 in: af.expand_dims(indices, axis=...)."
        )
    if config.debug:
        check_positions("take_along_axis", as_raw(indices), x.shape, axes_of(axis, len(x.shape))[0])
    return _take_along_axis(x, indices, axis=axis)
