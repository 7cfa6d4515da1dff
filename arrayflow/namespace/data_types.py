"""Data types, casts, and questions about data types. The promotion table is `arrayflow.dtypes`, on every device."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..autograd import primitive
from ..autograd.operands import SCALARS
from ..autograd.primitive import cast
from ..autograd.variable import Variable, as_raw
from ..backends import registry
from ..config import config
from ..device import Device, device_of_raw, to_device
from ..dtypes import DTYPES, GROUPS, PROMOTION, DType, as_dtype, promote
from ..errors import DTypeError
from ..transfers import user_site

__all__ = [
    "astype",
    "bfloat16",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64 = (
    DTYPES[name] for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
)
float16, bfloat16, float32, float64, complex64, complex128 = (
    DTYPES[name] for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
)

_FLOATING = ("real floating", "complex floating")
_copied = primitive("astype(x, dtype, /, *, copy=True)", lambda g, own_dtype: cast(g, dtype=own_dtype))
# To integers and booleans: constant almost everywhere.
_counted = primitive("astype(x, dtype, /, *, copy=True)", None)


def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = True, device: str | Device | None = None) -> Any:
    """`x` in another data type.

    Parameters
    ----------
    x : array or Variable
    dtype : data type
        A complex `x` is cast to complex types and bool alone.
    copy : bool
        Whether an array of that type already is copied; False gives `x` itself back.
    device : str or Device, optional
        Where the result shall be. The cast comes first, where the data is.

    Returns
    -------
    array or Variable, shape of `x`
        A gradient passes from floating to floating types.

    Raises
    ------
    DTypeError
        For a complex array and a real type, or where the device lacks the type.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.astype(af.asarray([1.5, -1.5], device="cpu"), af.int32)
    Variable([ 1, -1], dtype=int32, device='cpu')
    """
    to = as_dtype(dtype)
    own = dtype_of(x, "astype")
    if own.kind == "complex floating" and to.kind not in ("complex floating", "bool"):
        raise DTypeError(
            f"astype: a complex array cannot be cast to a real type, but x is {own!s} and dtype is {to!s} (at "
            f"{user_site()}). "
            f"Take one part: af.real(x), af.imag(x) or af.abs(x)."
        )
    if own.kind == "complex floating" and to == "bool":
        from .elementwise import not_equal

        x = not_equal(x, 0)  # not every library takes complex numbers for truths
    elif to != own or copy:
        x = (_copied if to.kind in _FLOATING else _counted)(x, to, copy=copy)
    return x if device is None else to_device(x, device)


def raw_astype(x: Any, dtype: Any, device: Device) -> Any:
    """A raw array in another data type, which its device has."""
    backend = device.backend
    if dtype == "bool":
        return backend.as_array(backend.op("not_equal")(x, 0))
    return backend.as_array(backend.op("astype")(x, backend.raw_dtype(dtype, device.native)))


def dtype_of(x: Any, where: str) -> DType:
    """The data type of an array or Variable."""
    raw = as_raw(x)
    backend = registry.backend_of(raw)
    if backend is None:
        raise DTypeError(
            f"{where}: x must be an array or a Variable, but it is a {type(x).__name__} (at {user_site()}). "
            f"Make it one: af.asarray(x, device=...)."
        )
    return backend.dtype_of_raw[raw.dtype]


def _as_dtypes(x: Any, where: str) -> DType:
    """The data type that an array has, or that an object is."""
    return x.dtype if isinstance(x, Variable) else as_dtype(x) if registry.backend_of(x) is None else dtype_of(x, where)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether promotion leads from one data type to another.

    Parameters
    ----------
    from_ : data type, array or Variable
    to : data type

    Returns
    -------
    bool

    Examples
    --------
    >>> import arrayflow as af
    >>> af.can_cast(af.int32, af.int64), af.can_cast(af.float64, af.float32)
    (True, False)
    """
    target = as_dtype(to)
    return PROMOTION.get((_as_dtypes(from_, "can_cast"), target)) == target


