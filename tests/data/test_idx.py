import gzip
import hashlib
import struct

import pytest

from arrayflow import FileFormatError
from arrayflow.data import read_idx


def write(path, code, shape, values, pack=gzip.compress):
    content = bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values
    path.write_bytes(pack(content))
    return content


class TestReadIdx:
    @pytest.mark.parametrize(
        ("code", "letter", "dtype", "values"),
        [
            (0x08, "B", "uint8", [0, 1, 254, 255]),
            (0x09, "b", "int8", [-128, -1, 0, 127]),
            (0x0B, "h", "int16", [-32768, -2, 3, 32767]),
            (0x0C, "i", "int32", [-(2**31), -2, 3, 2**31 - 1]),
            (0x0D, "f", "float32", [0.5, -1.25, 3.0, float("inf")]),
            (0x0E, "d", "float64", [0.1, -1.25, 3.0, 1e300]),
        ],
    )
    def test_each_type_comes_back_on_the_host_with_shape_and_values(self, tmp_path, code, letter, dtype, values):
        path = tmp_path / "x"
        write(path, code, (2, 2), struct.pack(f">4{letter}", *values))
        x = read_idx(path)
        assert (tuple(x.shape), str(x.dtype), str(x.device)) == ((2, 2), dtype, "cpu")
        assert x.numpy().ravel().tolist() == values

    def test_a_plain_file_is_read_as_well(self, tmp_path):
        write(tmp_path / "x", 0x08, (3,), b"abc", pack=bytes)
        assert read_idx(str(tmp_path / "x")).numpy().tolist() == [97, 98, 99]

    def test_a_file_without_elements_keeps_its_shape(self, tmp_path):
        write(tmp_path / "x", 0x08, (0, 28, 28), b"")
        assert tuple(read_idx(tmp_path / "x").shape) == (0, 28, 28)

    def test_the_array_is_the_callers_own(self, tmp_path):
        write(tmp_path / "x", 0x08, (2,), b"ab")
        x, again = read_idx(tmp_path / "x"), read_idx(tmp_path / "x")
        x[0] = 5
        assert x.numpy().tolist() == [5, 98]
        assert again.numpy().tolist() == [97, 98]

    def test_its_hash_is_checked_when_given(self, tmp_path):
        content = write(tmp_path / "x", 0x08, (2,), b"ab")
        good = hashlib.sha256(content).hexdigest()
        assert tuple(read_idx(tmp_path / "x", sha256=good).shape) == (2,)
        with pytest.raises(FileFormatError, match=rf"must hash to SHA-256 0000, but hashes to {good}"):
            read_idx(tmp_path / "x", sha256="0000")

    @pytest.mark.parametrize("cut", [1, 8, 30])
    def test_a_truncated_archive_is_refused(self, tmp_path, cut):
        path = tmp_path / "x"
        write(path, 0x08, (5,), b"abcde")
        path.write_bytes(path.read_bytes()[:-cut])
        with pytest.raises(FileFormatError, match=r"damaged or truncated gzip file of \d+ bytes"):
            read_idx(path)

    def test_a_flipped_bit_is_refused(self, tmp_path):
        path = tmp_path / "x"
        write(path, 0x08, (1000,), bytes(range(250)) * 4)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"damaged or truncated gzip"):
            read_idx(path)

    @pytest.mark.parametrize("values", [b"abcd", b"abcdef"])
    def test_a_length_other_than_the_header_states_is_refused(self, tmp_path, values):
        write(tmp_path / "x", 0x08, (5,), values, pack=bytes)
        with pytest.raises(
            FileFormatError, match=rf"shape \(5,\), which takes 13 bytes unpacked, but it has {8 + len(values)}"
        ):
            read_idx(tmp_path / "x")

    @pytest.mark.parametrize(
        "content", [b"", b"PK\x03\x04 a zip", b"\0\0\x07\x01\0\0\0\0", b"\0\0\x08", b"\0\0\x08\x02\0\0"]
    )
    def test_other_files_are_refused(self, tmp_path, content):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(FileFormatError, match=r"It is no IDX file|truncated or damaged"):
            read_idx(tmp_path / "x")
