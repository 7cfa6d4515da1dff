"""Faults that users of other frameworks reported, each held here as a whole: a model, a loader, a file, not one call.

Cases that one room's tests hold completely are there: devices and their equality in `test_device.py`, CuPy's current
device in `backends/test_cupy.py`, `repr` in `namespace/test_array_object.py`, what a move leaves behind in
`links/test_moving.py`, killed processes and flipped bits in `serializers/`.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import arrayflow as af
from arrayflow import functions as F
from arrayflow import initializers as I
from arrayflow import links as L
from arrayflow import optimizers, serializers
from arrayflow.errors import DeviceMismatchError, DTypeError, StateMismatchError

OPTIMIZERS = [optimizers.SGD, optimizers.MomentumSGD, optimizers.Adam]


@pytest.fixture(autouse=True)
def own_stream():
    state = af.random.get_state()
    af.seed(0)
    yield
    af.random.set_state(state)


class Net(L.Link):
    """Two layers, a table, a dropout: what a small model is made of."""

    def __init__(self, device):
        self.layers = L.Sequential(L.Linear(4, 8, device=device), F.relu, L.Dropout(0.25), L.Linear(3, device=device))
        self.register_buffer("scale", af.ones((4,), device=device))

    def forward(self, x):
        return self.layers(x * self.scale)


def batch(device, n=6):
    x = np.linspace(-1, 1, 4 * n, dtype=np.float32).reshape(n, 4)
    t = (np.arange(n) % 3).astype(np.int32)
    return af.asarray(x, device=device), af.asarray(t, device=device)


def step(model, optimizer, device):
    x, t = batch(device)
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    return loss


def values(model):
    return {path: p.numpy().tobytes() for path, p in model.namedparams()}


class TestAModelOnADevice:
    """chainer#3266, chainer#6058: which operand is wrong?"""

    def test_an_input_on_the_host_is_refused_with_the_layer_and_the_fix(self, device, elsewhere):
        model = Net(elsewhere)
        model.to_device(device)
        x, _ = batch(elsewhere)
        with af.transfers() as ledger, pytest.raises(DeviceMismatchError) as caught:
            model.layers(x)
        assert ledger.count == 0
        for part in (
            "layers.0.weight",
            str(device),
            str(elsewhere),
            "(6, 4)",
            "(8, 4)",
            "test_cases.py:",
            "x = af.to_",
        ):
            assert part in str(caught.value)
        step(model, optimizers.SGD().setup(model), device)  # the process works on

    def test_the_one_bias_left_behind_is_named(self, device, elsewhere):
        model = L.Chain(layers=L.Sequential(L.Linear(4, 4, device=device), L.Linear(4, 3, device=device)))
        with pytest.raises(DeviceMismatchError, match=rf"'layers.1.bias' lives on {device}.*on {elsewhere}"):
            model.layers[1].bias.array = af.zeros((3,), device=elsewhere).array
        model.layers[1].bias = af.Parameter(I.Zeros(), (3,), device=elsewhere)
        with pytest.raises(DeviceMismatchError, match=rf"bias \(parameter 'layers.1.bias'\) on {elsewhere}"):
            model.layers(batch(device)[0])


class TestAHelperForgetsTheDevice:
    """tinygrad#1615: with the default device poisoned, all of the kit runs, and all it makes is where its input is."""

    @pytest.mark.parametrize("make", OPTIMIZERS)
    def test_a_training_step_stays_on_the_device(self, device, make):
        model = Net(device)
        optimizer = make().setup(model)
        with af.transfers() as ledger:
            for _ in range(2):
                loss = step(model, optimizer, device)
        assert loss.device is device
        assert {p.device for p in model.params()} == {p.grad.device for p in model.params()} == {device}
        assert af.device_of(optimizer) is device
        assert {e.direction for e in ledger.entries} <= {"h2d"}

    @pytest.mark.parametrize(
        "function",
        [
            lambda x, t: F.relu(x),
            lambda x, t: F.softmax(x),
            lambda x, t: F.log_softmax(x),
            lambda x, t: F.dropout(x, 0.5),
            lambda x, t: F.linear(x, x),
            lambda x, t: F.softmax_cross_entropy(x, t),
            lambda x, t: F.accuracy(x, t),
        ],
    )
    def test_functions_and_their_gradients(self, device, function):
        x, t = batch(device)
        x.requires_grad = True
        y = function(x, t)
        assert y.device is device
        if y.requires_grad:
            af.sum(y * y).backward()
            assert x.grad.device is device

    @pytest.mark.parametrize(
        "initializer",
        [I.Zeros(), I.Ones(), I.Constant(2.0)]
        + [getattr(I, name)() for name in ("LeCunNormal", "GlorotUniform", "HeNormal") if hasattr(I, name)],
    )
    def test_initializers(self, device, initializer):
        p = af.Parameter(initializer, (4, 3), device=device)
        assert af.device_of(p.array) is device


