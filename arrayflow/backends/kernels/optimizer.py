"""Pure step functions: from parameter, gradient and state to the next ones. Numbers are Python floats.

A native body may write into the arrays it is given, all but the gradient, and return them.
Bodies return the new arrays in the order in which they took the old ones.
"""

from __future__ import annotations

from typing import Any

from . import kernel

__all__ = ["adam", "momentum_sgd", "sgd"]


@kernel
def sgd(xp: Any, p: Any, g: Any, *, lr: float) -> Any:
    """``p - lr g``"""
    return (p - lr * g,)


@kernel
def momentum_sgd(xp: Any, p: Any, g: Any, v: Any, *, lr: float, momentum: float) -> Any:
    """``v' = momentum v + g;  p' = p - lr v'``"""
    v = momentum * v + g
    return p - lr * v, v


@kernel
def adam(xp: Any, p: Any, g: Any, m: Any, v: Any, *, lr: float, beta1: float, beta2: float, eps: float, t: int) -> Any:
    """``m' = b1 m + (1 - b1) g;  v' = b2 v + (1 - b2) g^2;  p' = p - lr m^/(sqrt(v^) + eps)``, hats corrected for t."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * (g * g)
    step = lr / (1 - beta1**t)
    scale = (1 - beta2**t) ** 0.5
    return p - step * m / (xp.sqrt(v) / scale + eps), m, v
