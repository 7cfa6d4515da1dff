"""What an optimizer keeps for one parameter."""

from __future__ import annotations

from typing import Any

from ..backends import registry
from ..device import Device, device_of_raw, move, move_or_copy, to_host
from ..dtypes import DTYPES
from ..slots import Slot

__all__ = ["State", "count_slot"]


class State:
    """What an optimizer keeps for one parameter: its arrays, where the parameter is, and how many steps it took."""

    __slots__ = ("arrays", "t")

    def __init__(self) -> None:
        self.arrays: tuple[Any, ...] | None = None
        self.t = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        out = State()
        out.t = self.t
        if self.arrays is not None:  # each library copies its own; not all of them know deepcopy
            out.arrays = tuple(registry.backend_of(a).copy(a) for a in self.arrays)  # type: ignore[union-attr]
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        if self.arrays is None:
            return _restore_state, (self.t, None, "cpu")
        host = tuple(to_host(a, entry="pickle") for a in self.arrays)
        return _restore_state, (self.t, host, str(device_of_raw(self.arrays[0])) if self.arrays else "cpu")


def _restore_state(t: int, host: tuple[Any, ...] | None, device: str) -> State:
    out = State()
    out.t = t
    if host is not None:
        # Copies: NumPy's arrays may come back read-only, and what is on the host already does not move.
        out.arrays = tuple(move_or_copy(move(a, Device(device), entry="unpickle"), Device(device), True) for a in host)
    return out


def count_slot(state: State) -> Slot:
    return Slot(lambda: state.t, lambda v: setattr(state, "t", int(v)), DTYPES["int64"], ())
