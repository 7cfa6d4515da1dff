"""A file that does not fit: one error with all of it, and nothing changed."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest

from arrayflow.device import Device, move, to_host
from arrayflow.errors import StateMismatchError
from arrayflow.serializers import load_npz, save_npz


def saved(obj: Any) -> io.BytesIO:
    file = io.BytesIO()
    save_npz(file, obj)
    return file


class TestOneErrorListsAll:
    def test_missing_extra_misshapen_and_mistyped(self, new_cell, new_model, device):
        def on_device(*shape):
            return new_cell(move(np.zeros(shape, dtype="float32"), Device(device)), device=device)

        model = new_model(fine=on_device(2), shape=on_device(3, 4), dtype=on_device(2), missing=on_device(5))
        before = {name: cell.array for name, cell in model.cells.items()}
        file = saved(
            {
                "fine": np.ones(2, "float32"),
                "shape": np.ones((4, 3), "float32"),
                "dtype": np.ones(2, "float64"),
                "extra": np.ones(7, "int32"),
            }
        )
        message = re.escape(
            "load_npz: the BytesIO does not fit the object to load into, and nothing was changed.\n"
            "  missing from the file (1):\n    missing: float32 (5,)\n"
            "  in the file, but not in the object (1):\n    extra: int32 (7,)\n"
            "  of another shape (1):\n    shape: (4, 3) in the file, (3, 4) in the object\n"
            "  of another dtype (1):\n    dtype: float64 in the file, float32 in the object\n"
            "Load into an object built like the one that was saved. Or take the values by hand: "
            "serializers.read_npz(file)"
        )
        with pytest.raises(StateMismatchError, match=message):
            load_npz(file, model)
        assert all(cell.array is before[name] for name, cell in model.cells.items())
        assert to_host(model.cells["fine"].array).tolist() == [0, 0]

    def test_nothing_is_broadcast_or_squeezed(self):
        for there, here in (((1,), ()), ((), (1,)), ((1, 3), (3,)), ((3,), (3, 1)), ((0,), (0, 2))):
            state = {"x": np.zeros(here)}
            with pytest.raises(StateMismatchError, match=re.escape(f"x: {there} in the file, {here} in the object")):
                load_npz(saved({"x": np.ones(there)}), state)

    @pytest.mark.parametrize(
        ("there", "here", "message"),
        [
            (1, 1.0, "x: int64 in the file, float64 in the object"),
            (True, 1, "x: bool in the file, int64 in the object"),
            ("1", 1, "x: str in the file, int64 in the object"),
            (np.float32(1), 1.0, "x: float32 in the file, float64 in the object"),
            (1, None, "x: () in the file; there is None in the object, so nothing says where the value shall live"),
            (None, 1, "x: int64 () in the object"),
        ],
    )
    def test_python_values_are_not_cast(self, there, here, message):
        state = {"x": here}
        with pytest.raises(StateMismatchError, match=re.escape(message)):
            load_npz(saved({"x": there}), state)
        assert state == {"x": here}

    def test_the_error_names_the_file(self, tmp_path):
        save_npz(tmp_path / "m.npz", {})
        with pytest.raises(StateMismatchError, match=rf"'{tmp_path}/m.npz' does not fit"):
            load_npz(tmp_path / "m.npz", {"x": 1})


class TestUninitialised:
    def test_a_value_is_not_lost_to_an_entry_without_one(self, new_cell, new_model):
        cell = new_cell(np.ones(3, "float32"))
        message = r"uninitialised in the file, but not in the object \(1\):\n    w: float32 \(3,\) in the object"
        with pytest.raises(StateMismatchError, match=message):
            load_npz(saved(new_model(w=new_cell())), new_model(w=cell))
        assert cell.array.tolist() == [1, 1, 1]

    def test_an_entry_without_a_value_that_the_object_lacks_is_named(self, new_cell, new_model):
        with pytest.raises(
            StateMismatchError, match=r"in the file, but not in the object \(1\):\n    w: uninitialised"
        ):
            load_npz(saved(new_model(w=new_cell())), {})

    def test_a_missing_entry_is_missing_without_a_value_too(self, new_cell, new_model):
        with pytest.raises(StateMismatchError, match=r"missing from the file \(1\):\n    w: float32 uninitialised"):
            load_npz(saved({}), new_model(w=new_cell()))

    def test_the_object_may_refuse_a_shape_that_the_file_would_give_it(self, new_cell, new_model):
        cell = new_cell(rows=3)
        message = (
            r"of a shape that the object cannot take \(1\):\n    w: \(4, 2\) in the file; its first axis must be 3"
        )
        with pytest.raises(StateMismatchError, match=message):
            load_npz(saved({"w": np.ones((4, 2), "float32")}), new_model(w=cell))
        assert cell.array is None

    def test_the_data_type_counts_without_a_value_too(self, new_cell, new_model):
        with pytest.raises(StateMismatchError, match="w: float64 in the file, float32 in the object"):
            load_npz(saved({"w": np.ones(3)}), new_model(w=new_cell()))


class TestTies:
    @pytest.mark.parametrize("other", [2.0, -0.0])
    def test_different_values_do_not_fit_a_tie(self, new_cell, new_model, other):
        file = saved({"a": np.zeros(2, "float32"), "b": np.full(2, other, "float32"), "c": np.zeros(2, "float32")})
        cell = new_cell(np.ones(2, "float32"))
        message = r"tied in the object, but different in the file \(1\):\n    a and b\n"
        with pytest.raises(StateMismatchError, match=message):
            load_npz(file, new_model(a=cell, b=cell, c=cell))
        assert cell.array.tolist() == [1, 1]

    def test_it_is_listed_with_the_rest(self, new_cell, new_model):
        cell = new_cell(np.ones(2, "float32"))
        file = saved({"a": np.zeros(2, "float32"), "b": np.ones(2, "float32"), "extra": 1})
        with pytest.raises(StateMismatchError, match=r"(?s)extra: int64 \(\).*a and b"):
            load_npz(file, new_model(a=cell, b=cell))


class TestRollback:
    def test_a_device_without_memory_left_leaves_the_old_values(self, new_cell, new_model, device):
        def old(value):
            return new_cell(move(np.full(2, value, dtype="float32"), Device(device)), device=device)

        model = new_model(a=old(1), b=old(2), lazy=new_cell(device=device), c=old(3), d=old(4))
        model.cells["c"].full = True
        variables = {"number": 1, "array": np.zeros(2)}
        state = {"first": variables, "model": model, "last": 5}
        before = {name: cell.array for name, cell in model.cells.items()}
        array = variables["array"]
        new = {f"model/{name}": np.full(2, 9, dtype="float32") for name in model.cells}
        file = saved({"first": {"number": 7, "array": np.ones(2)}, **new, "last": 8})
        with pytest.raises(MemoryError, match="device out of memory"):
            load_npz(file, state)
        assert all(cell.array is before[name] for name, cell in model.cells.items())
        assert to_host(model.cells["a"].array).tolist() == [1, 1]
        assert state["last"] == 5
        assert variables["number"] == 1
        assert variables["array"] is array
        assert array.tolist() == [0, 0]
        model.cells["c"].full = False
        load_npz(file, state)
        assert to_host(model.cells["c"].array).tolist() == [9, 9]

    def test_what_cannot_be_put_back_is_said(self, new_cell, new_model):
        first, second = new_cell(np.ones(2, "float32")), new_cell(np.ones(2, "float32"))
        second.full = True

        def broken(old):
            raise OSError("gone")

        first._restore = broken
        with pytest.raises(MemoryError) as caught:
            load_npz(saved({"a": np.zeros(2, "float32"), "b": np.zeros(2, "float32")}), new_model(a=first, b=second))
        assert caught.value.__notes__ == ["The old value of 'a' could not be put back: gone"]

    def test_a_dictionary_that_cannot_be_changed_is_refused_first(self):
        from types import MappingProxyType

        with pytest.raises(
            TypeError, match=r"load_npz: 'a/x' is in a mappingproxy, which cannot be changed. Use a dict"
        ):
            load_npz(saved({"a": {"x": 1}}), {"a": MappingProxyType({"x": 1})})
