"""Devices: the value (`Device`), the default one, and `to_device`, the one function that moves bytes."""

from ._default import default_device, using_device
from ._device import Device, Devices, device_of_raw, devices
from ._moving import device_of, move, move_or_copy, read_shape, to_device, to_host

__all__ = [
    "Device",
    "Devices",
    "default_device",
    "device_of",
    "device_of_raw",
    "devices",
    "move",
    "move_or_copy",
    "read_shape",
    "to_device",
    "to_host",
    "using_device",
]
