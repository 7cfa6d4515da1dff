"""How a Variable is shown: what it holds, or its edges, at a price that does not grow with its size."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Variable
from ..backends import registry
from ..device import to_host

__all__ = ["variable_text"]

# Elements up to which all are shown; of larger arrays the first and the last three along each axis are.
_ALL = 1000
_EDGE = 3
_MOST = 2500


def variable_text(x: Variable) -> str:
    """``Variable([2., 4.], dtype=float32, device='cpu')``; the values are left out where they cannot be read."""
    name = type(x).__name__
    path = getattr(x, "path", None)
    lead = f"{name} {path!r}" if path else name
    try:
        facts = f"dtype={x.dtype!s}, device={str(x.device)!r}"
    except Exception:  # a Parameter that has no place yet, an array that is traced or spread over devices
        return f"{lead}({'unreadable' if path is None else 'not initialized'})"
    try:
        values = None if getattr(x, "_initializer", None) is not None else _values(x, len(lead) + 1)
    except Exception:  # a tracer, a device that is gone: whatever happens, a debugger must be able to look
        values = None
    if values is None:
        try:
            return f"{lead}(shape={x.shape}, {facts})"
        except Exception:
            return f"{lead}(shape unknown, {facts})"
    shape = "" if x.size and (x.size <= _ALL or x.ndim == 0) else f"shape={x.shape}, "
    return f"{lead}({values}, {shape}{facts})"


def _values(x: Variable, indent: int) -> str | None:
    raw = x.array
    backend = registry.backend_of(raw)
    whole = x.size <= _ALL
    if not whole:
        raw = _edges(raw, backend)
        if raw is None:
            return None
    host = to_host(raw, kind="implicit", entry="repr()")
    from ..backends._python import text

    return text(host, " " * indent, whole)


def _edges(raw: Any, backend: Any) -> Any:
    """The first and last elements along each axis, and one between them that stands for the rest."""
    shape = tuple(raw.shape)
    kept = 1
    for n in shape:
        kept *= min(n, 2 * _EDGE + 1)
    if kept > _MOST:
        return None
    everything = (slice(None),) * len(shape)
    for axis, n in enumerate(shape):
        if n > 2 * _EDGE + 1:
            before, after = everything[:axis], everything[axis + 1 :]
            first, last = raw[(*before, slice(_EDGE + 1), *after)], raw[(*before, slice(n - _EDGE, n), *after)]
            raw = backend.op("concat")([first, last], axis=axis)
    return raw
