"""Native bodies for NumPy: in place where the definition allows it, and without NumPy's wider promotions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _numpy_indexing, _numpy_random
from ._numpy_chunks import CHUNK, in_chunks

__all__ = ["NATIVES", "half_dtypes"]


def half_dtypes() -> tuple[str, ...]:
    """The 16-bit floating types there are: bfloat16 only where ml_dtypes has taught NumPy the name."""
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        return ("float16",)
    return ("float16", "bfloat16")


def linear(x: Any, weight: Any, bias: Any) -> Any:
    y = x.dot(weight.T)  # of a matrix, what matmul gives, with less to decide
    if bias is not None:
        y += bias
    return y


def matmul_into(x1: Any, x2: Any, out: Any) -> Any:
    if x1.ndim != 2:
        n = math.prod(x1.shape[:-1])
        x1, x2 = x1.reshape(n, x1.shape[-1]), x2.reshape(n, x2.shape[-1])
    return x1.T.dot(x2, out)


def sum_into(x: Any, out: Any) -> Any:
    if x.ndim == 2 and x.dtype.char in "fd" and x.flags.c_contiguous and x.size:
        return _ONES[x.shape[0], x.dtype].dot(x, out)  # BLAS sums rows faster than a reduction
    return np.add.reduce(x, 0 if x.ndim == 2 else tuple(range(x.ndim - 1)), None, out)


class _Kept(dict[Any, Any]):
    """Small arrays that are made once and never written: looked up without a call, and bounded in number."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, key: Any) -> Any:
        if len(self) >= 64:
            self.clear()
        value = self[key] = self.make(key)
        return value


# A zero by type (NumPy takes it with less ado than Python's), a row of ones by length and type, and
# where each of n rows of k elements begins in flat memory.
_ZERO = _Kept(lambda dtype: dtype.type(0))
_ONES = _Kept(lambda key: np.ones(*key))
_STARTS = _Kept(lambda key: np.arange(0, key[0] * key[1], key[1]))
_UNSIGNED = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


def relu(x: Any) -> Any:
    return np.maximum(x, _ZERO[x.dtype])


def relu_grad(g: Any, y: Any) -> Any:
    # A product with the mask, which is many times faster than where.
    return np.multiply(g, np.greater(y, _ZERO[y.dtype]))


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    n, k = logits.shape
    if n == 0:
        return np.full((), np.nan, logits.dtype), logits.copy()
    z = np.subtract(logits, np.maximum.reduce(logits, 1, None, None, True), order="C")
    # A negative label, taken as unsigned, is a large one: one look finds both.
    if np.maximum.reduce(labels.view(_UNSIGNED[labels.itemsize])) >= k:
        raise IndexError(f"labels must lie in [0, {k})")
    picked = z.reshape(-1)[labels + _STARTS[n, k]]
    np.exp(z, z)
    total = z.dot(_ONES[k, z.dtype])
    np.divide(z, total[:, None], z)
    one = _ONES[n, z.dtype]
    return (np.log(total).dot(one) - picked.dot(one)) / n, z


def softmax_cross_entropy_grad(g: Any, probabilities: Any, labels: Any) -> Any:
    n, k = probabilities.shape
    scale = g.item() / max(n, 1)
    d = probabilities * scale
    d.reshape(-1)[labels + _STARTS[n, k]] -= scale
    return d


def sgd(p: Any, g: Any, *, lr: float) -> Any:
    if p.size <= CHUNK:
        np.subtract(p, g * lr, p)
    else:
        in_chunks(lambda pc, gc: np.subtract(pc, gc * lr, pc), p, g)
    return (p,)


def momentum_sgd(p: Any, g: Any, v: Any, *, lr: float, momentum: float) -> Any:
    scalar = p.dtype.type

    def step(p: Any, g: Any, v: Any) -> None:
        np.multiply(v, scalar(momentum), v)
        np.add(v, g, v)
        np.subtract(p, v * scalar(lr), p)

    in_chunks(step, p, g, v)
    return p, v


def adam(p: Any, g: Any, m: Any, v: Any, *, lr: float, beta1: float, beta2: float, eps: float, t: int) -> Any:
    scalar = p.dtype.type
    scale = (1 - beta2**t) ** 0.5
    # p - lr/(1-b1^t) m / (sqrt(v)/scale + eps), multiplied through by scale.
    rate, small = scalar(lr * scale / (1 - beta1**t)), scalar(eps * scale)
    b1, c1, b2, c2 = scalar(beta1), scalar(1 - beta1), scalar(beta2), scalar(1 - beta2)

    def step(p: Any, g: Any, m: Any, v: Any) -> None:
        u = np.multiply(g, c1)
        np.multiply(m, b1, m)
        np.add(m, u, m)
        np.multiply(g, g, u)
        np.multiply(u, c2, u)
        np.multiply(v, b2, v)
        np.add(v, u, v)
        np.sqrt(v, u)
        np.add(u, small, u)
        np.divide(m, u, u)
        np.multiply(u, rate, u)
        np.subtract(p, u, p)

    in_chunks(step, p, g, m, v)
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
