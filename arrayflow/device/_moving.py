"""The transfer point: the one place where bytes cross between devices, and what is known of where things live."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy as shallow_copy
from typing import Any

from ..backends import registry
from ..backends.protocol import Backend
from ..errors import DeviceMismatchError, TransferError
from ..transfers import Direction, Kind, record, user_site
from ._device import Device, device_of_raw

__all__ = ["device_of", "move", "move_or_copy", "to_device", "to_host"]


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


def move(array: Any, device: Device, *, kind: Kind = "explicit", entry: str = "to_device") -> Any:
    """Move one raw array: the only function of arrayflow in which bytes cross between devices.

    Already there, the same object comes back and nothing is recorded. Otherwise the result shares
    no memory with the source, and one event is recorded.
    """
    backend = registry.backend_of(array)
    if backend is None:
        raise TransferError(
            f"{entry}: a {type(array).__name__} is no array of a library that arrayflow knows, so it cannot be moved."
        )
    array = backend.adopt(array)
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


def read_shape(array: Any, *, entry: str) -> None:
    """Record that the values of an array are about to fix a shape: its library reads one number back for that."""
    backend = registry.backend_of(array)
    if backend is not None and not isinstance(array, backend.scalar_types):
        place = device_of_raw(array, backend)
        if not place.is_host:
            record("d2h", "implicit", place.name, "cpu", entry, _BYTES_OF_A_LENGTH)


_BYTES_OF_A_LENGTH = 8


def to_device(x: Any, device: str | Device, *, copy: bool | None = None) -> Any:
    """Move `x` to a device.

    Parameters
    ----------
    x : Variable, array, Link, optimizer, or tuple, list or dict of them
        What to move. Scalars of Python and NumPy, strings and None pass through. A Variable gives a new Variable, and
        the gradient travels back; a Link or an optimizer is moved in place and returned.
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
    backend = registry.backend_of(x)
    if backend is not None and isinstance(x, backend.scalar_types):
        return x  # a value without a place, as Python's numbers are
    return move_or_copy(x, device, copy)


def move_or_copy(array: Any, device: Device, copy: bool | None) -> Any:
    """`move` with the standard's ``copy`` argument."""
    if copy is not None:
        there = device_of_raw(array) is device
        if copy is False and not there:
            raise TransferError(
                f"to_device: copy=False, but the array is on {device_of_raw(array)} and would have to be copied to "
                f"{device} (at {user_site()}). Drop copy=False."
            )
        if copy and there:
            return device.backend.copy(array)
    return move(array, device)
