"""state_dict and its way back: everything, or an error that lists everything."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from arrayflow import functions as F
from arrayflow import links as L
from arrayflow import random
from arrayflow.errors import StateMismatchError


class Net(L.Link):
    def __init__(self, device, columns=4):
        self.a = L.Linear(columns, 3, device=device)
        self.b = L.Linear(3, 3, device=device)
        self.c = L.Linear(3, 3, device=device)
        self.c.weight = self.b.weight
        self.register_buffer("mean", None)
        self.mean = L.Linear(3, 2, device=device).weight.detach()

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


def values(link):
    return {path: v.numpy().tobytes() for path, v in link.state_dict().items()}


class TestSnapshot:
    def test_it_has_every_value_once_as_a_copy(self, device):
        model = Net(device)
        state = model.state_dict()
        assert list(state) == ["a.weight", "a.bias", "b.weight", "b.bias", "c.bias", "mean"]
        assert all(v.device is device and not v.requires_grad for v in state.values())
        before = values(model)
        model.a.weight.array = model.a.weight.array * 2
        assert state["a.weight"].numpy().tobytes() == before["a.weight"]

    def test_an_unknown_size_is_none(self, device):
        assert L.Linear(2, device=device).state_dict()["weight"] is None


class TestLoad:
    def test_values_go_to_where_their_destination_lives(self, device, elsewhere):
        source, target = Net(elsewhere), Net(device)
        state = source.state_dict()
        target.load_state_dict(state)
        assert values(target) == values(source)
        assert target.device is device
        assert target.mean.device is device
        assert target.c.weight is target.b.weight

    def test_nothing_is_shared_with_the_state(self, device):
        model = Net(device)
        state = model.state_dict()
        model.load_state_dict(state)
        assert all(p.array is not state[path].array for path, p in model.namedparams())
        assert model.mean.array is not state["mean"].array

    def test_lazy_sizes_are_taken_from_the_state(self, device, put):
        source = L.Linear(5, 2, device=device)
        target = L.Linear(2, device=device)
        target.load_state_dict(source.state_dict())
        assert target.in_features == 5
        assert (target(put(np.ones(5))).numpy() == source(put(np.ones(5))).numpy()).all()

    def test_an_uninitialised_state_loads_into_an_uninitialised_link(self, device):
        L.Linear(2, device=device).load_state_dict(L.Linear(2, device=device).state_dict())

    def test_raw_host_arrays_are_values_too(self, device):
        model = L.Linear(2, 2, device=device)
        model.load_state_dict({"weight": np.eye(2, dtype="float32"), "bias": np.ones(2, "float32")})
        assert (model.weight.numpy() == np.eye(2)).all()

    def test_a_tied_value_may_come_under_its_other_name(self, device):
        model = Net(device)
        state = model.state_dict()
        state["c.weight"] = state.pop("b.weight")
        model.load_state_dict(state)

    def test_all_that_does_not_fit_is_listed_and_nothing_changes(self, device):
        model = Net(device)
        before = values(model)
        state = {path: v.numpy() + 1 for path, v in model.state_dict().items()}
        del state["a.bias"]
        state["extra"] = np.ones(2, "float32")
        state["b.bias"] = np.ones(7, "float32")
        state["c.bias"] = np.ones(3, "float64")
        with pytest.raises(StateMismatchError) as caught:
            model.load_state_dict(state)
        text = str(caught.value)
        for part in (
            "nothing was changed",
            "missing (1):\n    a.bias: float32 (3,)",
            "unexpected (1):\n    extra: float32 (2,)",
            "of another shape (1):\n    b.bias: (7,) given, (3,) here",
            "of another dtype (1):\n    c.bias: float64 given, float32 here",
        ):
            assert part in text
        assert values(model) == before

    def test_not_strict_passes_over_missing_and_unexpected_paths_only(self, device):
        model = L.Linear(2, 2, device=device)
        model.load_state_dict({"weight": np.eye(2, dtype="float32"), "other": 3}, strict=False)
        assert (model.weight.numpy() == np.eye(2)).all()
        with pytest.raises(StateMismatchError, match="of another shape"):
            model.load_state_dict({"weight": np.ones((3, 2), "float32")}, strict=False)

    def test_a_lazy_size_that_cannot_be(self, device):
        with pytest.raises(StateMismatchError, match=r"\(3, 5\) given, the weight has .* out_features = 2"):
            L.Linear(2, device=device).load_state_dict(L.Linear(5, 3, device=device).state_dict())

    def test_what_is_no_array_is_no_value(self, device):
        with pytest.raises(StateMismatchError, match="weight: a list given"):
            L.Linear(2, 1, device=device).load_state_dict({"weight": [[1.0, 2.0]], "bias": np.zeros(1, "float32")})


class TestSlots:
    def test_undrawn_values_are_drawn_when_saved_and_not_when_replaced(self, device):
        model = L.Linear(3, 2, device=device)
        slots = model._state_slots()
        assert slots["weight"].peek() is None
        assert random.get_state()["steps"] == {}
        slots["weight"].set(np.ones((2, 3), "float32"))
        slots["weight"].restore(None)
        assert slots["weight"].peek() is None
        drawn = slots["weight"].get()
        assert tuple(drawn.shape) == (2, 3)
        assert random.get_state()["steps"] == {"weight": 1}

    def test_tied_slots_have_one_owner(self, device):
        slots = Net(device)._state_slots()
        assert slots["b.weight"].owner is slots["c.weight"].owner


class TestCopies:
    @pytest.mark.parametrize(
        "make", [lambda m: m.copy(), copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
    )
    def test_a_copy_is_equal_and_independent_and_keeps_its_ties(self, device, put, make):
        model = L.Sequential(Net(device), F.relu, L.Dropout(0.5))
        other = make(model)
        assert values(other) == values(model)
        assert repr(other) == repr(model)
        assert other.device is device
        assert [p.path for p in other.params()] == [p.path for p in model.params()]
        assert other[0].c.weight is other[0].b.weight
        assert other[0].b.weight is not model[0].b.weight
        assert other[0].mean is not model[0].mean
        before = values(model)
        for p in other.params():
            p.array = p.array * 3
        assert values(model) == before
        x = put(np.ones((2, 4)))
        assert other[0](x).shape == (2, 3)

    def test_a_copy_of_a_part_stands_alone(self, device):
        model = L.Chain(net=Net(device))
        part = model.net.copy()
        assert part.path == ""
        assert part.a.weight.path == "a.weight"

    def test_undrawn_values_are_the_same_in_a_copy(self, device):
        model = L.Linear(3, 2, device=device)
        assert values(model.copy()) == values(model)

    def test_unknown_sizes_are_unknown_in_a_copy(self, device, put):
        model = L.Sequential(L.Linear(2, device=device))
        for other in (model.copy(), pickle.loads(pickle.dumps(model))):
            assert other[0].in_features is None
            assert other(put(np.ones(3))).shape == (2,)

    def test_what_is_frozen_stays_frozen_in_a_copy(self, device):
        model = L.Sequential(L.Linear(2, device=device))
        for p in model.params():
            p.requires_grad = False
        for other in (model.copy(), pickle.loads(pickle.dumps(model))):
            assert [p.requires_grad for p in other.params()] == [False, False]