# Bits of the fraction and the largest exponent of each floating type.
_FORMATS = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a floating data type; see `finfo`."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """Limits of an integer data type; see `iinfo`."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating data type; of its parts for a complex one.

    Parameters
    ----------
    type : data type, array or Variable

    Returns
    -------
    FloatInfo
        ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` as Python numbers, and ``dtype``.

    Raises
    ------
    DTypeError
        If the type is not floating.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.finfo(af.float32).eps
    1.1920928955078125e-07
    """
    dtype = _as_dtypes(type, "finfo")
    part = {"complex64": float32, "complex128": float64}.get(dtype.name, dtype)
    if part.name not in _FORMATS:
        raise DTypeError(f"finfo is for floating types, but {dtype!s} was given. For integers: af.iinfo.")
    fraction, exponent = _FORMATS[part.name]
    eps = 2.0**-fraction
    largest = (2.0 - eps) * 2.0**exponent
    return FloatInfo(part.bits, eps, largest, -largest, 2.0 ** (1 - exponent), part)


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of an integer data type.

    Parameters
    ----------
    type : data type, array or Variable

    Returns
    -------
    IntegerInfo
        ``bits``, ``max``, ``min`` as Python numbers, and ``dtype``.

    Raises
    ------
    DTypeError
        If the type is no integer type.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.iinfo(af.int8).min
    -128
    """
    dtype = _as_dtypes(type, "iinfo")
    if dtype.kind == "signed integer":
        return IntegerInfo(dtype.bits, 2 ** (dtype.bits - 1) - 1, -(2 ** (dtype.bits - 1)), dtype)
    if dtype.kind == "unsigned integer":
        return IntegerInfo(dtype.bits, 2**dtype.bits - 1, 0, dtype)
    raise DTypeError(f"iinfo is for integer types, but {dtype!s} was given. For floating ones: af.finfo.")


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a data type is of a kind.

    Parameters
    ----------
    dtype : data type
    kind : str, data type or tuple of them
        ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
        ``"complex floating"``, ``"numeric"``, or a data type itself; a tuple means any of its members.

    Returns
    -------
    bool

    Raises
    ------
    DTypeError
        For a kind that there is not.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.isdtype(af.float32, "real floating"), af.isdtype(af.int8, ("bool", af.int8))
    (True, True)
    """
    found = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(found, one) for one in kind)
    group = GROUPS.get(kind) if isinstance(kind, str) else None
    if group is not None:
        return found in group
    try:
        return found == as_dtype(kind)
    except DTypeError:
        raise DTypeError(f"isdtype: {kind!r} is no kind of data types. Use one of {', '.join(GROUPS)}.") from None


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The data type of a result of all these together.

    Parameters
    ----------
    *arrays_and_dtypes : array, Variable, data type or Python scalar
        One of them at least is no scalar. A scalar counts by its kind alone.

    Returns
    -------
    data type

    Raises
    ------
    DTypeError
        If there are scalars only, or no type holds them all.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.result_type(af.int8, af.uint8), af.result_type(af.int64, af.float32), af.result_type(af.float32, 1.0)
    (arrayflow.int16, arrayflow.float32, arrayflow.float32)
    """
    dtypes: list[DType] = []
    rank = -1
    device: Device | None = None
    for x in arrays_and_dtypes:
        backend = registry.backend_of(as_raw(x))
        number: Any = x
        if backend is not None and isinstance(x, backend.scalar_types):
            x = number.item()
        if isinstance(x, SCALARS):
            rank = max(rank, next(i for i, kind in enumerate(SCALARS) if isinstance(x, kind)))
            continue
        if backend is not None:
            device = device_of_raw(as_raw(x), backend)
        dtypes.append(_as_dtypes(x, "result_type"))
    if not dtypes:
        raise DTypeError(
            "result_type: at least one argument must be an array or a data type. Python scalars have none."
        )
    # Floating types first: they take any integers, which may have no type in common.
    dtypes.sort(key=lambda dtype: -_RANK[dtype.kind])
    common = reduce(promote, dtypes)
    if rank <= _RANK[common.kind]:
        return common
    if rank == 3:
        return complex128 if common == float64 else complex64
    return config.dtype if rank == 2 else default_integer(device)


_RANK = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2, "complex floating": 3}


def default_integer(device: Device | None) -> DType:
    """The data type of Python integers: int64, or int32 on a device that lacks it."""
    return int64 if device is None or int64 in device.backend.dtypes_on(device.native) else int32
