import shutil

import pytest

from arrayflow import FileFormatError
from arrayflow.data import digits, load_digits


class TestLoadDigits:
    def test_the_split_is_fixed_and_on_the_host(self):
        train, test = load_digits()
        assert (tuple(train.images.shape), tuple(train.labels.shape)) == ((1437, 8, 8), (1437,))
        assert (tuple(test.images.shape), tuple(test.labels.shape)) == ((360, 8, 8), (360,))
        assert {str(x.device) for x in (*train, *test)} == {"cpu"}
        assert [str(x.dtype) for x in train] == ["uint8", "int32"]

    def test_no_image_is_in_both_parts(self):
        train, test = load_digits()
        seen = {image.tobytes() for image in train.images.numpy()}
        assert not any(image.tobytes() in seen for image in test.images.numpy())

    def test_pixels_and_classes_are_those_of_the_source(self):
        sklearn = pytest.importorskip("sklearn.datasets", reason="compares with scikit-learn's copy where there is one")
        source = sklearn.load_digits()
        train, test = load_digits()
        assert (test.images.numpy() == source.images[::5]).all()
        assert (test.labels.numpy() == source.target[::5]).all()
        kept = [i for start in range(1, 5) for i in range(start, 1797, 5)]
        assert (train.images.numpy() == source.images[kept]).all()
        assert (train.labels.numpy() == source.target[kept]).all()

    def test_a_damaged_installation_is_noticed(self, tmp_path, monkeypatch):
        for path in digits._FILES.glob("*.gz"):
            shutil.copy(path, tmp_path)
        shutil.copy(tmp_path / "digits-labels-idx1-ubyte.gz", tmp_path / "digits-images-idx3-ubyte.gz")
        monkeypatch.setattr(digits, "_FILES", tmp_path)
        with pytest.raises(FileFormatError, match=r"digits-images-idx3-ubyte.gz must hash to SHA-256 359cd13f"):
            load_digits()

    def test_source_and_licence_are_beside_the_files(self):
        notice = (digits._FILES / "NOTICE.md").read_text()
        for words in ("10.24432/C50P49", "CC BY 4.0", "Alpaydin", digits._IMAGES_SHA256, digits._LABELS_SHA256):
            assert words in notice
