"""Stochastic gradient descent, plain and with momentum."""

from __future__ import annotations

from .optimizer import Optimizer

__all__ = ["SGD", "MomentumSGD"]


class SGD(Optimizer):
    """Stochastic gradient descent: ``p <- p - lr g``.

    Parameters
    ----------
    lr : float
        Step size, at least 0.

    References
    ----------
    H. Robbins, S. Monro, A Stochastic Approximation Method, Annals of Mathematical Statistics 22, 1951.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import optimizers
    >>> p = af.Parameter([1.0, 2.0], device="cpu")
    >>> optimizer = optimizers.SGD(lr=0.5).setup([p])
    >>> optimizer.update(lambda: af.sum(p * p))
    >>> p
    Parameter 'parameter'([0., 0.], dtype=float32, device='cpu')
    """

    kernel = "sgd"
    numbers = ("lr",)

    lr: float

    def __init__(self, lr: float = 0.01) -> None:
        super().__init__(lr=lr)


class MomentumSGD(Optimizer):
    """Gradient descent with momentum: ``v <- momentum v + g;  p <- p - lr v``.

    Parameters
    ----------
    lr : float
        Step size, at least 0.
    momentum : float
        Share of the last step that is kept, in [0, 1).

    References
    ----------
    B. Polyak, Some methods of speeding up the convergence of iteration methods, USSR Computational Mathematics 4, 1964.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import optimizers
    >>> p = af.Parameter([1.0], device="cpu")
    >>> optimizer = optimizers.MomentumSGD(lr=0.25, momentum=0.5).setup([p])
    >>> for _ in range(2):
    ...     optimizer.update(lambda: af.sum(p * p))
    >>> p
    Parameter 'parameter'([0.], dtype=float32, device='cpu')
    """

    kernel = "momentum_sgd"
    numbers = ("lr", "momentum")
    state_names = ("v",)

    lr: float
    momentum: float

    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None:
        super().__init__(lr=lr, momentum=momentum)
