"""Reading and writing by index, and the adjoint of reading: a sum into zeros.

An index means what it means in NumPy. `plan` takes it apart into a basic step (slices and new axes,
and integers where no array is beside them) and a step along the axes that index arrays name; no
shape depends on values, but for reading with a boolean mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

from . import kernel

__all__ = ["Plan", "get_item", "plan", "result_shape", "scatter_add", "segment_sum", "set_item"]


class Plan(NamedTuple):
    """What an index does to an array of one shape.

    Attributes
    ----------
    basic : tuple
        One item for each axis and each new axis: a slice in bounds, an integer from 0 on, or None.
    selected : tuple of int
        Shape after the basic step.
    axes : tuple of int
        Its axes that `arrays` index.
    arrays : tuple of array or int
        Integers among them stand for 0-d arrays.
    at : int
        Where the axes that the arrays have together stand in the result, counted among the others.
    """

    basic: tuple[Any, ...]
    selected: tuple[int, ...]
    axes: tuple[int, ...]
    arrays: tuple[Any, ...]
    at: int


def _items(key: Any, ndim: int) -> list[Any]:
    """The items of an index, with an Ellipsis where full slices follow."""
    items = list(key) if isinstance(key, tuple) else [key]
    named = sum(item is not None and item is not Ellipsis for item in items)
    if named > ndim:
        raise IndexError(f"too many indices: the array has {ndim} axes, but {named} were indexed")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have one ellipsis only")
    at = dots[0] if dots else len(items)
    # The ellipsis stays in front of the slices it stands for: even where there are none, it keeps arrays apart.
    items[at : at + 1] = [Ellipsis] * bool(dots) + [slice(None)] * (ndim - named)
    return items


def _slice(item: slice, n: int) -> tuple[slice, int]:
    """A slice in bounds, and how many elements it takes."""
    start, stop, step = item.indices(n)
    length = len(range(start, stop, step))
    if length == 0:
        return slice(0, 0, 1), 0
    return slice(start, stop if stop >= 0 else None, step), length


def plan(key: Any, shape: Sequence[int]) -> Plan:
    """Take an index apart for an array of `shape`.

    Raises
    ------
    IndexError
        For too many indices, or an integer out of range.
    """
    basic: list[Any] = []
    selected: list[int] = []
    axes: list[int] = []
    arrays: list[Any] = []
    places: list[int] = []
    items = _items(key, len(shape))
    fancy = any(hasattr(item, "shape") for item in items)
    axis = 0
    for place, item in enumerate(items):
        if item is Ellipsis:
            continue
        if item is None:
            basic.append(None)
            selected.append(1)
            continue
        n = shape[axis]
        if isinstance(item, slice):
            item, length = _slice(item, n)
            basic.append(item)
            selected.append(length)
        else:
            if isinstance(item, int):
                if not -n <= item < n:
                    raise IndexError(f"index {item} is out of range for axis {axis}, which has length {n}")
                item %= n
            if fancy:
                axes.append(len(selected))
                arrays.append(item)
                places.append(place)
                basic.append(slice(None))
                selected.append(n)
            else:
                basic.append(item)
        axis += 1
    together = not places or places[-1] - places[0] == len(places) - 1
    return Plan(tuple(basic), tuple(selected), tuple(axes), tuple(arrays), axes[0] if axes and together else 0)


def is_mask(key: Any) -> bool:
    """Whether an index is one boolean array."""
    return hasattr(key, "shape") and str(key.dtype).rsplit(".", 1)[-1] == "bool"


# --- along the axes of index arrays -----------------------------------------------------------------


def _to_front(xp: Any, x: Any, axes: Sequence[int]) -> Any:
    order = (*axes, *(a for a in range(len(x.shape)) if a not in axes))
    return x if order == tuple(range(len(order))) else xp.permute_dims(x, order)


def _from_front(xp: Any, x: Any, axes: Sequence[int]) -> Any:
    order = (*axes, *(a for a in range(len(x.shape)) if a not in axes))
    if order == tuple(range(len(order))):
        return x
    return xp.permute_dims(x, tuple(sorted(range(len(order)), key=order.__getitem__)))


def _index_type(xp: Any, device: Any) -> Any:
    """int64, or what a device without it has."""
    return xp.__array_namespace_info__().default_dtypes(device=device)["indexing"]


def _flat(xp: Any, p: Plan, like: Any) -> tuple[Any, tuple[int, ...]]:
    """The index arrays as one array of positions along their axes flattened, and the shape they have together."""
    dtype = _index_type(xp, like.device)
    flat: Any = 0
    for axis, item in zip(p.axes, p.arrays, strict=True):
        n = p.selected[axis]
        if not isinstance(item, int):
            item = xp.astype(item, dtype)
            item = xp.where(item < 0, item + n, item)
        flat = item if isinstance(flat, int) and flat == 0 else flat * n + item
    shape = tuple(flat.shape)
    return xp.reshape(flat, (-1,)), shape


def _rows(xp: Any, x: Any, p: Plan) -> Any:
    """The axes that arrays index flattened into the first one, the others into the second."""
    n = prod(p.selected[a] for a in p.axes)
    rest = prod(n for a, n in enumerate(p.selected) if a not in p.axes)
    return xp.reshape(_to_front(xp, x, p.axes), (n, rest))


def _unrows(xp: Any, rows: Any, p: Plan) -> Any:
    """The inverse of `_rows`."""
    rest = tuple(n for a, n in enumerate(p.selected) if a not in p.axes)
    return _from_front(xp, xp.reshape(rows, (*(p.selected[a] for a in p.axes), *rest)), p.axes)


def result_shape(p: Plan, together: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what an index reads; `together` is the one that its arrays have together."""
    rest = tuple(n for a, n in enumerate(p.selected) if a not in p.axes)
    return rest[: p.at] + together + rest[p.at :]


