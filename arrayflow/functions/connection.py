"""Functions that connect layers."""

from __future__ import annotations

from typing import Any

from ..namespace import neural

__all__ = ["linear"]


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``y = x W^T + b`` over the last axis of `x`.

    Parameters
    ----------
    x : array or Variable, shape (..., in_features)
        Input; all axes but the last are kept as they are.
    weight : array or Variable, shape (out_features, in_features)
        W.
    bias : array or Variable, shape (out_features,), optional
        b.

    Returns
    -------
    array or Variable, shape (..., out_features)
        In the data type that the three promote to; integers are taken as ``config.dtype``.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DeviceMismatchError
        If the three do not live on one device. Nothing has been computed.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> x, w = af.asarray([[1.0, 2.0]], device="cpu"), af.asarray([[1.0, 1.0], [0.0, 3.0]], device="cpu")
    >>> F.linear(x, w)
    Variable([[3., 6.]], dtype=float32, device='cpu')
    """
    return neural.linear(x, weight, bias)
