"""Python's own values as host arrays, and host arrays as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dtypes import DType
from ..errors import DTypeError, ShapeError

__all__ = ["from_buffer", "from_sequence", "text"]


def from_sequence(values: Any, dtype: DType | None, floating: DType, integer: DType) -> Any:
    """A host array of nested lists of numbers or host arrays.

    Lists of numbers take the default types given; where there are arrays among them, theirs stay.

    Raises
    ------
    ShapeError
        If rows differ in length.
    DTypeError
        If there is something that is no number, or an integer out of range.
    """
    try:
        host = np.array(values)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ShapeError(
            f"asarray: the rows of a nested list must have equal lengths and depths, but they do not ({error}). Pad "
            f"the shorter ones."
        ) from None
    except OverflowError as error:
        raise DTypeError(f"asarray: an integer is too large for any data type ({error}).") from None
    whole = dtype is None or dtype.kind in ("signed integer", "unsigned integer")
    if whole and host.dtype == np.float64 and host.size and abs(host).max() >= 2.0**63:
        host = _exact(values, host)
    kind = host.dtype.kind
    if kind not in "biufc":
        # Names of further number types, such as bfloat16, are the business of the library that has them.
        if kind != "V":
            if isinstance(odd := _odd_one(values), int):
                raise DTypeError(
                    f"asarray: an integer of {odd.bit_length()} bits is too large for any data type. "
                    f"Make it a float, if it need not be exact."
                )
            raise DTypeError(f"asarray: a list must hold numbers alone, but this one is of type {type(odd).__name__}.")
        return host
    if dtype is None:
        if _has_array(values):
            return host
        dtype = {"f": floating, "i": integer, "c": _complex(floating)}.get(kind)
        if dtype is None:
            return host
    target = np.dtype(str(dtype))
    if target.kind in "iu" and kind in "iuf" and host.size and target != host.dtype:
        limits = np.iinfo(target)
        low, high = host.min().item(), host.max().item()
        if not limits.min <= low <= high <= limits.max:
            raise DTypeError(
                f"asarray: {dtype!s} holds {limits.min} to {limits.max}, but the list reaches from {low} to {high}. "
                f"Pass a wider dtype=, if the device has one."
            )
    if kind == "c" and target.kind not in "cb":
        raise DTypeError(f"asarray: complex numbers cannot become {dtype!s}. Take one part of each: z.real.")
    # A number too large for the type becomes infinite, as everywhere else.
    with np.errstate(over="ignore"):
        return host.astype(target)


def _exact(values: Any, host: Any) -> Any:
    """Integers from 2**63 on beside smaller ones, which NumPy rounds to float64; other lists as they are."""
    if not all(isinstance(value, (int, np.integer)) for value in _flat(values)):
        return host
    if host.min() < 0:
        raise DTypeError(
            "asarray: no integer type holds negative numbers and numbers from 2**63 on. Pass a floating one."
        )
    return np.array(values, dtype=np.uint64)


def _complex(floating: DType) -> DType:
    from ..dtypes import DTYPES

    return DTYPES["complex128" if floating == "float64" else "complex64"]


def _has_array(values: Any) -> bool:
    if isinstance(values, (list, tuple)):
        return any(_has_array(value) for value in values)
    return isinstance(values, np.ndarray)


def _odd_one(values: Any) -> Any:
    """What keeps a nested list from being one of numbers: something else, or else an integer of too many bits."""
    flat = tuple(_flat(values))
    odd = [v for v in flat if not isinstance(v, (bool, int, float, complex, np.generic))]
    return (odd or [v for v in flat if isinstance(v, int) and v.bit_length() > 63] or flat)[0]


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def from_buffer(value: Any, copy: bool | None) -> Any:
    """A host array of what exports its memory: bytes, memoryview, array.array, an image."""
    if isinstance(value, (bytes, bytearray)):
        value = memoryview(value)
    try:
        return np.asarray(value) if copy is False else np.array(value)
    except BufferError:
        raise
    except ValueError as error:
        raise DTypeError(
            f"asarray: this {type(value).__name__} has no element type of the standard ({error})."
        ) from error


def text(host: Any, indent: str, whole: bool) -> str:
    """A host array as NumPy prints it, with commas; `whole` or its edges."""
    threshold = host.size + 1 if whole else 0
    return str(np.array2string(host, separator=", ", prefix=indent, threshold=threshold, edgeitems=3))
