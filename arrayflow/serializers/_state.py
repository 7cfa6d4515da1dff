"""Nested state as one flat table of slots: collected, compared with a file, and assigned as a whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from ..autograd.variable import Variable
from ..backends import registry
from ..device import device_of_raw, move
from ..dtypes import DTYPES, DType, as_dtype
from ..errors import DTypeError, GraphError, StateMismatchError
from ..links._state import parameter_slot
from ..links.parameter import Parameter
from ..slots import Slot
from ._archive import Archive, Entry
from ._names import name_fault
from ._npy import CHUNK, TEXT, raw_bytes

__all__ = ["assign", "collect", "compare", "grouped"]

_NOTHING: Any = "none"  # stands where a slot has its DType, for a None in a dictionary
_NUMBERS: tuple[tuple[type, str], ...] = ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128"))


def collect(obj: Any, entry: str) -> dict[str, Slot]:
    """Every value in an object, by name; parts of nested dictionaries are joined by ``/``.

    Raises
    ------
    TypeError, ValueError
        For an object, a leaf or a key that a file cannot hold; `entry` is named as the function called.
    """
    if not isinstance(obj, Mapping) and not hasattr(obj, "_state_slots"):
        raise TypeError(
            f"{entry}(file, obj): obj is a Link, an optimizer or a dictionary, but a {type(obj).__name__} was given. "
            f"A single value needs a name: {entry}(file, {{'name': value}})."
        )
    found: dict[str, Slot] = {}
    _walk(obj, "", found, entry, ())
    return found


def _walk(obj: Any, path: str, found: dict[str, Slot], entry: str, parents: tuple[int, ...]) -> None:
    if hasattr(obj, "_state_slots"):
        for name, slot in obj._state_slots().items():
            _add(found, f"{path}/{name}" if path else name, slot, entry)
        return
    if id(obj) in parents:
        raise ValueError(f"{entry}: the dictionary {path!r} contains itself.")
    for key, value in obj.items():
        if not isinstance(key, str):
            raise TypeError(
                f"{entry}: keys are strings, but {key!r} in {path or 'the dictionary'!r} "
                f"is a {type(key).__name__}. Use str(key)."
            )
        name = f"{path}/{key}" if path else key
        if isinstance(value, Mapping) or hasattr(value, "_state_slots"):
            _walk(value, name, found, entry, (*parents, id(obj)))
        else:
            _add(found, name, _leaf(obj, key, value, name, entry), entry)


def _add(found: dict[str, Slot], name: str, slot: Slot, entry: str) -> None:
    fault = name_fault(name)
    if fault is not None:
        raise ValueError(f"{entry}: {name!r} cannot name an array in a file: {fault}. Choose another key.")
    if name in found:
        raise ValueError(
            f"{entry}: two values have the name {name!r}: '/' joins the keys of nested dictionaries. Rename one."
        )
    found[name] = slot


# --- the leaves of dictionaries ---------------------------------------------------------------------


def _leaf(mapping: Any, key: str, value: Any, name: str, entry: str) -> Slot:
    def put(new: Any) -> None:
        mapping[key] = new

    if isinstance(value, Parameter):
        return parameter_slot(value, None, entry)
    if isinstance(value, Variable):
        return _variable(value, name, entry)
    if entry.startswith("load") and not isinstance(mapping, MutableMapping):
        raise TypeError(f"{entry}: {name!r} is in a {type(mapping).__name__}, which cannot be changed. Use a dict.")
    if value is None:
        why = "there is None in the object, so nothing says where the value shall live"
        return Slot(lambda: None, put, _NOTHING, None, check=lambda shape: why, restore=put)
    if isinstance(value, str):
        if value.endswith("\0"):
            raise ValueError(f"{entry}: the string {name!r} ends in NUL, which NumPy's strings lose. Strip it.")
        _check_surrogates(value, name, entry)
        return Slot(lambda: value, put, TEXT, (), restore=put)  # type: ignore[arg-type]
    backend = registry.backend_of(value)
    if backend is not None:
        dtype = _dtype(value, name, entry)
        if isinstance(value, backend.scalar_types):
            return Slot(lambda: value, lambda host: put(host[()]), dtype, (), restore=put)
        device = device_of_raw(value, backend)
        return Slot(
            lambda: mapping[key],
            lambda new: put(move(new, device, kind="explicit", entry=entry)),
            dtype, value.shape, owner=value, restore=put,
        )  # fmt: skip
    for kind, dtype_name in _NUMBERS:
        if isinstance(value, kind):
            if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
                raise ValueError(
                    f"{entry}: the integer {name!r} is {value}, which 64 bits do not hold. Store it as a string."
                )
            return Slot(lambda: value, lambda host: put(host.item()), DTYPES[dtype_name], (), restore=put)
    raise TypeError(
        f"{entry}: {name!r} is a {type(value).__name__}, which a file cannot hold. It holds Links, optimizers, "
        f"Variables, arrays, numbers, strings and None, in dictionaries. "
        f"A list: {{str(i): x for i, x in enumerate(values)}}."
    )


def _variable(value: Variable, name: str, entry: str) -> Slot:
    if entry.startswith("load") and not value.is_leaf:
        raise GraphError(
            f"{entry}: {name!r} is a result of a computation, and its graph would no longer fit its value. "
            f"Load into {name}.detach() or a new Variable."
        )
    device = value.device

    def put(new: Any) -> None:
        value.array = move(new, device, kind="explicit", entry=entry)

    return Slot(lambda: value.array, put, value.dtype, value.shape, owner=value)


def _dtype(value: Any, name: str, entry: str) -> DType:
    try:
        return as_dtype(value.dtype)
    except DTypeError as error:
        raise DTypeError(
            f"{entry}: {name!r} is an array of {value.dtype}, which a file cannot hold. Objects would need pickles, "
            f"which can run any program when they are read. {error}"
        ) from None


def _check_surrogates(value: str, name: str, entry: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{entry}: the string {name!r} holds half a surrogate pair: {value!r}.") from None


# --- comparing --------------------------------------------------------------------------------------


def grouped(slots: dict[str, Slot]) -> list[list[str]]:
    """The names, those of one owner together."""
    groups: dict[object, list[str]] = {}
    for name, slot in slots.items():
        groups.setdefault(id(slot) if slot.owner is None else ("owner", id(slot.owner)), []).append(name)
    return list(groups.values())


def compare(slots: dict[str, Slot], archive: Archive, entry: str) -> dict[str, Any]:
    """The values that the slots shall take, by the name under which they are stored; nothing is assigned.

    Raises
    ------
    StateMismatchError
        If anything is missing, unexpected or of another shape or type; it lists all of it.
    FileFormatError
        If the file is damaged, which may be why it does not fit.
    """
    values: dict[str, Any] = {}
    faults = {what: names for what, names in _faults(slots, archive, values).items() if names}
    if faults:
        archive.verify()  # a damaged file is not a wrong one
        table = "\n".join(f"  {what} ({len(names)}):\n    " + "\n    ".join(names) for what, names in faults.items())
        raise StateMismatchError(
            f"{entry}: {archive.label} does not fit the object to load into, and nothing was changed.\n{table}\n"
            f"Load into an object built like the one that was saved. Or take the values by hand: "
            f"serializers.read_npz(file) returns them as a dictionary, to rename, cast or cut, and save_npz writes it."
        )
    for name in slots:
        if name in archive.entries and archive.entries[name].stored not in values:
            values[archive.entries[name].stored] = archive.value(archive.entries[name].stored)
    return values


def _faults(slots: dict[str, Slot], archive: Archive, values: dict[str, Any]) -> dict[str, list[str]]:
    """All that does not fit, by kind. Values that had to be looked at are left in `values`."""
    entries = archive.entries
    faults: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    missing, extra, shapes, dtypes, lost, unfit, untied = faults.values()
    for name in sorted((entries.keys() | archive.uninitialised) - slots.keys()):
        extra.append(f"{name}: {_facts(entries[name]) if name in entries else 'uninitialised'}")
    for name, slot in slots.items():
        found = entries.get(name)
        if found is None:
            if name not in archive.uninitialised:
                missing.append(f"{name}: {_facts(slot)}")
            elif slot.shape is not None or slot.peek() is not None:
                lost.append(f"{name}: {_facts(slot)} in the object")
            continue
        if slot.dtype not in (found.dtype, _NOTHING):
            dtypes.append(f"{name}: {found.dtype!s} in the file, {slot.dtype!s} in the object")
        reason = slot.check(found.shape) if slot.shape is None else None
        if reason is not None:
            unfit.append(f"{name}: {found.shape} in the file; {reason}")
        elif slot.shape not in (None, found.shape):
            shapes.append(f"{name}: {found.shape} in the file, {slot.shape} in the object")
    for names in grouped(slots):
        first, *others = dict.fromkeys(entries[name].stored for name in names if name in entries) or [""]
        for other in others:
            if _facts(entries[first]) != _facts(entries[other]):
                continue  # one of them is among the faults already
            for stored in (first, other):
                if stored not in values:
                    values[stored] = archive.value(stored)
            if not _same_bytes(values[first], values[other]):
                untied.append(f"{first} and {other}")
    return faults


_KINDS = (
    "missing from the file",
    "in the file, but not in the object",
    "of another shape",
    "of another dtype",
    "uninitialised in the file, but not in the object",
    "of a shape that the object cannot take",
    "tied in the object, but different in the file",
)


def _facts(x: Entry | Slot) -> str:
    return f"{x.dtype!s} {'uninitialised' if x.shape is None else x.shape}"


def _same_bytes(first: Any, second: Any) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    a, b = raw_bytes(first), raw_bytes(second)
    return len(a) == len(b) and all(bytes(a[i : i + CHUNK]) == bytes(b[i : i + CHUNK]) for i in range(0, len(a), CHUNK))


# --- assigning --------------------------------------------------------------------------------------


def assign(slots: dict[str, Slot], archive: Archive, values: dict[str, Any]) -> None:
    """Put the values in place; where one cannot be, put the old ones back and raise."""
    done: list[tuple[str, Slot, Any]] = []
    used: set[str] = set()
    try:
        for names in grouped(slots):
            here = [name for name in names if name in archive.entries]
            if not here:
                continue
            stored = archive.entries[here[0]].stored
            value = values[stored]
            if stored in used and not isinstance(value, str):
                value = value.copy()  # two owners never share memory
            used.add(stored)
            first = slots[here[0]]
            done.append((here[0], first, first.peek()))
            first.set(value)
            for name in here[1:]:
                # Tied slots of a dictionary hold one array, so each of them is given it.
                slot, new = slots[name], first.get()
                old = slot.peek()
                if old is not new:
                    done.append((name, slot, old))
                    slot.set(new)
    except BaseException as error:
        for name, slot, old in reversed(done):
            try:
                slot.restore(old)
            except Exception as again:
                error.add_note(f"The old value of {name!r} could not be put back: {again}")
        raise
