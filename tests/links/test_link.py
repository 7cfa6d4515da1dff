"""Registration by attribute, paths, ties, buffers, and text."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import arrayflow as af
from arrayflow import functions as F
from arrayflow import initializers as I
from arrayflow import links as L
from arrayflow.errors import DeviceMismatchError


class Pair(L.Link):
    """Two layers and a scale, without super().__init__()."""

    def __init__(self, device):
        self.scale = L.Parameter(I.Ones(), (3,), device=device)
        with self.init_scope():
            self.a = L.Linear(3, 3, device=device)
        self.b = L.Linear(3, 2, device=device)

    def forward(self, x):
        return self.b(F.relu(self.a(x * self.scale)))


def paths(link):
    return [path for path, _ in link.namedparams()]


class TestRegistration:
    def test_attributes_are_registered_in_order_own_ones_first(self, device):
        model = L.Chain(pair=Pair(device))
        model.top = L.Parameter(I.Zeros(), (1,), device=device)
        assert paths(model) == ["top", "pair.scale", "pair.a.weight", "pair.a.bias", "pair.b.weight", "pair.b.bias"]
        assert [p.path for p in model.params()] == paths(model)
        assert [path for path, _ in model.namedlinks()] == ["", "pair", "pair.a", "pair.b"]
        assert list(model.children()) == [model.pair]
        assert list(model.links())[-1] is model.pair.b

    def test_deleted_and_replaced_attributes_are_registered_no_longer(self, device):
        model = Pair(device)
        old = model.a
        model.a = L.Linear(3, 4, bias=False, device=device)
        assert old.path == ""
        assert old.weight.path == "weight"
        del model.scale
        model.b.bias = None
        assert paths(model) == ["a.weight", "b.weight"]
        model.b = None
        assert paths(model) == ["a.weight"]

    def test_a_change_anywhere_below_is_seen_by_cleargrads(self, device, put):
        model = Pair(device)
        model.cleargrads()
        model.b.extra = L.Parameter(I.Ones(), (2,), device=device)
        model.b.extra.grad = put([1, 1])
        model.cleargrads()
        assert model.b.extra.grad is None

    def test_the_same_parameter_twice_is_one(self, device):
        model = L.Chain(encoder=L.Linear(3, 3, device=device), decoder=L.Linear(3, 3, device=device))
        model.decoder.weight = model.encoder.weight
        assert paths(model) == ["encoder.weight", "encoder.bias", "decoder.bias"]
        assert model.decoder.weight.path == "encoder.weight"

    def test_a_tie_survives_its_first_owner(self, device):
        first, second = L.Linear(3, 3, device=device), L.Linear(3, 3, device=device)
        second.weight = first.weight
        model = L.Chain(second=second)
        del first
        assert paths(model) == ["second.weight", "second.bias"]
        assert second.weight.path == "second.weight"

    def test_the_same_link_twice_is_one(self, device):
        layer = L.Linear(3, 3, device=device)
        model = L.Sequential(layer, F.relu, layer)
        assert paths(model) == ["0.weight", "0.bias"]
        assert [path for path, _ in model.namedlinks()] == ["", "0"]

    def test_a_link_cannot_hold_itself(self, device):
        model = Pair(device)
        with pytest.raises(ValueError, match=r"Linear\.up: a link cannot hold itself"):
            model.a.up = model
        with pytest.raises(ValueError, match="cannot hold itself"):
            model.me = model
        assert not hasattr(model.a, "up")

    def test_links_hold_no_cycle(self, device):
        gc.disable()
        try:
            model = L.Sequential(Pair(device), L.Linear(2, 2, device=device))
            gone = [weakref.ref(model), weakref.ref(model[0]), weakref.ref(model[0].a.weight)]
            del model
            assert [ref() for ref in gone] == [None, None, None]
        finally:
            gc.enable()

    def test_a_link_without_forward_says_so_when_called(self):
        with pytest.raises(TypeError, match=r"Chain cannot be called: the class defines no forward\(self, x\)"):
            L.Chain()(1)

    def test_chain_takes_links_only(self):
        with pytest.raises(TypeError, match="Chain: act must be a Link, but it is a function"):
            L.Chain(act=F.relu)


class TestBuffers:
    def test_buffers_are_variables_that_need_no_gradient(self, device, put):
        link = L.Link()
        given = put([1, 2])
        link.register_buffer("mean", given)
        assert link.mean is not given
        assert not link.mean.requires_grad
        assert [(path, type(raw)) for path, raw in link.namedbuffers()] == [("mean", type(given.array))]
        link.mean = link.mean * 0.5 + 1
        assert link.mean.numpy().tolist() == [1.5, 2.0]
        assert L.Chain(inner=link).inner._path() == "inner"

    def test_a_buffer_shares_no_memory_with_what_was_given(self):
        table = np.ones(3, "float32")
        link = L.Link()
        link.register_buffer("table", table)
        table[0] = 5
        assert link.table.numpy().tolist() == [1, 1, 1]

    def test_a_buffer_keeps_no_graph_alive(self, device, put):
        link = L.Link()
        link.register_buffer("mean", put([1, 2]))
        x = put([3, 4])
        x.requires_grad = True
        link.mean = x * 2
        assert not link.mean.requires_grad

    def test_an_array_of_another_device_is_refused(self, put, device, elsewhere):
        link = L.Link()
        link.register_buffer("mean", put([1, 2]))
        model = L.Chain(norm=link)
        with pytest.raises(
            DeviceMismatchError, match=rf"buffer 'norm.mean' lives on {device}.*on {elsewhere}.*to_device"
        ):
            model.norm.mean = put([1, 2], on=elsewhere)
        assert link.mean.device is device

    def test_none_is_no_value_yet_and_deleting_unregisters(self, device, put):
        link = L.Link()
        link.register_buffer("mean", None)
        assert list(link.namedbuffers()) == []
        link.mean = put([1.0])
        assert [path for path, _ in link.namedbuffers()] == ["mean"]
        del link.mean
        assert list(link.namedbuffers()) == []

    @pytest.mark.parametrize("value", [1.0, [1.0], np.float32(1)])
    def test_numbers_and_lists_are_no_buffers(self, value):
        with pytest.raises(TypeError, match="buffer 'x': an array, a Variable or None is needed"):
            L.Link().register_buffer("x", value)

    def test_a_name_must_be_an_attributes(self, put):
        with pytest.raises(ValueError, match=r"'a\.b' cannot name a parameter, buffer or link"):
            L.Link().register_buffer("a.b", put([1.0]))


class TestNames:
    @pytest.mark.parametrize("name", ["a.b", "0", "a/b", ""])
    def test_a_path_leads_to_one_part(self, name):
        for model in (L.Link(), L.Sequential(L.Linear(2, 2, device="cpu"))):
            for part in (L.Linear(2, 2, device="cpu"), L.Parameter([1.0], device="cpu")):
                with pytest.raises(ValueError, match="cannot name a parameter, buffer or link"):
                    setattr(model, name, part)

    @pytest.mark.parametrize("name", ["params", "to_device", "forward", "path"])
    def test_a_method_is_not_hidden(self, name):
        with pytest.raises(ValueError, match=f"Chain: '{name}' is a method or property of every link"):
            L.Chain(**{name: L.Linear(2, 2, device="cpu")})
        with pytest.raises(ValueError, match=f"Link: '{name}' is a method or property of every link"):
            L.Link().register_buffer(name, None)


class TestText:
    def test_repr_shows_the_structure(self, device):
        assert repr(L.Sequential(Pair(device), F.relu, L.Dropout(0.25), L.Linear(7, bias=False, device=device))) == (
            "Sequential(\n"
            "  (0): Pair(\n"
            "    (a): Linear(in_features=3, out_features=3)\n"
            "    (b): Linear(in_features=3, out_features=2)\n"
            "  )\n"
            "  (1): relu\n"
            "  (2): Dropout(ratio=0.25)\n"
            "  (3): Linear(in_features=None, out_features=7, bias=False)\n"
            ")"
        )


class TestReplacingAParameter:
    @pytest.mark.parametrize("make", [lambda x: x, lambda x: x.array])
    def test_an_array_in_its_place_is_refused_with_both_ways_out(self, device, make):
        layer = L.Linear(2, 2, device=device)
        before = layer.weight
        with pytest.raises(TypeError, match=r"Linear.weight is a Parameter.*link.weight.array = x.*af.Parameter\(x\)"):
            layer.weight = make(af.ones((2, 2), device=device))
        assert layer.weight is before
