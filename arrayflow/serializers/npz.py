"""`save_npz`, `load_npz`, `read_npz`: state in a zip file of .npy arrays, which NumPy reads without arrayflow."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias

from ..backends import registry
from ..device import to_host
from ..slots import Slot
from ._archive import Archive, ArchiveWriter
from ._atomic import replacing
from ._npy import TEXT
from ._state import assign, collect, compare, grouped

__all__ = ["load_npz", "read_npz", "save_npz"]

File: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes] | BinaryIO


def save_npz(file: File, obj: Any, compression: bool = True) -> None:
    """Save the state of a model, an optimizer, or a nested dictionary of them and of arrays.

    The file is a zip archive of .npy arrays: ``numpy.load(file, allow_pickle=False)`` reads it. It holds host data and
    no device, and never a pickle. Each array on a device is read once, one after the other: one recorded explicit
    transfer each. The same state always gives the same bytes.

    A file at a path is replaced in one step: the new one is written beside it, synced to the disk and renamed. If
    saving fails, or the process is killed, the old file stays as it was. What a killed process left beside it
    (names that start with ``.arrayflow-tmp-``) is removed by the next save to the same path. A symbolic link stays
    a link, and the permissions of an existing file are kept.

    Parameters
    ----------
    file : path or binary file object
        Where to. A path is used as it is: no ``.npz`` is appended. A file object is written from its position on and
        left open; what failed half-way stays in it.
    obj : Link, optimizer or dict
        What to save. Dictionaries nest; their keys are joined by ``/``, as in ``model/layers.1.bias``. Their leaves are
        Links, optimizers, Variables, raw arrays of any library, Python numbers, strings and None.
    compression : bool
        Whether to compress. Random weights shrink by some 8 % only, and uncompressed files are several times as
        fast to write and to read.

    Raises
    ------
    TypeError
        For an object or a leaf that a file cannot hold; an array of Python objects is a `DTypeError`.
    ValueError
        For a key that is no safe name in a file, such as ``..``, or two values of one name.
    OSError
        If the file cannot be written: no such folder, no permission, no space left.

    Notes
    -----
    A parameter under two names (tied weights) is stored once. The member ``__arrayflow__``, a string of JSON, says
    which names mean the same array (``aliases``), which have no value yet (``uninitialised``: sizes not known before
    the first batch, an optimizer before its first step) and which arrays are bfloat16 (``dtypes``): the .npy format
    lacks that type, so NumPy shows their bits as uint16.

    Examples
    --------
    >>> import os, tempfile
    >>> import arrayflow as af
    >>> from arrayflow import serializers
    >>> path = os.path.join(tempfile.mkdtemp(), "state.npz")
    >>> serializers.save_npz(path, {"weight": af.ones((2, 3), device="cpu"), "epoch": 7})
    >>> state = {"weight": af.zeros((2, 3), device="cpu"), "epoch": 0}
    >>> serializers.load_npz(path, state)
    >>> state["epoch"], float(af.sum(state["weight"]))
    (7, 6.0)
    """
    slots = collect(obj, "save_npz")
    with _writing(file) as stream, ArchiveWriter(stream, compression) as archive:
        for first, *others in grouped(slots):
            if _store(archive, first, slots[first]):
                for name in others:
                    archive.alias(name, first)
            else:
                for name in (first, *others):
                    archive.uninitialised(name)
        archive.finish()


def load_npz(file: File, obj: Any) -> None:
    """Load what `save_npz` saved, in place; each value goes to where its destination lives.

    All is read, verified and compared first. The names, shapes and data types must be those of `obj`: nothing is cast,
    broadcast, skipped or left out. On any error `obj` is as it was. Each array costs one recorded explicit
    transfer to a device, none to the host. Parameters and Variables keep their identity; in a dictionary
    raw arrays, numbers and strings are replaced by new ones.

    Parameters
    ----------
    file : path or binary file object
        What `save_npz` wrote, or ``numpy.savez`` of arrays that are no objects. A path is used as it is: no ``.npz`` is
        appended. A file object is read as a whole and left open; it must be seekable.
    obj : Link, optimizer or dict
        What to load into: of the structure that was saved. Sizes that are not known yet are taken from the file.

    Raises
    ------
    StateMismatchError
        If the file holds other names, shapes or data types; the message lists every one of them.
    FileFormatError
        If the file is damaged, truncated or no .npz file; the message names the array. Every CRC-32 is checked.
    OSError
        If the file cannot be read, such as `FileNotFoundError`.

    Notes
    -----
    An entry that had no value when it was saved loads only into one that has none: no value is lost silently.
    Names that share one array in the file may be separate in `obj`: both get the value. Names that are separate in
    the file may be tied in `obj` where their values are the same, bit for bit.

    Examples
    --------
    >>> import io
    >>> import arrayflow as af
    >>> from arrayflow import serializers
    >>> file = io.BytesIO()
    >>> serializers.save_npz(file, {"w": af.ones((2,), device="cpu")})
    >>> w = af.zeros((2,), device="strict:device1")
    >>> with af.transfers() as ledger:
    ...     serializers.load_npz(file, {"w": w})
    >>> w.device, w.numpy(), ledger.total("h2d")
    (Device('strict:device1'), array([1., 1.], dtype=float32), (1, 8))
    """
    slots = collect(obj, "load_npz")
    with _reading(file, "load_npz") as (stream, label):
        archive = Archive(stream, label)
        values = compare(slots, archive, "load_npz")
    assign(slots, archive, values)


def read_npz(file: File) -> dict[str, Any]:
    """The values of a file as a flat dictionary on the host, without an object to load into.

    For looking into a file, and for renaming, casting or cutting what does not fit: `save_npz` writes the changed
    dictionary.

    Parameters
    ----------
    file : path or binary file object
        As for `load_npz`.

    Returns
    -------
    dict of str to numpy.ndarray, str or None
        By full name, such as ``model/layers.1.bias``. Strings are Python strings, numbers are arrays of shape (),
        an entry that had no value is None, and names that share one array in the file share it here.

    Raises
    ------
    FileFormatError, OSError
        As for `load_npz`.

    Examples
    --------
    >>> import io
    >>> import arrayflow as af
    >>> from arrayflow import serializers
    >>> file = io.BytesIO()
    >>> serializers.save_npz(file, {"model": {"w": af.ones((2,), device="cpu")}, "note": "first"})
    >>> serializers.read_npz(file)
    {'model/w': array([1., 1.], dtype=float32), 'note': 'first'}
    """
    with _reading(file, "read_npz") as (stream, label):
        archive = Archive(stream, label)
        values = {entry.stored: archive.value(entry.stored) for entry in archive.entries.values()}
    found = {name: values[entry.stored] for name, entry in archive.entries.items()}
    return found | dict.fromkeys(sorted(archive.uninitialised))


def _store(archive: ArchiveWriter, name: str, slot: Slot) -> bool:
    """Write one value; False where there is none yet."""
    value = slot.get()
    if value is None:
        return False
    if slot.dtype == TEXT:
        archive.text(name, value)
        return True
    if registry.backend_of(value) is None:
        value = registry.get("cpu").create("full", "cpu", (), value, dtype=slot.dtype)
    archive.array(name, to_host(value, kind="explicit", entry="save_npz"))
    return True


@contextmanager
def _writing(file: Any) -> Iterator[BinaryIO]:
    if not hasattr(file, "write"):
        with replacing(_path(file, "save_npz")) as stream:
            yield stream
        return
    _check_binary(file, "save_npz")
    yield file


@contextmanager
def _reading(file: Any, entry: str) -> Iterator[tuple[BinaryIO, str]]:
    if not hasattr(file, "read"):
        path = _path(file, entry)
        with open(path, "rb") as stream:
            if not stream.seekable():
                raise io.UnsupportedOperation(f"{entry}: {os.fsdecode(path)!r} is a pipe or a device. {_IN_MEMORY}")
            yield stream, repr(os.fsdecode(path))
        return
    _check_binary(file, entry)
    if not file.seekable():
        raise io.UnsupportedOperation(
            f"{entry}: the file object cannot be positioned, which a zip archive needs. {_IN_MEMORY}"
        )
    name = getattr(file, "name", None)
    yield file, repr(name) if isinstance(name, str) else f"the {type(file).__name__}"


_IN_MEMORY = "Read it into memory first: io.BytesIO(file.read())."


def _path(file: Any, entry: str) -> Any:
    if isinstance(file, (str, bytes, os.PathLike)):
        return file
    raise TypeError(
        f"{entry}: file is a path or a binary file object, but a {type(file).__name__} was given: {entry}(file, obj)."
    )


def _check_binary(file: Any, entry: str) -> None:
    if getattr(file, "closed", False):
        raise ValueError(f"{entry}: the file object is closed.")
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"{entry}: the file object is open for text. Open it with mode 'wb' or 'rb'.")
