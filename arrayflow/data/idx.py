"""Reader of IDX files, the format that MNIST came in: a magic number, the shape, then the values."""

from __future__ import annotations

import array
import gzip
import hashlib
import math
import sys
import zlib
from os import PathLike
from pathlib import Path

from ..errors import FileFormatError
from ..namespace import asarray, reshape
from ..typing import Array

__all__ = ["read_idx"]

# Third byte of the magic number -> type code of Python's `array` and `memoryview`. Values are big-endian.
_CODES = {0x08: "B", 0x09: "b", 0x0B: "h", 0x0C: "i", 0x0D: "f", 0x0E: "d"}
_GZIP = b"\x1f\x8b"


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(
            f"read_idx: {path} is a damaged or truncated gzip file of {len(content)} bytes ({error}). Fetch it again."
        ) from error


def read_idx(path: str | PathLike[str], *, sha256: str | None = None) -> Array:
    """The array in an IDX file, on the host.

    Parameters
    ----------
    path : path
        The file, plain or gzipped.
    sha256 : str, optional
        What the unpacked file must hash to, in hexadecimal.

    Returns
    -------
    Variable
        With the shape and data type that the file states, on device ``cpu``.

    Raises
    ------
    FileFormatError
        If the file is no IDX file, its length is not what its header says, its gzip checksum fails, or
        its hash is not `sha256`.

    References
    ----------
    Y. LeCun, C. Cortes and C. Burges, The MNIST database of handwritten digits, 1998, "File formats".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pair-idx1-ubyte")
    ...     size = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]))
    ...     pair = read_idx(path)
    >>> pair.shape, str(pair.dtype), int(pair[1])
    ((2,), 'uint8', 9)
    """
    path = Path(path)
    content = _unpacked(path)
    if sha256 is not None and (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise FileFormatError(
            f"read_idx: {path} must hash to SHA-256 {sha256}, but hashes to {found}: it is damaged or another file. "
            f"Install or fetch it again."
        )
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _CODES:
        raise FileFormatError(
            f"read_idx: an IDX file starts with two zero bytes and a type byte out of "
            f"{', '.join(f'0x{code:02x}' for code in _CODES)}, but {path} starts with 0x{content[:4].hex()}. "
            f"It is no IDX file."
        )
    values = array.array(_CODES[content[2]])
    start = 4 + 4 * content[3]
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, start, 4))
    expected = start + math.prod(shape) * values.itemsize
    if len(content) != expected:
        raise FileFormatError(
            f"read_idx: {path} states shape {shape}, which takes {expected} bytes unpacked, but it has {len(content)}: "
            f"it is truncated or damaged. Fetch it again."
        )
    values.frombytes(content[start:])
    if sys.byteorder == "little":
        values.byteswap()
    return reshape(asarray(memoryview(values), device="cpu"), shape)
