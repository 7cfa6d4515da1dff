"""Adam."""

from __future__ import annotations

from .optimizer import Optimizer

__all__ = ["Adam"]


class Adam(Optimizer):
    """Steps scaled by running estimates of the gradient's first and second moment.

    At step t of a parameter with gradient g::

        m <- beta1 m + (1 - beta1) g
        v <- beta2 v + (1 - beta2) g^2
        p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    Parameters
    ----------
    lr : float
        Step size, at least 0.
    beta1, beta2 : float
        Decay of the two running estimates, in [0, 1).
    eps : float
        Keeps the division finite.

    References
    ----------
    D. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, ICLR 2015, arXiv:1412.6980.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import optimizers
    >>> p = af.Parameter([1.0, -1.0], device="cpu")
    >>> optimizer = optimizers.Adam(lr=0.5).setup([p])
    >>> optimizer.update(lambda: af.sum(p * p))
    >>> p  # the first step is lr long, whatever the gradient's size
    Parameter 'parameter'([ 0.5, -0.5], dtype=float32, device='cpu')
    """

    kernel = "adam"
    numbers = ("lr", "beta1", "beta2", "eps")
    state_names = ("m", "v")
    counts = True

    lr: float
    beta1: float
    beta2: float
    eps: float

    def __init__(self, lr: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8) -> None:
        super().__init__(lr=lr, beta1=beta1, beta2=beta2, eps=eps)
