"""Moving a Variable: `to_device` as a recorded operation whose gradient travels back."""

from __future__ import annotations

from typing import Any

from ..config import backprop_enabled
from ..device import Device, move, move_or_copy
from .primitive import Primitive
from .tape import Node
from .variable import Variable, _wrap

__all__ = ["move_variable"]


def _send_back(g: Any, source: Device) -> Any:
    if isinstance(g, Variable):
        return move_variable(g, source, None)
    return move(g, source, entry="to_device (gradient)")


_moved = Primitive("to_device", ("x",), ("source",), (lambda g, source: _send_back(g, source),))


def move_variable(x: Variable, device: Device, copy: bool | None) -> Variable:
    """A Variable with the values of `x` on `device`; `x` itself where it is there already."""
    raw = move_or_copy(x.array, device, copy)
    if raw is x.array:
        return x
    out = _wrap(raw)
    node = x._node
    if node is not None and backprop_enabled.get():
        out._node = Node(_moved, (x if node is True else node,), ((x.device,),), (None,))
    return out
