"""Which libraries there are, loaded when first needed: by the prefix of a device string or by an array's type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from threading import RLock
from typing import Any
from weakref import WeakSet

from ..errors import BackendUnavailableError, DeviceError
from .protocol import Backend

__all__ = ["ENTRY_POINT_GROUP", "backend_of", "backend_of_type", "get", "on_load", "prefixes", "why_missing"]

ENTRY_POINT_GROUP = "arrayflow.backends"

_BUILT_IN = {
    "cpu": "arrayflow.backends._numpy:NumpyBackend",
    "cuda": "arrayflow.backends._cupy:CupyBackend",
    "torch": "arrayflow.backends._torch:TorchBackend",
    "jax": "arrayflow.backends._jax:JaxBackend",
    "dpnp": "arrayflow.backends._dpnp:DpnpBackend",
    "strict": "arrayflow.backends._strict:StrictBackend",
}
# Top-level packages of the built-in backends, so that an array's type finds its backend unloaded.
_PACKAGES = {
    "numpy": "cpu",
    "cupy": "cuda",
    "torch": "torch",
    "jax": "jax",
    "jaxlib": "jax",
    "dpnp": "dpnp",
    "array_api_strict": "strict",
}

_lock = RLock()
_loaded: dict[str, Backend] = {}
_by_type: dict[type, Backend] = {}
_no_arrays: WeakSet[type] = WeakSet()
_listeners: list[Callable[[Backend], None]] = []


@cache
def _third_party() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def prefixes() -> tuple[str, ...]:
    """The prefixes of all backends known: the built-in ones, then those of entry points."""
    return (*_BUILT_IN, *(name for name in _third_party() if name not in _BUILT_IN))


def _load_class(prefix: str) -> type[Backend]:
    target = _BUILT_IN.get(prefix)
    if target is not None:
        module, _, name = target.partition(":")
        return getattr(import_module(module), name)
    point = _third_party().get(prefix)
    if point is None:
        known = ", ".join(prefixes())
        raise DeviceError(f"No array library goes by the device prefix {prefix!r}. Prefixes known here: {known}.")
    try:
        return point.load()
    except Exception as error:  # somebody else's code, which must not take af.devices() down
        raise BackendUnavailableError(
            f"the backend {point.value!r}, registered for {prefix!r} by {point.dist.name}, cannot be loaded: {error}"
        ) from error


def get(prefix: str) -> Backend:
    """The backend of a device prefix.

    Raises
    ------
    BackendUnavailableError
        If its library is not installed or cannot run; the message has the reason and the install line.
    DeviceError
        If no backend has that prefix.
    """
    backend = _loaded.get(prefix)
    if backend is not None:
        return backend
    with _lock:
        if prefix in _loaded:
            return _loaded[prefix]
        cls = _load_class(prefix)
        try:
            backend = cls()
        except BackendUnavailableError:
            raise
        except Exception as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name in cls.packages
            what = "is not installed" if missing else f"is installed, but cannot be used here: {error}"
            way_out = f". Install it: {cls.install}" if isinstance(error, ModuleNotFoundError) else ""
            raise BackendUnavailableError(f"{cls.packages[0]} {what}{way_out}") from error
        _loaded[prefix] = backend
        for listener in _listeners:
            listener(backend)
    return backend


def on_load(listener: Callable[[Backend], None]) -> None:
    """Call `listener` with every backend that is loaded, now and later, and again when its `array_types` grow."""
    with _lock:
        _listeners.append(listener)
        for backend in _loaded.values():
            listener(backend)


def why_missing(prefix: str) -> str | None:
    """None where a backend can be used here, else the reason, in words."""
    try:
        get(prefix)
    except DeviceError as error:
        return str(error)
    return None


def _candidates(cls: type) -> Iterator[str]:
    """The backends to which the packages of a class and its bases belong, nearest first."""
    for root in dict.fromkeys(base.__module__.partition(".")[0] for base in cls.__mro__):
        if root in _PACKAGES:
            yield _PACKAGES[root]
        else:
            for prefix in _third_party():
                with suppress(DeviceError):
                    if root in _load_class(prefix).packages:
                        yield prefix


def backend_of_type(cls: type) -> Backend | None:
    """The backend whose arrays are of class `cls`, or None where it is no array class."""
    backend = _by_type.get(cls)
    if backend is not None or cls in _no_arrays:
        return backend
    with _lock:
        for prefix in _candidates(cls):
            try:
                backend = get(prefix)
            except DeviceError:
                continue
            if issubclass(cls, (*backend.array_types, *backend.scalar_types)):
                _by_type[cls] = backend
                if cls not in backend.array_types and issubclass(cls, backend.array_types):
                    # An array's own class, where the library names only a base: listeners go by exact class.
                    backend.array_types = (cls, *backend.array_types)
                    for listener in _listeners:
                        listener(backend)
                return backend
        _no_arrays.add(cls)
    return None


def backend_of(array: Any) -> Backend | None:
    """The backend whose array this is, or None where it is no array.

    The class settles it, found in a dict after its first look: about 0.04 µs.
    """
    cls = array.__class__
    backend = _by_type.get(cls)
    return backend if backend is not None else backend_of_type(cls)
