"""MNIST: read from a folder, or downloaded into it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ..errors import FileFormatError
from ..namespace import astype, int32
from .idx import read_idx
from .split import Split

__all__ = ["load_mnist"]

_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
# SHA-256 of the archives at that address.
_ARCHIVES = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}


def _by_hand(folder: Path, missing: list[str]) -> str:
    return f"Place {', '.join(missing)} from {_URL} into {folder.absolute()} by hand"


def _download(folder: Path, missing: list[str]) -> None:
    try:
        import pooch
    except ImportError as error:
        raise ModuleNotFoundError(
            f"load_mnist: downloading needs the package pooch, which is not installed. "
            f"{_by_hand(folder, missing)}, or: pip install pooch"
        ) from error
    for name in missing:
        try:
            pooch.retrieve(f"{_URL}{name}", known_hash=f"sha256:{_ARCHIVES[name]}", fname=name, path=folder)
        except (OSError, ValueError) as error:  # offline or refused; not the file whose hash is known
            raise ConnectionError(
                f"load_mnist: {_URL}{name} could not be downloaded and verified ({error}). {_by_hand(folder, missing)}."
            ) from error


def _part(folder: Path, stem: str) -> Split:
    images = read_idx(folder / f"{stem}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{stem}-labels-idx1-ubyte.gz")
    if len(images.shape) != 3 or tuple(labels.shape) != tuple(images.shape[:1]):
        raise FileFormatError(
            f"load_mnist: images must have shape (N, H, W) and labels (N,), but the {stem} files in {folder} have "
            f"{tuple(images.shape)} and {tuple(labels.shape)}. They are not of one data set: fetch both again."
        )
    return Split(images, astype(labels, int32))


def load_mnist(folder: str | PathLike[str], *, download: bool = False) -> tuple[Split, Split]:
    """MNIST's 60,000 training and 10,000 test images of 28 by 28 pixels, from its four gzipped IDX files.

    Other data sets in the same four files, such as Fashion-MNIST, are read as well.

    Parameters
    ----------
    folder : path
        Where the four files are.
    download : bool
        Whether to fetch files that are missing there (needs the package ``pooch``; each is checked against
        its SHA-256).

    Returns
    -------
    train, test : Split
        Each with ``images``, shape (N, 28, 28), uint8, and ``labels``, shape (N,), int32, on the host.

    Raises
    ------
    FileNotFoundError
        If a file is missing and `download` is False.
    ModuleNotFoundError, ConnectionError
        If `download` is True and the files cannot be fetched; the text says how to place them by hand.
    FileFormatError
        If a file is damaged, or the files do not belong together.

    References
    ----------
    Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-based learning applied to document recognition,
    Proceedings of the IEEE 86, 1998.

    Examples
    --------
    >>> load_mnist("no/such/folder")
    Traceback (most recent call last):
    FileNotFoundError: load_mnist: ...train-images-idx3-ubyte.gz...
    """
    folder = Path(folder).expanduser()
    missing = [name for name in _ARCHIVES if not (folder / name).is_file()]
    if missing and not download:
        raise FileNotFoundError(
            f"load_mnist: {folder.absolute()} lacks {', '.join(missing)}. "
            f"Place them there by hand, from {_URL}, or have them downloaded: download=True (--download)."
        )
    if missing:
        _download(folder, missing)
    return _part(folder, "train"), _part(folder, "t10k")
