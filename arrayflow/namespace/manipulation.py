"""Manipulation functions: the same elements in another shape or order, repeated, or joined."""

from __future__ import annotations

from ._broadcasting import broadcast_arrays, broadcast_shapes, broadcast_to
from ._joining import concat, repeat, stack, tile, unstack
from ._shapes import expand_dims, flip, moveaxis, permute_dims, reshape, roll, squeeze

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]
