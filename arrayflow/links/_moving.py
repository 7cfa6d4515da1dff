"""A model moves whole (rule 4): everything is looked at first, then moved array by array."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ..autograd.variable import Variable, as_raw
from ..backends import registry
from ..device import Device, move
from ..dtypes import DType
from ..errors import DeviceMismatchError, DTypeError, UnregisteredArrayError
from ..transfers import user_site
from .parameter import Parameter

if TYPE_CHECKING:
    from .link import Link

__all__ = ["device_of_link", "move_link"]


def device_of_link(link: Link) -> Device | None:
    """The one device of all parameters and buffers."""
    first: tuple[str, Device] | None = None
    for path, _, device in _placed(link):
        if first is None:
            first = path, device
        elif device is not first[1]:
            raise DeviceMismatchError(
                f"{type(link).__name__}.device: its parts live on different devices: {first[0]!r} on {first[1]}, "
                f"{path!r} on {device} (at {user_site()}). Move the model whole: model.to_device({str(first[1])!r})."
            )
    return None if first is None else first[1]


def _placed(link: Link) -> Iterator[tuple[str, DType, Device]]:
    for path, p in link.namedparams():
        yield path, p.dtype, p.device
    for path, _, _, value in link._all_buffers():
        if value is not None:
            yield path, value.dtype, value.device


def move_link(link: Link, device: Device) -> None:
    """Move all that a link owns, or nothing and raise."""
    for path, _ in _strays(link):
        raise UnregisteredArrayError(
            f"{type(link).__name__}.to_device: {path} is not registered, so it would be left behind "
            f"(at {user_site()}). Nothing has been moved. An array: self.register_buffer(name, array). "
            f"Links in a list: ChainList(...) or Sequential(...). What shall stay on the host is no part of a model."
        )
    for path, dtype, _ in _placed(link):
        try:
            device.backend.raw_dtype(dtype, device.native)
        except DTypeError as error:
            raise DTypeError(
                f"{type(link).__name__}.to_device: {path!r} cannot be moved (at {user_site()}): {error} "
                f"Nothing has been moved."
            ) from None
    moved: list[tuple[Any, Device]] = []
    try:
        for p in link.params():
            moved.append((p, p.device))
            _move_parameter(p, device)
        for _, _, _, buffer in link._all_buffers():
            if buffer is not None:
                moved.append((buffer, buffer.device))
                _move_buffer(buffer, device)
    except BaseException:
        # Out of memory, most likely: what has moved goes back, the last first.
        for part, home in reversed(moved):
            (_move_parameter if isinstance(part, Parameter) else _move_buffer)(part, home)
        raise
    for part in link.links():
        part._link_place = device


def _move_parameter(p: Parameter, device: Device) -> None:
    p._move(device)
    for optimizer in tuple(p._optimizers or ()):
        optimizer._move_state((p,), device)


def _move_buffer(buffer: Variable, device: Device) -> None:
    buffer.array = move(buffer.array, device)


# --- what would be left behind --------------------------------------------------------------------


def _strays(root: Link) -> Iterator[tuple[str, Any]]:
    """Arrays that no name registers, and links and parameters in plain containers, with where they are."""
    for path, link in root.namedlinks():
        for name, value in link._members():
            where = f"{path}.{name}" if path else name
            if name not in link._link_buffers and not _is_link(value) and not isinstance(value, Parameter):
                yield from _found(value, where, set())


def _found(value: Any, where: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (str, bytes, int, float, complex, type(None))) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _found(item, f"{where}[{key!r}]", seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for i, item in enumerate(value):
            yield from _found(item, f"{where}[{i}]", seen)
    elif isinstance(value, partial):
        yield from _found(value.args, f"{where}.args", seen)
        yield from _found(value.keywords, f"{where}.keywords", seen)
    elif _is_link(value):
        for path, p in value.namedparams():
            yield f"{where}.{path}", p
        for path, array in value.namedbuffers():
            yield f"{where}.{path}", array
        for path, array in _strays(value):
            yield f"{where}.{path}", array
    elif _is_array(value):
        yield where, value


def _is_link(value: Any) -> bool:
    return hasattr(type(value), "_link_parent")


def _is_array(value: Any) -> bool:
    raw = as_raw(value)
    backend = registry.backend_of(raw)
    if backend is None or isinstance(raw, backend.scalar_types):
        return False
    # Arrays of strings and objects live nowhere but on the host.
    return isinstance(value, Parameter) or raw.dtype in backend.dtype_of_raw
