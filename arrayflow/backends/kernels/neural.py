"""The operations of neural networks that are worth a kernel of their own, as definitions in array code."""

from __future__ import annotations

import math
from typing import Any

from . import kernel

__all__ = [
    "linear",
    "matmul_into",
    "relu",
    "relu_grad",
    "softmax_cross_entropy",
    "softmax_cross_entropy_grad",
    "sum_into",
]


@kernel
def linear(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    """``x @ weight.T + bias`` over the last axis of `x`."""
    y = xp.matmul(x, xp.permute_dims(weight, (1, 0)))
    return y if bias is None else y + bias


@kernel
def matmul_into(xp: Any, x1: Any, x2: Any, out: Any) -> Any:
    """``x1.T @ x2``, all axes but the last taken as rows; `out`, where given, may be overwritten and returned."""
    return xp.matmul(xp.permute_dims(_rows(xp, x1), (1, 0)), _rows(xp, x2))


@kernel
def sum_into(xp: Any, x: Any, out: Any) -> Any:
    """The sum over all axes but the last; `out`, where given, may be overwritten and returned."""
    return xp.sum(_rows(xp, x), axis=0, dtype=x.dtype)


def _rows(xp: Any, x: Any) -> Any:
    return x if len(x.shape) == 2 else xp.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


@kernel
def relu(xp: Any, x: Any) -> Any:
    """``max(x, 0)``; NaN stays NaN."""
    return xp.maximum(x, xp.zeros((), dtype=x.dtype, device=x.device))


@kernel
def relu_grad(xp: Any, g: Any, y: Any) -> Any:
    """`g` where `y` is above 0, else 0."""
    return xp.where(y > 0, g, xp.zeros((), dtype=g.dtype, device=g.device))


@kernel
def softmax_cross_entropy(xp: Any, logits: Any, labels: Any) -> Any:
    """The mean of ``log(sum(exp(logits))) - logits[label]``, and the softmax that its gradient needs.

    `logits` is (N, K), `labels` (N,) of an integer type. A label out of [0, K) makes the mean NaN, and the softmax of
    its row: whether there is one cannot be asked without reading it.
    """
    # Softmax ignores a shift; without the largest logit no exp can overflow.
    shifted = logits - xp.max(logits, axis=1, keepdims=True)
    e = xp.exp(shifted)
    total = xp.sum(e, axis=1, keepdims=True, dtype=e.dtype)
    valid = xp.logical_and(labels >= 0, labels < logits.shape[1])
    picked = xp.take_along_axis(shifted, xp.where(valid, labels, xp.zeros_like(labels))[:, None], axis=1)
    total = xp.where(valid[:, None], total, xp.full_like(total, xp.nan))
    return xp.mean(xp.log(total) - picked), e / total


@kernel
def softmax_cross_entropy_grad(xp: Any, g: Any, probabilities: Any, labels: Any) -> Any:
    """``(softmax - one_hot(label)) * g / N``, with `g` of shape ()."""
    n, k = probabilities.shape
    classes = xp.arange(k, dtype=labels.dtype, device=labels.device)
    hit = xp.astype(classes[None, :] == labels[:, None], probabilities.dtype)
    return (probabilities - hit) * (g / max(n, 1))
