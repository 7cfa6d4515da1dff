"""Loss functions."""

from __future__ import annotations

from typing import Any

from ..namespace import neural

__all__ = ["softmax_cross_entropy"]


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Mean cross entropy between ``softmax(logits)`` and integer labels.

    With z the logits and t the label of one item, its part is ``log(sum_k exp(z_k)) - z_t``.

    Parameters
    ----------
    logits : array or Variable, shape (..., K), real
        Unnormalised log-probabilities.
    labels : array or Variable, shape (...), integral
        Class indices in [0, K). On the host their range is always checked; elsewhere under ``config.debug``, since
        that reads the device. Unchecked, a label out of range makes the loss and its gradients NaN, never a wrong
        number.

    Returns
    -------
    array or Variable, shape (), dtype of `logits`
        The mean over all leading axes, in nats.

    Raises
    ------
    ShapeError
        If ``labels.shape != logits.shape[:-1]``, or there is no label: the mean over nothing does not exist.
    DTypeError
        If the labels are no integers.
    ValueError
        If a label is seen to be out of range.
    DeviceMismatchError
        If both do not live on one device. Nothing has been computed.

    References
    ----------
    C. Bishop, Pattern Recognition and Machine Learning, 2006, sec. 4.3.4.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F
    >>> logits, labels = af.zeros((2, 4), device="cpu"), af.asarray([0, 3], device="cpu")
    >>> f"{float(F.softmax_cross_entropy(logits, labels)):.6f}"  # log 4
    '1.386294'
    """
    return neural.softmax_cross_entropy(logits, labels)
