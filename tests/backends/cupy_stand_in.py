"""The parts of CuPy that `_cupy.py` calls, over NumPy: it records on which device everything happens.

As CuPy does, it allocates and computes on the current device, whatever ``device=`` says, and lets a
device read the memory of another without a word. A stand-in has no streams to get wrong: it counts
how often each was waited for.
"""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType
from typing import Any, Self

import array_api_compat.numpy as compat
import numpy as np


class Log:
    """What happened, by device."""

    def __init__(self) -> None:
        self.current = 0
        self.strangers: list[str] = []  # functions that read an array of another device than the current one
        self.waits: Counter[int] = Counter()


LOG = Log()


class Memory:
    def __init__(self, device_id: int) -> None:
        self.device_id = device_id


class ndarray(np.ndarray):
    def __array_finalize__(self, source: Any) -> None:
        self.memory = Memory(LOG.current)

    @property
    def data(self) -> Memory:  # type: ignore[override]
        return self.memory

    def copy(self, order: str = "C") -> Any:
        return place(np.array(self, order="C"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


def place(result: Any) -> Any:
    """A result as an array on the current device."""
    if isinstance(result, tuple | list):
        return type(result)(place(part) for part in result)
    if isinstance(result, np.ndarray | np.generic):
        array = np.asarray(result).view(ndarray)
        array.memory = Memory(LOG.current)
        return array
    return result


def arrays_in(arguments: Any) -> list[ndarray]:
    found = []
    for x in arguments:
        found += arrays_in(x) if isinstance(x, tuple | list) else [x] if isinstance(x, ndarray) else []
    return found


def on_current_device(name: str, function: Any) -> Any:
    def call(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        for x in arrays_in((*args, *kwargs.values())):
            if x.data.device_id != LOG.current:
                LOG.strangers.append(name)
        plain = [x.view(np.ndarray) if isinstance(x, ndarray) else x for x in args]
        return place(function(*plain, **kwargs))

    call.__name__ = name
    return call


class Namespace(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(compat, name)
        if not callable(value) or isinstance(value, type):
            return value
        return on_current_device(name, value)


class Device:
    def __init__(self, index: int) -> None:
        self.id = index

    def __enter__(self) -> Self:
        self.before = LOG.current
        LOG.current = self.id
        return self

    def __exit__(self, *error: object) -> None:
        LOG.current = self.before


class Stream:
    def __init__(self) -> None:
        self.device = LOG.current

    def synchronize(self) -> None:
        LOG.waits[self.device] += 1


def asnumpy(array: ndarray) -> Any:
    if array.data.device_id != LOG.current:
        LOG.strangers.append("asnumpy")
    LOG.waits[LOG.current] += 1
    return np.array(array.view(np.ndarray))


def install(monkeypatch: Any, count: Any = lambda: 2) -> Log:
    """Put the stand-in where ``import cupy`` finds it; `count` is called for the number of devices."""
    LOG.__init__()  # type: ignore[misc]
    cupy = Namespace("cupy")
    cupy.ndarray, cupy.dtype, cupy.asnumpy = ndarray, np.dtype, asnumpy
    cupy.array = lambda host: place(np.array(host))
    cupy.cumsum = on_current_device("cumsum", np.cumsum)
    cupy.cuda = ModuleType("cupy.cuda")
    cupy.cuda.Device, cupy.cuda.get_current_stream = Device, Stream
    cupy.cuda.runtime = ModuleType("cupy.cuda.runtime")
    cupy.cuda.runtime.getDeviceCount = count
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cupy.cuda)
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", Namespace("array_api_compat.cupy"))
    monkeypatch.delitem(sys.modules, "arrayflow.backends._cupy_kernels", raising=False)
    import array_api_compat

    monkeypatch.setattr(array_api_compat, "cupy", sys.modules["array_api_compat.cupy"], raising=False)
    return LOG
