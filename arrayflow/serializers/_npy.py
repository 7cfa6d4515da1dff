"""The .npy format in pure Python: a header that is a Python literal, and the values in C or Fortran order.

Reference: NumPy Enhancement Proposal 1, and ``numpy.lib.format``.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from ..dtypes import DTYPES, DType
from ..errors import FileFormatError
from ..typing import Shape

__all__ = ["CHUNK", "TEXT", "Header", "c_order_chunks", "format_header", "parse_header", "raw_bytes"]

CHUNK = 1 << 20  # bytes held at a time while values go to or come from a file
TEXT = "str"  # stands where an array has its DType

_MAGIC = b"\x93NUMPY"
_LONGEST = 10_000  # characters of a header that are parsed, as in NumPy: a longer literal could exhaust the parser
_ORDER = "<" if sys.byteorder == "little" else ">"
# The format has no bfloat16: its bits are stored as uint16, and the archive's notes say so.
_BY_CODE = {
    f"{name[0]}{dtype.itemsize}": dtype for name, dtype in DTYPES.items() if name != "bfloat16"
}  # b1, i8, u2, f4, c16


@dataclass(frozen=True, slots=True)
class Header:
    """What the header of one array says."""

    dtype: DType | str  # `TEXT` for a string
    shape: Shape
    fortran_order: bool
    swapped: bool  # whether the byte order is not this machine's
    itemsize: int
    length: int  # of the header itself, in bytes

    @property
    def nbytes(self) -> int:
        """Bytes that the values take."""
        return prod(self.shape) * self.itemsize


def format_header(descr: str, shape: Shape) -> bytes:
    """The header of an array in C order, padded so that the values start at a multiple of 64 bytes."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    length = len(_MAGIC) + 4 + len(text) + 1
    text += " " * (-length % 64) + "\n"
    return _MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin1")


def parse_header(stream: Any, where: str) -> Header:
    """Read a header off a binary stream.

    Raises
    ------
    FileFormatError
        If it is no header, or one of an array that cannot be taken; `where` says of which.
    """
    start = stream.read(8)
    if len(start) < 8 or start[:6] != _MAGIC or start[6:] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise FileFormatError(
            f"{where} does not start with the header of a .npy array (version 1, 2 or 3), but with {start!r}."
        )
    width = 2 if start[6] == 1 else 4
    size = int.from_bytes(stream.read(width), "little")
    if size > _LONGEST:
        raise FileFormatError(f"{where} has a header of {size} bytes; no more than {_LONGEST} are read.")
    text = stream.read(size)
    if len(text) < size:
        raise FileFormatError(f"{where} ends inside its header.")
    try:
        fields = ast.literal_eval(text.decode("utf-8" if start[6] == 3 else "latin1"))
        descr, fortran_order, shape = (fields.pop(key) for key in ("descr", "fortran_order", "shape"))
    except (ValueError, SyntaxError, TypeError, KeyError, AttributeError, MemoryError, RecursionError) as error:
        raise FileFormatError(f"{where} has a damaged header: {text[:200]!r} ({error}).") from None
    if (
        fields
        or type(fortran_order) is not bool
        or type(shape) is not tuple
        or any(type(n) is not int or n < 0 for n in shape)
    ):
        raise FileFormatError(f"{where} has a damaged header: {text[:200]!r}.")
    dtype, itemsize, order = _parse_descr(descr, shape, where)
    swapped = order in "<>" and order != _ORDER
    return Header(dtype, shape, fortran_order, swapped, itemsize, 8 + width + size)


def _parse_descr(descr: object, shape: Shape, where: str) -> tuple[DType | str, int, str]:
    match = re.fullmatch(r"([<>|=]?)([a-zA-Z])(\d{0,9})", descr) if isinstance(descr, str) else None
    if match is None:
        raise FileFormatError(f"{where} holds records or an unknown type: its data type is {descr!r}. {_TAKEN}")
    order, code, digits = match.groups()
    if code == "O":
        raise FileFormatError(
            f"{where} holds Python objects: its data type is {descr!r}. They are stored as pickles, "
            f"which can run any program when they are read, so arrayflow never reads them. {_TAKEN}"
        )
    if code == "U" and digits and shape == ():
        return TEXT, 4 * int(digits), order
    dtype = _BY_CODE.get(code + digits)
    if dtype is None:
        raise FileFormatError(
            f"{where} has the data type {descr!r} and the shape {shape}, which no array here has. {_TAKEN}"
        )
    return dtype, dtype.itemsize, order


_TAKEN = "Taken are the data types of the array API standard, and single strings."


def raw_bytes(host: Any) -> memoryview:
    """The memory of a host array that is contiguous in C order, as bytes that can be written where it can."""
    # memoryview.cast takes neither complex numbers, nor foreign byte orders, nor empty arrays; a view does.
    return memoryview(host.reshape(-1).view("uint8"))


def c_order_chunks(host: Any) -> Iterator[memoryview | bytes]:
    """The bytes of a host array in C order, however it lies in memory, at most `CHUNK` or one item at a time."""
    if host.nbytes == 0:
        return
    if host.flags.c_contiguous:
        view = raw_bytes(host)
        for start in range(0, len(view), CHUNK):
            yield view[start : start + CHUNK]
    elif host.nbytes <= CHUNK:
        yield host.tobytes()  # in C order
    else:
        rows = max(1, CHUNK * host.shape[0] // host.nbytes)
        for start in range(0, host.shape[0], rows):
            yield from c_order_chunks(host[start] if rows == 1 else host[start : start + rows])
