"""How well a model does: numbers for reports, without gradients."""

from __future__ import annotations

from typing import Any

from .. import namespace as xp
from ..errors import DTypeError, ShapeError
from ..transfers import user_site
from ._arrays import takes_arrays
from ._checks import as_floating

__all__ = ["accuracy"]


@takes_arrays
def accuracy(logits: Any, labels: Any) -> Any:
    """The share of items whose largest logit is that of their label.

    Parameters
    ----------
    logits : array or Variable, shape (..., K), real
        Scores of K classes; of equal largest ones the first counts.
    labels : array or Variable, shape (...), integral
        Class indices. One that is no class counts as missed.

    Returns
    -------
    array or Variable, shape (), dtype of `logits`
        In [0, 1], on the device: nothing is read back.

    Raises
    ------
    ShapeError
        If ``labels.shape != logits.shape[:-1]``, or there is no label: the mean over nothing does not exist.
    DTypeError
        If the labels are no integers.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> logits = af.asarray([[0.0, 1.0], [2.0, 0.0]], device="cpu")
    >>> float(F.accuracy(logits, af.asarray([1, 1], device="cpu")))
    0.5
    """
    logits = as_floating("accuracy", logits).detach()
    shape, wanted = tuple(getattr(labels, "shape", ())), logits.shape[:-1]
    if shape != wanted or not logits.ndim:
        raise ShapeError(
            f"accuracy: labels.shape must equal logits.shape[:-1], but labels.shape is {shape} and logits.shape is "
            f"{logits.shape} (at {user_site()}). One-hot labels? Pass af.argmax(labels, axis=-1)."
        )
    if labels.dtype.kind not in ("signed integer", "unsigned integer"):
        raise DTypeError(
            f"accuracy: labels must be integers, but their dtype is {labels.dtype!s} (at {user_site()}). "
            f"Cast them: af.astype(labels, af.int64)."
        )
    if not logits.size:
        raise ShapeError(
            f"accuracy: the mean over no labels, or no classes, does not exist, but logits.shape is {logits.shape} "
            f"(at {user_site()}). Leave empty batches out."
        )
    found = xp.argmax(logits, axis=-1)
    return xp.mean(xp.astype(found == xp.astype(labels, found.dtype), logits.dtype))
