"""Floor 3: the tape. It knows no operation by name; rules come to it through `primitive`."""

from .dispatch import primitive
from .primitive import Primitive
from .tape import backward, gradients
from .variable import Variable

__all__ = ["Primitive", "Variable", "backward", "gradients", "primitive"]
