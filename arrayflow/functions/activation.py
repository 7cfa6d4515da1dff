"""Activation functions."""

from __future__ import annotations

from typing import Any

from .. import namespace as xp
from ..namespace import neural
from ._arrays import takes_arrays
from ._checks import as_floating, check_axis

__all__ = ["log_softmax", "relu", "softmax"]


def relu(x: Any) -> Any:
    """``max(x, 0)``, elementwise.

    Parameters
    ----------
    x : array or Variable, real
        Input.

    Returns
    -------
    array or Variable, shape and dtype of `x`
        NaN stays NaN. The derivative at 0 is 0.

    References
    ----------
    V. Nair, G. Hinton, Rectified linear units improve restricted Boltzmann machines, ICML 2010.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> F.relu(af.asarray([-1.0, 0.0, 2.0], device="cpu"))
    Variable([0., 0., 2.], dtype=float32, device='cpu')
    """
    return neural.relu(x)


@takes_arrays
def softmax(x: Any, *, axis: int = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along an axis.

    Parameters
    ----------
    x : array or Variable, real
        Logits. Integers are taken as ``config.dtype``.
    axis : int
        The axis along which the result sums to 1.

    Returns
    -------
    array or Variable, shape of `x`, real floating
        Probabilities.

    Raises
    ------
    ShapeError
        If `x` has no such axis.

    References
    ----------
    C. Bishop, Pattern Recognition and Machine Learning, 2006, sec. 4.2.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> F.softmax(af.asarray([1.0, 1.0], device="cpu"))
    Variable([0.5, 0.5], dtype=float32, device='cpu')
    """
    x = as_floating("softmax", x)
    check_axis("softmax", x, axis)
    if not x.size:
        return xp.exp(x)  # no element, and so no largest one
    # Softmax ignores a shift; without the largest logit no exp can overflow. The shift is a constant for gradients.
    e = xp.exp(x - xp.max(x.detach(), axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


@takes_arrays
def log_softmax(x: Any, *, axis: int = -1) -> Any:
    """``x - log(sum(exp(x)))`` along an axis: the logarithm of `softmax`, without its underflow.

    Parameters
    ----------
    x : array or Variable, real
        Logits. Integers are taken as ``config.dtype``.
    axis : int
        The axis along which the exponentials of the result sum to 1.

    Returns
    -------
    array or Variable, shape of `x`, real floating
        Log-probabilities, in nats.

    Raises
    ------
    ShapeError
        If `x` has no such axis.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> F.log_softmax(af.asarray([0.0, 1000.0], device="cpu"))
    Variable([-1000.,     0.], dtype=float32, device='cpu')
    """
    x = as_floating("log_softmax", x)
    check_axis("log_softmax", x, axis)
    if not x.size:
        return xp.exp(x)  # no element, and so no largest one
    shifted = x - xp.max(x.detach(), axis=axis, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))
