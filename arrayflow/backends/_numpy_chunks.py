"""Long arrays in chunks that stay in the cache, several side by side: NumPy's loops let go of the lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

__all__ = ["CHUNK", "in_chunks"]

# Elements of a chunk.
CHUNK = 65536
# Chunks from which on a second thread is worth waking.
WORTH = 4

_pool: ThreadPoolExecutor | None = None


def _threads() -> int:
    """As many as OpenMP would take, so that one variable sets them all; four at most, as memory is soon the limit."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(4, int(asked) if asked.isdigit() else os.cpu_count() or 1))


def _forget_pool() -> None:
    global _pool
    _pool = None  # a forked child has none of its parent's threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _submit(run: Callable[..., None], *arguments: Any) -> Future[None]:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(3, thread_name_prefix="arrayflow-step")
    return _pool.submit(run, *arguments)


def in_chunks(step: Callable[..., Any], *arrays: Any) -> None:
    """Call ``step(*chunks)`` on corresponding chunks of arrays of one size, which it may write into.

    Arrays that are not contiguous are taken whole. Each element is in one chunk, and its result depends on nothing
    else, so how many threads there are changes no bit.
    """
    if not all(a.flags.c_contiguous for a in arrays):
        step(*arrays)
        return
    flat = [a.reshape(-1) for a in arrays]
    size = flat[0].size

    def run(start: int, stop: int) -> None:
        for i in range(start, stop, CHUNK):
            step(*(f[i : min(i + CHUNK, stop)] for f in flat))

    threads = _threads() if size >= WORTH * CHUNK else 1
    share = -(-size // (threads * CHUNK)) * CHUNK
    others = [_submit(run, start, min(start + share, size)) for start in range(share, size, share)]
    try:
        run(0, min(share, size))
    finally:
        for other in others:
            other.exception()  # wait for all, whatever happened to one
    for other in others:
        other.result()
