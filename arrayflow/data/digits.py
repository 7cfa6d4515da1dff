"""The handwritten digits that come with the package (see ``files/NOTICE.md`` for their source and licence)."""

from __future__ import annotations

from pathlib import Path

from ..namespace import astype, concat, int32
from .idx import read_idx
from .split import Split

__all__ = ["load_digits"]

_FILES = Path(__file__).parent / "files"
# Of the unpacked files: a damaged installation is noticed before a net is trained on it.
_IMAGES_SHA256 = "359cd13f0f514122884198b78a131df597421cbf5e93a76678fa96fc548f0d96"
_LABELS_SHA256 = "ce71631c1f31ce56fa54f31d1d498fafacff59b001e6c30c4a5e29508aa277ad"
_EVERY = 5


def load_digits() -> tuple[Split, Split]:
    """The 1,797 handwritten digits of 8 by 8 pixels that come with arrayflow, as a training and a test part.

    The split is fixed: images 0, 5, 10, ... of the file are the 360 for testing, the other 1,437 are for
    training. Pixels are in [0, 16], the ten classes are about equally frequent.

    Returns
    -------
    train, test : Split
        Each with ``images``, shape (N, 8, 8), uint8, and ``labels``, shape (N,), int32, on the host.

    Raises
    ------
    FileFormatError
        If the packaged files are damaged.

    References
    ----------
    E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository,
    1998, doi:10.24432/C50P49. Licence CC BY 4.0.

    Examples
    --------
    >>> train, test = load_digits()
    >>> train.images.shape, test.images.shape
    ((1437, 8, 8), (360, 8, 8))
    >>> [int(label) for label in test.labels[:4]]
    [0, 5, 0, 5]
    """
    images = read_idx(_FILES / "digits-images-idx3-ubyte.gz", sha256=_IMAGES_SHA256)
    labels = astype(read_idx(_FILES / "digits-labels-idx1-ubyte.gz", sha256=_LABELS_SHA256), int32)
    train = Split(*(concat([x[start::_EVERY] for start in range(1, _EVERY)]) for x in (images, labels)))
    return train, Split(images[::_EVERY], labels[::_EVERY])
