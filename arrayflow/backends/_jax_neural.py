"""Native bodies of whole kernels for JAX: one compiled call, where the portable body is several.

A call of JAX costs some 15 µs whatever it does. Numbers that change from step to step go in as
arguments, those that stay as constants, so that nothing is compiled twice.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["NATIVES"]


@jax.jit
def linear(x: Any, weight: Any, bias: Any) -> Any:
    y = x @ weight.T
    return y if bias is None else y + bias


@jax.jit
def _product(x1: Any, x2: Any) -> Any:
    return x1.reshape(-1, x1.shape[-1]).T @ x2.reshape(-1, x2.shape[-1])


def matmul_into(x1: Any, x2: Any, out: Any) -> Any:
    return _product(x1, x2)


@jax.jit
def _sum(x: Any) -> Any:
    return jnp.sum(x, axis=tuple(range(x.ndim - 1)), dtype=x.dtype)


def sum_into(x: Any, out: Any) -> Any:
    return _sum(x)


@jax.jit
def relu(x: Any) -> Any:
    return jnp.maximum(x, 0)


@jax.jit
def relu_grad(g: Any, y: Any) -> Any:
    return jnp.where(y > 0, g, 0)


@jax.jit
def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    shifted = logits - jnp.max(logits, axis=1, keepdims=True)
    e = jnp.exp(shifted)
    total = jnp.sum(e, axis=1, keepdims=True)
    valid = (labels >= 0) & (labels < logits.shape[1])
    picked = jnp.take_along_axis(shifted, jnp.where(valid, labels, 0)[:, None], axis=1)
    total = jnp.where(valid[:, None], total, jnp.nan)
    return jnp.mean(jnp.log(total) - picked), e / total


@jax.jit
def softmax_cross_entropy_grad(g: Any, probabilities: Any, labels: Any) -> Any:
    n, k = probabilities.shape
    hit = (jnp.arange(k, dtype=labels.dtype) == labels[:, None]).astype(probabilities.dtype)
    return (probabilities - hit) * (g / max(n, 1))


@jax.jit
def _sgd(p: Any, g: Any, lr: Any) -> Any:
    return p - lr * g


def sgd(p: Any, g: Any, *, lr: float) -> Any:
    return (_sgd(p, g, lr),)


@partial(jax.jit, static_argnames="momentum")
def _momentum_sgd(p: Any, g: Any, v: Any, lr: Any, momentum: float) -> Any:
    v = momentum * v + g
    return p - lr * v, v


def momentum_sgd(p: Any, g: Any, v: Any, *, lr: float, momentum: float) -> Any:
    return _momentum_sgd(p, g, v, lr, momentum=momentum)


@partial(jax.jit, static_argnames=("beta1", "beta2", "eps"))
def _adam(p: Any, g: Any, m: Any, v: Any, step: Any, scale: Any, beta1: float, beta2: float, eps: float) -> Any:
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * (g * g)
    return p - step * m / (jnp.sqrt(v) / scale + eps), m, v


def adam(p: Any, g: Any, m: Any, v: Any, *, lr: float, beta1: float, beta2: float, eps: float, t: int) -> Any:
    # Powers near 1 are taken in Python's double precision: in float32, 1 - 0.999 ** t loses half its digits.
    step, scale = lr / (1 - beta1**t), (1 - beta2**t) ** 0.5
    return _adam(p, g, m, v, step, scale, beta1=beta1, beta2=beta2, eps=eps)


NATIVES: dict[str, Callable[..., Any]] = {
    "adam": adam,
    "linear": linear,
    "matmul_into": matmul_into,
    "momentum_sgd": momentum_sgd,
    "relu": relu,
    "relu_grad": relu_grad,
    "sgd": sgd,
    "softmax_cross_entropy": softmax_cross_entropy,
    "softmax_cross_entropy_grad": softmax_cross_entropy_grad,
    "sum_into": sum_into,
}
