"""What can stand in the brackets of ``x[key]``: checked, and brought to the form that the kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.operands import check_one_device
from ..autograd.variable import as_raw
from ..backends import registry
from ..backends.kernels.indexing import plan, result_shape
from ..config import config
from ..device import to_host
from ..dtypes import DTYPES
from ..errors import ArrayflowError
from ..transfers import user_site
from ._broadcasting import broadcast_shapes

__all__ = ["check_positions", "checked", "is_alone", "selected_shape"]


class _KeyError(ArrayflowError, IndexError):
    """Something that is no index, or out of range."""


_BOUNDS = (int, type(None))
_BASIC = (int, slice, type(None), type(Ellipsis))


def _refuse(operation: str, name: str, what: str, way_out: str) -> _KeyError:
    return _KeyError(f"{operation}: {name} is {what} (at {user_site()}). {way_out}")


def _bound(value: Any) -> int | None:
    return value if value is None or value.__class__ is int else value.__index__()


def _item(operation: str, name: str, item: Any) -> Any:
    """One item of an index as an int, a slice of ints, None, Ellipsis or a raw array."""
    if item is None or item is Ellipsis or item.__class__ is int:
        return item
    if item.__class__ is slice:
        return slice(_bound(item.start), _bound(item.stop), _bound(item.step))
    raw = as_raw(item)
    backend = registry.backend_of(raw)
    if backend is not None:
        if isinstance(raw, backend.scalar_types):
            number: Any = raw
            return _item(operation, name, number.item())
        kind = backend.dtype_of_raw[raw.dtype].kind
        if kind not in ("bool", "signed integer", "unsigned integer"):
            raise _refuse(
                operation, name, f"an array of {backend.dtype_of_raw[raw.dtype]!s}",
                "Index arrays are integers or booleans: af.astype(i, af.int64).",
            )  # fmt: skip
        return raw
    if isinstance(item, (list, tuple)):
        raise _refuse(operation, name, f"a {type(item).__name__}", "Make it an array: af.asarray(i, device=x.device).")
    if not isinstance(item, (bool, float, complex)) and hasattr(item, "__index__"):
        return int(item.__index__())
    raise _refuse(
        operation,
        name,
        f"a {type(item).__name__}",
        "An index is an int, a slice, ..., None, or an array of ints or booleans.",
    )


def _is_mask(item: Any) -> bool:
    if isinstance(item, _BASIC):
        return False
    return registry.backend_of(item).dtype_of_raw[item.dtype].kind == "bool"  # type: ignore[union-attr]


def checked(operation: str, x: Any, key: Any, shape: tuple[int, ...]) -> Any:
    """An index into `shape` as kernels take it: raw arrays where `x` is, integers in range, a mask alone or none."""
    cls = key.__class__
    if (
        cls is slice
        and key.start.__class__ in _BOUNDS
        and key.stop.__class__ in _BOUNDS
        and key.step.__class__ in _BOUNDS
    ):
        return key
    if cls is int and shape and -shape[0] <= key < shape[0]:
        return key
    several = cls is tuple
    if several and len(key) == 1 and not isinstance(key[0], _BASIC):
        key, several = key[0], False
    items = key if several else (key,)
    names = [f"key[{k}]" for k in range(len(items))] if several else ["key"]
    found = [_item(operation, name, item) for name, item in zip(names, items, strict=True)]
    arrays = [k for k, item in enumerate(found) if not isinstance(item, _BASIC)]
    if arrays:
        check_one_device(operation, ("x", *(names[k] for k in arrays)), (x, *(items[k] for k in arrays)))
    masks = [k for k in arrays if _is_mask(found[k])]
    if masks and not several:
        return _fitting_mask(operation, found[0], shape)
    for k in reversed(masks):
        found[k : k + 1] = _positions(operation, names[k], found[k])
    _check_range(operation, found, shape)
    return tuple(found) if several else found[0]


def _fitting_mask(operation: str, mask: Any, shape: tuple[int, ...]) -> Any:
    own = tuple(mask.shape)
    fitting = shape[: len(own)]
    if own == fitting:
        return mask
    if len(own) == len(fitting) and all(m in (n, 0) for m, n in zip(own, fitting, strict=True)):
        # The standard lets a length of 0 stand for any: the mask selects nothing.
        backend = registry.backend_of(mask)
        return backend.create("zeros", backend.key(mask), fitting, dtype=DTYPES["bool"])  # type: ignore[union-attr]
    raise _KeyError(
        f"{operation}: a boolean index must have the lengths of the axes it stands for, but key.shape is {own} and "
        f"x.shape is {shape} (at {user_site()})."
    )


def _positions(operation: str, name: str, mask: Any) -> Sequence[Any]:
    """A mask beside other items stands for the positions where it is true."""
    if not mask.shape:
        raise _refuse(operation, name, "a 0-d boolean array", "Use af.where to choose by one condition.")
    from .searching import nonzero

    return nonzero(mask)


def _check_range(operation: str, items: Sequence[Any], shape: tuple[int, ...]) -> None:
    """Libraries differ in what they do about integers out of range, and too many of them."""
    named = sum(item is not None and item is not Ellipsis for item in items)
    if named > len(shape) or sum(item is Ellipsis for item in items) > 1:
        raise _KeyError(
            f"{operation}: an index names each axis once at most and has one ellipsis, but there are {named} items "
            f"for the {len(shape)} axes of x (at {user_site()})."
        )
    axis = 0
    for item in items:
        if item is Ellipsis:
            axis += len(shape) - named
        elif item is not None:
            if isinstance(item, int) and not -shape[axis] <= item < shape[axis]:
                raise _KeyError(
                    f"{operation}: index {item} is out of range for axis {axis} of x, whose shape is {shape} "
                    f"(at {user_site()})."
                )
            if not isinstance(item, slice):
                check_positions(operation, item, shape, axis)
            axis += 1


def check_positions(operation: str, indices: Any, shape: Sequence[int], axis: int) -> None:
    """With ``config.debug``, read index arrays and refuse positions out of range, as NumPy always does."""
    if not config.debug or 0 in indices.shape:
        return
    host = to_host(indices, kind="implicit", entry=operation)
    lowest, highest = int(host.min()), int(host.max())
    if not -shape[axis] <= lowest <= highest < shape[axis]:
        raise _KeyError(
            f"{operation}: index {highest if highest >= shape[axis] else lowest} is out of range for axis {axis} of x, "
            f"whose shape is {tuple(shape)} (at {user_site()})."
        )


def is_alone(key: Any) -> bool:
    return key.__class__ is not tuple and _is_mask(key)


def selected_shape(key: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what an index without masks reads."""
    p = plan(key, shape)
    return result_shape(p, broadcast_shapes(*(a.shape for a in p.arrays if hasattr(a, "shape"))))  # type: ignore[arg-type]
