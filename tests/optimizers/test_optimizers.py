"""Steps against PyTorch's, on every device; state that moves, and numbers that are refused."""

import copy
import pickle

import numpy as np
import pytest

import arrayflow as af
from arrayflow import links as L
from arrayflow import optimizers
from arrayflow.errors import DeviceMismatchError, DTypeError, OptimizerError, TransferError
from arrayflow.links import _moving, parameter
from arrayflow.optimizers import optimizer as optimizer_module

CASES = [
    pytest.param(lambda: optimizers.SGD(lr=0.1), "SGD", {"lr": 0.1}, id="SGD"),
    pytest.param(
        lambda: optimizers.MomentumSGD(lr=0.05, momentum=0.8), "SGD", {"lr": 0.05, "momentum": 0.8}, id="MomentumSGD"
    ),
    pytest.param(
        lambda: optimizers.Adam(lr=0.01, beta1=0.8, beta2=0.95, eps=1e-6),
        "Adam",
        {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6},
        id="Adam",
    ),
]


def parameters(device, seed=0):
    r = np.random.RandomState(seed)
    shapes = ((3, 4), (4,), ())
    return [af.Parameter(np.asarray(r.randn(*shape), dtype=np.float32), device=device) for shape in shapes]


def give_gradients(ps, step):
    r = np.random.RandomState(100 + step)
    for p in ps:
        p.grad = af.asarray(np.asarray(r.randn(*p.shape), dtype=np.float32), device=p.device)


class TestAgainstPyTorch:
    @pytest.mark.parametrize(("make", "name", "numbers"), CASES)
    def test_200_steps_on_the_same_gradients_agree(self, device, make, name, numbers):
        torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
        ps = parameters(device)
        qs = [torch.tensor(p.numpy(), requires_grad=True) for p in ps]
        ours, theirs = make().setup(ps), getattr(torch.optim, name)(qs, **numbers)
        for step in range(200):
            give_gradients(ps, step)
            for p, q in zip(ps, qs, strict=True):
                q.grad = torch.tensor(p.grad.numpy())
            ours.update()
            theirs.step()
        for p, q in zip(ps, qs, strict=True):
            assert p.device is device
            np.testing.assert_allclose(p.numpy(), q.detach().numpy(), rtol=2e-5, atol=1e-5)

    @pytest.mark.parametrize(("make", "name", "numbers"), CASES)
    def test_large_parameters_go_in_chunks_to_the_same_values(self, make, name, numbers):
        torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
        start = np.random.RandomState(0).randn(300, 701).astype(np.float32)
        p, q = af.Parameter(start, device="cpu"), torch.tensor(start, requires_grad=True)
        ours, theirs = make().setup([p]), getattr(torch.optim, name)([q], **numbers)
        for step in range(3):
            g = np.random.RandomState(step).randn(*start.shape).astype(np.float32)
            p.grad, q.grad = g, torch.tensor(g)
            ours.update()
            theirs.step()
        np.testing.assert_allclose(p.numpy(), q.detach().numpy(), rtol=1e-5, atol=1e-6)


