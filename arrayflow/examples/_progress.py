"""A progress bar for a terminal, and plain lines where the output is a file or a pipe."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

__all__ = ["Progress"]

_CELLS = 30
_REDRAW = 0.05  # seconds between two drawings, so that drawing costs nothing
_CLEAR = "\r\x1b[K"


class Progress:
    """Counts steps. The bar is on stderr and goes when done; `note` writes lines that stay, to stdout.

    Parameters
    ----------
    total : int
        Number of steps.
    quiet : bool
        Whether to show nothing at all.

    Examples
    --------
    >>> with Progress(3) as bar:
    ...     for step in range(3):
    ...         bar.step()
    ...     bar.note("three steps done")
    three steps done
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total, self.done, self.quiet = total, 0, quiet
        self._draws = not quiet and sys.stderr.isatty()
        self._start = self._drawn = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clear()

    def step(self) -> None:
        """One step more is done."""
        self.done += 1
        now = time.monotonic()
        if self._draws and (now - self._drawn >= _REDRAW or self.done == self.total):
            self._drawn = now
            full = _CELLS * self.done // self.total
            rate = self.done / max(now - self._start, 1e-9)
            left = (self.total - self.done) / rate
            bar = "#" * full + "." * (_CELLS - full)
            sys.stderr.write(f"{_CLEAR}[{bar}] {self.done}/{self.total}  {rate:.0f} steps/s  {left:.0f} s left")
            sys.stderr.flush()

    def note(self, text: str) -> None:
        """Write a line that stays above the bar."""
        if not self.quiet:
            self._clear()
            print(text, flush=True)

    def _clear(self) -> None:
        if self._draws:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
