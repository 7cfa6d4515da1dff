"""Native bodies of whole kernels for PyTorch: its own fused functions, and steps that write in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["NATIVES"]


def matmul_into(x1: Any, x2: Any, out: Any) -> Any:
    return torch.mm(x1.reshape(-1, x1.shape[-1]).T, x2.reshape(-1, x2.shape[-1]), out=out)


def relu_grad(g: Any, y: Any) -> Any:
    return torch.where(y > 0, g, 0)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    z = torch.log_softmax(logits, 1)
    labels = labels.to(torch.int64)[:, None]
    safe = labels.clamp(0, logits.shape[1] - 1)
    z = torch.where(safe == labels, z, torch.nan)  # a row whose label does not exist
    return -torch.mean(torch.gather(z, 1, safe)), torch.exp(z)


def sgd(p: Any, g: Any, *, lr: float) -> Any:
    return (p.sub_(g, alpha=lr),)


def momentum_sgd(p: Any, g: Any, v: Any, *, lr: float, momentum: float) -> Any:
    v.mul_(momentum).add_(g)
    return p.sub_(v, alpha=lr), v


def adam(p: Any, g: Any, m: Any, v: Any, *, lr: float, beta1: float, beta2: float, eps: float, t: int) -> Any:
    scale = (1 - beta2**t) ** 0.5
    m.lerp_(g, 1 - beta1)
    v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    # p - lr/(1-b1^t) m / (sqrt(v)/scale + eps), multiplied through by scale.
    p.addcdiv_(m, torch.sqrt(v).add_(eps * scale), value=-lr * scale / (1 - beta1**t))
    return p, m, v


NATIVES: dict[str, Callable[..., Any]] = {
    "adam": adam,
    "linear": torch.nn.functional.linear,
    "matmul_into": matmul_into,
    "momentum_sgd": momentum_sgd,
    "relu": torch.relu,
    "relu_grad": relu_grad,
    "sgd": sgd,
    "softmax_cross_entropy": softmax_cross_entropy,
}
