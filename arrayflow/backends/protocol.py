"""What arrayflow asks of an array library. A library is added by one subclass of `Backend` in one file.

A subclass says how its devices are spelled, how host memory goes in and out, and, where it was
measured to matter, which kernels it has natively. Everything else follows from its namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import Any, ClassVar

from ..dtypes import DTYPES, DType
from ..errors import DeviceError, DTypeError
from .kernels import KERNELS

__all__ = ["Backend"]


class _Patched:
    """A namespace some of whose functions were replaced; it remembers what it was asked for."""

    def __init__(self, xp: Any, natives: dict[str, Callable[..., Any]]) -> None:
        self._xp = xp
        self._natives = natives

    def __getattr__(self, name: str) -> Any:
        value = self._natives.get(name) or getattr(self._xp, name)
        setattr(self, name, value)
        return value


class _Known(dict[Any, DType]):
    """Data types by a library's objects; those outside the standard are refused by name."""

    def __missing__(self, raw: Any) -> DType:
        raise DTypeError(f"{raw} is no data type of the array API standard. Use one of {', '.join(DTYPES)}.")


class Backend:
    """One array library.

    ``__init__`` imports the library and raises `ImportError` where it is missing, or
    `BackendUnavailableError` with the reason where it is installed but cannot run.

    Attributes
    ----------
    prefix : str
        The first word of its device strings: ``torch`` in ``torch:cuda:0``.
    packages : tuple of str
        Top-level packages whose types are this backend's arrays.
    install : str
        The command that installs it.
    one_device : bool
        Whether all its arrays are on one device, so that their types alone tell it.
    mutable : bool
        Whether its arrays can be written in place and slices are views.
    xp : namespace
        The library's array API namespace.
    array_types, scalar_types : tuple of type
        Classes of its arrays, and of scalars that it hands out in their place.
    """

    prefix: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    install: ClassVar[str]
    one_device: ClassVar[bool] = False
    mutable: ClassVar[bool] = True
    is_host: ClassVar[bool] = False
    scalar_types: tuple[type, ...] = ()

    xp: Any
    array_types: tuple[type, ...]

    # --- devices: what a subclass must say ------------------------------------------------------

    def devices(self) -> tuple[str, ...]:
        """Canonical strings of the devices this machine has, the default one first."""
        raise NotImplementedError  # protocol method

    def resolve(self, rest: str) -> Hashable:
        """The library's own device for what follows the prefix ("" for its default device)."""
        name = f"{self.prefix}:{rest}" if rest else self.devices()[0]
        for known in self.devices():
            if name.removesuffix(":0") == known.removesuffix(":0"):
                return self.native(known)
        raise DeviceError(name)

    def native(self, name: str) -> Hashable:
        """The library's own device object for a canonical string out of `devices`."""
        raise NotImplementedError  # protocol method

    def name_of(self, native: Hashable) -> str:
        """The canonical string of the library's own device object."""
        raise NotImplementedError  # protocol method

    def key(self, array: Any) -> Hashable:
        """The library's own device object of an array; equal for equal devices."""
        return array.device

    def context(self, native: Hashable) -> AbstractContextManager[Any] | None:
        """A context in which the library computes on a device, for libraries that need one."""
        return None

    # --- moving bytes: called by the transfer point alone ---------------------------------------

    def to_host(self, array: Any) -> Any:
        """A NumPy array with the values, in memory of its own; returns when they have arrived."""
        raise NotImplementedError  # protocol method

    def from_host(self, host: Any, native: Hashable) -> Any:
        """An array on a device with the values of a NumPy array, never sharing memory with it."""
        raise NotImplementedError  # protocol method

    def transfer(self, array: Any, native: Hashable) -> Any:
        """An array of this library, copied to another device of this library."""
        return self.from_host(self.to_host(array), native)

    def copy(self, array: Any) -> Any:
        """A copy where the array is."""
        return self.xp.asarray(array, copy=True)

    def synchronize(self, native: Hashable) -> None:
        """Return when all work queued on a device is done."""

    def as_array(self, value: Any) -> Any:
        """A result of one of the library's functions as an array (some give scalars for 0-d)."""
        return value

    def adopt(self, value: Any) -> Any:
        """An array that the user made, as one to compute with; it may share memory with `value`.

        It raises `DTypeError` for what is an array by its class alone: one with a mask, or of sparse layout.
        """
        return self.as_array(value)

    # --- data types -----------------------------------------------------------------------------

    @cached_property
    def raw_dtypes(self) -> dict[DType, Any]:
        """The library's objects for the data types that it has."""
        found = {}
        for name, dtype in DTYPES.items():
            raw = getattr(self.xp, name, None)
            if raw is not None:
                found[dtype] = self.normal_dtype(raw)
        return found

    def normal_dtype(self, raw: Any) -> Any:
        """The object that an array of this type has as its ``dtype``."""
        return raw

    @cached_property
    def dtype_of_raw(self) -> dict[Any, DType]:
        """`DType` by the library's own objects."""
        return _Known((raw, dtype) for dtype, raw in self.raw_dtypes.items())

    def dtypes_on(self, native: Hashable) -> dict[DType, Any]:
        """The data types that one device has; some lack the 64-bit ones."""
        return self.raw_dtypes

    def raw_dtype(self, dtype: DType, native: Hashable) -> Any:
        """The library's object for a data type on a device, or an error with the way out."""
        try:
            return self.dtypes_on(native)[dtype]
        except KeyError:
            have = self.dtypes_on(native)
            wide = [d for d in have if d.kind == dtype.kind]
            way_out = f"Cast first, where the data is: af.astype(x, af.{wide[-1]!s}). " if wide else ""
            raise DTypeError(
                f"Device {self.name_of(native)} has no {dtype!s}. {way_out}It has {', '.join(map(str, have))}."
            ) from None

    # --- functions ------------------------------------------------------------------------------

    @cached_property
    def natives(self) -> dict[str, Callable[..., Any]]:
        """Functions that replace the namespace's or a kernel's portable body, by name."""
        return {}

    @cached_property
    def patched(self) -> Any:
        """The namespace with `natives` in the place of what it lacks or does otherwise, for kernels."""
        return _Patched(self.xp, self.natives)

    def op(self, name: str) -> Callable[..., Any]:
        """The function on raw arrays called `name`: native, of the namespace, or a portable kernel."""
        function = self.natives.get(name)
        if function is None and name in KERNELS:
            function = partial(KERNELS[name], self.patched)
        if function is None:
            function = getattr(self.xp, name)
        return self.bind(function)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Last word on how a function is called, for libraries with a current device."""
        return function

    def create(self, name: str, native: Hashable, *args: Any, dtype: DType, **kwargs: Any) -> Any:
        """Call a creation function of the namespace on a device."""
        raw = self.raw_dtype(dtype, native)
        context = self.context(native)
        if context is None:
            return getattr(self.xp, name)(*args, dtype=raw, device=native, **kwargs)
        with context:
            return getattr(self.xp, name)(*args, dtype=raw, device=native, **kwargs)
