"""Numbered containers behave like lists, and paths follow the numbers."""

from __future__ import annotations

import pytest

from arrayflow import functions as F
from arrayflow import links as L


def linear(device, n=2):
    return L.Linear(n, n, bias=False, device=device)


class TestRows:
    def test_functions_count_in_the_numbering(self, device):
        model = L.Sequential(linear(device), F.relu, linear(device))
        assert [path for path, _ in model.namedparams()] == ["0.weight", "2.weight"]
        assert [p.path for p in model.params()] == ["0.weight", "2.weight"]

    def test_insertion_and_deletion_renumber(self, device):
        first, second = linear(device), linear(device)
        model = L.Sequential(first, second)
        model.insert(0, F.relu)
        assert (first.path, second.path) == ("1", "2")
        del model[1]
        assert (first.path, second.path) == ("", "1")
        model.append(first)
        model += [F.relu]
        assert (first.path, len(model)) == ("2", 4)
        model[1] = linear(device)
        assert second.path == ""
        assert model.pop() is F.relu
        assert next(iter(model)) is F.relu

    def test_a_slice_shares_its_items(self, device, put):
        model = L.Sequential(linear(device), F.relu, linear(device))
        head = model[:2]
        assert isinstance(head, L.Sequential)
        assert head[0] is model[0]
        assert model[0].path == "0"
        x = put([[1, 2]])
        assert (model[2](head(x)).numpy() == model(x).numpy()).all()

    def test_a_list_of_links_in_an_attribute(self, device):
        class Tower(L.Link):
            def __init__(self):
                self.layers = L.ChainList(linear(device), linear(device))

        model = Tower()
        assert [path for path, _ in model.namedparams()] == ["layers.0.weight", "layers.1.weight"]
        assert model.layers[1].weight.path == "layers.1.weight"

    def test_attributes_of_a_container_are_registered_too(self, device):
        model = L.Sequential(linear(device))
        model.extra = linear(device)
        assert [path for path, _ in model.namedparams()] == ["extra.weight", "0.weight"]


class TestRefusals:
    def test_what_is_no_layer_is_refused_with_its_number(self, device):
        with pytest.raises(
            TypeError, match=r"layer 0 must be a Link or a function, but it is a list.*Sequential\(\*layers\)"
        ):
            L.Sequential([linear(device)])
        with pytest.raises(TypeError, match=r"is the class Dropout. Make one: Dropout\(\.\.\.\)"):
            L.Sequential(L.Dropout)
        with pytest.raises(TypeError, match="ChainList: item 0 must be a Link, but it is a function"):
            L.ChainList(F.relu)

    def test_a_chain_list_is_no_function(self, device, put):
        with pytest.raises(TypeError, match="A ChainList cannot be called"):
            L.ChainList(linear(device))(put([1, 2]))