class TestHiddenReads:
    """pytorch#12461: with data-dependent shapes off, nothing in the kit needs a shape that only the values tell."""

    def test_the_kit_reads_nothing_back(self, device):
        x, t = batch(device)
        x.requires_grad = True
        with af.transfers() as ledger:
            y = F.dropout(x, 0.5)
            F.softmax_cross_entropy(y, t).backward()
            F.accuracy(y, t)
        assert not [e for e in ledger.entries if e.direction == "d2h"]

    @pytest.mark.data_dependent
    def test_a_mask_in_the_users_code_is_an_implicit_read(self, device):
        x, _ = batch(device)
        for read in (lambda: x[x > 0], lambda: af.nonzero(x), lambda: af.unique_values(x)):
            with af.transfers() as ledger:
                read()
            found = {(e.direction, e.kind, e.site.rpartition(":")[0]) for e in ledger.entries}
            assert found == (set() if device.is_host else {("d2h", "implicit", __file__)})

    def test_a_formatted_loss_is_one_scalar_read(self, device):
        loss = af.asarray(1.5, device=device)
        with af.transfers() as ledger:
            assert f"{loss:.3f}" == "1.500"
        assert (ledger.count, ledger.bytes) == ((0, 0) if device.is_host else (1, 4))


class TestALoaderReusesItsBuffer:
    """jax#37830: what was handed over never shows what the loader writes next."""

    @pytest.mark.parametrize("offset", [0, 1, 4, 64])
    def test_500_batches(self, device, offset):
        memory = np.zeros(4 * 256 + offset, dtype=np.uint8)
        buffer = memory[offset : offset + 4 * 256].view(np.float32)
        kept = []
        for k in range(500):
            buffer[...] = k
            kept.append(af.asarray(buffer, device=device))
            if not device.is_host:
                kept.append(af.Variable(af.to_device(buffer, device)))
        buffer[...] = -1
        found = np.stack([x.numpy() for x in kept])
        expected = np.repeat(np.arange(500), 1 if device.is_host else 2)
        assert (found == expected[:, None]).all()

    def test_copy_false_on_the_host_shares_as_documented(self):
        buffer = np.zeros(3, np.float32)
        x = af.asarray(buffer, device="cpu", copy=False)
        buffer[...] = 7
        assert x.numpy().tolist() == [7.0] * 3


class TestMemoryOfTheUsers:
    """An array that the user still holds is never written to, and never changes what was made of it."""

    def test_writing_to_it_changes_no_variable(self, device):
        a = np.ones(3, np.float32)
        x = af.asarray(a, device=device)
        a[0] = 5
        assert x.numpy().tolist() == [1.0] * 3
        x[1] = 7
        x += 1
        assert a.tolist() == [5.0, 1.0, 1.0]

    @pytest.mark.parametrize("make", OPTIMIZERS)
    @pytest.mark.parametrize("way", ["initial", "parameter", "assigned", "state", "initializer"])
    def test_training_writes_into_no_array_that_weights_came_from(self, device, make, way):
        mine = af.full((3, 4), 0.5, device=device).array
        gradient = af.full((3, 4), 0.25, device=device).array
        model = L.Linear(4, 3, bias=False, device=device)
        if way == "initial":
            model = L.Linear(4, 3, bias=False, initial_weight=mine)
        elif way == "parameter":
            model.weight = af.Parameter(mine)
        elif way == "assigned":
            model.weight.array = mine
        elif way == "state":
            model.load_state_dict({"weight": mine})
        else:
            model = L.Linear(4, 3, bias=False, initial_weight=lambda shape, **kw: af.Variable(mine), device=device)
        optimizer = make(lr=0.1).setup(model)
        for _ in range(3):
            model.weight.grad = gradient
            optimizer.update()
        assert (af.Variable(mine).numpy() == 0.5).all()
        assert (af.Variable(gradient).numpy() == 0.25).all()
        assert not (model.weight.numpy() == 0.5).any()

    @pytest.mark.parametrize("make", OPTIMIZERS)
    def test_training_changes_no_snapshot(self, device, make):
        model = Net(device)
        optimizer = make(lr=0.1).setup(model)
        step(model, optimizer, device)
        taken = [model.state_dict(), {path: p.detach() for path, p in model.namedparams()}]
        taken.append({path: af.asarray(np.asarray(p), device=device) for path, p in model.namedparams()})
        before = [{path: v.numpy().tobytes() for path, v in one.items()} for one in taken]
        for _ in range(3):
            step(model, optimizer, device)
        assert [{path: v.numpy().tobytes() for path, v in one.items()} for one in taken] == before


