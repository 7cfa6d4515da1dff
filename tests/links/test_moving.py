"""Rule 4: a model moves whole, or not at all."""

from __future__ import annotations

import gc
from functools import partial

import numpy as np
import pytest

import arrayflow
from arrayflow import functions as F
from arrayflow import initializers as I
from arrayflow import links as L
from arrayflow import optimizers
from arrayflow.autograd import Variable
from arrayflow.device import Device, device_of, move, to_device
from arrayflow.errors import DeviceError, DeviceMismatchError, DTypeError, GraphError, UnregisteredArrayError
from arrayflow.transfers import transfers


class Norm(L.Link):
    """A weight, a bias tied to it, and two buffers."""

    def __init__(self, device):
        self.weight = L.Parameter(I.Ones(), (4,), device=device)
        self.other = self.weight
        self.register_buffer("mean", move(np.arange(4, dtype="float32"), Device(device)))
        self.register_buffer("count", move(np.asarray(3, dtype="int32"), Device(device)))

    def forward(self, x):
        return (x - self.mean) * self.weight + self.other


def train_step(model, optimizer, device):
    x = Variable(move(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4), Device(device)))
    t = move(np.asarray([0, 1, 2], "int32"), Device(device))
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()


def build(device):
    return L.Sequential(Norm(device), L.Linear(4, 5, device=device), F.relu, L.Linear(5, 3, device=device))


class TestToDevice:
    def test_everything_moves_and_stays_what_it_was(self, device, elsewhere):
        model = build(elsewhere)
        optimizer = optimizers.Adam().setup(model)
        train_step(model, optimizer, elsewhere)
        before = {path: p.numpy() for path, p in model.namedparams()}
        objects = list(model.params())
        assert model.to_device(device) is model
        assert all(a is b for a, b in zip(model.params(), objects, strict=True))
        assert model.device is device
        assert device_of(model) is device
        assert {p.grad.device for p in model.params()} == {device}
        assert model[0].mean.device is device
        assert model[0].count.numpy() == 3
        assert model[0].other is model[0].weight
        assert all((p.numpy() == before[path]).all() for path, p in model.namedparams())
        train_step(model, optimizer, device)

    def test_each_array_is_one_event(self, device, elsewhere):
        model = build(elsewhere)
        optimizer = optimizers.Adam().setup(model)
        train_step(model, optimizer, elsewhere)
        with transfers() as ledger:
            model.to_device(device)
        # 5 parameters with gradient, m and v; 2 buffers.
        assert ledger.count == 5 * 4 + 2
        assert {(e.kind, e.entry) for e in ledger.entries} == {("explicit", "to_device")}

    def test_where_it_is_already_nothing_happens(self, device):
        model = build(device)
        arrays = [p.array for p in model.params()]
        with transfers() as ledger:
            model.to_device(device)
        assert ledger.count == 0
        assert all(p.array is array for p, array in zip(model.params(), arrays, strict=True))

    def test_training_with_moves_is_bit_equal_on_one_backend(self):
        def run(places):
            arrayflow.random.seed(0)
            model = build("cpu")
            optimizer = optimizers.Adam(lr=0.01).setup(model)
            for place in places:
                model.to_device(place)
                for _ in range(3):
                    train_step(model, optimizer, place)
            return [p.numpy().tobytes() for p in model.params()]

        # The gradient of a matrix product depends on the library, so both stay within array-api-strict's NumPy.
        assert run(["strict:cpu"] * 3) == run(["strict:cpu", "strict:device1", "strict:cpu"])

    def test_the_function_moves_links_in_containers_in_place(self, device, elsewhere):
        model = build(elsewhere)
        moved = to_device({"model": model}, device)
        assert moved["model"] is model
        assert model.device is device
        assert to_device(model, elsewhere, copy=True) is not model
        assert model.device is device

    def test_undrawn_values_do_not_travel(self, device, elsewhere):
        model = L.Linear(3, 2, device=elsewhere)
        with transfers() as ledger:
            model.to_device(device)
        assert ledger.count == 0
        assert model.weight.device is device

    def test_parameters_registered_later_join_their_siblings(self, device):
        model = L.Chain(a=L.Linear(3, 3, device="cpu"))
        model.to_device(device)
        model.b = L.Linear(3, 3, device="cpu")
        assert {p.device for p in model.params()} == {device}
        assert {p.numpy() is not None for p in model.params()} == {True}

    def test_old_copies_are_freed_one_by_one(self, device, elsewhere, monkeypatch):
        model = L.Sequential(*(L.Linear(8, 8, device=elsewhere) for _ in range(3)))
        for p in model.params():
            p.array
        alive = []
        import weakref

        from arrayflow.links import parameter

        real = parameter.move
        refs = []

        def counting(array, place, **kw):
            alive.append(sum(ref() is not None for ref in refs))
            try:
                refs.append(weakref.ref(array))
            except TypeError:
                pytest.skip(f"arrays of {elsewhere} cannot be watched")
            return real(array, place, **kw)

        monkeypatch.setattr(parameter, "move", counting)
        gc.disable()
        try:
            model.to_device(device)
        finally:
            gc.enable()
        assert alive == [0] * 6

    def test_the_old_device_is_let_go(self, device, elsewhere):
        model = build(elsewhere)
        for p in model.params():
            p.array
        model.to_device(device)
        model.to_device(elsewhere)
        assert model.device is elsewhere