class TestUpdate:
    def test_a_parameter_without_a_gradient_stays(self, device):
        p, q = af.Parameter([1.0], device=device), af.Parameter([1.0], device=device)
        optimizer = optimizers.Adam(lr=0.1).setup([p, q])
        optimizer.update(lambda: af.sum(p * p))
        assert q.numpy().tolist() == [1.0]
        assert p.numpy().tolist() != [1.0]

    def test_the_gradient_and_the_caller_s_arrays_are_not_written(self, device):
        start = np.asarray([1.0, 2.0], dtype=np.float32)
        p = af.Parameter(start, device=device)
        later = np.asarray([5.0, 6.0], dtype=np.float32)
        optimizer = optimizers.Adam(lr=0.1).setup([p])
        optimizer.update(lambda: af.sum(p * p))
        p.array = af.asarray(later, device=device).array
        g = af.asarray([1.0, 1.0], device=device)
        p.grad = g
        optimizer.update()
        assert start.tolist() == [1.0, 2.0]
        assert later.tolist() == [5.0, 6.0]
        assert g.numpy().tolist() == [1.0, 1.0]

    def test_a_gradient_that_was_read_is_not_overwritten_by_the_next_step(self, device):
        w, x = af.Parameter([[1.0, 2.0]], device=device), af.ones((3, 2), device=device)
        from arrayflow import functions as F

        def loss():
            return af.sum(F.linear(x, w))

        optimizer = optimizers.SGD(lr=0.1).setup([w])
        optimizer.update(loss)
        first = w.grad
        before = first.numpy().tolist()
        w.cleargrad()
        af.sum(F.linear(2 * x, w)).backward()
        assert first.numpy().tolist() == before
        assert w.grad.numpy().tolist() == [[6.0, 6.0]]

    def test_no_step_reads_the_device(self, device):
        ps = parameters(device)
        give_gradients(ps, 0)
        optimizer = optimizers.Adam().setup(ps)
        with af.transfers() as ledger:
            optimizer.update()
            optimizer.update()
        assert ledger.count == 0

    def test_numpy_numbers_never_promote(self, device):
        p = af.Parameter([1.0], device=device)
        optimizer = optimizers.Adam(lr=np.float64(0.1), eps=np.float32(1e-8)).setup([p])
        optimizer.lr = np.float64(0.2)
        optimizer.update(lambda: af.sum(p * p))
        assert type(optimizer.lr) is float
        assert p.dtype == "float32"

    def test_what_is_no_model_and_no_loss(self, device):
        for model in (None, af.Parameter([1.0], device=device)):
            with pytest.raises(TypeError, match=r"SGD\.setup: model must be a Link or a list of Parameters"):
                optimizers.SGD().setup(model)
        p = af.Parameter([1.0], device=device)
        for loss in (None, 1.0):
            with pytest.raises(OptimizerError, match=f"lossfun must return a Variable.*a {type(loss).__name__}"):
                optimizers.SGD().setup([p]).update(lambda loss=loss: loss)

    def test_before_setup_and_without_parameters(self):
        with pytest.raises(OptimizerError, match=r"Call setup\(model\) first"):
            optimizers.SGD().update()
        with pytest.raises(OptimizerError, match="no parameter to train"):
            optimizers.SGD().setup([])
        with pytest.raises(TypeError, match="0 is a Variable, but must be a Parameter"):
            optimizers.SGD().setup([af.ones((1,), device="cpu")])

    @pytest.mark.parametrize("lr", [-0.1, float("nan"), float("inf")])
    def test_step_sizes_that_are_none(self, lr):
        with pytest.raises(OptimizerError, match="lr must be"):
            optimizers.SGD(lr=lr)
        with pytest.raises(OptimizerError, match=r"beta1 must be in \[0, 1\)"):
            optimizers.Adam(beta1=1.0)

    def test_a_model_where_a_number_belongs_says_where_it_goes(self):
        p = af.Parameter([1.0], device="cpu")
        with pytest.raises(TypeError, match=r"lr must be a number, but it is a list.*SGD\(lr=0.01\).setup\(model\)"):
            optimizers.SGD([p])

    def test_a_gradient_elsewhere_changes_nothing(self):
        p, q = af.Parameter([1.0], device="cpu"), af.Parameter([1.0], device="strict:device1", name="q")
        optimizer = optimizers.SGD(lr=0.1).setup([p, q])
        p.grad = [1.0] if False else af.ones((1,), device="cpu")
        object.__setattr__(q, "_grad", af.ones((1,), device="strict:device2").array)
        with pytest.raises(DeviceMismatchError, match=r"'q' lives on strict:device1, its gradient on strict:device2"):
            optimizer.update()
        assert p.numpy().tolist() == [1.0]