class TestDLPackRefused:
    """jax#40789, cupy#9842: a refusal is a copy or a BufferError, and never another array's memory."""

    @pytest.mark.parametrize("copy", [None, True])
    def test_a_read_only_array_arrives_as_a_copy(self, device, copy):
        host = np.arange(3, dtype=np.float32)
        host.flags.writeable = False
        with af.transfers() as ledger:
            x = af.from_dlpack(host, device=device, copy=copy)
        x[0] = 9
        assert host.tolist() == [0.0, 1.0, 2.0]
        assert x.device is device
        assert ledger.count == (not device.is_host)

    def test_from_a_device_to_the_host(self, device):
        x = af.arange(3, device=device)
        with af.transfers() as ledger:
            host = af.from_dlpack(x, device="cpu", copy=True)
        host[0] = 9
        assert x.numpy().tolist() == [0, 1, 2]
        assert ledger.count == (not device.is_host)


class TestOptimizerState:
    """pytorch#2830: moved with its model, it is where the next step needs it, and its values are the same."""

    @pytest.mark.parametrize("make", OPTIMIZERS)
    def test_three_steps_here_three_there_three_here(self, device, elsewhere, make):
        def run(places):
            af.seed(0)
            model = Net(places[0])
            optimizer = make(lr=0.01).setup(model)
            for place in places:
                with af.transfers() as ledger:
                    model.to_device(place)
                counts.append(ledger.count)
                for _ in range(3):
                    step(model, optimizer, place)
            return [p.numpy() for p in model.params()]

        counts = []
        still = run([device, device, device])
        assert counts == [0, 0, 0]
        counts.clear()
        moved = run([device, elsewhere, device])
        arrays = 4 * (2 + len(make.state_names)) + 1  # values, gradients and state of four parameters; a buffer
        assert counts == [0, arrays, arrays]
        for a, b in zip(still, moved, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


class Tied(L.Link):
    def __init__(self, device):
        self.encoder = L.Linear(4, 4, bias=False, device=device)
        self.decoder = L.Linear(4, 4, bias=False, device=device)
        self.decoder.weight = self.encoder.weight

    def forward(self, x):
        return self.decoder(F.relu(self.encoder(x)))


class TestTiedWeights:
    def test_they_stay_one_when_moved_saved_loaded_and_stepped(self, device, elsewhere):
        model = Tied(elsewhere)
        with af.transfers() as ledger:
            model.to_device(device)
        assert ledger.count == 0  # not drawn yet
        assert model.decoder.weight is model.encoder.weight
        optimizer = optimizers.SGD(lr=1.0).setup(model)
        x, t = batch(device)
        F.softmax_cross_entropy(model(x), t).backward()
        before, g = model.encoder.weight.numpy(), model.encoder.weight.grad.numpy()
        optimizer.update()
        np.testing.assert_allclose(model.encoder.weight.numpy(), before - g, rtol=1e-6, atol=1e-7)

        file = io.BytesIO()
        serializers.save_npz(file, {"model": model, "optimizer": optimizer})
        with np.load(io.BytesIO(file.getvalue())) as stored:
            assert [name for name in stored.files if "weight" in name and name.startswith("model/")] == [
                "model/encoder.weight"
            ]
        other = Tied(elsewhere)
        with af.transfers() as ledger:
            serializers.load_npz(file, {"model": other, "optimizer": optimizers.SGD().setup(other)})
        assert ledger.count == (not elsewhere.is_host)
        assert other.decoder.weight is other.encoder.weight
        assert values(other) == values(model)


class TestACheckpointWithoutItsDevice:
    """skorch#426: a file has no device."""

    def test_it_loads_where_its_library_cannot_be_imported(self, device, tmp_path):
        model = Net(device)
        optimizer = optimizers.Adam().setup(model)
        step(model, optimizer, device)
        path = tmp_path / "state.npz"
        serializers.save_npz(path, {"model": model, "optimizer": optimizer})
        np.savez(tmp_path / "expected.npz", **{name: p.numpy() for name, p in model.namedparams()})
        program = """
            import sys
            class Blocked:
                def find_spec(self, name, path=None, target=None):
                    if name.partition(".")[0] in ("cupy", "torch", "jax", "jaxlib", "dpnp", "array_api_strict"):
                        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            sys.meta_path.insert(0, Blocked())
            import numpy as np
            from arrayflow import functions as F, links as L, optimizers, serializers
            import arrayflow as af
            class Net(L.Link):
                def __init__(self):
                    self.layers = L.Sequential(L.Linear(4, 8), F.relu, L.Dropout(0.25), L.Linear(3))
                    self.register_buffer("scale", af.ones((4,)))
            model = Net()
            optimizer = optimizers.Adam().setup(model)
            serializers.load_npz("state.npz", {"model": model, "optimizer": optimizer})
            with np.load("expected.npz") as expected:
                for name, p in model.namedparams():
                    assert p.device == "cpu" and (p.numpy() == expected[name]).all(), name
            print("loaded", optimizer.t)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(af.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "loaded 1\n", done.stderr

    def test_into_a_model_on_a_device_it_costs_one_upload_an_array(self, device):
        model, file = Net("cpu"), io.BytesIO()
        model(batch("cpu")[0])
        serializers.save_npz(file, model)
        other = Net(device)
        with af.transfers() as ledger:
            serializers.load_npz(file, other)
        assert ledger.count == (0 if device.is_host else 5)
        assert all(e.direction == "h2d" and e.kind == "explicit" for e in ledger.entries)
        assert values(other) == values(model)


class TestWrongKeys:
    def test_one_error_lists_all_four_and_nothing_is_loaded(self, device):
        model = L.Chain(
            a=L.Linear(2, 2, device=device),
            b=L.Linear(2, 2, device=device),
            c=L.Linear(2, 2, bias=False, device=device),
        )
        before = values(model)
        state = {path: p.numpy() + 1 for path, p in model.namedparams()}
        del state["a.bias"]
        state["d.extra"] = np.ones(1, np.float32)
        state["b.weight"] = np.ones((2, 3), np.float32)
        state["c.weight"] = np.ones((2, 2), np.float64)
        file = io.BytesIO()
        serializers.save_npz(file, state)
        for load in (lambda: serializers.load_npz(file, model), lambda: model.load_state_dict(state)):
            with pytest.raises(StateMismatchError) as caught:
                load()
            for part in ("a.bias", "d.extra", "b.weight", "(2, 3)", "c.weight", "float64"):
                assert part in str(caught.value)
            assert values(model) == before


class TestTheSameSeed:
    """pytorch#79496: on every device the same numbers, whatever else a program draws."""

    def test_weights_permutations_and_masks_are_the_hosts(self, device):
        def draw(place, more):
            af.seed(42)
            if more:
                L.Linear(5, 5, device=place).weight.numpy()
            model = L.Chain(net=Net(place))
            model.net(batch(place)[0])
            mask = F.dropout(af.ones((40,), device=place), 0.5, path="mask").numpy()
            return values(model), mask.tobytes(), af.random.permutation(20, device=place, path="order").numpy().tolist()

        assert draw(device, False) == draw("cpu", True)


class TestFloat64:
    """pytorch#122602: it goes nowhere that has none, and widens nothing."""

    @pytest.mark.parametrize("make", OPTIMIZERS)
    def test_lists_numbers_and_numpy_scalars_widen_nothing(self, device, make):
        model = Net(device)
        optimizer = make(lr=np.float64(0.1)).setup(model)
        x = af.asarray(np.linspace(0, 1, 24).reshape(6, 4), dtype=af.float32, device=device)  # cast before the upload
        t = af.asarray([0, 1, 2, 0, 1, 2], device=device)
        for _ in range(2):
            logits = model(x * np.float64(0.5) + [0.0][0])
            loss = F.softmax_cross_entropy(logits, t) / np.float64(2) + np.mean([1.0, 2.0])
            model.cleargrads()
            loss.backward()
            optimizer.update()
        assert af.asarray([[1.0, 2.0]], device=device).dtype == af.float32
        found = [loss, logits, F.accuracy(logits, t), *model.params(), *(p.grad for p in model.params())]
        assert {str(v.dtype) for v in found} == {"float32"}

    def test_a_device_without_it_refuses_before_anything_moves(self):
        x = np.linspace(0, 1, 4)
        with af.transfers() as ledger, pytest.raises(DTypeError, match=r"no float64. Cast first.*af.float32"):
            af.asarray(x, device="strict:no_float64")
        assert ledger.count == 0

    def test_a_cast_comes_before_the_upload(self, device):
        with af.transfers() as ledger:
            af.asarray(np.linspace(0, 1, 4), dtype=af.float32, device=device)
        assert ledger.bytes == (0 if device.is_host else 16)
