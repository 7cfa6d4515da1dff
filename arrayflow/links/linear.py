"""The fully connected layer."""

from __future__ import annotations

import operator
from typing import Any

from ..autograd.operands import mismatch
from ..autograd.variable import as_raw
from ..backends import registry
from ..device import Device, default_device, device_of_raw
from ..dtypes import DType
from ..errors import ShapeError
from ..initializers import Constant, LeCunNormal
from ..namespace.neural import linear
from ..transfers import user_site
from .link import Link
from .parameter import Parameter

__all__ = ["Linear"]


class Linear(Link):
    """``y = x W^T + b`` over the last axis of the input.

    Parameters
    ----------
    in_features : int or None
        Length of the last axis of the input; None takes it from the first input. A single number, ``Linear(10)``, is
        `out_features`.
    out_features : int
        Length of the last axis of the output.
    bias : bool
        Whether there is a b.
    initial_weight, initial_bias : initializer, array or number, optional
        First values; `arrayflow.initializers.LeCunNormal` and zeros by default. Arrays are copied.
    dtype : data type, optional
        Of the parameters; that of `initial_weight` if it is an array, else ``config.dtype``.
    device : str or Device, optional
        Where they live; where `initial_weight` is if it is an array, else the default device.

    Attributes
    ----------
    weight : Parameter, shape (out_features, in_features)
        W.
    bias : Parameter, shape (out_features,), or None
        b.

    Raises
    ------
    ShapeError
        When called with an input whose last axis has not `in_features` elements; the message has the layer's path.
    DeviceMismatchError
        When called with an input on another device. Nothing has been computed.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import links as L
    >>> layer = L.Linear(3, 2, initial_weight=1.0, device="cpu")
    >>> layer(af.asarray([[1.0, 2.0, 3.0]], device="cpu"))
    Variable([[6., 6.]], dtype=float32, device='cpu')
    >>> lazy = L.Linear(2, device="cpu")
    >>> lazy(af.ones((4, 7), device="cpu")).shape, lazy.in_features
    ((4, 2), 7)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int | None,
        out_features: int | None = None,
        *,
        bias: bool = True,
        initial_weight: Any = None,
        initial_bias: Any = None,
        dtype: Any = None,
        device: str | Device | None = None,
    ) -> None:
        if out_features is None:
            in_features, out_features = None, in_features
        rows = _size("out_features", out_features)
        columns = None if in_features is None else _size("in_features", in_features)
        place = _place(initial_weight, device)
        shape = None if columns is None else (rows, columns)
        self.weight = Parameter(_initial(initial_weight, LeCunNormal()), shape, dtype=dtype, device=place)
        if self.weight.is_initialized and (fault := self._check_shape("weight", self.weight.shape, rows)):
            raise ShapeError(f"Linear: initial_weight does not fit: {fault}, but its shape is {self.weight.shape}.")
        self.out_features = rows
        kind: DType = self.weight.dtype
        first = _initial(initial_bias, Constant(0.0))
        self.bias = Parameter(first, (rows,), dtype=kind, device=place) if bias else None

    @property
    def in_features(self) -> int | None:
        """Length of the last axis of the input; None while it is not known."""
        return self.weight.shape[1] if self.weight.is_initialized else None

    def forward(self, x: Any) -> Any:
        """``x W^T + b``.

        Parameters
        ----------
        x : Variable or array, shape (..., in_features)
            Where the parameters live.

        Returns
        -------
        Variable, shape (..., out_features)
            In the data type that `x` and the parameters promote to.
        """
        weight = self.weight
        if weight._initializer is not None:
            self._begin(x)
        return linear(x, weight, self.bias)

    def _begin(self, x: Any) -> None:
        """Before the first values are drawn: the input must be here, and it may say how long its rows are."""
        raw = as_raw(x)
        backend = registry.backend_of(raw)
        if backend is None:
            raise TypeError(
                f"linear ({self.weight.path}): x must be a Variable or an array, but it is a {type(x).__name__} "
                f"(at {user_site()}). Make it one: af.asarray(x, device={str(self.weight.device)!r})."
            )
        if device_of_raw(raw, backend) is not self.weight.device:
            parts = (x, self.weight) if self.bias is None else (x, self.weight, self.bias)
            raise mismatch("linear", ("x", "weight", "bias"), parts)
        if not self.weight.is_initialized:
            if not raw.shape:
                raise ShapeError(
                    f"linear ({self.weight.path}): x must have an axis of features, but x.shape is () "
                    f"(at {user_site()}). Pass af.reshape(x, (1,))."
                )
            self.weight.initialize((self.out_features, raw.shape[-1]))

    def _check_shape(self, name: str, shape: tuple[int, ...], rows: int | None = None) -> str | None:
        rows = self.out_features if rows is None else rows
        if name == "weight" and (len(shape) != 2 or shape[0] != rows):
            return f"the weight has the shape (out_features, in_features) with out_features = {rows}"
        return None

    def _facts(self) -> str:
        bias = "" if self.bias is not None else ", bias=False"
        return f"in_features={self.in_features}, out_features={self.out_features}{bias}"


def _size(name: str, value: Any) -> int:
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"Linear: {name} must be an integer, but it is a {type(value).__name__}.") from None
    if n < 1:
        raise ValueError(f"Linear: {name} must be at least 1, but it is {n}.")
    return n


def _initial(value: Any, default: Any) -> Any:
    if value is None:
        return default
    return Constant(value) if isinstance(value, (bool, int, float)) else value


def _place(value: Any, device: str | Device | None) -> Device:
    """Where a layer's parameters live."""
    if device is not None:
        return Device(device)
    raw = as_raw(value)
    backend = registry.backend_of(raw)
    return default_device() if backend is None or isinstance(raw, backend.scalar_types) else device_of_raw(raw, backend)
