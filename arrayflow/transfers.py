"""The ledger: every move of data between devices becomes one event, seen by whoever asked to see.

The transfer point (`arrayflow.device`) calls `record` once a move; nobody else does. When no ledger
is open, that costs one look at a ``ContextVar``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Literal

__all__ = ["Direction", "Entry", "Kind", "Ledger", "record", "transfers", "user_frame", "user_site"]

Direction = Literal["h2d", "d2h", "d2d"]
Kind = Literal["explicit", "implicit"]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Programs in the package that stand where the user's would.
_PROGRAMS = tuple(os.path.join(_HERE, folder) + os.sep for folder in ("examples",))


def user_frame() -> FrameType | None:
    """The innermost frame that is not arrayflow's own: the line the user wrote."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        ours = name.startswith(_HERE) and not name.startswith(_PROGRAMS)
        if not ours and not name.startswith("<frozen"):
            return frame
        frame = frame.f_back
    return None


def user_site() -> str:
    """``file:line`` of the user's line, for messages."""
    frame = user_frame()
    return "unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Entry:
    """What one line of the user's program moved, one way, between two devices.

    Attributes
    ----------
    site : str
        ``file:line`` of the user's line.
    direction : {"h2d", "d2h", "d2d"}
        Host to device, device to host, or device to device.
    kind : {"explicit", "implicit"}
        Whether the user asked for the move by name.
    source, destination : str
        Device strings.
    entry : str
        What was called: ``to_device``, ``float()``, ``save_npz``.
    count : int
        Number of moves.
    bytes : int
        Number of bytes moved.
    """

    __slots__ = ("bytes", "count", "destination", "direction", "entry", "kind", "site", "source")

    def __init__(self, site: str, direction: Direction, kind: Kind, source: str, destination: str, entry: str) -> None:
        self.site = site
        self.direction: Direction = direction
        self.kind: Kind = kind
        self.source = source
        self.destination = destination
        self.entry = entry
        self.count = 0
        self.bytes = 0

    def __repr__(self) -> str:
        return (
            f"<Entry: {self.count} moves, {self.bytes} bytes, {self.direction} {self.kind} {self.source} -> "
            f"{self.destination} by {self.entry} at {self.site}>"
        )


class Ledger:
    """What moved, from which line, how many bytes. It grows with the lines that move data, not with time.

    Examples
    --------
    >>> import arrayflow as af
    >>> with af.transfers() as ledger:
    ...     x = af.asarray([1.0, 2.0], device="strict:device1")
    ...     total = float(af.sum(x))
    >>> [(e.direction, e.kind, e.bytes) for e in ledger.entries]
    [('h2d', 'explicit', 8), ('d2h', 'implicit', 4)]
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[object, ...], Entry] = {}

    def add(
        self,
        frame: FrameType | None,
        direction: Direction,
        kind: Kind,
        source: str,
        destination: str,
        entry: str,
        n: int,
    ) -> None:
        """Count one move of `n` bytes."""
        where = (None, 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        key = (*where, direction, kind, source, destination, entry)
        found = self._entries.get(key)
        if found is None:
            site = "unknown line" if frame is None else f"{where[0]}:{where[1]}"
            # setdefault, so that two threads cannot lose one another's first event.
            found = self._entries.setdefault(key, Entry(site, direction, kind, source, destination, entry))
        found.count += 1
        found.bytes += n

    @property
    def entries(self) -> list[Entry]:
        """One `Entry` for each line, direction, kind and pair of devices, in order of first sight."""
        return list(self._entries.values())

    @property
    def count(self) -> int:
        """Number of moves."""
        return sum(e.count for e in self._entries.values())

    @property
    def bytes(self) -> int:
        """Number of bytes moved."""
        return sum(e.bytes for e in self._entries.values())

    def total(self, direction: Direction) -> tuple[int, int]:
        """Number of moves and of bytes in one direction."""
        found = [e for e in self._entries.values() if e.direction == direction]
        return sum(e.count for e in found), sum(e.bytes for e in found)

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        if not self._entries:
            return "nothing moved"
        rows = [("moves", "bytes", "way", "kind", "from", "to", "by", "line")]
        for e in self.entries:
            site = e.site
            file, colon, line = site.rpartition(":")
            if colon:
                short = os.path.relpath(file) if os.path.isabs(file) else file
                site = f"{min(short, file, key=len)}:{line}"
            rows.append((f"{e.count:,}", f"{e.bytes:,}", e.direction, e.kind, e.source, e.destination, e.entry, site))
        rows.append((f"{self.count:,}", f"{self.bytes:,}", "", "", "", "", "", "in all"))
        widths = [max(len(row[i]) for row in rows) for i in range(8)]
        lines = []
        for row in rows:
            cells = [c.rjust(w) if i < 2 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Ledger: {self.count} moves, {self.bytes} bytes>"


_open: ContextVar[tuple[Ledger, ...]] = ContextVar("open_ledgers", default=())


@contextmanager
def transfers() -> Iterator[Ledger]:
    """Open a ledger of every move of data made inside the ``with`` block, by this thread or task.

    Returns
    -------
    Ledger
        It fills while the block runs and can be read at any time, afterwards too.

    Examples
    --------
    >>> import arrayflow as af
    >>> with af.transfers() as ledger:
    ...     y = af.ones((2, 2), device="cpu") + 1
    >>> print(ledger)
    nothing moved
    """
    ledger = Ledger()
    token = _open.set((*_open.get(), ledger))
    try:
        yield ledger
    finally:
        _open.reset(token)


def record(direction: Direction, kind: Kind, source: str, destination: str, entry: str, n: int) -> None:
    """Count one move of `n` bytes in every open ledger."""
    ledgers = _open.get()
    if ledgers:
        frame = user_frame()
        for ledger in ledgers:
            ledger.add(frame, direction, kind, source, destination, entry, n)
