"""Stand-ins for links and optimizers, which the serializers know by ``_state_slots()`` alone."""

from __future__ import annotations

from typing import Any

import pytest

from arrayflow.device import Device, move
from arrayflow.dtypes import DTYPES
from arrayflow.slots import Slot


class Cell:
    """Like a parameter: an identity, a place, perhaps a value. `full` stands for a device without memory left."""

    def __init__(
        self, array: Any = None, *, dtype: str = "float32", device: str = "cpu", rows: int | None = None
    ) -> None:
        self.array = array
        self.dtype = DTYPES[dtype]
        self.device = Device(device)
        self.rows = rows
        self.full = False

    def slot(self) -> Slot:
        shape = None if self.array is None else tuple(self.array.shape)
        return Slot(lambda: self.array, self._set, self.dtype, shape, self._check, owner=self, restore=self._restore)

    def _set(self, array: Any) -> None:
        if self.full:
            raise MemoryError("device out of memory")
        self.array = move(array, self.device, kind="explicit", entry="load_npz")

    def _restore(self, old: Any) -> None:
        self.array = old

    def _check(self, shape: tuple[int, ...]) -> str | None:
        if self.rows is None or shape[:1] == (self.rows,):
            return None
        return f"its first axis must be {self.rows}"


class Model:
    """Like a link: cells by dotted path."""

    def __init__(self, **cells: Cell) -> None:
        self.cells = {name.replace("__", "."): cell for name, cell in cells.items()}

    def _state_slots(self) -> dict[str, Slot]:
        return {name: cell.slot() for name, cell in self.cells.items()}


@pytest.fixture
def new_cell() -> type[Cell]:
    return Cell


@pytest.fixture
def new_model() -> type[Model]:
    return Model