class TestRefusals:
    @pytest.mark.parametrize(
        ("put_in", "named"),
        [
            (lambda m, a: setattr(m, "table", a), "table"),
            (lambda m, a: setattr(m[1], "cache", [0, {"x": (1, a)}]), r"1\.cache\[1\]\['x'\]\[1\]"),
            (lambda m, a: setattr(m, "variable", a * 2), "variable"),
            (lambda m, a: setattr(m, "layers", [F.relu, L.Linear(2, 2, device="cpu")]), r"layers\[1\]\.weight"),
            (lambda m, a: m.append(partial(F.linear, weight=a)), r"4\.keywords\['weight'\]"),
        ],
    )
    def test_an_unregistered_array_is_named_and_nothing_moves(self, device, elsewhere, put, put_in, named):
        model = build(elsewhere)
        put_in(model, put(np.ones((2, 2)), on=elsewhere))
        with (
            transfers() as ledger,
            pytest.raises(UnregisteredArrayError, match=rf"{named} is not registered.*register_buffer"),
        ):
            model.to_device(device)
        assert ledger.count == 0
        assert model.device is elsewhere

    def test_a_link_in_a_plain_list_with_an_unregistered_table(self, device, put):
        inner = L.Link()
        inner.table = put([1.0]).array
        model = L.Link()
        model.layers = [L.Link(), inner]
        with pytest.raises(UnregisteredArrayError, match=r"layers\[1\]\.table is not registered"):
            model.to_device("cpu")

    def test_plain_data_is_no_array(self, device):
        model = L.Linear(2, 2, device=device)
        model.names = np.asarray(["cat", "dog"])
        model.sizes = {"a": [1, 2.5, None], "b": np.float32(3)}
        model.loop = model.sizes
        model.sizes["self"] = model.sizes
        model.to_device("cpu")
        assert model.device == "cpu"

    def test_a_data_type_that_the_device_lacks_is_found_before_anything_moves(self, put):
        model = L.Sequential(L.Linear(2, 2, device="cpu"), L.Linear(2, 2, dtype="float64", device="cpu"))
        with (
            transfers() as ledger,
            pytest.raises(DTypeError, match=r"'1.weight' cannot be moved.*no float64.*Nothing has been moved"),
        ):
            model.to_device("strict:no_float64")
        assert ledger.count == 0
        assert model.device == "cpu"

    def test_an_unknown_device_is_refused(self):
        with pytest.raises(DeviceError, match="no array library goes by the prefix 'gpu'"):
            L.Linear(2, 2, device="cpu").to_device("gpu:0")

    def test_a_failure_half_way_puts_everything_back(self, device, elsewhere, monkeypatch):
        model = build(elsewhere)
        optimizer = optimizers.Adam().setup(model)
        train_step(model, optimizer, elsewhere)
        from arrayflow.links import _moving

        real, calls = _moving._move_buffer, []

        def failing(buffer, place):
            calls.append(place)
            if len(calls) == 2:
                raise MemoryError("full")
            real(buffer, place)

        monkeypatch.setattr(_moving, "_move_buffer", failing)
        with pytest.raises(MemoryError):
            model.to_device(device)
        assert model.device is elsewhere
        train_step(model, optimizer, elsewhere)

    def test_a_graph_from_before_a_move_gives_no_gradient_in_the_old_place(self, device, elsewhere, put):
        model = L.Linear(4, 3, device=elsewhere)
        loss = F.softmax_cross_entropy(model(put(np.ones((1, 4)), on=elsewhere)), put([0], "int32", on=elsewhere))
        model.to_device(device)
        with pytest.raises(
            GraphError, match=r"'weight' was changed in place by an optimizer, or moved, after linear\(\)"
        ):
            loss.backward()
        assert model.weight.grad is None

    def test_parts_on_two_devices_have_no_one_device(self, device, elsewhere):
        model = L.Sequential(L.Linear(2, 2, device=device), L.Linear(2, 2, device=elsewhere))
        with pytest.raises(DeviceMismatchError, match=rf"'0.weight' on {device}, '1.weight' on {elsewhere}"):
            model.device
        assert L.Sequential(F.relu).device is None
