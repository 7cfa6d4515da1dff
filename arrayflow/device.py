"""`Device`, the place where an array lives, and `to_device`, the one function that moves bytes."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy as shallow_copy
from threading import Lock
from typing import Any

from .backends import registry
from .backends.protocol import Backend
from .errors import BackendUnavailableError, DeviceError, DeviceMismatchError, TransferError
from .transfers import Direction, Kind, record, user_site

__all__ = [
    "Device",
    "default_device",
    "device_of",
    "device_of_raw",
    "devices",
    "move",
    "to_device",
    "to_host",
    "using_device",
]

_CHAINER = {"@numpy": "cpu", "@cupy": "cuda"}
_AUTO = ("cuda", "dpnp:gpu", "cpu")
_lock = Lock()
_by_name: dict[str, Device] = {}
_by_native: dict[tuple[str, Hashable], Device] = {}


class Device:
    """Where an array lives: a value, equal to its own string.

    Parameters
    ----------
    spec : str or Device
        ``cpu`` (NumPy, the host), ``cuda`` or ``cuda:N`` (CuPy), ``torch:cpu``, ``torch:cuda:N``, ``jax:cpu:N``,
        ``jax:gpu:N``, ``dpnp:cpu``, ``dpnp:gpu:N``, ``strict:device1``, or ``auto``, which takes the first that this
        machine has of cuda, dpnp:gpu and cpu. Chainer's ``@numpy`` and ``@cupy:N`` are read too. A missing index is
        resolved here, once.

    Raises
    ------
    DeviceError
        If the string is malformed or names a device that this machine lacks; the message lists those there are.
    BackendUnavailableError
        If the library behind it is not installed or cannot run here; the message has the install line.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.Device("cpu") == "cpu", str(af.Device("strict:device1")), af.Device("@numpy")
    (True, 'strict:device1', Device('cpu'))
    """

    __slots__ = ("_hash", "backend", "is_host", "name", "native")

    name: str
    backend: Backend
    native: Hashable
    is_host: bool

    def __new__(cls, spec: str | Device) -> Device:
        if isinstance(spec, Device):
            return spec
        found = _by_name.get(spec) if isinstance(spec, str) else None
        return found if found is not None else _resolve(spec)

    @classmethod
    def _intern(cls, backend: Backend, native: Hashable) -> Device:
        name = backend.name_of(native)
        with _lock:
            self = _by_name.get(name)
            if self is None:
                self = object.__new__(cls)
                self.name, self.backend, self.native = name, backend, native
                self.is_host = backend.is_host
                self._hash = hash(name)
                _by_name[name] = self
            _by_native[backend.prefix, native] = self
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, str):
            return other == self.name or _by_name.get(other) is self or _same(self, other)
        return NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Device, (self.name,)

    def synchronize(self) -> None:
        """Return when all work queued on this device is done."""
        self.backend.synchronize(self.native)


def _resolve(spec: object, said_by: str = "") -> Device:
    said = said_by or f"Device({spec!r})"
    if not isinstance(spec, str):
        raise DeviceError(f"{said}: a device is a string such as 'cpu' or 'cuda:0', or a Device, but it is a {type(spec).__name__}.")
    text = spec.strip()
    if text == "auto":
        return _auto()
    head, colon, rest = text.partition(":")
    head = _CHAINER.get(head, head)
    if not head or (colon and not rest) or text != spec or any(not part for part in rest.split(":") if colon):
        raise DeviceError(f"{said} is malformed: a device is a library's prefix and what it calls the device, such as 'cuda:0'. {_there_is()}")
    if head not in registry.prefixes():
        raise DeviceError(f"{said}: no array library goes by the prefix {head!r}. {_there_is()}")
    try:
        backend = registry.get(head)
        native = backend.resolve(rest)
    except BackendUnavailableError as error:
        raise BackendUnavailableError(f"{said} cannot be used here: {error}. {_there_is()}") from error
    except DeviceError as error:
        raise DeviceError(f"{said}: {head!r} has no such device on this machine. {_there_is()}") from error
    device = Device._intern(backend, native)
    _by_name[spec] = device  # "cuda" and "cuda:0" are one object from now on
    return device


def _same(device: Device, text: str) -> bool:
    """Whether a string not seen before spells this device; no other library is loaded to tell."""
    head, _, rest = text.partition(":")
    if _CHAINER.get(head, head) != device.backend.prefix:
        return False
    try:
        return bool(device.backend.resolve(rest) == device.native)
    except DeviceError:
        return False


def _auto() -> Device:
    for name in _AUTO:
        try:
            device = Device(name)
        except DeviceError:
            continue
        import sys

        print(f"arrayflow: device 'auto' is {device}", file=sys.stderr)
        return device
    raise DeviceError(f"Device('auto') found none of {', '.join(_AUTO)}.")


class Devices(dict[str, str]):
    """What `devices` returns: device string to "available", or the reason why not."""

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {state}" for name, state in self.items())

    __repr__ = __str__


def devices() -> Devices:
    """What this machine has, and why the rest is missing.

    Returns
    -------
    Devices
        A dict of device strings to ``"available"``; a library that cannot be used here stands under
        its prefix with the reason. Printing it gives a table.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.devices()["cpu"]
    'available'
    """
    table = Devices()
    for prefix in registry.prefixes():
        reason = registry.why_missing(prefix)
        if reason is None:
            for name in registry.get(prefix).devices():
                table[name] = "available"
        else:
            table[prefix] = reason
    return table


def _there_is() -> str:
    names = [name for name, state in devices().items() if state == "available"]
    return f"Devices here: {', '.join(names)}. af.devices() says why the rest is missing."


_default: ContextVar[Device | None] = ContextVar("default_device", default=None)
_environment: tuple[str, Device] | None = None


def default_device() -> Device:
    """The device of new arrays: that of `using_device`, else ``ARRAYFLOW_DEVICE``, else ``cpu``.

    Raises
    ------
    DeviceError
        If ``ARRAYFLOW_DEVICE`` names no device of this machine. There is no silent fall-back.
    """
    global _environment
    device = _default.get()
    if device is not None:
        return device
    text = os.environ.get("ARRAYFLOW_DEVICE", "cpu")
    if _environment is None or _environment[0] != text:
        known = _by_name.get(text)
        _environment = text, known or _resolve(text, said_by=f"The environment variable ARRAYFLOW_DEVICE={text!r}")
    return _environment[1]


@contextmanager
def using_device(device: str | Device) -> Iterator[Device]:
    """Make a device the default inside a ``with`` block, for this thread or task alone.

    Examples
    --------
    >>> import arrayflow as af
    >>> with af.using_device("strict:device1"):
    ...     af.zeros((2,)).device
    Device('strict:device1')
    """
    found = Device(device)
    token = _default.set(found)
    try:
        yield found
    finally:
        _default.reset(token)


def device_of_raw(array: Any, backend: Backend | None = None) -> Device:
    """The device of a raw array."""
    if backend is None:
        backend = registry.backend_of(array)
        if backend is None:
            raise TransferError(f"A {type(array).__name__} has no device: it is no array of a library arrayflow knows.")
    native = backend.key(array)
    found = _by_native.get((backend.prefix, native))
    return found if found is not None else Device._intern(backend, native)


def _found_devices(x: Any, path: str) -> Iterator[tuple[str, Device]]:
    if isinstance(x, dict):
        for key, value in x.items():
            yield from _found_devices(value, f"{path}[{key!r}]")
    elif isinstance(x, (list, tuple)):
        for index, value in enumerate(x):
            yield from _found_devices(value, f"{path}[{index}]")
    elif hasattr(x, "__to_device__"):
        device = x.device
        if device is not None:
            yield path, device
    else:
        backend = registry.backend_of(x)
        if backend is not None and not isinstance(x, backend.scalar_types):
            yield path, device_of_raw(x, backend)


def device_of(x: Any) -> Device:
    """The device of a Variable, a raw array, a Link, an optimizer, or a tuple, list or dict of them.

    Raises
    ------
    DeviceMismatchError
        If the parts live on different devices; the message has the path and device of two.
    TransferError
        If there is no array in `x`. A Python scalar has no device.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.device_of({"x": af.zeros((2,), device="cpu"), "n": 3})
    Device('cpu')
    """
    first: tuple[str, Device] | None = None
    for path, device in _found_devices(x, "x"):
        if first is None:
            first = path, device
        elif device is not first[1]:
            raise DeviceMismatchError(
                f"device_of: the parts of x live on different devices: {first[0]} on {first[1]}, {path} on {device} "
                f"(at {user_site()}). Move them together: x = af.to_device(x, {str(first[1])!r})."
            )
    if first is None:
        raise TransferError(f"device_of: there is no array in this {type(x).__name__}. Python scalars have no device.")
    return first[1]


# --- the transfer point ---------------------------------------------------------------------------


def move(array: Any, device: Device, *, kind: Kind = "explicit", entry: str = "to_device") -> Any:
    """Move one raw array: the only function of arrayflow in which bytes cross between devices.

    Already there, the same object comes back and nothing is recorded. Otherwise the result shares
    no memory with the source, and one event is recorded.
    """
    backend = registry.backend_of(array)
    if backend is None:
        raise TransferError(f"{entry}: a {type(array).__name__} is no array of a library that arrayflow knows, so it cannot be moved.")
    array = backend.as_array(array)
    source = device_of_raw(array, backend)
    if source is device:
        return array
    target = device.backend
    if backend is target:
        moved = backend.transfer(array, device.native)
    else:
        _check_dtype(array, backend, device)
        host = array if backend.is_host else backend.to_host(array)
        moved = host if target.is_host else target.from_host(host, device.native)
    direction: Direction = "h2d" if source.is_host else "d2h" if device.is_host else "d2d"
    record(direction, kind, source.name, device.name, entry, nbytes(array, backend))
    return moved


def _check_dtype(array: Any, backend: Backend, device: Device) -> None:
    dtype = backend.dtype_of_raw.get(array.dtype)
    if dtype is not None:  # else the library that gets it will say what it cannot take
        device.backend.raw_dtype(dtype, device.native)


def nbytes(array: Any, backend: Backend) -> int:
    """Bytes that the values of a raw array take."""
    size = 1
    for n in array.shape:
        size *= n
    dtype = backend.dtype_of_raw.get(array.dtype)
    return size * (dtype.itemsize if dtype is not None else array.dtype.itemsize)


def to_host(array: Any, *, kind: Kind = "explicit", entry: str = "to_host") -> Any:
    """The values of a raw array as a NumPy array; the same object where it is one."""
    return move(array, Device("cpu"), kind=kind, entry=entry)


def to_device(x: Any, device: str | Device, *, copy: bool | None = None) -> Any:
    """Move `x` to a device.

    Parameters
    ----------
    x : Variable, array, Link, optimizer, or tuple, list or dict of them
        What to move. Python scalars, strings and None pass through. A Variable gives a new Variable, and the
        gradient travels back; a Link or an optimizer is moved in place and returned.
    device : str or Device
        Where to.
    copy : bool, optional
        True copies also where nothing needs to move; False refuses where something does; None, the default, gives
        the same object back where it is there already, and a copy that shares no memory otherwise.

    Returns
    -------
    object
        Of the type and structure of `x`.

    Raises
    ------
    DeviceError
        For an unknown or missing device. Nothing has been moved.
    TransferError
        For something that is no array, and for ``copy=False`` where data would have to move.
    DTypeError
        Where the device lacks the data type.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray([1.0, 2.0], device="cpu")
    >>> y = af.to_device(x, "strict:device1")
    >>> y.device, af.to_device(y, "strict:device1") is y
    (Device('strict:device1'), True)
    """
    return _to_device(x, Device(device), copy)


def _to_device(x: Any, device: Device, copy: bool | None) -> Any:
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        return x
    if hasattr(x, "__to_device__"):
        return x.__to_device__(device, copy)
    if isinstance(x, dict):
        moved = {key: _to_device(value, device, copy) for key, value in x.items()}
        if type(x) is dict:
            return moved
        out = shallow_copy(x)  # keeps what a subclass adds, such as a default factory
        out.update(moved)
        return out
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_to_device(value, device, copy) for value in x))
    if isinstance(x, (list, tuple)):
        return type(x)(_to_device(value, device, copy) for value in x)
    return move_or_copy(x, device, copy)


def move_or_copy(array: Any, device: Device, copy: bool | None) -> Any:
    """`move` with the standard's ``copy`` argument."""
    if copy is not None:
        there = device_of_raw(array) is device
        if copy is False and not there:
            raise TransferError(
                f"to_device: copy=False, but the array is on {device_of_raw(array)} and would have to be copied to {device} "
                f"(at {user_site()}). Drop copy=False."
            )
        if copy and there:
            return device.backend.copy(array)
    return move(array, device)