def _values(xp: Any, values: Any, p: Plan, together: tuple[int, ...]) -> Any:
    """Values shaped like what an index reads, as a matrix with a row for each position."""
    ndim = len(together)
    values = _to_front(xp, values, tuple(range(p.at, p.at + ndim)))
    return xp.reshape(values, (prod(together), prod(values.shape[ndim:])))


def _selects_all(p: Plan, shape: Sequence[int]) -> bool:
    return tuple(p.selected) == tuple(shape) and all(
        isinstance(b, slice) and (b.step == 1 or b == slice(None)) for b in p.basic
    )


def segment_sum(xp: Any, values: Any, index: Any, n: int) -> Any:
    """``out[i]``, for i below `n`, is the sum of the rows ``values[k]`` with ``index[k] == i``.

    Rows are brought next to those they are summed with; then each adds what stands 1, 2, 4, ... before it
    in its segment. So a sum of k terms has a rounding error of log k steps.
    """
    m = index.shape[0]
    if m == 0:
        return xp.zeros((n, values.shape[1]), dtype=values.dtype, device=values.device)
    order = xp.argsort(index)
    index = xp.take(index, order)
    total = xp.take(values, order, axis=0)
    zero = xp.zeros((), dtype=values.dtype, device=values.device)
    step = 1
    while step < m:
        same = xp.reshape(index[step:] == index[:-step], (m - step, 1))
        total = xp.concat([total[:step, ...], total[step:, ...] + xp.where(same, total[:-step, ...], zero)])
        step *= 2
    every = xp.arange(n, dtype=index.dtype, device=index.device)
    last = xp.searchsorted(index, every, side="right") - 1
    found = xp.maximum(last, xp.zeros((), dtype=last.dtype, device=last.device))
    hit = xp.logical_and(last >= 0, xp.take(index, found) == every)
    return xp.where(hit[:, None], xp.take(total, found, axis=0), zero)


def segment_last(xp: Any, rows: Any, values: Any, index: Any) -> Any:
    """`rows` with ``rows[index[k]] = values[k]``, the last one where several are."""
    n, m = rows.shape[0], index.shape[0]
    if m == 0 or n == 0:
        return rows
    order = xp.argsort(index, stable=True)
    index = xp.take(index, order)
    every = xp.arange(n, dtype=index.dtype, device=index.device)
    last = xp.searchsorted(index, every, side="right") - 1
    found = xp.maximum(last, xp.zeros((), dtype=last.dtype, device=last.device))
    hit = xp.logical_and(last >= 0, xp.take(index, found) == every)
    return xp.where(hit[:, None], xp.take(values, xp.take(order, found), axis=0), rows)


