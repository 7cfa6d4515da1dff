"""What the framework asks of an array, a namespace and a tree of arrays, for annotations only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

__all__ = ["Array", "Axis", "HasDevice", "Namespace", "RawFunction", "Scalar", "Shape"]

# A raw array of any library. The libraries share no base class, so the checker sees Any.
Array: TypeAlias = Any
Namespace: TypeAlias = Any
Scalar: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
Axis: TypeAlias = int | Sequence[int] | None
RawFunction: TypeAlias = Callable[..., Any]


@runtime_checkable
class HasDevice(Protocol):
    """Something that `to_device` moves by asking it: a Variable, a Link, an optimizer."""

    def __to_device__(self, device: Any, copy: bool | None) -> Any: ...
