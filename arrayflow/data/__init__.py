"""Floor 7: datasets, as arrays on the host. Moving them to a device is the program's own line."""

from .digits import load_digits
from .idx import read_idx
from .mnist import load_mnist
from .split import Split

__all__ = ["Split", "load_digits", "load_mnist", "read_idx"]
