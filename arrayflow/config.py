"""The switches: each a ``ContextVar`` over a process default, so that no thread or task changes another's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .dtypes import DTYPES, DType, as_dtype

__all__ = ["config", "no_grad", "using_config"]

# Read on every operation, so they stand apart from the object that names them.
backprop_enabled: ContextVar[bool] = ContextVar("backprop_enabled", default=True)
_train: ContextVar[bool] = ContextVar("train", default=True)
_dtype: ContextVar[DType] = ContextVar("dtype", default=DTYPES["float32"])
_debug: ContextVar[bool] = ContextVar("debug", default=False)

_SWITCHES: dict[str, ContextVar[Any]] = {
    "train": _train,
    "enable_backprop": backprop_enabled,
    "dtype": _dtype,
    "debug": _debug,
}


def _checked(name: str, value: Any) -> Any:
    if name not in _SWITCHES:
        raise AttributeError(f"arrayflow has no switch {name!r}. The switches are {', '.join(_SWITCHES)}.")
    if name == "dtype":
        dtype = as_dtype(value)
        if dtype.kind != "real floating":
            raise ValueError(f"config.dtype is the default floating type, so it cannot be {dtype!s}. Use af.float32.")
        return dtype
    if not isinstance(value, bool):
        raise TypeError(f"config.{name} is True or False, but {value!r} was given.")
    return value


class Config:
    """The switches in force for this thread or task: ``train``, ``enable_backprop``, ``dtype``, ``debug``."""

    train: bool
    enable_backprop: bool
    dtype: DType
    debug: bool

    def __getattr__(self, name: str) -> Any:
        try:
            return _SWITCHES[name].get()
        except KeyError:
            raise AttributeError(
                f"arrayflow has no switch {name!r}. The switches are {', '.join(_SWITCHES)}."
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        value = _checked(name, value)
        _SWITCHES[name].set(value)

    def __repr__(self) -> str:
        return "config(" + ", ".join(f"{n}={v.get()!r}" for n, v in _SWITCHES.items()) + ")"


config = Config()


@contextmanager
def using_config(**switches: Any) -> Iterator[None]:
    """Set switches inside a ``with`` block, for this thread or task alone.

    Parameters
    ----------
    train : bool
        Whether dropout drops and running statistics run.
    enable_backprop : bool
        Whether operations are recorded for ``backward``.
    dtype : data type
        The default real floating type (float32).
    debug : bool
        Whether checks are made that read values back from the device, such as the range of labels.

    Examples
    --------
    >>> import arrayflow as af
    >>> with af.using_config(train=False):
    ...     af.config.train
    False
    """
    values = {name: _checked(name, value) for name, value in switches.items()}
    tokens = [(_SWITCHES[name], _SWITCHES[name].set(value)) for name, value in values.items()]
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)


class no_grad:
    """Record nothing inside a ``with`` block or a decorated function: results need no gradient.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray([1.0, 2.0], requires_grad=True)
    >>> with af.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __enter__(self) -> None:
        self._tokens = [*getattr(self, "_tokens", ()), backprop_enabled.set(False)]

    def __exit__(self, *exc: object) -> None:
        backprop_enabled.reset(self._tokens.pop())

    def __call__(self, function: Any) -> Any:
        from functools import wraps

        @wraps(function)
        def without_grad(*args: Any, **kwargs: Any) -> Any:
            with no_grad():
                return function(*args, **kwargs)

        return without_grad
