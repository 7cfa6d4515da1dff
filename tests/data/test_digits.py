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
        train, test = load_digits()
        classes = [*train.labels.numpy().tolist(), *test.labels.numpy().tolist()]
        # The counts that the repository's own description gives for the test set.
        assert [classes.count(c) for c in range(10)] == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
        pixels = [*train.images.numpy().ravel().tolist(), *test.images.numpy().ravel().tolist()]
        assert (min(pixels), max(pixels)) == (0, 16)
        assert test.images.numpy()[0, :3].tolist() == [
            [0, 0, 5, 13, 9, 1, 0, 0],
            [0, 0, 13, 15, 10, 15, 5, 0],
            [0, 3, 15, 2, 0, 11, 8, 0],
        ]

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
