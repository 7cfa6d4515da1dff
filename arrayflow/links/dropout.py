"""Dropout as a layer: with a path of its own in the random stream."""

from __future__ import annotations

from typing import Any

from ..functions.noise import check_ratio, dropout
from .link import Link

__all__ = ["Dropout"]


class Dropout(Link):
    """Sets elements to zero at random while training; see `arrayflow.functions.dropout`.

    Its numbers come from the stream under its own path, so that layers elsewhere change nothing.

    Parameters
    ----------
    ratio : float
        Probability with which an element is dropped, in [0, 1).

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import links as L
    >>> layer = L.Dropout(0.5)
    >>> with af.using_config(train=False):
    ...     layer(af.ones((3,), device="cpu"))
    Variable([1., 1., 1.], dtype=float32, device='cpu')
    """

    def __init__(self, ratio: float = 0.5) -> None:
        self.ratio = check_ratio(ratio)

    def forward(self, x: Any) -> Any:
        """`x` with elements dropped, while ``config.train`` is True."""
        return dropout(x, self.ratio, path=self.path or "dropout")

    def _facts(self) -> str:
        return f"ratio={self.ratio:g}"
