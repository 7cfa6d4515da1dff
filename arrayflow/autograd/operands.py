"""What happens to operands before any arithmetic: rule 2 is enforced here, and data types are brought together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..backends import registry
from ..backends.protocol import Backend
from ..config import config
from ..device import Device, device_of_raw
from ..dtypes import DTYPES, DType, promote
from ..errors import ArrayflowError, DeviceMismatchError, DTypeError
from ..transfers import user_site
from .variable import Variable

if TYPE_CHECKING:
    from .primitive import Primitive

__all__ = ["ORDERED", "SCALARS", "check_one_device", "check_range", "facts", "no_array", "of_ordered", "prepare"]

SCALARS = (bool, int, float, complex)
_KIND_OF_SCALAR = {bool: 0, int: 1, float: 2, complex: 3}
_RANK = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3}


class _RangeError(DTypeError, OverflowError):
    """A Python integer that a data type cannot hold."""


class _ArgumentError(ArrayflowError, TypeError):
    """An operand that is no array at all."""


def no_array(primitive: Primitive, arguments: Sequence[Any]) -> Exception:
    """The error for operands none of which, or one of which, is no array."""
    for name, x in zip(primitive.operands, arguments, strict=False):
        if not isinstance(x, (*SCALARS, Variable, type(None))) and registry.backend_of(x) is None:
            return _ArgumentError(
                f"{primitive.name}: {name} must be a Variable, an array or a Python scalar, but it is a "
                f"{type(x).__name__} (at {user_site()}). Make it one: af.asarray(x, device=...)."
            )
    return _ArgumentError(
        f"{primitive.name}: at least one of {', '.join(primitive.operands)} must be an array, but there are only "
        f"Python scalars (at {user_site()}). Make one an array: af.asarray(x, device=...)."
    )


def prepare(primitive: Primitive, arguments: Sequence[Any]) -> tuple[Backend, list[Any], list[Any], Any]:
    """Check and promote operands.

    Returns
    -------
    backend : Backend
        The one library of all the arrays.
    arguments, raws : list
        The operands of one data type, with and without their places in the graph.
    first : array
        The first raw array among them.
    """
    arguments = list(arguments)
    raws: list[Any] = []
    backend: Backend | None = None
    first: Any = None
    numbers: list[tuple[int, Backend]] = []
    for i, x in enumerate(arguments):
        raw = x.array if isinstance(x, Variable) else x
        if raw is not None and raw.__class__ not in _KIND_OF_SCALAR:
            found = registry.backend_of(raw)
            if found is None:
                raise no_array(primitive, arguments)
            if found.scalar_types and isinstance(raw, found.scalar_types):
                # A library's scalar, such as numpy.float64, is a value without a place, as Python's are.
                numbers.append((i, found))
            elif backend is None:
                backend, first = found, raw
            elif found is not backend or not (backend.one_device or backend.key(raw) == backend.key(first)):
                raise mismatch(primitive.name, primitive.operands, arguments)
        raws.append(raw)
    if numbers:
        # Among raw arrays of their own library they are arrays too: NumPy makes them of its 0-d results.
        alone = not any(isinstance(x, Variable) for x in arguments)
        for i, found in numbers:
            if alone and (backend is None or backend is found):
                arguments[i] = raws[i] = found.as_array(raws[i])
                backend, first = found, raws[i] if first is None else first
            else:
                arguments[i] = raws[i] = raws[i].item()
    if backend is None:
        raise no_array(primitive, arguments)
    _to_one_dtype(primitive, backend, arguments, raws, first)
    return backend, arguments, raws, first


def _to_one_dtype(primitive: Primitive, backend: Backend, arguments: list[Any], raws: list[Any], first: Any) -> None:
    which = primitive.promote
    if not (which or primitive.floating or primitive.numeric):
        return
    common: DType | None = None
    rank = -1
    for i in which or range(len(raws)):
        raw = raws[i]
        if raw is None:
            continue
        scalar = _KIND_OF_SCALAR.get(raw.__class__)
        if scalar is not None:
            rank = max(rank, scalar)
        else:
            dtype = backend.dtype_of_raw[raw.dtype]
            common = dtype if common is None else promote(common, dtype)
    if common is None:
        return
    common = _with_scalar(common, rank, backend, first)
    if primitive.floating and _RANK[common.kind] < 2:
        common = config.dtype
    elif primitive.numeric and common.kind == "bool":
        common = _default_int(backend, first)
    raw_dtype = backend.raw_dtype(common, backend.key(first))
    for i in which or range(len(raws)):
        raw = raws[i]
        if raw is None or raw.__class__ in _KIND_OF_SCALAR:
            if raw is not None:
                raws[i] = _scalar_as(primitive, raw, common)
            continue
        if raw.dtype != raw_dtype:
            from .primitive import cast

            arguments[i] = cast(arguments[i], dtype=common)
            raws[i] = arguments[i].array if isinstance(arguments[i], Variable) else arguments[i]


def _with_scalar(dtype: DType, rank: int, backend: Backend, first: Any) -> DType:
    """The data type of arrays of `dtype` together with Python scalars: theirs, unless the scalar's kind is higher."""
    have = _RANK[dtype.kind]
    if rank <= have:
        return dtype
    if rank == 3:
        return DTYPES["complex128" if dtype == "float64" else "complex64"]
    if rank == 2:
        return config.dtype
    return _default_int(backend, first)


