"""Floor 6: functions that own parameters."""

from .chain import Chain, ChainList, Sequential
from .dropout import Dropout
from .linear import Linear
from .link import Link
from .parameter import Parameter

__all__ = ["Chain", "ChainList", "Dropout", "Linear", "Link", "Parameter", "Sequential"]
