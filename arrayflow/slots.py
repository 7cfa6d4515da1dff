"""`Slot`: one named value of a link, an optimizer or a dictionary, as the files see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dtypes import DType
from .typing import Shape

__all__ = ["Slot"]


class Slot:
    """A place that holds one value of a state: it can be read, checked and filled.

    Whoever has state that belongs in a file has a method ``_state_slots()``, which returns a dict of
    dotted path to `Slot`. `arrayflow.serializers` knows links and optimizers by that method alone.

    Parameters
    ----------
    get : callable
        ``get()`` is the raw array where it lives, a Python number, or None while there is no value yet.
    set : callable
        ``set(array)`` puts a new value in: a host array, which it moves to where the destination lives
        (one recorded move, ``kind="explicit", entry="load_npz"``), or an array that `get` gave earlier.
        It initialises what had no value. It may keep the array it is given, and it never writes into the one
        that `get` gave, so that a load that fails half-way can put that one back.
    dtype : DType
        Data type of the value, also while there is none yet.
    shape : tuple of int or None
        Shape of the value; None while it is unknown, or there is no value.
    check : callable, optional
        ``check(shape)`` is asked before a value of that shape initialises a slot whose own shape is None.
        It returns None where the shape fits, else why not, in words.
    owner : object, optional
        The object whose value this is. Slots with one owner are tied: their value is stored once and set once.
    restore : callable, optional
        ``restore(old)`` puts back what `peek` gave, None included; by default `set`, and nothing for None.
    peek : callable, optional
        ``peek()`` is `get`, but for a first value that is still to be computed it gives None instead of computing it:
        it is about to be replaced. By default `get`.

    Examples
    --------
    >>> from arrayflow.dtypes import as_dtype
    >>> from arrayflow.slots import Slot
    >>> settings = {"lr": 0.1}
    >>> slot = Slot(lambda: settings["lr"], lambda v: settings.update(lr=float(v)), as_dtype("float64"), ())
    >>> slot.set(0.5)
    >>> slot.get(), slot.dtype, slot.shape
    (0.5, arrayflow.float64, ())
    """

    __slots__ = ("_check", "_restore", "dtype", "get", "owner", "peek", "set", "shape")

    def __init__(
        self,
        get: Callable[[], Any],
        set: Callable[[Any], None],
        dtype: DType,
        shape: Shape | None,
        check: Callable[[Shape], str | None] | None = None,
        owner: Any = None,
        restore: Callable[[Any], None] | None = None,
        peek: Callable[[], Any] | None = None,
    ) -> None:
        self.get = get
        self.set = set
        self.peek = get if peek is None else peek
        self.dtype = dtype
        self.shape = None if shape is None else tuple(shape)
        self.owner = owner
        self._check = check
        self._restore = restore

    def check(self, shape: Shape) -> str | None:
        """Why a first value of `shape` does not fit here, in words; None where it does."""
        return None if self._check is None else self._check(shape)

    def restore(self, old: Any) -> None:
        """Put back what `peek` gave before `set`."""
        if self._restore is not None:
            self._restore(old)
        elif old is not None:
            self.set(old)

    def __repr__(self) -> str:
        return f"Slot(dtype={self.dtype!s}, shape={self.shape})"
