"""Functions that draw from the random stream."""

from __future__ import annotations

from typing import Any

from .. import namespace as xp
from .. import random
from ..config import config
from ._arrays import takes_arrays
from ._checks import as_floating

__all__ = ["check_ratio", "dropout"]


def check_ratio(ratio: float) -> float:
    """`ratio` as a float in [0, 1).

    Raises
    ------
    ValueError
        If it is not in there.
    """
    value = float(ratio)
    if not 0.0 <= value < 1.0:
        raise ValueError(
            f"dropout: ratio is the probability of dropping an element, in [0, 1), but it is {value:g}. "
            f"With 1 nothing would be left to scale up."
        )
    return value


def dropout(x: Any, ratio: float = 0.5, *, path: str | None = None) -> Any:
    """Each element is set to zero with probability `ratio`, else divided by ``1 - ratio``, while training.

    Parameters
    ----------
    x : array or Variable, real
        Input. Integers are taken as ``config.dtype``.
    ratio : float
        Probability of dropping an element, in [0, 1).
    path : str, optional
        Whose draw it is in the random stream; by default the function that calls. `arrayflow.links.Dropout` passes
        its own path.

    Returns
    -------
    array or Variable, shape of `x`
        `x` itself where ``config.train`` is False or `ratio` is 0. The elements dropped are the same on every device.

    Raises
    ------
    ValueError
        If `ratio` is not in [0, 1).

    References
    ----------
    N. Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, JMLR 15, 2014.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> y = F.dropout(af.ones((1000,), device="cpu"), 0.25)
    >>> bool(af.all((y == 0) | (y == 4 / 3)))
    True
    >>> with af.using_config(train=False):
    ...     F.dropout(af.ones((2,), device="cpu"), 0.25)
    Variable([1., 1.], dtype=float32, device='cpu')
    """
    ratio = check_ratio(ratio)
    if not config.train or ratio == 0.0:
        return x
    return _dropped(x, ratio=ratio, path=path)


@takes_arrays
def _dropped(x: Any, *, ratio: float, path: str | None) -> Any:
    x = as_floating("dropout", x)
    kept = random.mask(x.shape, 1.0 - ratio, device=x.device, path=path)
    return x * xp.astype(kept, x.dtype) * (1.0 / (1.0 - ratio))
