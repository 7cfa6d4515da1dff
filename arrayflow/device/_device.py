"""`Device`, the place where an array lives, as a value; and which of them this machine has."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from threading import Lock
from typing import Any

from ..backends import registry
from ..backends.protocol import Backend
from ..errors import BackendUnavailableError, DeviceError, TransferError

__all__ = ["Device", "Devices", "device_of_raw", "devices", "resolve"]

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
    _hash: int

    def __new__(cls, spec: str | Device) -> Device:  # noqa: PYI034  (interned, so never a subclass)
        if isinstance(spec, Device):
            return spec
        found = _by_name.get(spec) if isinstance(spec, str) else None
        return found if found is not None else resolve(spec)

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


def resolve(spec: object, said_by: str = "") -> Device:
    said = said_by or f"Device({spec!r})"
    if not isinstance(spec, str):
        raise DeviceError(
            f"{said}: a device is a string such as 'cpu' or 'cuda:0', or a Device, but it is a {type(spec).__name__}."
        )
    text = spec.strip()
    if text == "auto":
        return _auto()
    head, colon, rest = text.partition(":")
    head = _CHAINER.get(head, head)
    if not head or (colon and not rest) or text != spec or any(not part for part in rest.split(":") if colon):
        raise DeviceError(
            f"{said} is malformed: it is a library's prefix and its name for the device, as 'cuda:0'. {_there_is()}"
        )
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

        sys.stderr.write(f"arrayflow: device 'auto' is {device}\n")
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


def device_of_raw(array: Any, backend: Backend | None = None) -> Device:
    """The device of a raw array."""
    if backend is None:
        backend = registry.backend_of(array)
        if backend is None:
            raise TransferError(f"A {type(array).__name__} has no device: it is no array of a library arrayflow knows.")
    native = backend.key(array)
    found = _by_native.get((backend.prefix, native))
    return found if found is not None else Device._intern(backend, native)
