"""`Parameter`: a Variable that a model owns. It has a path, and draws its first values when they are asked for."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import RLock
from typing import Any

from ..autograd.tape import clock
from ..autograd.variable import Variable, _wrap, as_raw
from ..backends import registry
from ..config import config
from ..device import Device, default_device, device_of_raw, move, move_or_copy
from ..dtypes import DType, as_dtype
from ..errors import DeviceMismatchError, ShapeError
from ..transfers import user_site

__all__ = ["Parameter"]

# Draws: initializer(shape, dtype=DType, device=Device, path=str) -> Variable on that device.
Initializer = Callable[..., Any]

_set_array = Variable.array.__set__  # type: ignore[misc]
_materialising = RLock()


class Parameter(Variable):
    """A trainable Variable of a model.

    Parameters
    ----------
    value : array, Variable, number, list or initializer
        Its first values, which are copied, or what draws them: ``initializer(shape, dtype=, device=, path=)``. A draw
        waits until the values are first needed, so that its numbers depend on the seed and on the parameter's
        place in its model alone.
    shape : tuple of int, optional
        For an initializer; None while it is unknown. `initialize` tells it later.
    dtype : data type, optional
        By default that of the values, or ``config.dtype``.
    device : str or Device, optional
        By default where the values are, or the default device.
    name : str, optional
        What errors and files call it until a link owns it.

    Attributes
    ----------
    path : str
        Dotted path from the outermost link down: ``layers.1.bias``.

    Raises
    ------
    DeviceMismatchError, ShapeError
        When an array of another device or shape is assigned to `array`. Nothing is changed.

    Examples
    --------
    >>> import arrayflow as af
    >>> p = af.Parameter([1.0, 2.0], device="cpu")
    >>> p.requires_grad, p.shape
    (True, (2,))
    """

    __slots__ = ("_buffer", "_changed", "_device", "_dtype", "_initializer", "_optimizers", "_owner", "_shape", "name")

    name: str
    _owner: weakref.ref[Any] | None

    def __init__(
        self,
        value: Any = None,
        shape: tuple[int, ...] | int | None = None,
        *,
        dtype: Any = None,
        device: str | Device | None = None,
        name: str = "",
    ) -> None:
        self._node = True
        self._grad = None
        self._buffer = None
        self._changed = -1
        self._owner = None
        self._optimizers: weakref.WeakSet[Any] | None = None
        self.name = name
        self._initializer: Initializer | None = value if callable(value) else None
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        self._device = None if device is None else Device(device)
        self._dtype = config.dtype if dtype is None else as_dtype(dtype)
        if self._initializer is None:
            self._adopt(value, None if dtype is None else self._dtype)
        elif self._device is None:
            self._device = default_device()

    def _adopt(self, value: Any, dtype: DType | None) -> None:
        from ..namespace import asarray

        with_copy = asarray(value, dtype=dtype, device=self._device, copy=True)
        if self._shape is not None and with_copy.shape != self._shape:
            raise ShapeError(f"Parameter: shape={self._shape} was asked for, but the value's is {with_copy.shape}.")
        if with_copy.dtype.kind not in ("real floating", "complex floating"):
            raise TypeError(
                f"Parameter: only floating arrays can be trained, but the dtype is {with_copy.dtype!s}. "
                f"Pass dtype=af.float32, or register the array as a buffer."
            )
        self._settle(with_copy.array)

    def _settle(self, raw: Any) -> None:
        """Take `raw` as the values, as it is."""
        _set_array(self, raw)
        self._initializer = None
        self._buffer = None
        self._shape = tuple(raw.shape)
        self._dtype = registry.backend_of(raw).dtype_of_raw[raw.dtype]  # type: ignore[union-attr]
        self._device = device_of_raw(raw)

    # --- first values ---------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # Only a slot that was never filled comes here: the values have not been drawn yet.
        if name != "array":
            raise AttributeError(f"'Parameter' object has no attribute {name!r}")
        with _materialising:
            if self._initializer is not None:
                self._draw()
        return self.array

    def _draw(self) -> None:
        if self._shape is None:
            raise ShapeError(
                f"Parameter {self.path!r} has no shape yet: it follows from the first input (at {user_site()}). "
                f"Call the model once, or give the size when building the layer."
            )
        initializer, device = self._initializer, self._device
        drawn = initializer(self._shape, dtype=self._dtype, device=device, path=self.path)  # type: ignore[misc]
        raw = as_raw(drawn)
        backend = registry.backend_of(raw)
        if backend is None or isinstance(raw, backend.scalar_types):
            raise TypeError(
                f"Parameter {self.path!r}: its initializer must give an array or a Variable, but gave a "
                f"{type(raw).__name__}. Use af.asarray(values, dtype=dtype, device=device)."
            )
        if tuple(raw.shape) != self._shape:
            raise ShapeError(f"Parameter {self.path!r}: its initializer gave {tuple(raw.shape)} for {self._shape}.")
        if raw.dtype != (wanted := backend.raw_dtypes.get(self._dtype)) and wanted is not None:
            raw = backend.op("astype")(raw, wanted)  # before the upload: the device may lack the wider type
        moved = move(raw, device, entry="initializer")  # type: ignore[arg-type]
        own = device.backend.raw_dtype(self._dtype, device.native)  # type: ignore[union-attr]
        if moved.dtype != own:  # the initializer's library has no such type
            moved = device.backend.op("astype")(moved, own)  # type: ignore[union-attr]
        # A copy, because an optimizer writes into it and the initializer may hold the original.
        self._settle(backend.copy(moved) if moved is as_raw(drawn) else moved)

    @property
    def is_initialized(self) -> bool:
        """Whether its shape is known. Values that are still to be drawn are, when they are first read."""
        return self._shape is not None

    def initialize(self, shape: tuple[int, ...]) -> None:
        """Give a Parameter of unknown shape its shape.

        Raises
        ------
        ShapeError
            If it has another one already.
        """
        shape = tuple(int(n) for n in shape)
        if self._shape is not None and self._shape != shape:
            raise ShapeError(f"Parameter {self.path!r} has the shape {self._shape} already, so it cannot get {shape}.")
        self._shape = shape

    # --- facts, which need no values -------------------------------------------------------------

    @property
    def path(self) -> str:
        """Dotted path from the outermost link that owns it, for errors, files and the random stream."""
        owner = None if self._owner is None else self._owner()
        if owner is None:
            return self.name or "parameter"
        above = owner._path()
        return f"{above}.{self.name}" if above else self.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Length along each axis."""
        if self._shape is None:
            self._draw()  # says why there is none
        return self._shape  # type: ignore[return-value]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        """Data type."""
        return self._dtype

    @property
    def device(self) -> Device:
        """Where it lives, or will live once its values are drawn."""
        return self._device  # type: ignore[return-value]

    # --- what is written to it --------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "array":
            object.__setattr__(self, name, value)
            return
        raw = as_raw(value)
        backend = registry.backend_of(raw)
        if backend is None or isinstance(raw, backend.scalar_types):
            raise TypeError(
                f"Parameter {self.path!r}: array must be an array or a Variable, but it is a {type(raw).__name__}."
            )
        place = device_of_raw(raw, backend)
        if place is not self._device:
            raise DeviceMismatchError(
                f"Parameter {self.path!r} lives on {self._device}, but the array assigned to it on {place} "
                f"(at {user_site()}). Rule 2: nothing was changed. Move the array: "
                f"af.to_device(x, {str(self._device)!r}), or the model whole: model.to_device({str(place)!r})."
            )
        if self._shape is not None and tuple(raw.shape) != self._shape:
            raise ShapeError(
                f"Parameter {self.path!r} has the shape {self._shape}, but the array assigned to it {tuple(raw.shape)}."
            )
        # A copy, because an optimizer writes into it and the caller may still hold the original.
        self._settle(backend.copy(raw))

    @property
    def grad(self) -> Variable | None:
        """The gradient that `backward` left here, summed over calls; None before and after `cleargrad`."""
        self._buffer = None  # whoever reads it may keep it, so the next sweep must not write into it
        return Variable.grad.fget(self)  # type: ignore[attr-defined]

    @grad.setter
    def grad(self, value: Any) -> None:
        self._buffer = None
        Variable.grad.fset(self, value)  # type: ignore[attr-defined]

    def _fill(self, rule: Any, g: Any, saved: Any) -> Any:
        """Apply a rule that can write into the array of the last gradient, if nobody else can hold that."""
        buffer = self._buffer if self._grad is None else None
        part = rule(g, *saved, buffer)
        if part is not buffer:
            _set_buffer(self, part)
        return part

    def _lend(self) -> None:
        """Note that somebody holds the last gradient, so that no sweep writes into it again."""
        _set_buffer(self, None)

    def _commit(self, raw: Any) -> None:
        """Take what a step function made of the values: a new array, or the same one, written in place."""
        if raw is self.array:
            _set_changed(self, clock.tick())
        else:
            _set_array(self, raw)

    def detach(self) -> Variable:
        """A snapshot of the values as a constant: a copy, because an optimizer may write into the original."""
        raw = self.array
        return _wrap(registry.backend_of(raw).copy(raw))  # type: ignore[union-attr]

    # --- moving, copying --------------------------------------------------------------------------

    def _move(self, device: Device, entry: str = "to_device") -> None:
        """Move values and gradient in place, each old copy freed before the next is made."""
        if self._initializer is None:
            raw = move(self.array, device, entry=entry)
            if raw is not self.array:
                _set_array(self, raw)
                # A graph made before would leave a gradient where the values were.
                _set_changed(self, clock.tick())
            g = self._grad
            if g is not None:
                self._grad = move(as_raw(g), device, entry=entry)
                del g  # the old gradient is freed before the next array moves
            self._buffer = None
        self._device = device

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if self._initializer is not None and self._shape is not None:
            self._draw()  # so that the copy does not draw other numbers
        out = Parameter.__new__(Parameter)
        memo[id(self)] = out
        for name in ("name", "_initializer", "_shape", "_device", "_dtype", "_node"):
            object.__setattr__(out, name, getattr(self, name))
        out._buffer = out._optimizers = out._owner = out._grad = None
        out._changed = -1
        if self._initializer is None:
            _set_array(out, move_or_copy(self.array, self.device, True))
            if self._grad is not None:
                out._grad = move_or_copy(as_raw(self._grad), self.device, True)
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        if self._initializer is not None and self._shape is None:
            unknown = (self._initializer, str(self._dtype), str(self._device), self.requires_grad, self.name)
            return _restore_unknown, unknown
        return _restore, (self._host("explicit", "pickle"), str(self.device), self.requires_grad, self.name)


def _restore_unknown(initializer: Initializer, dtype: str, device: str, requires_grad: bool, name: str) -> Parameter:
    out = Parameter(initializer, dtype=dtype, device=device, name=name)
    out._node = True if requires_grad else None
    return out


def _restore(host: Any, device: str, requires_grad: bool, name: str) -> Parameter:
    out = Parameter(move(host, Device(device), entry="unpickle"), name=name)
    out._node = True if requires_grad else None
    return out


_set_buffer = Parameter._buffer.__set__  # type: ignore[attr-defined,misc]
_set_changed = Parameter._changed.__set__  # type: ignore[attr-defined,misc]
