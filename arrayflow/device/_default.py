"""The device of new arrays. There is no current device: this is a default, and a thread cannot change another's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ._device import Device, _by_name, resolve

__all__ = ["default_device", "using_device"]

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
        _environment = text, known or resolve(text, said_by=f"The environment variable ARRAYFLOW_DEVICE={text!r}")
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