def _default_int(backend: Backend, first: Any) -> DType:
    has = backend.dtypes_on(backend.key(first))
    return DTYPES["int64"] if DTYPES["int64"] in has else DTYPES["int32"]


def _scalar_as(primitive: Primitive, value: Any, dtype: DType) -> Any:
    if dtype.kind == "complex floating":
        return complex(value) if value.__class__ is complex else float(value) if value.__class__ is not int else value
    if dtype.kind == "real floating":
        return float(value) if value.__class__ is bool else value
    if dtype.kind == "bool":
        return value
    check_range(primitive.name, value, dtype)
    return int(value)


def check_range(operation: str, value: int, dtype: DType) -> None:
    """Refuse a Python integer that an integer type cannot hold; some libraries would wrap it around in silence."""
    if dtype.kind not in ("signed integer", "unsigned integer"):
        return
    signed = dtype.kind == "signed integer"
    low, high = (-(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1) if signed else (0, (1 << dtype.bits) - 1)
    if not low <= value <= high:
        shown = str(value) if abs(value) < 1 << 64 else f"of {value.bit_length()} bits"
        raise _RangeError(
            f"{operation}: {dtype!s} holds {low} to {high}, but the Python integer is {shown} (at {user_site()}). "
            f"Take a wider type: dtype=af.int64, or af.astype(x, af.int64) for an array."
        )


def check_one_device(operation: str, names: Sequence[str], arguments: Sequence[Any]) -> None:
    """Rule 2 for arrays that reach an operation in some other way than as its operands."""
    first: Any = None
    backend: Backend | None = None
    for x in arguments:
        raw = x.array if isinstance(x, Variable) else x
        found = registry.backend_of(raw)
        if found is None or isinstance(raw, found.scalar_types):
            continue
        if backend is None:
            backend, first = found, raw
        elif found is not backend or not (backend.one_device or backend.key(raw) == backend.key(first)):
            raise mismatch(operation, names, arguments)


def facts(x: Any) -> tuple[Device, Any, str] | None:
    """Device, shape and data type of an array; None for a scalar. A parameter's values need not have been drawn."""
    if isinstance(x, Variable):
        return x.device, x.shape if getattr(x, "is_initialized", True) else "unknown", str(x.dtype)
    backend = registry.backend_of(x)
    if backend is None or isinstance(x, backend.scalar_types):
        return None
    return device_of_raw(x, backend), tuple(x.shape), str(x.dtype).rsplit(".", 1)[-1]


def mismatch(operation: str, names: Sequence[str], arguments: Sequence[Any]) -> DeviceMismatchError:
    """Rule 2's error: the operation, each operand's role, place, shape and dtype, the line, and the way out."""
    parts = []
    arrays: list[tuple[str, Any, Any]] = []
    for k, x in enumerate(arguments):
        found = facts(x)
        if found is not None:
            name = names[k] if k < len(names) else f"{names[-1]}[{k}]"
            path = getattr(x, "path", None)
            what = f"{name} (parameter {path!r})" if path else name
            parts.append(f"{what} on {found[0]}, shape {found[1]}, {found[2]}")
            arrays.append((name, x, found[0]))
    place = next((d for _, x, d in arrays if getattr(x, "path", None)), arrays[0][2])
    name, x, _ = next((a for a in arrays if a[2] is not place), arrays[-1])
    if getattr(x, "path", None):
        way_out = f"Move the model whole: model.to_device({str(place)!r})."
    else:
        way_out = f"Move it: {name} = af.to_device({name}, {str(place)!r})."
    return DeviceMismatchError(
        f"{operation}: operands live on different devices: {'; '.join(parts)} (at {user_site()}). "
        f"Rule 2: arrays of two devices are never mixed, and nothing was changed. {way_out}"
    )


# Operations that need an order, which complex numbers do not have. Some libraries take the real part first.
ORDERED = frozenset({
    "argmax", "argmin", "argsort", "clip", "greater", "greater_equal", "less", "less_equal", "max", "maximum", "min",
    "minimum", "searchsorted", "sort",
})  # fmt: skip


def of_ordered(primitive: Primitive, function: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
    """A raw function that refuses complex arrays."""
    refused = {raw for dtype, raw in backend.raw_dtypes.items() if dtype.kind == "complex floating"}

    def checked(*raws: Any, **statics: Any) -> Any:
        for raw in raws:
            if getattr(raw, "dtype", None) in refused or raw.__class__ is complex:
                raise DTypeError(
                    f"{primitive.name}: complex numbers have no order (at {user_site()}). "
                    f"Take their real parts or sizes: af.real(x), af.abs(x)."
                )
        return function(*raws, **statics)

    return checked
