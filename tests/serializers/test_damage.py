"""Damaged, truncated and hostile files: a clear error that names the array or the file, never garbage."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pytest

from arrayflow.errors import FileFormatError, StateMismatchError
from arrayflow.serializers import load_npz, read_npz, save_npz


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


def npy(x: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, x, allow_pickle=True)
    return file.getvalue()


def header(text: str, version: bytes = b"\x01\x00") -> bytes:
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text.encode("latin1")


def described(descr: Any = "<f8", order: Any = False, shape: Any = (2,)) -> bytes:
    return header(repr({"descr": descr, "fortran_order": order, "shape": shape}) + "\n")


def state() -> dict[str, Any]:
    weight = np.arange(12, dtype="float32").reshape(3, 4)
    return {"w": weight, "b": np.asarray([True, False]), "tied": weight, "ü": {"n": 3, "s": "hé"}, "none": None}


def blank() -> dict[str, Any]:
    weight = np.full((3, 4), -1, dtype="float32")
    return {"w": weight, "b": np.asarray([False, False]), "tied": weight, "ü": {"n": -1, "s": ""}, "none": None}


def as_plain(x: dict[str, Any]) -> dict[str, Any]:
    return {k: as_plain(v) if isinstance(v, dict) else v.tolist() if hasattr(v, "tolist") else v for k, v in x.items()}


class TestBitRot:
    @pytest.mark.parametrize("compression", [True, False])
    def test_a_flipped_bit_in_any_byte_is_found_or_harmless(self, compression):
        file = io.BytesIO()
        save_npz(file, state(), compression=compression)
        data = file.getvalue()
        good, untouched = as_plain(state()), as_plain(blank())
        found = 0
        for i in range(len(data)):
            bad = bytearray(data)
            bad[i] ^= 1 << (i % 8)
            into = blank()
            try:
                load_npz(io.BytesIO(bad), into)
            except (FileFormatError, StateMismatchError):
                found += 1
                assert as_plain(into) == untouched
            else:
                # Dates, permissions and the like, which say nothing of the values.
                assert as_plain(into) == good
        assert found > 0.7 * len(data)

    @pytest.mark.parametrize("compression", [True, False])
    def test_the_array_is_named(self, compression, tmp_path):
        path = tmp_path / "m.npz"
        arrays = {"first": np.random.default_rng(0).random(500), "second": np.random.default_rng(1).random(500)}
        save_npz(path, arrays, compression=compression)
        with zipfile.ZipFile(path) as archive:
            start = archive.getinfo("second.npy").header_offset
        data = bytearray(path.read_bytes())
        data[start + 2000] ^= 4
        path.write_bytes(data)
        into = {"first": np.zeros(500), "second": np.zeros(500)}
        with pytest.raises(
            FileFormatError, match=r"m.npz': array 'second' is damaged: .*Take another copy of the file"
        ):
            load_npz(path, into)
        with pytest.raises(FileFormatError, match="array 'second' is damaged"):
            read_npz(path)
        assert not into["first"].any()

    def test_a_damaged_file_is_not_called_a_wrong_one(self):
        file = io.BytesIO()
        save_npz(file, {"w": np.zeros((3, 4)), "x": np.ones(2)}, compression=False)
        data = file.getvalue().replace(b"(3, 4)", b"(4, 3)")
        with pytest.raises(FileFormatError, match="array 'w' is damaged: Bad CRC-32"):
            load_npz(io.BytesIO(data), {"w": np.zeros((3, 4)), "x": np.ones(2)})

    @pytest.mark.parametrize("compression", [True, False])
    def test_a_file_cut_anywhere_is_refused(self, compression):
        file = io.BytesIO()
        save_npz(file, state(), compression=compression)
        data = file.getvalue()
        for length in range(len(data)):
            into = blank()
            with pytest.raises(FileFormatError, match="the BytesIO"):
                load_npz(io.BytesIO(data[:length]), into)
            assert as_plain(into) == as_plain(blank())

    def test_an_array_that_someone_took_out_is_missed(self):
        file = io.BytesIO()
        save_npz(file, {"a": 1, "b": 2})
        with zipfile.ZipFile(file) as archive:
            members = {name: archive.read(name) for name in archive.namelist() if name != "b.npy"}
        with pytest.raises(FileFormatError, match="'__arrayflow__' is damaged: 2 arrays were saved, 1 are there"):
            read_npz(packed(members))


class TestNoArchive:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "the BytesIO is empty: 0 bytes"),
            (b"hello", r"the BytesIO is no .npz file: a zip archive starts with b'PK', this with b'hello'"),
            (npy(np.ones(2)), "is a single .npy array"),
            (b"PK\x03\x04" + bytes(100), "the BytesIO is damaged or truncated"),
            (b"PK", "the BytesIO is damaged or truncated"),
        ],
    )
    def test_the_error_says_what_it_is_instead(self, data, message):
        for call in (read_npz, lambda f: load_npz(f, {})):
            with pytest.raises(FileFormatError, match=message):
                call(io.BytesIO(data))

    def test_a_missing_file_and_a_folder_are_the_systems_errors(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"nothing\.npz"):
            load_npz(tmp_path / "nothing.npz", {})
        with pytest.raises(IsADirectoryError):
            load_npz(tmp_path, {})

    def test_a_pipe_is_refused_with_the_way_out(self):
        there, here = os.pipe()
        try:
            with pytest.raises(OSError, match=r"is a pipe or a device\. Read it into memory first"):
                load_npz(f"/dev/fd/{there}", {})
        finally:
            os.close(there)
            os.close(here)

    def test_a_trouble_of_the_disk_is_not_called_damage(self):
        class Disk(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                raise OSError(5, "Input/output error")

        with pytest.raises(OSError, match="Input/output error"):
            read_npz(Disk(packed({"x.npy": npy(np.ones(2))}).getvalue()))


class TestHostileMembers:
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("../x.npy", r"member '../x.npy' cannot be taken: its part '..' names a folder"),
            ("/etc/x.npy", "its part '' names a folder"),
            ("a\\x.npy", "a path on Windows"),
            ("C:/x.npy", "a path on Windows"),
            (".npy", "it is empty"),
            ("x.txt", r"member 'x.txt' cannot be taken: it is no .npy array"),
            ("folder/", r"it is no .npy array"),
        ],
    )
    def test_names_that_are_no_names(self, name, message):
        with pytest.raises(FileFormatError, match=message):
            read_npz(packed({name: npy(np.ones(2))}))

    def test_a_name_that_is_there_twice(self):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x.npy", npy(np.ones(2)))
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr("x.npy", npy(np.zeros(2)))
        with pytest.raises(
            FileFormatError, match=r"member 'x.npy' is there twice, so nothing tells which one is meant"
        ):
            load_npz(file, {"x": np.ones(2)})

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_other_packing(self, method):
        with pytest.raises(FileFormatError, match=f"packed by another method than deflate \\(method {method}\\)"):
            read_npz(packed({"x.npy": npy(np.ones(2))}, method))

    def test_pickles_are_not_read(self):
        with pytest.raises(FileFormatError, match=r"array 'x' holds Python objects: .* pickles"):
            load_npz(packed({"x.npy": npy(np.asarray([{}], dtype=object))}), {"x": np.ones(1)})
        with pytest.raises(FileFormatError, match=r"array 'x' does not start with the header of a .npy array"):
            read_npz(packed({"x.npy": b"\x80\x04K\x01."}))

    @pytest.mark.parametrize(
        ("member", "message"),
        [
            (b"", "does not start with the header"),
            (b"\x93NUMPY\x01", "does not start with the header"),
            (b"\x93NUMPY\x04\x00\x00\x00", "does not start with the header"),
            (header("x" * 20_000), "a header of 20000 bytes; no more than 10000 are read"),
            (header("{'descr': '<f8'}")[:-3], "ends inside its header"),
            (header("__import__('os').abort()"), "a damaged header"),
            (header("{" * 5_000), "a damaged header"),
            (header("-" * 9_000 + "1"), "a damaged header"),
            (header("[]"), "a damaged header"),
            (header("{'descr': '<f8'}"), "a damaged header"),
            (header("{'descr': '<f8', 'fortran_order': False, 'shape': (), 'x': 1}"), "a damaged header"),
            (described(order=0), "a damaged header"),
            (described(shape=[2]), "a damaged header"),
            (described(shape=(-2,)), "a damaged header"),
            (described(shape=(2.0,)), "a damaged header"),
            (described(shape=(True,)), "a damaged header"),
            (described(descr=[("a", "<f8")]), "records or an unknown type"),
            (described(descr="<f8, <f8"), "records or an unknown type"),
            (described(descr="<f16"), "the data type '<f16' and the shape"),
            (described(descr="<M8[s]"), "records or an unknown type"),
            (described(descr="<U3"), "the data type '<U3' and the shape"),
            (described(shape=(1 << 60,)), "shape .1152921504606846976,., 9223372036854775808 bytes, but there are 0"),
            (described(shape=(1 << 40, 1 << 40)), "damaged: its header says shape"),
            (described() + bytes(15), "16 bytes, but there are 15"),
            (described() + bytes(17), "16 bytes, but there are 17"),
            (described("|b1") + b"\x01\x02", "an array of bool and holds other bytes than 0 and 1"),
            (described("<U1", shape=()) + b"\xff" * 4, "damaged"),
        ],
    )
    def test_members_that_are_no_arrays(self, member, message):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with pytest.raises(FileFormatError, match=rf"array 'bad' .*{message}"):
                read_npz(packed({"bad.npy": member}, method))

    def test_later_header_versions_are_read(self):
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n"
        for version in (b"\x02\x00", b"\x03\x00"):
            assert read_npz(packed({"x.npy": header(text, version) + bytes(8)}))["x"].tolist() == [0]

    def test_a_directory_that_claims_more_than_the_file_has(self):
        data = bytearray(packed({"x.npy": npy(np.ones(2))}, zipfile.ZIP_DEFLATED).getvalue())
        at = data.rindex(b"PK\x01\x02")
        data[at + 24 : at + 28] = struct.pack("<I", 1 << 31)
        with pytest.raises(FileFormatError, match=r"claims 2147483648 bytes, and the .* stored make .* at most"):
            read_npz(io.BytesIO(data))

    def test_a_bomb_is_not_unpacked_for_an_object_it_does_not_fit(self):
        size = 1 << 28
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
            member.write(described("|u1", shape=(size,)))
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))
        tracemalloc.start()
        try:
            with pytest.raises(StateMismatchError):
                load_npz(file, {"x": np.zeros(1, "uint8")})
            assert tracemalloc.get_traced_memory()[1] < 1 << 24
        finally:
            tracemalloc.stop()


class TestNotes:
    @pytest.mark.parametrize(
        ("notes", "message"),
        [
            ("{", "the member '__arrayflow__' is damaged"),
            ("[" * 100_000, "is damaged"),
            ("[]", "is damaged"),
            ("{}", "is damaged: 'format'"),
            ('{"format": 2, "arrays": 1}', r"is of format 2, and this arrayflow reads format 1. Update it"),
            ('{"format": 1}', "is damaged: 'arrays'"),
            ('{"format": 1, "arrays": 2}', "2 arrays were saved, 1 are there"),
            ('{"format": 1, "arrays": 1, "aliases": {"y": "z"}}', "is damaged: 'z'"),
            ('{"format": 1, "arrays": 1, "aliases": {"x": "x"}}', "a name means two things"),
            ('{"format": 1, "arrays": 1, "aliases": {"y": "x"}, "uninitialised": ["y"]}', "a name means two things"),
            ('{"format": 1, "arrays": 1, "aliases": 3}', "is damaged"),
            ('{"format": 1, "arrays": 1, "aliases": {"y": []}}', "is damaged"),
            ('{"format": 1, "arrays": 1, "uninitialised": ["x"]}', "a name means two things"),
            ('{"format": 1, "arrays": 1, "uninitialised": [[]]}', "is damaged"),
            ('{"format": 1, "arrays": 1, "uninitialised": [1]}', "is damaged"),
            ('{"format": 1, "arrays": 1, "dtypes": {"x": "bfloat16"}}', "a type it names does not fit its array"),
            ('{"format": 1, "arrays": 1, "dtypes": {"x": "int3"}}', "a type it names does not fit its array"),
            ('{"format": 1, "arrays": 1, "dtypes": []}', "is damaged"),
        ],
    )
    def test_notes_that_make_no_sense_are_refused(self, notes, message):
        file = packed({"x.npy": npy(np.ones(2)), "__arrayflow__.npy": npy(np.asarray(notes))}, zipfile.ZIP_DEFLATED)
        with pytest.raises(FileFormatError, match=f"the BytesIO.*{message}"):
            read_npz(file)

    def test_notes_that_are_no_string_are_refused(self):
        with pytest.raises(FileFormatError, match="'__arrayflow__' is damaged: it holds float64, not a string"):
            read_npz(packed({"__arrayflow__.npy": npy(np.ones(2))}))
