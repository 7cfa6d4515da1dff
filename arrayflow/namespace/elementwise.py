"""Elementwise functions."""

from __future__ import annotations

from . import _arithmetic, _comparison, _transcendental
from ._arithmetic import *  # noqa: F403
from ._comparison import *  # noqa: F403
from ._transcendental import *  # noqa: F403

__all__ = [*_arithmetic.__all__, *_comparison.__all__, *_transcendental.__all__]