class TestMoving:
    @pytest.mark.parametrize(("make", "name", "numbers"), CASES)
    def test_three_steps_there_and_back_are_nine_steps(self, make, name, numbers):
        still, moving = parameters("strict:device1"), parameters("strict:device1")
        a, b = make().setup(still), make().setup(moving)
        for step, place in enumerate(["strict:device1"] * 3 + ["strict:device2"] * 3 + ["strict:device1"] * 3):
            if moving[0].device != place:
                with af.transfers() as ledger:
                    af.to_device(b, place)
                arrays = len(moving) * (2 + len(b.state_names))  # values, gradients, state
                assert ledger.count == arrays
            give_gradients(still, step)
            give_gradients(moving, step)
            a.update()
            b.update()
        for p, q in zip(still, moving, strict=True):
            assert p.numpy().tobytes() == q.numpy().tobytes()

    def test_identity_of_parameters_is_kept(self, device):
        p = af.Parameter([1.0], device="cpu")
        optimizer = optimizers.Adam().setup([p])
        assert af.to_device(optimizer, device) is optimizer
        assert p.device is device
        assert af.device_of(optimizer) is device

    def test_a_deep_copy_steps_on_its_own(self, device):
        p = af.Parameter([1.0, 2.0], device=device)
        optimizer = optimizers.Adam(lr=0.1).setup([p])
        optimizer.update(lambda: af.sum(p * p))
        q, twin = copy.deepcopy((p, optimizer))
        twin.update(lambda: af.sum(q * q))
        assert q.numpy().tolist() != p.numpy().tolist()
        optimizer.update(lambda: af.sum(p * p))
        assert q.numpy().tolist() == p.numpy().tolist()

    def test_another_optimizer_of_the_same_parameters_keeps_its_state_with_them(self, device, elsewhere):
        p = af.Parameter([1.0, 2.0], device=elsewhere)
        first, second = optimizers.Adam().setup([p]), optimizers.MomentumSGD().setup([p])
        for optimizer in (first, second):
            optimizer.update(lambda: af.sum(p * p))
        first.to_device(device)
        for optimizer in (first, second):
            optimizer.update(lambda: af.sum(p * p))
        assert p.device is device

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
    def test_the_state_of_a_copy_moves_with_the_copied_model(self, device, elsewhere, copied):
        model = L.Sequential(L.Linear(4, 8, device=elsewhere), L.Linear(8, 2, device=elsewhere))
        optimizer = optimizers.Adam().setup(model)
        for _ in range(3):
            optimizer.update(lambda: af.sum(model(af.ones((1, 4), device=elsewhere))))
        before = [p.numpy() for p in model.params()]
        twin, its = copied((model, optimizer))
        twin.to_device(device)
        its.update(lambda: af.sum(twin(af.ones((1, 4), device=device))))
        assert its.t == 4
        assert all((p.numpy() == b).all() for p, b in zip(model.params(), before, strict=True))
        optimizer.update(lambda: af.sum(model(af.ones((1, 4), device=elsewhere))))
        for p, q in zip(model.params(), twin.params(), strict=True):
            np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6)

    def test_pickling_reads_a_device_as_recorded_transfers(self, device):
        p = af.Parameter([1.0, 2.0], device=device)
        optimizer = optimizers.Adam().setup([p])
        optimizer.update(lambda: af.sum(p * p))
        with af.transfers() as ledger:
            pickle.dumps(optimizer)
        assert ledger.total("d2h") == ((0, 0) if device.is_host else (3, 24))  # values, m, v

    @pytest.mark.parametrize("whole", [True, False])
    def test_a_move_that_fails_anywhere_leaves_all_where_it_was(self, device, elsewhere, monkeypatch, whole):
        model = L.Sequential(L.Linear(4, 3, device=elsewhere), L.Linear(3, 2, device=elsewhere))
        optimizer = optimizers.Adam().setup(model)

        def loss():
            return af.sum(model(af.ones((1, 4), device=elsewhere)))

        optimizer.update(loss)

        def everything():
            arrays = [a for s in optimizer._states.values() for a in s.arrays]
            found = [*(p.array for p in model.params()), *(p.grad.array for p in model.params()), *arrays]
            return [(af.device_of(a), af.Variable(a).numpy().tobytes()) for a in found]

        before = everything()
        real, left = parameter.move, [0]

        def failing(*args, **kwargs):
            left[0] -= 1
            if left[0] == 0:
                raise MemoryError("full")
            return real(*args, **kwargs)

        for module in (parameter, _moving, optimizer_module):
            monkeypatch.setattr(module, "move", failing)
        for n in range(1, 17):
            left[0] = n
            with pytest.raises(MemoryError):
                (model if whole else optimizer).to_device(device)
            assert everything() == before
        optimizer.update(loss)

    def test_copy_is_kept_to(self, device, elsewhere):
        p = af.Parameter([1.0], device=elsewhere)
        optimizer = optimizers.Adam().setup([p])
        with pytest.raises(TransferError, match=rf"Adam.to_device: copy=False, but '0' is on {elsewhere}"):
            af.to_device(optimizer, device, copy=False)
        assert af.device_of(af.to_device(optimizer, device, copy=True)) is device
        assert p.device is elsewhere

    def test_a_type_that_the_device_lacks_is_found_before_anything_moves(self):
        ps = [af.Parameter([1.0], device="cpu"), af.Parameter([1.0], dtype=af.float64, device="cpu")]
        optimizer = optimizers.SGD().setup(ps)
        with pytest.raises(DTypeError, match=r"SGD.to_device: '1' cannot be moved.*no float64.*Nothing has been moved"):
            optimizer.to_device("strict:no_float64")
        assert {p.device for p in ps} == {af.Device("cpu")}


