"""First values of parameters. Random ones come from the stream by the parameter's path: the same on every device.

An initializer is any callable ``initializer(shape, *, dtype, device, path)`` that returns a Variable or raw array.

The *fan* of a weight of shape (out, in, *kernel) is the number of terms in a sum: ``fan_in = in * prod(kernel)`` for
what a unit receives, ``fan_out = out * prod(kernel)`` for what it feeds. A vector of n has both fans n, a number 1.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

from . import random
from .autograd.variable import Variable, _wrap
from .device import Device, default_device
from .dtypes import DType, as_dtype
from .typing import Shape

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Initializer",
    "LeCunNormal",
    "Normal",
    "Ones",
    "Uniform",
    "Zeros",
    "fans",
]


class Initializer(Protocol):
    """What draws the first values of a parameter.

    A class with this method, or any function of the same signature, serves as ``Parameter(initializer, shape)`` and as
    a layer's ``initial_weight``.
    """

    def __call__(self, shape: Shape, *, dtype: Any, device: Any, path: str) -> Any:
        """Values of `shape` and `dtype` on `device`; `path` says whose they are."""


def fans(shape: Shape) -> tuple[int, int]:
    """``fan_in, fan_out`` of a weight of shape (out, in, *kernel).

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.fans((10, 784)), initializers.fans((16, 3, 5, 5)), initializers.fans((7,))
    ((784, 10), (75, 400), (7, 7))
    """
    if len(shape) < 2:
        n = math.prod(shape)
        return n, n
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def _number(name: str, value: Any, *, least: float = -math.inf) -> float:
    number = float(value)
    if not math.isfinite(number) or number < least:
        bound = "" if least == -math.inf else f" and at least {least:g}"
        raise ValueError(f"initializers: {name} must be finite{bound}, but it is {number}.")
    return number


class Constant:
    """The same number everywhere. It is made where the parameter lives: nothing moves.

    Parameters
    ----------
    value : float
        The number.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.Constant(0.5)((2,), device="cpu")
    Variable([0.5, 0.5], dtype=float32, device='cpu')
    """

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def __call__(self, shape: Shape, *, dtype: Any = "float32", device: Any = None, path: str = "") -> Variable:
        place = default_device() if device is None else Device(device)
        found: DType = as_dtype(dtype)
        return _wrap(place.backend.create("full", place.native, tuple(shape), self.value, dtype=found))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value:g})"


class Zeros(Constant):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def __repr__(self) -> str:
        return "Zeros()"


class Ones(Constant):
    """Ones."""

    def __init__(self) -> None:
        super().__init__(1.0)

    def __repr__(self) -> str:
        return "Ones()"


class Uniform:
    """Uniform in [-scale, scale).

    Parameters
    ----------
    scale : float
        Largest magnitude, at least 0.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.Uniform(0.1)((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 0.05) -> None:
        self.scale = _number("scale", scale, least=0.0)

    def __call__(
        self, shape: Shape, *, dtype: Any = "float32", device: Any = None, path: str = "initializer"
    ) -> Variable:
        bound = self._bound(tuple(shape))
        return random.uniform(tuple(shape), -bound, bound, dtype=dtype, device=device, path=path)

    def _bound(self, shape: Shape) -> float:
        return self.scale

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scale:g})"


class Normal:
    """Normal with mean 0 and standard deviation `scale`.

    Parameters
    ----------
    scale : float
        Standard deviation, at least 0.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.Normal(0.1)((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 0.05) -> None:
        self.scale = _number("scale", scale, least=0.0)

    def __call__(
        self, shape: Shape, *, dtype: Any = "float32", device: Any = None, path: str = "initializer"
    ) -> Variable:
        return random.normal(tuple(shape), 0.0, self._std(tuple(shape)), dtype=dtype, device=device, path=path)

    def _std(self, shape: Shape) -> float:
        return self.scale

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scale:g})"


class LeCunNormal(Normal):
    """Normal with standard deviation ``scale sqrt(1 / fan_in)``: outputs vary as much as inputs.

    Parameters
    ----------
    scale : float
        Factor, at least 0.

    References
    ----------
    Y. LeCun, L. Bottou, G. Orr, K.-R. Müller, Efficient BackProp, 1998, sec. 4.6.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.LeCunNormal()((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale)

    def _std(self, shape: Shape) -> float:
        return self.scale * math.sqrt(1 / max(fans(shape)[0], 1))


class HeNormal(Normal):
    """Normal with standard deviation ``scale sqrt(2 / fan_in)``, for layers before a ReLU.

    Parameters
    ----------
    scale : float
        Factor, at least 0.

    References
    ----------
    K. He, X. Zhang, S. Ren, J. Sun, Delving deep into rectifiers, ICCV 2015, arXiv:1502.01852.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.HeNormal()((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale)

    def _std(self, shape: Shape) -> float:
        return self.scale * math.sqrt(2 / max(fans(shape)[0], 1))


class GlorotNormal(Normal):
    """Normal with standard deviation ``scale sqrt(2 / (fan_in + fan_out))``.

    Parameters
    ----------
    scale : float
        Factor, at least 0.

    References
    ----------
    X. Glorot, Y. Bengio, Understanding the difficulty of training deep feedforward neural networks, AISTATS 2010.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.GlorotNormal()((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale)

    def _std(self, shape: Shape) -> float:
        return self.scale * math.sqrt(2 / max(sum(fans(shape)), 1))


class HeUniform(Uniform):
    """Uniform with the standard deviation of `HeNormal`: in ``scale sqrt(6 / fan_in) [-1, 1)``.

    Parameters
    ----------
    scale : float
        Factor, at least 0.

    References
    ----------
    K. He, X. Zhang, S. Ren, J. Sun, Delving deep into rectifiers, ICCV 2015, arXiv:1502.01852.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.HeUniform()((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale)

    def _bound(self, shape: Shape) -> float:
        return self.scale * math.sqrt(6 / max(fans(shape)[0], 1))


class GlorotUniform(Uniform):
    """Uniform with the standard deviation of `GlorotNormal`: in ``scale sqrt(6 / (fan_in + fan_out)) [-1, 1)``.

    Parameters
    ----------
    scale : float
        Factor, at least 0.

    References
    ----------
    X. Glorot, Y. Bengio, Understanding the difficulty of training deep feedforward neural networks, AISTATS 2010.

    Examples
    --------
    >>> from arrayflow import initializers
    >>> initializers.GlorotUniform()((3, 2), device="cpu", path="weight").shape
    (3, 2)
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale)

    def _bound(self, shape: Shape) -> float:
        return self.scale * math.sqrt(6 / max(sum(fans(shape)), 1))
