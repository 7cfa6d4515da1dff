"""Floor 4: the array API standard over Variables, one file for each chapter, each rule beside its name."""

from . import operators as operators  # puts the operators on Variable
from .constants import *  # noqa: F403
from .creation import *  # noqa: F403
from .data_types import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .indexing import take as take
from .indexing import take_along_axis as take_along_axis
from .info import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .manipulation import *  # noqa: F403
from .searching import *  # noqa: F403
from .sets import *  # noqa: F403
from .sorting import *  # noqa: F403
from .statistical import *  # noqa: F403
from .utility import *  # noqa: F403

# Functions that are made know no module of their own; they are found here, by pickle for one.
for _function in list(globals().values()):
    if hasattr(_function, "primitive"):
        _function.__module__ = __name__