class TestChangedModels:
    def test_what_is_replaced_or_added_later_is_trained_and_saved(self, device):
        model = L.Chain(a=L.Linear(2, 2, device=device), b=L.Linear(2, 2, device=device))
        optimizer = optimizers.Adam(lr=0.1).setup(model)

        def loss():
            return af.sum(model.b(model.a(af.ones((1, 2), device=device))))

        optimizer.update(loss)
        old = model.b.weight
        model.b = L.Linear(2, 2, device=device)
        model.b.factor = af.Parameter([1.0], device=device)
        before = {path: p.numpy() for path, p in model.namedparams()}
        kept = old.numpy()
        model.cleargrads()
        af.sum(loss() * model.b.factor).backward()
        optimizer.update()
        assert not any((p.numpy() == before[path]).all() for path, p in model.namedparams())
        assert (old.numpy() == kept).all()
        assert {name.rpartition(".")[0] for name in optimizer._state_slots() if name.endswith(".m")} == set(before)
        assert int(optimizer._state_slots()["a.weight.t"].get()) == 2
        assert int(optimizer._state_slots()["b.weight.t"].get()) == 1


class TestPacks:
    """Small parameters share one array behind the user's back; nothing of that may show."""

    def net(self, device):
        from arrayflow import functions as F

        af.seed(3)
        model = L.Sequential(L.Linear(4, 8, device=device), F.relu, L.Linear(8, 2, device=device))
        x = af.asarray(np.random.RandomState(0).randn(16, 4).astype(np.float32), device=device)
        t = af.asarray((np.arange(16) % 2).astype(np.int32), device=device)
        return model, lambda: F.softmax_cross_entropy(model(x), t)

    @pytest.mark.parametrize(("make", "name", "numbers"), CASES)
    def test_whatever_happens_between_steps_the_values_are_those_of_single_parameters(
        self, device, make, name, numbers, monkeypatch
    ):
        events = {
            2: lambda m, o: [p.grad for p in m.params()],
            4: lambda m, o: setattr(next(iter(m.params())), "array", af.full((8, 4), 0.1, device=device)),
            6: lambda m, o: setattr(next(iter(m.params())), "grad", af.full((8, 4), 0.1, device=device)),
            8: lambda m, o: next(iter(m.params())).cleargrad(),
            10: lambda m, o: m.to_device("strict:device2").to_device(device),
            12: lambda m, o: o.to_device("cpu").to_device(device),
        }
        results = []
        for tries in (16, 0):
            monkeypatch.setattr("arrayflow.optimizers.optimizer.PACK_TRIES", tries)
            model, loss = self.net(device)
            optimizer = make().setup(model)
            for step in range(16):
                model.cleargrads()
                loss().backward()
                events.get(step, lambda m, o: None)(model, optimizer)
                optimizer.update()
            results.append([p.numpy() for p in model.params()])
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)

    def test_a_held_gradient_and_a_functional_one_are_never_overwritten(self, device):
        from arrayflow.autograd import gradients

        model, loss = self.net(device)
        optimizer = optimizers.SGD(lr=0.1).setup(model)
        held = []
        for _ in range(6):
            model.cleargrads()
            p = next(iter(model.params()))
            (g,) = gradients([loss()], [p])
            loss().backward()
            held += [(g, g.numpy()), (p.grad, p.grad.numpy())]
            optimizer.update()
        for g, before in held:
            assert g.numpy().tobytes() == before.tobytes()

    def test_two_optimizers_of_one_model_both_step(self, device):
        model, loss = self.net(device)
        first, second = optimizers.SGD(lr=0.1).setup(model), optimizers.Adam(lr=0.01).setup(model)
        losses = []
        for _ in range(40):
            model.cleargrads()
            value = loss()
            value.backward()
            first.update()
            second.update()
            losses.append(value.item())
        assert losses[-1] < losses[0]
