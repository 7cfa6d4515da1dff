"""The one stream of random numbers: what `arrayflow.seed` starts, the same numbers on every device.

A draw is keyed by three things: the seed, a *path* (a parameter's, a layer's, or else the function that
draws), and a *step*, which counts the draws of that path. So a layer added elsewhere changes no other's numbers. The
numbers are computed on the host from Philox words and uploaded, which the ledger shows as ``random``.

References
----------
J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

import hashlib
import math
import operator
import os
from threading import Lock
from types import FrameType
from typing import Any

from .autograd.variable import Variable, _wrap
from .backends import registry
from .config import config
from .device import Device, default_device, move
from .dtypes import DTYPES, DType, as_dtype
from .errors import DTypeError
from .transfers import user_frame
from .typing import Shape

__all__ = ["get_state", "integers", "mask", "normal", "permutation", "seed", "set_state", "uniform"]

_lock = Lock()
_seed = int.from_bytes(os.urandom(8), "little") >> 1  # an int64 to whoever saves it
_steps: dict[str, int] = {}
# Random bits of a uniform number: as many as its significand holds.
_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def seed(value: int) -> None:
    """Start the stream: all numbers drawn from here on follow from `value`, on every device the same.

    Without it, each process has a seed of its own from the operating system.

    Parameters
    ----------
    value : int
        In [0, 2**64).

    Raises
    ------
    ValueError
        If it is out of range.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.seed(0)
    >>> a = af.random.uniform((3,), device="cpu", path="a")
    >>> af.seed(0)
    >>> b = af.random.uniform((3,), device="strict:device1", path="a")
    >>> bool(af.all(a == af.to_device(b, "cpu")))
    True
    """
    set_state({"seed": value, "steps": {}})


def get_state() -> dict[str, Any]:
    """Where the stream stands: ``{"seed": int, "steps": {path: number of draws}}``.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.seed(3)
    >>> x = af.random.normal((2,), device="cpu", path="noise")
    >>> af.random.get_state()
    {'seed': 3, 'steps': {'noise': 1}}
    """
    with _lock:
        return {"seed": _seed, "steps": dict(_steps)}


def set_state(state: dict[str, Any]) -> None:
    """Go on where `get_state` was called, in this process or another.

    Raises
    ------
    ValueError
        If the seed is not in [0, 2**64) or a count is negative. Nothing is changed.
    """
    global _seed, _steps
    value = operator.index(state["seed"])
    if not 0 <= value < 2**64:
        raise ValueError(f"seed: the seed must lie in [0, 2**64), but it is {value}. Take it modulo 2**64.")
    steps = {str(path): operator.index(step) for path, step in state["steps"].items()}
    for path, step in steps.items():
        if not 0 <= step < 2**64:
            raise ValueError(f"set_state: the number of draws of {path!r} must lie in [0, 2**64), but it is {step}.")
    with _lock:
        _seed, _steps = value, steps


def _caller(frame: FrameType | None) -> str:
    """The path of draws that name none: the module and function that the user's line is in.

    The module goes by the name it is imported under, also where it is run with ``python -m``.
    """
    if frame is None:
        return "main"
    spec = frame.f_globals.get("__spec__")
    module = spec.name if spec is not None else frame.f_globals.get("__name__", "main")
    return f"{module}:{frame.f_code.co_qualname}"


def _draw(kernel: str, path: str | None, *args: Any) -> Any:
    """The next draw of a path, on the host."""
    if path is None:
        path = _caller(user_frame())
    with _lock:
        step = _steps.get(path, 0)
        _steps[path] = step + 1
        start = _seed
    key = start, int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest(), "little")
    return registry.get("cpu").op(kernel)(key, step, *args)


def _place(host: Any, shape: Shape, device: Device) -> Variable:
    return _wrap(move(host.reshape(shape), device, entry="random"))


def _target(device: str | Device | None) -> Device:
    return default_device() if device is None else Device(device)


def _shape(shape: Shape | int) -> tuple[Shape, int]:
    out = tuple(operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    if any(n < 0 for n in out):
        raise ValueError(f"random: lengths cannot be negative, but the shape is {out}.")
    return out, math.prod(out)


def _floating(dtype: Any, device: Device) -> DType:
    found = config.dtype if dtype is None else as_dtype(dtype)
    if str(found) not in _BITS:
        raise DTypeError(
            f"random: a real floating data type is needed, but {found!s} was given. Draw in float32, then af.astype."
        )
    device.backend.raw_dtype(found, device.native)  # a device without it says so before anything is drawn
    return found


def _number(name: str, value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"random: {name} must be finite, but it is {number}.")
    return number


def _floats(kernel: str, shape: Shape | int, dtype: Any, device: Any, path: str | None, *args: Any) -> Variable:
    place = _target(device)
    found = _floating(dtype, place)
    size, n = _shape(shape)
    # Sixteen bits are rounded from float32 where the numbers live: the host may not know the type.
    host_dtype = "float64" if found == "float64" else "float32"
    if kernel == "random_uniform":
        args = (*args, _BITS[str(found)])
    out = _place(_draw(kernel, path, n, *args, host_dtype), size, place)
    if found != host_dtype:
        out.array = place.backend.op("astype")(out.array, place.backend.raw_dtype(found, place.native))
    return out


def uniform(
    shape: Shape | int,
    low: float = 0.0,
    high: float = 1.0,
    *,
    dtype: Any = None,
    device: str | Device | None = None,
    path: str | None = None,
) -> Variable:
    """Numbers uniform in [low, high).

    Parameters
    ----------
    shape : tuple of int or int
        Shape of the result.
    low, high : float
        The interval; `low` is drawn, `high` is not, unless they are equal.
    dtype : data type, optional
        Real floating; ``config.dtype`` (float32) by default. Numbers are multiples of 2**-24 of the interval in
        float32, of 2**-53 in float64.
    device : str or Device, optional
        Where they shall live; the default device by default.
    path : str, optional
        Whose draw it is; by default the function that calls.

    Returns
    -------
    Variable
        The same bits on every device.

    Raises
    ------
    ValueError
        If ``low > high`` or a bound is not finite.
    DTypeError
        If `dtype` is not real floating or the device lacks it.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.seed(0)
    >>> x = af.random.uniform((2, 3), -1.0, 1.0, device="cpu")
    >>> x.shape, bool(af.all(x < 1.0))
    ((2, 3), True)
    """
    low, high = _number("low", low), _number("high", high)
    if low > high:
        raise ValueError(f"random.uniform: low must not be above high, but low is {low} and high is {high}.")
    return _floats("random_uniform", shape, dtype, device, path, low, high)


def normal(
    shape: Shape | int,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    dtype: Any = None,
    device: str | Device | None = None,
    path: str | None = None,
) -> Variable:
    """Normal numbers ``mean + std z``.

    Computed in float64 on the host and rounded at the end, so that a draw in float32 is that in float64, rounded.

    Parameters
    ----------
    shape, dtype, device, path
        As for `uniform`.
    mean, std : float
        Mean, and standard deviation, which is not negative.

    Returns
    -------
    Variable
        The same bits on every device.

    Raises
    ------
    ValueError
        If `std` is negative or a number is not finite.
    DTypeError
        If `dtype` is not real floating or the device lacks it.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.seed(0)
    >>> x = af.random.normal((10000,), mean=3.0, device="cpu")
    >>> round(float(af.mean(x)), 1)
    3.0
    """
    mean, std = _number("mean", mean), _number("std", std)
    if std < 0:
        raise ValueError(f"random.normal: std must not be negative, but it is {std}.")
    return _floats("random_normal", shape, dtype, device, path, mean, std)


def mask(shape: Shape | int, keep: float, *, device: str | Device | None = None, path: str | None = None) -> Variable:
    """Booleans, each True with probability `keep`.

    Parameters
    ----------
    shape, device, path
        As for `uniform`.
    keep : float
        Probability in [0, 1], taken to the nearest 2**-32.

    Returns
    -------
    Variable, bool
        The same on every device.

    Raises
    ------
    ValueError
        If `keep` is no probability.

    Examples
    --------
    >>> import arrayflow as af
    >>> bool(af.all(af.random.mask((3,), 1.0, device="cpu")))
    True
    """
    keep = _number("keep", keep)
    if not 0 <= keep <= 1:
        raise ValueError(f"random.mask: keep is a probability in [0, 1], but it is {keep}.")
    size, n = _shape(shape)
    return _place(_draw("random_mask", path, n, keep), size, _target(device))


def permutation(n: int, *, device: str | Device | None = None, path: str | None = None) -> Variable:
    """The integers 0 ... n-1 in random order.

    Parameters
    ----------
    n : int
        How many.
    device, path
        As for `uniform`.

    Returns
    -------
    Variable, shape (n,), int64, or int32 where the device has no int64
        The same numbers on every device.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.sort(af.random.permutation(4, device="cpu"))
    Variable([0, 1, 2, 3], dtype=int64, device='cpu')
    """
    place = _target(device)
    size, n = _shape(n)
    return _place(_narrowed(_draw("random_permutation", path, n), place, None), size, place)


def integers(
    shape: Shape | int,
    low: int,
    high: int,
    *,
    dtype: Any = None,
    device: str | Device | None = None,
    path: str | None = None,
) -> Variable:
    """Integers uniform in [low, high).

    Parameters
    ----------
    shape, device, path
        As for `uniform`.
    low, high : int
        The range, within int64 and within `dtype`.
    dtype : data type, optional
        Integral; int64 by default, or int32 where the device has no int64.

    Returns
    -------
    Variable
        The same numbers on every device.

    Raises
    ------
    ValueError
        If the range is empty, or does not fit the data type.
    DTypeError
        If `dtype` is not integral or the device lacks it.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.random.integers((100,), 1, 7, device="cpu")
    >>> bool(af.all((x >= 1) & (x <= 6)))
    True
    """
    low, high = operator.index(low), operator.index(high)
    place = _target(device)
    size, n = _shape(shape)
    found = _integral(dtype, place)
    if low >= high:
        raise ValueError(f"random.integers: low must be below high, but low is {low} and high is {high}.")
    signed = found.kind == "signed integer"
    least, most = (-(2 ** (found.bits - 1)), 2 ** (found.bits - 1)) if signed else (0, 2 ** min(found.bits, 63))
    if low < least or high > most:
        raise ValueError(
            f"random.integers: [{low}, {high}) is not within [{least}, {most}), which {found!s} holds on {place}. "
            f"Pass a wider dtype."
        )
    return _place(_narrowed(_draw("random_integers", path, n, low, high), place, found), size, place)


def _integral(dtype: Any, device: Device) -> DType:
    has = device.backend.dtypes_on(device.native)
    found = DTYPES["int64" if "int64" in has else "int32"] if dtype is None else as_dtype(dtype)
    if found.kind not in ("signed integer", "unsigned integer"):
        raise DTypeError(f"random.integers: an integral data type is needed, but {found!s} was given. Use af.int64.")
    device.backend.raw_dtype(found, device.native)
    return found


def _narrowed(host: Any, device: Device, dtype: DType | None) -> Any:
    return host.astype(str(_integral(dtype, device)), copy=False)
