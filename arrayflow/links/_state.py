"""The values of a link by path: as slots for files, as a snapshot, and taken back as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..autograd.variable import Variable, _wrap, as_raw
from ..backends import registry
from ..device import Device, device_of_raw, move, move_or_copy
from ..dtypes import as_dtype
from ..errors import DeviceMismatchError, StateMismatchError
from ..slots import Slot
from ..transfers import user_site
from .parameter import Parameter

if TYPE_CHECKING:
    from .link import Link

__all__ = ["as_buffer", "check_name", "check_replacement", "load", "parameter_slot", "slots", "snapshot"]

_erase = Variable.array.__delete__  # type: ignore[misc]


def check_name(cls: type, name: str, base: type) -> None:
    """Refuse names under which a part could not be found again: those with a dot, numbers, and names of methods."""
    if not name.isidentifier() or name.startswith("_link_"):
        raise ValueError(
            f"{cls.__name__}: {name!r} cannot name a parameter, buffer or link. Use letters, digits and _, or a "
            f"ChainList for numbers."
        )
    if hasattr(base, name):
        raise ValueError(
            f"{cls.__name__}: {name!r} is a method or property of every link; a parameter, buffer or link of that name "
            f"would hide it. Use another name."
        )


def check_replacement(cls: type, name: str, old: Any, value: Any) -> None:
    """Refuse an array in the place of a parameter: it would not be trained, saved or moved."""
    if not isinstance(old, Parameter) or isinstance(value, Parameter):
        return
    if registry.backend_of(as_raw(value)) is not None:
        raise TypeError(
            f"{cls.__name__}.{name} is a Parameter, but a {type(value).__name__} was assigned to it "
            f"(at {user_site()}). New values: link.{name}.array = x. Another parameter: link.{name} = af.Parameter(x)."
        )


def as_buffer(where: str, value: Any, old: Variable | None) -> Variable | None:
    """A copy of an array to keep as a buffer, in the place of `old`."""
    if value is None:
        return None
    raw = as_raw(value)
    backend = registry.backend_of(raw)
    if backend is None or isinstance(raw, backend.scalar_types):
        raise TypeError(
            f"buffer {where!r}: an array, a Variable or None is needed, but it is a {type(value).__name__}. "
            f"Make it one: af.asarray(x, device=...). Plain numbers need no buffer."
        )
    device = device_of_raw(raw, backend)
    if old is not None and old.device is not device:
        raise DeviceMismatchError(
            f"buffer {where!r} lives on {old.device}, but the array assigned to it on {device} (at {user_site()}). "
            f"Rule 2: nothing was changed. Move the array: af.to_device(x, {str(old.device)!r})."
        )
    return _wrap(move_or_copy(raw, device, True))


# --- slots ----------------------------------------------------------------------------------------


def slots(link: Link, entry: str = "load_npz") -> dict[str, Slot]:
    """Path to `Slot`, for all paths: tied parameters have several slots with one owner."""
    out: dict[str, Slot] = {}
    for path, holder in link._walk():
        for name, value in holder._members():
            where = f"{path}.{name}" if path else name
            if isinstance(value, Parameter):
                check = partial(holder._check_shape, name)
                out[where] = parameter_slot(value, check, entry)
            elif name in holder._link_buffers:
                out[where] = _buffer_slot(holder, name, entry)
    return out


def parameter_slot(p: Parameter, check: Callable[[tuple[int, ...]], str | None] | None, entry: str) -> Slot:
    """The slot of one parameter; `check` is asked when its first values come from a file."""
    initializer, shape = p._initializer, p._shape

    def get() -> Any:
        return None if p._shape is None else p.array

    def put(value: Any) -> None:
        p.array = move(value, p.device, entry=entry)

    def restore(old: Any) -> None:
        if old is not None:
            put(old)
        elif p._initializer is None:  # there were no values: none have been drawn
            _erase(p)
            p._initializer, p._shape = initializer, shape

    return Slot(
        get,
        put,
        p.dtype,
        p._shape,
        check=check,
        owner=p,
        restore=restore,
        peek=lambda: None if p._initializer is not None else p.array,
    )


def _buffer_slot(holder: Link, name: str, entry: str) -> Slot:
    value: Variable | None = holder.__dict__[name]

    def get() -> Any:
        found = holder.__dict__[name]
        return None if found is None else found.array

    def put(new: Any) -> None:
        found = holder.__dict__[name]
        place = _home(holder) if found is None else found.device
        # What stays where it is may be the caller's, so it is copied.
        moved = move(new, place, entry=entry)
        object.__setattr__(holder, name, _wrap(move_or_copy(new, place, True) if moved is new else moved))

    def restore(old: Any) -> None:
        object.__setattr__(holder, name, None if old is None else _wrap(old))

    dtype = as_dtype("float32") if value is None else value.dtype
    return Slot(get, put, dtype, None if value is None else value.shape, owner=value, restore=restore)


def _home(holder: Link) -> Device:
    """Where a buffer without a value belongs: where the link or the model around it lives, else on the host."""
    for link in holder._line():
        device = link.device or link._link_place
        if device is not None:
            return device
    return Device("cpu")


# --- snapshots ------------------------------------------------------------------------------------


def snapshot(link: Link) -> dict[str, Variable | None]:
    """Copies of all values, each once."""
    out: dict[str, Variable | None] = {}
    for path, p in link.namedparams():
        out[path] = None if p._shape is None else _wrap(move_or_copy(p.array, p.device, True))
    for path, _, _, value in link._all_buffers():
        out[path] = None if value is None else _wrap(move_or_copy(value.array, value.device, True))
    return out


def load(link: Link, state: dict[str, Any], strict: bool) -> None:
    """Compare everything, then assign everything."""
    groups: dict[Any, list[str]] = {}
    table = slots(link, "load_state_dict")
    for path, slot in table.items():
        groups.setdefault(path if slot.owner is None else id(slot.owner), []).append(path)
    faults: dict[str, list[str]] = {"missing": [], "unexpected": [], "of another shape": [], "of another dtype": []}
    faults["unexpected"] += [f"{path}: {_facts(state[path])}" for path in state if path not in table]
    work: list[tuple[str, Slot, Any]] = []
    for paths in groups.values():
        given = [path for path in paths if path in state]
        if not given:
            faults["missing"].append(f"{paths[0]}: {_facts(table[paths[0]])}")
        for path in given:
            if _compare(path, table[path], state[path], faults) and path == given[0]:
                work.append((path, table[path], as_raw(state[path])))
    if not strict:
        faults["missing"].clear()
        faults["unexpected"].clear()
    found = {what: lines for what, lines in faults.items() if lines}
    if found:
        lines = "\n".join(f"  {what} ({len(rows)}):\n    " + "\n    ".join(rows) for what, rows in found.items())
        raise StateMismatchError(
            f"{type(link).__name__}.load_state_dict: the state does not fit this link, and nothing was changed.\n"
            f"{lines}\nMissing and unexpected paths are passed over with strict=False."
        )
    _assign(work)


def _assign(work: list[tuple[str, Slot, Any]]) -> None:
    done: list[Callable[[], None]] = []
    try:
        for _, slot, value in work:
            old = slot.peek()
            done.append(lambda slot=slot, old=old: slot.restore(old))  # type: ignore[misc]
            slot.set(value)
    except BaseException:
        for undo in reversed(done):
            undo()
        raise


def _compare(path: str, slot: Slot, value: Any, faults: dict[str, list[str]]) -> bool:
    """Whether there is a value to assign; what does not fit is added to `faults`."""
    raw = as_raw(value)
    if raw is None and slot.shape is None:
        return False
    if registry.backend_of(raw) is None:
        faults["of another dtype"].append(f"{path}: {_facts(value)} given, {_facts(slot)} here")
        return False
    dtype, shape = as_dtype(raw.dtype), tuple(raw.shape)
    if dtype != slot.dtype:
        faults["of another dtype"].append(f"{path}: {dtype!s} given, {slot.dtype!s} here")
    reason = slot.check(shape) if slot.shape is None else None
    if reason is not None or slot.shape not in (None, shape):
        faults["of another shape"].append(f"{path}: {shape} given, {reason or f'{slot.shape} here'}")
    return True


def _facts(x: Any) -> str:
    if x is None:
        return "no value"
    x = as_raw(x)
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return f"a {type(x).__name__}"
    name = str(dtype).rsplit(".", 1)[-1]
    return f"{name} of unknown shape" if x.shape is None else f"{name} {tuple(x.shape)}"
