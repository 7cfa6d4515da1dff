"""What is saved comes back, bit for bit, and NumPy reads it too."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

from arrayflow.autograd.variable import Variable
from arrayflow.backends import registry
from arrayflow.device import Device, device_of_raw, move, to_host
from arrayflow.dtypes import DTYPES
from arrayflow.errors import DTypeError, GraphError
from arrayflow.serializers import load_npz, read_npz, save_npz
from arrayflow.transfers import transfers


def saved(obj: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    save_npz(file, obj, **options)
    file.seek(0)
    return file


def numpy_reads(file: io.BytesIO) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files if name != "__arrayflow__"}


def notes(file: io.BytesIO) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as arrays:
        return json.loads(str(arrays["__arrayflow__"]))


def same(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


ROOT = np.arange(24, dtype="float32").reshape(2, 3, 4)
LAYOUTS = {
    "contiguous": ROOT,
    "Fortran order": np.asfortranarray(ROOT),
    "transposed": ROOT.transpose(2, 0, 1),
    "every second, backwards": ROOT[:, ::-1, ::2],
    "broadcast": np.broadcast_to(np.float32(3), (4, 5)),
    "0-d": np.asarray(2.5),
    "0-d slice": ROOT[1, 2, 3, ...],
    "empty": np.zeros((3, 0, 2), dtype="int16"),
    "empty, transposed": np.zeros((3, 0, 2), dtype="int16").T,
    "empty vector": np.zeros(0),
    "big-endian": ROOT.astype(">f4"),
    "unaligned": np.frombuffer(b"x" + ROOT.tobytes(), dtype="float32", offset=1),
    "read-only": np.frombuffer(ROOT.tobytes(), dtype="float32"),
}
STANDARD_DTYPES = [name for name in DTYPES if name != "bfloat16"]


class TestRoundTrip:
    @pytest.mark.parametrize("compression", [True, False])
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_a_memory_layout_does_not_change_the_values(self, layout, compression):
        x = LAYOUTS[layout]
        file = saved({"x": x}, compression=compression)
        native = np.array(x, dtype=x.dtype.newbyteorder("="), order="C")
        assert numpy_reads(file)["x"].shape == x.shape
        assert (numpy_reads(file)["x"] == x).all()
        state = {"x": np.ones_like(native)}
        load_npz(file, state)
        assert same(state["x"], native)
        assert state["x"].flags.c_contiguous
        assert state["x"].flags.writeable

    @pytest.mark.parametrize("dtype", STANDARD_DTYPES)
    def test_every_data_type_keeps_its_bits(self, dtype):
        bits = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 256, 32 * 3, dtype="uint8")
        x = bits.view(dtype)
        file = saved({"x": x})
        assert same(numpy_reads(file)["x"], x)
        assert same(read_npz(file)["x"], x)

    def test_nan_payloads_infinities_and_negative_zero_keep_their_bits(self):
        bits = np.asarray([0x7FC00001, 0xFFC12345, 0x7F800001, 0x7F800000, 0xFF800000, 0x80000000, 1], dtype="uint32")
        state = {"x": np.zeros(7, dtype="float32")}
        load_npz(saved({"x": bits.view("float32")}), state)
        assert (state["x"].view("uint32") == bits).all()

    def test_bfloat16_keeps_its_bits_and_numpy_sees_them_as_uint16(self):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        x = np.arange(6, dtype="uint16").reshape(2, 3).view(ml_dtypes.bfloat16).T
        file = saved({"x": x, "y": np.zeros(2)})
        assert same(numpy_reads(file)["x"], np.ascontiguousarray(x.view("uint16")))
        assert notes(file)["dtypes"] == {"x": "bfloat16"}
        state = {"x": np.zeros((3, 2), dtype=ml_dtypes.bfloat16), "y": np.ones(2)}
        load_npz(file, state)
        assert state["x"].dtype == ml_dtypes.bfloat16
        assert (state["x"].view("uint16") == x.view("uint16")).all()

    def test_bfloat16_without_its_package_is_refused_by_name(self, monkeypatch):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        file = saved({"x": np.zeros(2, dtype=ml_dtypes.bfloat16)})
        host = registry.get("cpu")
        monkeypatch.setattr(host, "raw_dtypes", {d: raw for d, raw in host.raw_dtypes.items() if d != "bfloat16"})
        with pytest.raises(DTypeError, match=r"the BytesIO: array 'x' is bfloat16, .* pip install ml_dtypes"):
            read_npz(file)

    def test_python_numbers_strings_and_none_keep_their_type_and_value(self):
        values = {
            "flag": True, "step": -(1 << 63), "lr": 0.1, "root": 1 - 2j, "note": "héllo \U0001f600 \0 /",
            "none": None, "empty": "", "scalar": np.float16(1.5), "nan": float("nan"),
        }  # fmt: skip
        state = {
            "flag": False, "step": 0, "lr": 0.0, "root": 0j, "note": "x", "none": None, "empty": "x",
            "scalar": np.float16(0), "nan": 0.0,
        }  # fmt: skip
        file = saved(values)
        load_npz(file, state)
        assert {k: type(v) for k, v in state.items()} == {k: type(v) for k, v in values.items()}
        assert state.pop("nan") != values.pop("nan")
        assert state == values
        assert str(numpy_reads(file)["note"]) == values["note"]

    def test_nested_dictionaries_join_their_keys(self):
        file = saved({"a": {"b": {"c.d": np.ones(2)}, "ü": 1}, "empty": {}})
        assert sorted(numpy_reads(file)) == ["a/b/c.d", "a/ü"]
        state = {"a": {"b": {"c.d": np.zeros(2)}, "ü": 0}, "empty": {}}
        load_npz(file, state)
        assert state["a"]["ü"] == 1
        assert state["a"]["b"]["c.d"].tolist() == [1, 1]

    @pytest.mark.parametrize("empty", [{}, {"a": {}}])
    def test_nothing_can_be_saved_and_loaded(self, empty, new_model):
        assert numpy_reads(saved(empty)) == {}
        load_npz(saved(empty), empty)
        load_npz(saved(new_model()), new_model())

    def test_the_same_state_gives_the_same_bytes(self):
        state = {"x": np.ones(100), "n": 3}
        assert saved(state).getvalue() == saved(state).getvalue()

    def test_compression_makes_a_smaller_file(self):
        state = {"x": np.zeros(10_000)}
        small, large = saved(state).getvalue(), saved(state, compression=False).getvalue()
        assert len(small) < 2_000 < 80_000 < len(large)

    def test_a_saved_array_is_a_snapshot(self):
        x = np.ones(3)
        file = saved({"x": x})
        x[:] = 5
        assert read_npz(file)["x"].tolist() == [1, 1, 1]


class TestVariables:
    def test_a_variable_keeps_its_identity_and_device(self, device):
        v = Variable(move(np.arange(3, dtype="float32"), Device(device)), requires_grad=True)
        file = saved({"v": v})
        old = v.array
        v.array = move(np.zeros(3, dtype="float32"), Device(device))
        state = {"v": v}
        load_npz(file, state)
        assert state["v"] is v
        assert v.array is not old
        assert v.device == device
        assert v.requires_grad
        assert to_host(v.array).tolist() == [0, 1, 2]

    def test_a_result_is_saved_but_not_loaded_into(self):
        x = Variable(np.ones(2, dtype="float32"), requires_grad=True)
        x._node = object()  # what marks a result
        file = saved({"y": x})
        with pytest.raises(GraphError, match=r"'y' is a result .* Load into y.detach\(\)"):
            load_npz(file, {"y": x})


class TestDevices:
    def test_an_array_is_read_once_and_written_once(self, device):
        raw = {name: move(np.full(n, n, dtype="float32"), Device(device)) for name, n in (("a", 3), ("b", 4))}
        with transfers() as out:
            file = saved(raw)
        state = {name: move(np.zeros(n, dtype="float32"), Device(device)) for name, n in (("a", 3), ("b", 4))}
        with transfers() as back:
            load_npz(file, state)
        host = Device(device).is_host
        assert out.total("d2h") == back.total("h2d") == ((0, 0) if host else (2, 28))
        assert out.count == back.count == (0 if host else 2)
        assert {(e.kind, e.entry) for e in (*out.entries, *back.entries)} <= {
            ("explicit", "save_npz"),
            ("explicit", "load_npz"),
        }
        assert all(e.site.startswith(__file__) for e in (*out.entries, *back.entries))
        assert [device_of_raw(x) for x in state.values()] == [device, device]
        assert to_host(state["b"]).tolist() == [4, 4, 4, 4]

    def test_a_file_has_no_device(self, device):
        x = np.arange(6, dtype="float32").reshape(2, 3)
        there, here = saved({"x": move(x, Device(device))}), saved({"x": x})
        assert there.getvalue() == here.getvalue()

    def test_a_transposed_array_of_a_device_is_saved_in_c_order(self, device):
        backend = Device(device).backend
        x = np.arange(6, dtype="float32").reshape(2, 3)
        turned = backend.xp.permute_dims(move(x, Device(device)), (1, 0))
        assert same(read_npz(saved({"x": turned}))["x"], np.ascontiguousarray(x.T))

    def test_bfloat16_of_a_device_keeps_its_bits(self, device):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        where = Device(device)
        if "bfloat16" not in where.backend.dtypes_on(where.native):
            pytest.skip("the device has no bfloat16")
        host = np.asarray([1.5, -2.25, 3.0], dtype=ml_dtypes.bfloat16)
        state = {"x": move(np.zeros(3, dtype=ml_dtypes.bfloat16), where)}
        load_npz(saved({"x": move(host, where)}), state)
        assert device_of_raw(state["x"]) == device
        assert to_host(state["x"]).tobytes() == host.tobytes()

    def test_a_host_array_that_was_loaded_is_nobody_elses(self, device):
        x = move(np.ones(3, dtype="float32"), Device(device))
        state = {"a": x, "b": move(np.ones(3, dtype="float32"), Device(device))}
        load_npz(saved({"a": x, "b": x}), state)  # one array in the file, two owners here
        assert state["a"] is not state["b"]
        if Device(device).backend.mutable:
            state["a"][0] = 7
            assert to_host(state["b"]).tolist() == [1, 1, 1]


class TestTies:
    def test_a_tied_value_is_stored_once_and_moved_once(self, new_cell, new_model, device):
        def tied():
            cell = new_cell(move(np.ones((2, 2), dtype="float32"), Device(device)), device=device)
            return cell, new_model(encoder__weight=cell, decoder__weight=cell)

        cell, model = tied()
        file = saved(model)
        assert list(numpy_reads(file)) == ["encoder.weight"]
        assert notes(file)["aliases"] == {"decoder.weight": "encoder.weight"}
        cell.array = move(np.zeros((2, 2), dtype="float32"), Device(device))
        with transfers() as ledger:
            load_npz(file, model)
        assert ledger.count == (0 if Device(device).is_host else 1)
        assert model.cells["decoder.weight"] is model.cells["encoder.weight"]
        assert to_host(cell.array).tolist() == [[1, 1], [1, 1]]

    def test_a_tie_in_a_dictionary_stays_one(self):
        x = np.ones(2)
        y = np.zeros(2)
        state = {"a": y, "nested": {"b": y}}
        load_npz(saved({"a": x, "nested": {"b": x}}), state)
        assert state["a"] is state["nested"]["b"]
        assert state["a"].tolist() == [1, 1]

    def test_both_owners_get_a_value_that_the_file_holds_once(self, new_cell, new_model):
        one = new_cell(np.ones(2, dtype="float32"))
        file = saved(new_model(a=one, b=one))
        apart = new_model(a=new_cell(np.zeros(2, dtype="float32")), b=new_cell(np.zeros(2, dtype="float32")))
        load_npz(file, apart)
        a, b = (cell.array for cell in apart.cells.values())
        assert a.tolist() == b.tolist() == [1, 1]
        assert not np.shares_memory(a, b)

    def test_a_file_without_the_tie_loads_where_the_values_are_equal(self, new_cell, new_model):
        nan = np.asarray([np.nan, -0.0], dtype="float32")
        file = saved({"a": nan, "b": nan.copy()})
        assert "aliases" not in notes(file)
        cell = new_cell(np.zeros(2, dtype="float32"))
        load_npz(file, new_model(a=cell, b=cell))
        assert same(cell.array, nan)


class TestUninitialised:
    def test_what_has_no_value_yet_is_saved_and_loaded(self, new_cell, new_model):
        def fresh():
            return new_model(weight=new_cell(), bias=new_cell(np.zeros(3, dtype="float32")))

        file = saved(fresh())
        assert list(numpy_reads(file)) == ["bias"]
        assert notes(file)["uninitialised"] == ["weight"]
        assert read_npz(file)["weight"] is None
        model = fresh()
        load_npz(file, model)
        assert model.cells["weight"].array is None

    def test_a_file_with_values_initialises(self, new_cell, new_model, device):
        full = np.ones((3, 5), dtype="float32")
        cell = new_cell(rows=3, device=device)
        load_npz(saved({"weight": full}), new_model(weight=cell))
        assert device_of_raw(cell.array) == device
        assert same(to_host(cell.array), full)

    def test_a_tie_without_a_value_stays_one(self, new_cell, new_model):
        cell = new_cell()
        file = saved(new_model(a=cell, b=cell))
        assert notes(file)["uninitialised"] == ["a", "b"]
        load_npz(file, new_model(a=cell, b=cell))
        load_npz(saved({"a": np.ones(2, "f4"), "b": np.ones(2, "f4")}), new_model(a=cell, b=cell))
        assert cell.array.tolist() == [1, 1]


class TestFilesOfNumPy:
    @pytest.mark.parametrize("savez", [np.savez, np.savez_compressed])
    def test_they_load(self, tmp_path, savez):
        x = np.arange(6, dtype="float32").reshape(2, 3)
        savez(
            tmp_path / "m.npz", c=x, fortran=np.asfortranarray(x), big=x.astype(">f4"), note=np.asarray("hi"),
            both=np.asfortranarray(x.astype(">c16")), n=np.asarray(3), flag=np.asarray(True), empty=np.zeros((0, 2)),
        )  # fmt: skip
        state: dict[str, Any] = {name: np.zeros((2, 3), dtype="float32") for name in ("c", "fortran", "big")}
        state |= {
            "both": np.zeros((2, 3), dtype="complex128"),
            "n": 0,
            "flag": False,
            "empty": np.zeros((0, 2)),
            "note": "",
        }
        load_npz(tmp_path / "m.npz", state)
        for name in ("c", "fortran", "big"):
            assert same(state[name], x)
            assert state[name].flags.c_contiguous
        assert same(state["both"], x.astype("complex128"))
        assert (state["n"], state["flag"], state["note"]) == (3, True, "hi")

    def test_read_npz_gives_what_save_npz_takes(self):
        x = np.ones(3)
        first = saved({"a": {"b": x, "c": x}, "n": 1, "note": "hi", "none": None})
        again = saved(read_npz(first))
        assert read_npz(again).keys() == read_npz(first).keys()
        assert notes(again) == notes(first)
        state = {"a": {"b": np.zeros(3), "c": np.zeros(3)}, "n": 0, "note": "", "none": None}
        load_npz(again, state)
        assert (state["n"], state["note"], state["a"]["c"].tolist()) == (1, "hi", [1, 1, 1])
