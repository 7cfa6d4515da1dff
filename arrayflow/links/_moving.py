"""A model moves whole (rule 4): everything is looked at first, then moved array by array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..autograd.variable import Variable, as_raw
from ..backends import registry
from ..device import Device, move
from ..errors import DeviceMismatchError, DTypeError, TransferError, UnregisteredArrayError
from ..transfers import user_site
from .parameter import Parameter

if TYPE_CHECKING:
    from .link import Link

__all__ = ["device_of_link", "move_link", "move_parts"]


def device_of_link(link: Link) -> Device | None:
    """The one device of all parameters and buffers."""
    first: tuple[str, Device] | None = None
    for path, part in _parts(link):
        device = part.device
        if first is None:
            first = path, device
        elif device is not first[1]:
            raise DeviceMismatchError(
                f"{type(link).__name__}.device: its parts live on different devices: {first[0]!r} on {first[1]}, "
                f"{path!r} on {device} (at {user_site()}). Move the model whole: model.to_device({str(first[1])!r})."
            )
    return None if first is None else first[1]


def _parts(link: Link) -> Iterator[tuple[str, Variable]]:
    """Path and value of each parameter and buffer."""
    yield from link.namedparams()
    for path, _, _, value in link._all_buffers():
        if value is not None:
            yield path, value


def move_link(link: Link, device: Device, copy: bool | None = None) -> None:
    """Move all that a link owns, or nothing and raise."""
    for path, _ in _strays(link):
        raise UnregisteredArrayError(
            f"{type(link).__name__}.to_device: {path} is not registered, so it would be left behind "
            f"(at {user_site()}). Nothing has been moved. An array: self.register_buffer(name, array). "
            f"Links in a list: ChainList(...) or Sequential(...). What shall stay on the host is no part of a model."
        )
    move_parts(type(link).__name__, list(_parts(link)), device, copy)
    for part in link.links():
        part._link_place = device


def move_parts(owner: str, parts: Sequence[tuple[str, Variable]], device: Device, copy: bool | None = None) -> None:
    """Move parameters, with all that belongs to them, and buffers in place, or nothing and raise."""
    for path, part in parts:
        if copy is False and part.device is not device:
            raise TransferError(
                f"{owner}.to_device: copy=False, but {path!r} is on {part.device} and would have to be copied to "
                f"{device} (at {user_site()}). Drop copy=False."
            )
        try:
            device.backend.raw_dtype(part.dtype, device.native)
        except DTypeError as error:
            raise DTypeError(
                f"{owner}.to_device: {path!r} cannot be moved (at {user_site()}): {error} Nothing has been moved."
            ) from None
    moved: list[tuple[Variable, Device]] = []
    try:
        for _, part in parts:
            moved.append((part, part.device))
            _move_part(part, device)
    except BaseException:
        # Out of memory, most likely: what has moved goes back, the last first.
        for part, home in reversed(moved):
            _move_part(part, home)
        raise


def _move_part(part: Variable, device: Device) -> None:
    if not isinstance(part, Parameter):
        _move_buffer(part, device)
        return
    part._move(device)
    for optimizer in tuple(part._optimizers or ()):
        optimizer._move_state((part,), device)


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
