"""Native bodies for NumPy: in place where the definition allows it, and without NumPy's wider promotions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _numpy_indexing, _numpy_random

__all__ = ["NATIVES", "half_dtypes"]

# Elements of a chunk of parameters on which a whole step runs while it is in the cache.
CHUNK = 65536


def half_dtypes() -> tuple[str, ...]:
    """The 16-bit floating types there are: bfloat16 only where ml_dtypes has taught NumPy the name."""
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        return ("float16",)
    return ("float16", "bfloat16")


def linear(x: Any, weight: Any, bias: Any) -> Any:
    y = np.dot(x, weight.T)  # of a matrix, what matmul gives, with less to decide
    if bias is not None:
        y += bias
    return y


def matmul_into(x1: Any, x2: Any, out: Any) -> Any:
    if x1.ndim != 2:
        n = math.prod(x1.shape[:-1])
        x1, x2 = x1.reshape(n, x1.shape[-1]), x2.reshape(n, x2.shape[-1])
    return np.dot(x1.T, x2, out)


def sum_into(x: Any, out: Any) -> Any:
    if x.ndim == 2 and x.dtype.char in "fd" and x.flags.c_contiguous and x.size:
        return np.dot(_ones(x.shape[0], x.dtype), x, out)  # BLAS sums rows faster than a reduction
    return np.add.reduce(x, 0 if x.ndim == 2 else tuple(range(x.ndim - 1)), None, out)


_zero_cache: dict[Any, Any] = {}


def _zero(dtype: Any) -> Any:
    """A zero of a type: NumPy takes it with less ado than Python's."""
    zero = _zero_cache.get(dtype)
    if zero is None:
        zero = _zero_cache[dtype] = dtype.type(0)
    return zero


def relu(x: Any) -> Any:
    return np.maximum(x, _zero(x.dtype))


def relu_grad(g: Any, y: Any) -> Any:
    # A product with the mask, which is many times faster than where.
    return np.multiply(g, np.greater(y, _zero(y.dtype)))


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    n, k = logits.shape
    if n == 0:
        return np.full((), np.nan, logits.dtype), logits.copy()
    z = np.subtract(logits, np.maximum.reduce(logits, 1, None, None, True), order="C")
    # A negative label, taken as unsigned, is a large one: one look finds both.
    if np.maximum.reduce(labels.view(_UNSIGNED[labels.itemsize])) >= k:
        raise IndexError(f"labels must lie in [0, {k})")
    picked = z.reshape(-1)[labels + _starts(n, k)]
    np.exp(z, z)
    total = np.dot(z, _ones(k, z.dtype))
    np.divide(z, total[:, None], z)
    one = _ones(n, z.dtype)
    return (np.dot(np.log(total), one) - np.dot(picked, one)) / n, z


def softmax_cross_entropy_grad(g: Any, probabilities: Any, labels: Any) -> Any:
    n, k = probabilities.shape
    scale = g.item() / max(n, 1)
    d = probabilities * scale
    d.reshape(-1)[labels + _starts(n, k)] -= scale
    return d


_ones_cache: dict[tuple[int, Any], Any] = {}


def _ones(n: int, dtype: Any) -> Any:
    """A row of ones, kept: nobody writes into it."""
    ones = _ones_cache.get((n, dtype))
    if ones is None:
        if len(_ones_cache) > 64:
            _ones_cache.clear()
        ones = _ones_cache[n, dtype] = np.ones(n, dtype)
    return ones


_UNSIGNED = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
_starts_cache: dict[tuple[int, int], Any] = {}


def _starts(n: int, k: int) -> Any:
    """Where each of `n` rows of `k` elements begins in flat memory."""
    starts = _starts_cache.get((n, k))
    if starts is None:
        if len(_starts_cache) > 64:
            _starts_cache.clear()
        starts = _starts_cache[n, k] = np.arange(0, n * k, k)
    return starts


def _flat(a: Any) -> Any:
    """A flat view of a contiguous array; None where there is none."""
    return a.reshape(-1) if a.flags.c_contiguous else None


def _chunks(*arrays: Any) -> Any:
    """The arrays cut into chunks that fit the cache, or whole where a flat view is not to be had."""
    flats = [_flat(a) for a in arrays]
    if any(f is None for f in flats):
        yield arrays
        return
    for start in range(0, flats[0].size, CHUNK):
        yield [f[start : start + CHUNK] for f in flats]


def sgd(p: Any, g: Any, *, lr: float) -> Any:
    if p.size <= CHUNK:
        np.subtract(p, g * lr, p)
    else:
        for pc, gc in _chunks(p, g):
            np.subtract(pc, gc * lr, pc)
    return (p,)


def momentum_sgd(p: Any, g: Any, v: Any, *, lr: float, momentum: float) -> Any:
    scalar = p.dtype.type
    for pc, gc, vc in _chunks(p, g, v):
        np.multiply(vc, scalar(momentum), vc)
        np.add(vc, gc, vc)
        np.subtract(pc, vc * scalar(lr), pc)
    return p, v


def adam(p: Any, g: Any, m: Any, v: Any, *, lr: float, beta1: float, beta2: float, eps: float, t: int) -> Any:
    scalar = p.dtype.type
    scale = (1 - beta2**t) ** 0.5
    # p - lr/(1-b1^t) m / (sqrt(v)/scale + eps), multiplied through by scale.
    step, small = scalar(lr * scale / (1 - beta1**t)), scalar(eps * scale)
    b1, c1, b2, c2 = scalar(beta1), scalar(1 - beta1), scalar(beta2), scalar(1 - beta2)
    room = np.empty(min(p.size, CHUNK), p.dtype)
    for pc, gc, mc, vc in _chunks(p, g, m, v):
        u = room[: pc.size] if pc.ndim == 1 else np.empty_like(pc)
        np.multiply(mc, b1, mc)
        np.multiply(gc, c1, u)
        np.add(mc, u, mc)
        np.multiply(vc, b2, vc)
        np.multiply(gc, gc, u)
        np.multiply(u, c2, u)
        np.add(vc, u, vc)
        np.sqrt(vc, u)
        np.add(u, small, u)
        np.divide(mc, u, u)
        np.multiply(u, step, u)
        np.subtract(pc, u, pc)
    return p, m, v


NATIVES: dict[str, Callable[..., Any]] = {
    "matmul": np.matmul,
    "sign": np.sign,  # array-api-compat divides by 0 first, with a warning
    "linear": linear,
    "matmul_into": matmul_into,
    "sum_into": sum_into,
    "relu": relu,
    "relu_grad": relu_grad,
    "softmax_cross_entropy": softmax_cross_entropy,
    "softmax_cross_entropy_grad": softmax_cross_entropy_grad,
    "sgd": sgd,
    "momentum_sgd": momentum_sgd,
    "adam": adam,
    **_numpy_indexing.NATIVES,
    **_numpy_random.NATIVES,
}
