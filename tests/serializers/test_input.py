"""What can be given: keys, leaves, files; and how much memory it takes."""

from __future__ import annotations

import contextlib
import io
import pathlib
import tempfile
import tracemalloc
from typing import Any

import numpy as np
import pytest

from arrayflow.errors import DTypeError
from arrayflow.serializers import load_npz, read_npz, save_npz


def saved(obj: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    save_npz(file, obj, **options)
    file.seek(0)
    return file


class TestNames:
    @pytest.mark.parametrize(
        ("key", "why"),
        [
            ("", "it is empty"), ("/a", "its part '' names a folder"), ("a//b", "its part '' names a folder"),
            ("a/", "its part '' names a folder"), ("..", "its part '..' names a folder"), ("a/../b", "names a folder"),
            (".", "its part '.' names a folder"), ("a\\b", "a path on Windows"), ("C:/x", "a path on Windows"),
            ("a\0b", "a control character"), ("a\nb", "a control character"), ("\ud800", "half a surrogate pair"),
            ("x.npy", "numpy.load"), ("__arrayflow__", "arrayflow's own"), ("x" * 70_000, "more than 60000 bytes"),
        ],
    )  # fmt: skip
    def test_a_key_that_is_no_safe_name_is_refused(self, key, why):
        for function in (save_npz, load_npz):
            with pytest.raises(ValueError, match=rf"{function.__name__}: .* cannot name an array in a file: .*{why}"):
                function(io.BytesIO(), {key: 1})

    @pytest.mark.parametrize("key", ["a.b", "a b", "ключ", "\U0001f600", "a/b", "e\u0301", "\u00e9", "w:0", "-", "..."])
    def test_other_keys_are_kept_as_they_are(self, key):
        file = saved({key: np.ones(2)})
        assert np.load(file, allow_pickle=False)[key].tolist() == [1, 1]
        assert list(read_npz(file)) == [key]

    def test_two_values_of_one_name_are_refused(self):
        with pytest.raises(ValueError, match="two values have the name 'a/b'"):
            saved({"a": {"b": 1}, "a/b": 2})

    def test_keys_are_strings(self):
        with pytest.raises(TypeError, match=r"keys are strings, but 3 in 'a' is a int. Use str\(key\)"):
            saved({"a": {3: 1}})

    def test_a_dictionary_that_contains_itself_is_refused(self):
        state: dict[str, Any] = {"x": 1}
        state["again"] = {"state": state}
        with pytest.raises(ValueError, match="'again/state' contains itself"):
            saved(state)


class TestWhatCannotBeSaved:
    def test_objects_are_refused_by_name(self):
        with pytest.raises(DTypeError, match=r"save_npz: 'a/x' is an array of object, .* pickles"):
            saved({"a": {"x": np.asarray([{}], dtype=object)}})

    @pytest.mark.parametrize("dtype", ["M8[s]", "S3", "U3", "f4,i4", "longdouble"])
    def test_types_outside_the_standard_are_refused_by_name(self, dtype):
        with pytest.raises(DTypeError, match=r"'x' is an array of .*, which a file cannot hold"):
            saved({"x": np.zeros(2, dtype=dtype)})

    @pytest.mark.parametrize("value", [[1, 2], (1,), {1}, b"x", object(), range(3)])
    def test_other_leaves_are_refused_by_name(self, value):
        with pytest.raises(TypeError, match=f"'a/x' is a {type(value).__name__}, which a file cannot hold"):
            saved({"a": {"x": value}})

    def test_an_integer_of_more_than_64_bits_is_refused(self):
        with pytest.raises(ValueError, match="'n' is 9223372036854775808, which 64 bits do not hold"):
            saved({"n": 1 << 63})

    @pytest.mark.parametrize("text", ["x\0", "\udc80"])
    def test_a_string_that_numpy_would_change_is_refused(self, text):
        with pytest.raises(ValueError, match="the string 's'"):
            saved({"s": text})

    @pytest.mark.parametrize("obj", [np.ones(2), 3, None, [1]])
    def test_a_value_without_a_name_is_refused(self, obj):
        for function in (save_npz, load_npz):
            with pytest.raises(TypeError, match=r"obj is a Link, an optimizer or a dictionary, but a .* was given"):
                function(io.BytesIO(), obj)

    def test_nothing_is_written_when_something_cannot_be_saved(self, tmp_path):
        path = tmp_path / "m.npz"
        save_npz(path, {"x": 1})
        before = path.read_bytes()
        with pytest.raises(TypeError):
            save_npz(path, {"x": 2, "y": [1]})
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


class TestFiles:
    @pytest.mark.parametrize("kind", [str, pathlib.Path, lambda p: bytes(pathlib.Path(p))])
    def test_a_path_is_used_as_it_is(self, tmp_path, kind):
        path = kind(str(tmp_path / "model.weights"))
        save_npz(path, {"x": 1})
        state = {"x": 0}
        load_npz(path, state)
        assert state == {"x": 1}
        assert [p.name for p in tmp_path.iterdir()] == ["model.weights"]
        assert read_npz(path)["x"] == 1

    def test_file_objects_stay_open(self, tmp_path):
        with contextlib.ExitStack() as stack:
            for file in (
                io.BytesIO(),
                stack.enter_context(tempfile.TemporaryFile()),
                stack.enter_context(tempfile.SpooledTemporaryFile()),
                stack.enter_context((tmp_path / "f").open("w+b")),
            ):
                save_npz(file, {"x": 1})
                state = {"x": 0}
                load_npz(file, state)
                assert state == {"x": 1}
                assert not file.closed

    def test_a_stream_that_cannot_be_positioned_can_be_written(self):
        class Pipe(io.RawIOBase):
            def __init__(self):
                self.data = b""

            def writable(self):
                return True

            def write(self, data):
                self.data += bytes(data)
                return len(data)

        pipe = Pipe()
        save_npz(pipe, {"x": np.ones(2)}, compression=False)
        assert read_npz(io.BytesIO(pipe.data))["x"].tolist() == [1, 1]

    def test_a_stream_that_cannot_be_positioned_is_not_read(self):
        class Pipe(io.BytesIO):
            def seekable(self):
                return False

        with pytest.raises(io.UnsupportedOperation, match=r"Read it into memory first: io.BytesIO\(file.read\(\)\)"):
            load_npz(Pipe(), {})

    def test_text_files_closed_files_and_other_things_are_refused(self):
        closed = io.BytesIO()
        closed.close()
        for call in (lambda f: save_npz(f, {}), lambda f: load_npz(f, {}), read_npz):
            with pytest.raises(TypeError, match=r"open for text\. Open it with mode 'wb' or 'rb'"):
                call(io.StringIO())
            with pytest.raises(ValueError, match="the file object is closed"):
                call(closed)
            with pytest.raises(TypeError, match="file is a path or a binary file object, but a int was given"):
                call(3)


class TestMemory:
    """A model may be as large as memory: one array more is too much."""

    SIZE = 1 << 25

    def peak(self, function):
        tracemalloc.start()
        try:
            function()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_saving_copies_a_piece_at_a_time(self, tmp_path, order):
        x = np.zeros((1 << 10, self.SIZE >> 12), dtype="float32", order=order)
        assert self.peak(lambda: save_npz(tmp_path / "x", {"x": x}, compression=False)) < self.SIZE // 4

    def test_loading_takes_the_values_once(self, tmp_path):
        save_npz(tmp_path / "x", {"x": np.zeros(self.SIZE >> 2, dtype="float32")}, compression=False)
        state = {"x": np.zeros(self.SIZE >> 2, dtype="float32")}
        assert self.peak(lambda: load_npz(tmp_path / "x", state)) < self.SIZE * 1.25
