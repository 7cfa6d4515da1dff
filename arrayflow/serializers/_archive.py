"""The container: a zip file of .npy members, and one member of our own that says what .npy cannot.

``__arrayflow__`` is a string, JSON: the format's version, the number of arrays, names that mean an array stored
under another name (``aliases``), names without a value yet (``uninitialised``), and types that .npy lacks (``dtypes``).
Nothing in a file is believed before it was checked: sizes before memory is taken, CRC-32 before a value is handed out.
"""

from __future__ import annotations

import errno
import json
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from ..backends import registry
from ..dtypes import DTYPES, DType, as_dtype
from ..errors import ArrayflowError, DTypeError, FileFormatError
from ..typing import Shape
from ._names import NOTES, name_fault
from ._npy import CHUNK, TEXT, Header, c_order_chunks, format_header, parse_header, raw_bytes

__all__ = ["Archive", "ArchiveWriter", "Entry"]

_VERSION = 1
_BFLOAT16 = DTYPES["bfloat16"]
# What zipfile, zlib and the parsers raise when a file is not what it should be.
_DAMAGE = (
    BadZipFile, zlib.error, struct.error, EOFError, ValueError, TypeError, LookupError,
    NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip


class ArchiveWriter:
    """Writes arrays and strings to a binary stream, one after the other."""

    def __init__(self, stream: BinaryIO, compression: bool) -> None:
        # Level 1: on weights, higher levels take up to twice the time for a file 1 to 4 % smaller.
        self._zip = ZipFile(stream, "w", ZIP_DEFLATED if compression else ZIP_STORED, compresslevel=1)
        self._count = 0
        self._aliases: dict[str, str] = {}
        self._uninitialised: list[str] = []
        self._dtypes: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if error is not None:
            self._zip.fp = None  # closed without its directory, so that nobody takes a part for the whole
        self._zip.close()

    def array(self, name: str, host: Any) -> None:
        """Store a host array."""
        if as_dtype(host.dtype) == _BFLOAT16:
            self._dtypes[name] = str(_BFLOAT16)
            host = host.view("uint16")
        self._member(name, format_header(host.dtype.str, host.shape), c_order_chunks(host), host.nbytes)
        self._count += 1

    def text(self, name: str, text: str) -> None:
        """Store a string."""
        self._text(name, text)
        self._count += 1

    def alias(self, name: str, stored: str) -> None:
        """Let `name` mean what is stored under another."""
        self._aliases[name] = stored

    def uninitialised(self, name: str) -> None:
        """Record that `name` has no value yet."""
        self._uninitialised.append(name)

    def finish(self) -> None:
        """Store what .npy cannot say."""
        notes: dict[str, object] = {"format": _VERSION, "arrays": self._count}
        for key in ("aliases", "uninitialised", "dtypes"):
            value = getattr(self, f"_{key}")
            if value:
                notes[key] = value
        self._text(NOTES, json.dumps(notes))

    def _text(self, name: str, text: str) -> None:
        data = text.encode("utf-32-le") or bytes(4)  # NumPy's shortest string is one NUL
        self._member(name, format_header(f"<U{len(data) // 4}", ()), [data], len(data))

    def _member(self, name: str, header: bytes, chunks: Any, nbytes: int) -> None:
        # A zip entry of 2 GiB and more needs the long form, which must be said before its size is known.
        with self._zip.open(f"{name}.npy", "w", force_zip64=nbytes > 1 << 30) as member:
            member.write(header)
            for chunk in chunks:
                member.write(chunk)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a file."""

    stored: str  # the name under which its value is stored
    dtype: DType | str
    shape: Shape


class Archive:
    """A file opened for reading: its directory, headers and notes are read and checked, its values not yet.

    Parameters
    ----------
    stream : binary file
        It can be read and positioned.
    label : str
        What messages call it.
    """

    def __init__(self, stream: BinaryIO, label: str) -> None:
        self.label = label
        self.entries: dict[str, Entry] = {}
        self.uninitialised: frozenset[str] = frozenset()
        self._headers: dict[str, Header] = {}
        self._infos: dict[str, ZipInfo] = {}
        self._bfloat16: frozenset[str] = frozenset()
        with self._reading(f"{label} is damaged or truncated"):
            size = stream.seek(0, 2)
            stream.seek(0)
            self._check_start(stream.read(8), size)
            self._zip = ZipFile(stream)
            self._check_directory(size)
        for name, info in self._infos.items():
            with self._reading(self._broken(name)), self._zip.open(info) as member:
                header = parse_header(member, f"{label}: array {name!r}")
                if header.length + header.nbytes != info.file_size:
                    raise FileFormatError(
                        f"{self._broken(name)}: its header says shape {header.shape}, {header.nbytes} bytes, "
                        f"but there are {info.file_size - header.length}."
                    )
                self._headers[name] = header
        self._read_notes()

    def value(self, name: str) -> Any:
        """The value stored under `name`, read and checked: a host array of its own memory, or a string."""
        header = self._headers[name]
        dtype = self.entries[name].dtype if name in self.entries else header.dtype
        with self._reading(self._broken(name)), self._zip.open(self._infos[name]) as member:
            member.read(header.length)
            if isinstance(dtype, DType):
                host = self._fill(member, dtype, header)
            else:
                text = member.read().decode("utf-32-be" if header.swapped else "utf-32-le")
                host = text.rstrip("\0")  # as NumPy does
            if member.read(1):  # at the end zipfile compares the CRC, which is why the end is looked for
                raise FileFormatError(f"{self._broken(name)}: it is longer than its header says.")
        if dtype == "bool" and host.size and host.view("uint8").max() > 1:
            raise FileFormatError(f"{self._broken(name)}: it is an array of bool and holds other bytes than 0 and 1.")
        return host

    def verify(self) -> None:
        """Read all there is and compare its CRC-32, keeping nothing."""
        for name, info in self._infos.items():
            with self._reading(self._broken(name)), self._zip.open(info) as member:
                while member.read(CHUNK):
                    pass

    # --- one array ------------------------------------------------------------------------------

    def _fill(self, member: Any, dtype: DType, header: Header) -> Any:
        backend = registry.get("cpu")
        transposed = header.fortran_order and len(header.shape) > 1
        shape = header.shape[::-1] if transposed else header.shape
        host = backend.create("empty", "cpu", shape, dtype=dtype)
        view, start = raw_bytes(host), 0
        while start < len(view):
            chunk = member.read(min(CHUNK, len(view) - start))
            if not chunk:
                raise EOFError(f"{len(view) - start} bytes are missing")
            view[start : start + len(chunk)] = chunk
            start += len(chunk)
        if header.swapped:
            (host.view("uint16") if dtype == _BFLOAT16 else host).byteswap(inplace=True)
        return host.T.copy() if transposed else host

    # --- the container --------------------------------------------------------------------------

    def _check_start(self, start: bytes, size: int) -> None:
        if size == 0:
            raise FileFormatError(f"{self.label} is empty: 0 bytes. An .npz file has 22 at least.")
        if start.startswith(b"\x93NUMPY"):
            raise FileFormatError(
                f"{self.label} is a single .npy array, not an .npz file of named ones. Read it with numpy.load."
            )
        if not start.startswith(b"PK"):
            raise FileFormatError(
                f"{self.label} is no .npz file: a zip archive starts with b'PK', this with {start!r}."
            )

    def _check_directory(self, size: int) -> None:
        packed = 0
        for info in self._zip.infolist():
            member = info.filename
            name = member.removesuffix(".npy")
            where = f"{self.label}: member {info.orig_filename!r}"
            fault = name_fault(name) if name != NOTES else None
            if name == member or member != info.orig_filename:
                fault = "it is no .npy array"
            if fault is not None:
                raise FileFormatError(f"{where} cannot be taken: {fault}.")
            if name in self._infos:
                raise FileFormatError(f"{where} is there twice, so nothing tells which one is meant.")
            if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or info.flag_bits & 0x1:
                raise FileFormatError(
                    f"{where} is encrypted or packed by another method than deflate (method {info.compress_type})."
                )
            # Deflate makes no more than 1032 bytes of one, so a larger claim is damage or a trap.
            most = info.compress_size if info.compress_type == ZIP_STORED else 1032 * info.compress_size + 64
            if info.file_size > most:
                raise FileFormatError(
                    f"{where} is damaged: it claims {info.file_size} bytes, and the {info.compress_size} "
                    f"that are stored make {most} at most."
                )
            packed += info.compress_size
            self._infos[name] = info
        if packed > size:
            raise FileFormatError(
                f"{self.label} is damaged: its members claim {packed} bytes, the whole file has {size}."
            )

    def _read_notes(self) -> None:
        notes: dict[str, Any] = {}
        where = f"{self.label}: the member '{NOTES}' is damaged"
        if NOTES in self._infos:
            if self._headers[NOTES].dtype != TEXT:
                raise FileFormatError(f"{where}: it holds {self._headers[NOTES].dtype!s}, not a string.")
            text = self.value(NOTES)
            with self._reading(where):
                notes = json.loads(text)
                version = notes["format"]
            if version != _VERSION:
                raise FileFormatError(
                    f"{self.label} is of format {version!r}, and this arrayflow reads format {_VERSION}. "
                    f"Update it: pip install -U arrayflow."
                )
        names = [name for name in self._infos if name != NOTES]
        with self._reading(where):
            if notes and notes["arrays"] != len(names):
                raise ValueError(f"{notes['arrays']} arrays were saved, {len(names)} are there")
            aliases, dtypes, without = (notes.get(key, {}) for key in ("aliases", "dtypes", "uninitialised"))
            self._check_notes(aliases, dtypes, without, names)
            self.uninitialised = frozenset(without)
            self._bfloat16 = frozenset(dtypes)
            for name in names:
                self.entries[name] = Entry(name, self._dtype(name), self._headers[name].shape)
            self.entries |= {name: self.entries[stored] for name, stored in aliases.items()}

    def _check_notes(self, aliases: Any, dtypes: Any, without: Any, names: list[str]) -> None:
        if (
            not isinstance(aliases, dict)
            or not isinstance(dtypes, dict)
            or any(type(name) is not str for name in without)
        ):
            raise ValueError("it does not list names")
        if any(kind != _BFLOAT16 or self._headers[name].dtype != "uint16" for name, kind in dtypes.items()):
            raise ValueError("a type it names does not fit its array")
        if not {*names, *aliases}.isdisjoint(without) or not aliases.keys().isdisjoint(names):
            raise ValueError("a name means two things")

    def _dtype(self, name: str) -> DType | str:
        if name not in self._bfloat16:
            return self._headers[name].dtype
        if _BFLOAT16 not in registry.get("cpu").raw_dtypes:
            raise DTypeError(
                f"{self.label}: array {name!r} is bfloat16, which NumPy has not of its own. "
                f"Install ml_dtypes: pip install ml_dtypes."
            )
        return _BFLOAT16

    # --- words ----------------------------------------------------------------------------------

    def _broken(self, name: str) -> str:
        return f"{self.label}: array {name!r} is damaged"

    @contextmanager
    def _reading(self, where: str) -> Iterator[None]:
        try:
            yield
        except ArrayflowError:
            raise
        except _DAMAGE as error:
            raise FileFormatError(
                f"{where}: {str(error) or type(error).__name__}. Take another copy of the file."
            ) from error
        except OSError as error:
            if error.errno != errno.EINVAL:  # the disk's own trouble
                raise
            raise FileFormatError(f"{where}: it points outside the file. Take another copy of the file.") from error
