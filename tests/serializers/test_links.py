"""Files of real links and optimizers, on every device."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from arrayflow import optimizers
from arrayflow.device import Device, move, to_host
from arrayflow.errors import StateMismatchError
from arrayflow.links.link import Link
from arrayflow.links.parameter import Parameter
from arrayflow.serializers import load_npz, read_npz, save_npz
from arrayflow.transfers import transfers

OPTIMIZERS = {
    "SGD": lambda: optimizers.SGD(lr=0.25),
    "MomentumSGD": lambda: optimizers.MomentumSGD(lr=0.25, momentum=0.5),
    "Adam": lambda: optimizers.Adam(lr=0.25),
}


def ones(shape, *, dtype, device, path):
    return np.ones(shape, dtype=str(dtype))


class Layer(Link):
    """A weight whose second length may be unknown, a bias, and a buffer."""

    def __init__(self, rows: int, columns: int | None, device: Any) -> None:
        self.weight = Parameter(ones, None if columns is None else (rows, columns), device=device)
        self.bias = Parameter(ones, (rows,), device=device)
        self.register_buffer("mean", move(np.zeros(rows, dtype="float32"), Device(device)))

    def _check_shape(self, name, shape):
        rows = self.bias.shape[0]
        return None if len(shape) == 2 and shape[0] == rows else f"a weight of {rows} rows is needed"


class Net(Link):
    def __init__(self, device: Any, columns: int | None = 3, tied: bool = False) -> None:
        self.first = Layer(2, columns, device)
        self.second = Layer(2, 3, device)
        if tied:
            self.second.weight = self.first.weight


def fill(link: Link, start: float) -> None:
    """Values that differ from each other and from the first ones."""
    for i, p in enumerate(link.params()):
        p.array = move(np.arange(np.prod(p.shape), dtype="float32").reshape(p.shape) + start + 100 * i, p.device)


def values(link: Link) -> dict[str, Any]:
    found = {name: to_host(p.array).tolist() for name, p in link.namedparams()}
    return found | {name: to_host(raw).tolist() for name, raw in link.namedbuffers()}


def step(link: Link, optimizer: Any) -> None:
    for p in link.params():
        p.grad = move(np.full(p.shape, 0.5, dtype="float32"), p.device)
    optimizer.update()


def saved(obj: Any) -> io.BytesIO:
    file = io.BytesIO()
    save_npz(file, obj)
    file.seek(0)
    return file


class TestLinks:
    def test_a_model_goes_through_a_file_in_one_move_an_array(self, device):
        net = Net(device)
        fill(net, 1)
        with transfers() as out:
            file = saved(net)
        other = Net(device)
        parameters = list(other.params())
        with transfers() as back:
            load_npz(file, other)
        assert values(other) == values(net)
        assert all(a is b for a, b in zip(other.params(), parameters, strict=True))
        moves = 0 if Device(device).is_host else 6
        assert (out.count, back.count) == (moves, moves)
        assert out.total("d2h")[0] == back.total("h2d")[0] == moves
        assert sorted(read_npz(file)) == [
            f"{layer}.{name}" for layer in ("first", "second") for name in ("bias", "mean", "weight")
        ]

    def test_a_model_of_one_device_loads_on_another(self, device, elsewhere):
        net, other = Net(device), Net(elsewhere)
        fill(net, 1)
        load_npz(saved(net), other)
        assert values(other) == values(net)
        assert other.device == elsewhere

    def test_tied_weights_are_stored_once_and_stay_tied(self, device):
        net, other = Net(device, tied=True), Net(device, tied=True)
        fill(net, 1)
        file = saved(net)
        with np.load(file, allow_pickle=False) as arrays:
            assert "first.weight" in arrays.files
            assert "second.weight" not in arrays.files
        with transfers() as ledger:
            load_npz(file, other)
        assert ledger.count == (0 if Device(device).is_host else 5)
        assert other.second.weight is other.first.weight
        assert values(other) == values(net)

    def test_tied_weights_load_into_separate_ones(self, device):
        net, other = Net(device, tied=True), Net(device)
        fill(net, 1)
        load_npz(saved(net), other)
        assert to_host(other.second.weight.array).tolist() == to_host(net.first.weight.array).tolist()
        assert other.second.weight is not other.first.weight

    def test_separate_weights_that_differ_do_not_load_into_tied_ones(self, device):
        net = Net(device)
        fill(net, 1)
        other = Net(device, tied=True)
        before = values(other)
        with pytest.raises(StateMismatchError, match=r"tied in the object, .*\n    first.weight and second.weight"):
            load_npz(saved(net), other)
        assert values(other) == before

    def test_what_was_drawn_late_is_saved_as_it_would_be_drawn(self, device):
        assert read_npz(saved(Net(device)))["first.weight"].tolist() == [[1, 1, 1], [1, 1, 1]]

    def test_loading_does_not_draw_what_it_replaces(self, device):
        net = Net(device)
        file = saved(net)

        def never(shape, **kwargs):
            raise AssertionError

        other = Net(device)
        for p in other.params():
            p._initializer = never
        load_npz(file, other)
        assert values(other) == values(net)


class TestSizesThatAreNotKnownYet:
    def test_they_are_saved_and_loaded_as_unknown(self, device):
        file = saved(Net(device, columns=None))
        assert read_npz(file)["first.weight"] is None
        other = Net(device, columns=None)
        fill(other.second, 5)
        load_npz(file, other)
        assert not other.first.weight.is_initialized
        assert to_host(other.second.bias.array).tolist() == [1, 1]

    def test_a_file_tells_them(self, device):
        net, other = Net(device, columns=7), Net(device, columns=None)
        fill(net, 1)
        load_npz(saved(net), other)
        assert other.first.weight.shape == (2, 7)
        assert values(other) == values(net)
        assert other.device == device

    def test_the_link_may_refuse_what_the_file_tells(self, device):
        state = read_npz(saved(Net(device))) | {"first.weight": np.ones((3, 3), dtype="float32")}
        other = Net(device, columns=None)
        message = r"first.weight: \(3, 3\) in the file; a weight of 2 rows is needed"
        with pytest.raises(StateMismatchError, match=message):
            load_npz(saved(state), other)
        assert not other.first.weight.is_initialized

    def test_known_sizes_are_not_lost(self, device):
        other = Net(device)
        with pytest.raises(StateMismatchError, match=r"first.weight: float32 \(2, 3\) in the object"):
            load_npz(saved(Net(device, columns=None)), other)

    def test_a_load_that_fails_half_way_leaves_them_unknown(self, device, monkeypatch):
        other = Net(device, columns=None)
        fill(other.second, 5)
        before = to_host(other.second.weight.array).tolist()
        full = other.second.weight
        set_array = Parameter.__setattr__

        def setattr_(p, name, value):
            if p is full and name == "array":
                raise MemoryError("device out of memory")
            set_array(p, name, value)

        monkeypatch.setattr(Parameter, "__setattr__", setattr_)
        with pytest.raises(MemoryError, match="device out of memory"):
            load_npz(saved(Net(device)), other)
        monkeypatch.undo()
        assert not other.first.weight.is_initialized
        assert to_host(other.second.weight.array).tolist() == before
        other.first.weight.initialize((2, 4))
        assert to_host(other.first.weight.array).tolist() == [[1] * 4] * 2


@pytest.mark.parametrize("kind", OPTIMIZERS)
class TestOptimizers:
    def test_a_resumed_run_is_the_same_run(self, device, kind):
        def run(steps, net, optimizer):
            for _ in range(steps):
                step(net, optimizer)

        straight = Net(device)
        run(6, straight, OPTIMIZERS[kind]().setup(straight))
        net = Net(device)
        optimizer = OPTIMIZERS[kind]().setup(net)
        run(3, net, optimizer)
        optimizer.lr = 0.25
        file = saved({"model": net, "optimizer": optimizer})
        again = Net(device)
        resumed = OPTIMIZERS[kind]().setup(again)
        resumed.lr = 7
        load_npz(file, {"model": again, "optimizer": resumed})
        assert (resumed.lr, resumed.t) == (0.25, 3)
        run(3, again, resumed)
        assert values(again) == values(straight)

    def test_before_its_first_step_it_goes_through_a_file(self, device, kind):
        net = Net(device, columns=None)
        file = saved({"optimizer": OPTIMIZERS[kind]().setup(net), "model": net})
        again = Net(device, columns=None)
        optimizer = OPTIMIZERS[kind]().setup(again)
        load_npz(file, {"optimizer": optimizer, "model": again})
        assert optimizer.t == 0
        again.first.weight.initialize((2, 3))
        step(again, optimizer)
        assert optimizer.t == 1

    @pytest.mark.parametrize("names", [("model", "optimizer"), ("optimizer", "model")])
    def test_it_loads_with_a_model_whose_sizes_are_not_known_yet(self, device, kind, names):
        net = Net(device)
        optimizer = OPTIMIZERS[kind]().setup(net)
        step(net, optimizer)
        file = saved({"model": net, "optimizer": optimizer})
        again = Net(device, columns=None)
        resumed = OPTIMIZERS[kind]().setup(again)
        both = {"model": again, "optimizer": resumed}
        load_npz(file, {name: both[name] for name in names})
        step(net, optimizer)
        step(again, resumed)
        assert values(again) == values(net)

    def test_its_state_is_not_lost_to_a_file_without_any(self, device, kind):
        net = Net(device)
        file = saved(OPTIMIZERS[kind]().setup(net))
        optimizer = OPTIMIZERS[kind]().setup(net)
        step(net, optimizer)
        if kind == "SGD":  # has none but its counters
            load_npz(file, optimizer)
            return
        with pytest.raises(StateMismatchError, match="uninitialised in the file, but not in the object"):
            load_npz(file, optimizer)
        assert optimizer.t == 1


class TestParametersInDictionaries:
    def test_they_keep_their_identity(self, device):
        p = Parameter(ones, (2,), device=device)
        state = {"p": Parameter(ones, (2,), device=device)}
        q = state["p"]
        p.array = move(np.full(2, 3, dtype="float32"), Device(device))
        load_npz(saved({"p": p}), state)
        assert state["p"] is q
        assert to_host(q.array).tolist() == [3, 3]

    def test_sizes_may_be_unknown(self, device):
        file = saved({"p": Parameter(ones, device=device)})
        assert read_npz(file) == {"p": None}
        q = Parameter(ones, device=device)
        load_npz(file, {"p": q})
        assert not q.is_initialized
        load_npz(saved({"p": np.zeros(3, dtype="float32")}), {"p": q})
        assert to_host(q.array).tolist() == [0, 0, 0]
