"""Names for what the framework passes around, for annotations only."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Array", "Shape"]

# A raw array of any library. The libraries share no base class, so the checker sees Any.
Array: TypeAlias = Any
Shape: TypeAlias = tuple[int, ...]
