"""Manipulation functions: the same elements in another shape or order, repeated, or joined."""

from __future__ import annotations

from . import _broadcasting, _joining, _shapes
from ._broadcasting import *  # noqa: F403
from ._joining import *  # noqa: F403
from ._shapes import *  # noqa: F403

__all__ = [*_broadcasting.__all__, *_joining.__all__, *_shapes.__all__]
