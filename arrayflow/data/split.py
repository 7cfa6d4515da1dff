"""What a loader gives: images beside their labels."""

from __future__ import annotations

from typing import NamedTuple

from ..typing import Array

__all__ = ["Split"]


class Split(NamedTuple):
    """One part of a data set, on the host.

    Attributes
    ----------
    images : Variable, shape (N, H, W), uint8
        Pixels as the file has them.
    labels : Variable, shape (N,), int32
        Class indices.
    """

    images: Array
    labels: Array
