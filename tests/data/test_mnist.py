import gzip
import struct
import sys
from types import SimpleNamespace

import pytest

from arrayflow import FileFormatError
from arrayflow.data import load_mnist


def write_mnist(folder, train=20, test=10, labels=None):
    """Four files in MNIST's format, whose images are 28 by 28 and have the label as their first pixel."""
    for stem, n in (("train", train), ("t10k", test)):
        classes = bytes(i % 10 for i in range(n))
        images = b"".join(bytes([c]) + bytes(783) for c in classes)
        head = struct.pack(">HBB3I", 0, 8, 3, n, 28, 28)
        (folder / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images))
        count = n if labels is None else labels
        head = struct.pack(">HBBI", 0, 8, 1, count)
        (folder / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + (classes * 2)[:count]))


class TestLoadMnist:
    def test_four_files_become_two_parts_on_the_host(self, tmp_path):
        write_mnist(tmp_path)
        train, test = load_mnist(tmp_path)
        assert (tuple(train.images.shape), tuple(test.images.shape)) == ((20, 28, 28), (10, 28, 28))
        assert [str(x.dtype) for x in test] == ["uint8", "int32"]
        assert test.images.numpy()[:, 0, 0].tolist() == test.labels.numpy().tolist() == list(range(10))

    def test_a_missing_file_is_named_with_its_address_and_folder(self, tmp_path):
        write_mnist(tmp_path)
        (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
        with pytest.raises(FileNotFoundError) as error:
            load_mnist(tmp_path)
        text = str(error.value)
        assert f"{tmp_path} lacks t10k-labels-idx1-ubyte.gz." in text
        assert "https://" in text
        assert "download=True" in text
        assert "train" not in text

    def test_parts_that_do_not_belong_together_are_refused(self, tmp_path):
        write_mnist(tmp_path, labels=12)
        with pytest.raises(FileFormatError, match=r"the train files .* have \(20, 28, 28\) and \(12,\)"):
            load_mnist(tmp_path)


class TestDownload:
    def test_only_missing_files_are_fetched_and_checked(self, tmp_path, monkeypatch):
        write_mnist(tmp_path)
        missing = tmp_path / "train-labels-idx1-ubyte.gz"
        content = missing.read_bytes()
        missing.unlink()
        calls = []

        def retrieve(url, known_hash, fname, path):
            calls.append((url.rpartition("/")[2], known_hash[:15]))
            (path / fname).write_bytes(content)

        monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=retrieve))
        load_mnist(tmp_path, download=True)
        assert calls == [("train-labels-idx1-ubyte.gz", "sha256:3552534a")]

    def test_a_missing_pooch_says_how_to_go_on(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(
            ModuleNotFoundError, match=r"pooch, which is not installed. Place train-images.* by hand, or: pip"
        ):
            load_mnist(tmp_path, download=True)

    @pytest.mark.parametrize("error", [OSError("Name or service not known"), ValueError("SHA256 hash does not match")])
    def test_a_failed_download_says_why_and_how_to_go_on(self, tmp_path, monkeypatch, error):
        def retrieve(*args, **kwargs):
            raise error

        monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=retrieve))
        with pytest.raises(ConnectionError, match=rf"verified \({error}\)\. Place train-images.* by hand"):
            load_mnist(tmp_path, download=True)