def read(xp: Any, x: Any, basic: tuple[Any, ...]) -> Any:
    """``x[basic]``, for the basic step of a plan."""
    return x[basic]


def write(xp: Any, x: Any, basic: Any, values: Any) -> Any:
    """Write into an array that is nobody else's, and give it back."""
    x[basic] = values
    return x


def _kept(p: Plan) -> tuple[int, ...]:
    """Lengths of the axes that the basic step leaves, without the new ones."""
    left = [b for b in p.basic if not isinstance(b, int)]
    return tuple(n for b, n in zip(left, p.selected, strict=True) if b is not None)


# --- the kernels ------------------------------------------------------------------------------------


@kernel
def get_item(xp: Any, x: Any, *, key: Any, read: Callable[..., Any] = read) -> Any:
    """``x[key]``"""
    if is_mask(key):
        return x[key]
    p = plan(key, x.shape)
    x = read(xp, x, p.basic)
    if not p.axes:
        return x
    flat, together = _flat(xp, p, x)
    rows = xp.take(_rows(xp, x, p), flat, axis=0)
    rest = tuple(n for a, n in enumerate(p.selected) if a not in p.axes)
    out = xp.reshape(rows, (*together, *rest))
    return _from_front(xp, out, tuple(range(p.at, p.at + len(together))))


@kernel
def set_item(
    xp: Any,
    x: Any,
    value: Any,
    *,
    key: Any,
    read: Callable[..., Any] = read,
    write: Callable[..., Any] = write,
    puts: Callable[..., Any] = segment_last,
) -> Any:
    """A copy of `x` in which ``x[key] = value``; `value` is an array of its type, or a number."""
    copy = xp.asarray(x, copy=True)
    if is_mask(key):
        return write(xp, copy, key, value)
    p = plan(key, x.shape)
    basic = tuple(b for b in p.basic if b is not None)
    selected = _kept(p)
    if not hasattr(value, "shape"):
        value = xp.full((), value, dtype=x.dtype, device=x.device)
    if not p.axes:
        value = xp.reshape(xp.broadcast_to(value, p.selected), selected)
        return write(xp, copy, basic, value)
    flat, together = _flat(xp, p, x)
    values = _values(xp, xp.broadcast_to(value, result_shape(p, together)), p, together)
    rows = _rows(xp, read(xp, copy, p.basic), p)
    part = _unrows(xp, puts(xp, rows, values, flat), p)
    return write(xp, copy, basic, xp.reshape(part, selected))


@kernel
def scatter_add(
    xp: Any,
    x: Any,
    *,
    key: Any,
    to: tuple[int, ...],
    write: Callable[..., Any] = write,
    sums: Callable[..., Any] = segment_sum,
) -> Any:
    """Zeros of shape `to` with `x` added where `key` points, as often as it points there: the adjoint of `get_item`."""
    if is_mask(key):
        return _unmask(xp, x, key, to)
    p = plan(key, to)
    basic = tuple(b for b in p.basic if b is not None)
    selected = _kept(p)
    if p.axes:
        flat, together = _flat(xp, p, x)
        n = prod(p.selected[a] for a in p.axes)
        x = _unrows(xp, sums(xp, _values(xp, x, p, together), flat, n), p)
    x = xp.reshape(x, selected)
    if _selects_all(p, to):
        return x
    return write(xp, xp.zeros(to, dtype=x.dtype, device=x.device), basic, x)


def _unmask(xp: Any, x: Any, mask: Any, to: tuple[int, ...]) -> Any:
    """Zeros of shape `to` with the rows of `x` where `mask` is true."""
    ndim = len(mask.shape)
    zeros = xp.zeros(to, dtype=x.dtype, device=x.device)
    if x.shape[0] == 0:
        return zeros
    flat = xp.reshape(mask, (-1,))
    place = xp.cumulative_sum(xp.astype(flat, _index_type(xp, x.device))) - 1
    place = xp.maximum(place, xp.zeros((), dtype=place.dtype, device=place.device))
    rows = xp.reshape(xp.take(x, place, axis=0), to)
    return xp.where(xp.reshape(mask, (*mask.shape, *(1,) * (len(to) - ndim))), rows, zeros)
