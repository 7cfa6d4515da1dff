"""Floor 7: optimizers. The mathematics is in pure step functions (kernels); a class holds numbers and state."""

from .adam import Adam
from .optimizer import Optimizer
from .sgd import SGD, MomentumSGD

__all__ = ["SGD", "Adam", "MomentumSGD", "Optimizer"]
