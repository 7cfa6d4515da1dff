"""What the standard cannot express, or what was measured faster natively: portable bodies, by name.

A body takes the namespace first, then raw arrays; it knows nothing of gradients. It *defines* the
kernel: a backend's native body must agree with it, which one test checks for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["KERNELS", "kernel"]

KERNELS: dict[str, Callable[..., Any]] = {}


def kernel(body: Callable[..., Any]) -> Callable[..., Any]:
    """Register a portable body ``body(xp, *arrays)`` under its own name."""
    KERNELS[body.__name__] = body
    return body


from . import gradient, indexing, neural, optimizer  # noqa: E402, F401  (they register themselves)
