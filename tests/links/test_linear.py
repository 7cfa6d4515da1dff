"""The fully connected layer: PyTorch's numbers, lazy sizes, and errors before any arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from arrayflow import functions as F
from arrayflow import initializers as I
from arrayflow import links as L
from arrayflow import random
from arrayflow.errors import DeviceMismatchError, DTypeError, ShapeError
from arrayflow.transfers import transfers


class TestValues:
    def test_a_model_and_its_gradients_are_pytorchs(self, device, put):
        rng = np.random.default_rng(0)
        model = L.Sequential(L.Linear(4, 8, device=device), F.relu, L.Linear(8, 3, device=device))
        x, t = rng.standard_normal((5, 4)).astype("float32"), np.asarray([0, 2, 1, 1, 0])
        loss = F.softmax_cross_entropy(model(put(x)), put(t, "int32"))
        loss.backward()
        oracle = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        with torch.no_grad():
            for mine, theirs in zip(model.params(), oracle.parameters(), strict=True):
                theirs.copy_(torch.tensor(mine.numpy()))
        expected = torch.nn.functional.cross_entropy(oracle(torch.tensor(x)), torch.tensor(t))
        expected.backward()
        assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
        for mine, theirs in zip(model.params(), oracle.parameters(), strict=True):
            assert mine.grad.device is device
            np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-6)

    def test_defaults_are_lecun_normal_and_zeros(self, device):
        layer = L.Linear(400, 300, device=device)
        weight = layer.weight.numpy()
        assert weight.dtype == np.float32
        assert weight.std() == pytest.approx(1 / 20, rel=0.02)
        assert not layer.bias.numpy().any()

    def test_the_same_seed_gives_the_same_bits_on_every_device(self, device):
        def build(on):
            random.seed(3)
            model = L.Sequential(L.Linear(4, 8, device=on), F.relu, L.Linear(5, device=on))
            model[2].weight.initialize((5, 8))
            return [p.numpy().tobytes() for p in model.params()]

        assert build(device) == build("cpu")

    def test_layers_elsewhere_change_no_first_values(self, device):
        model = L.Chain(a=L.Linear(2, 3, device=device))
        alone = model.a.weight.numpy()
        random.seed(0)
        other = L.Chain(b=L.Linear(9, 9, device=device), a=L.Linear(2, 3, device=device))
        other.b.weight.numpy()
        assert (other.a.weight.numpy() == alone).all()

    def test_initial_values_can_be_numbers_arrays_and_initializers(self, device, put):
        w = np.arange(6, dtype="float32").reshape(2, 3)
        layer = L.Linear(3, 2, initial_weight=w, initial_bias=1.5, device=device)
        assert (layer.weight.numpy() == w).all()
        assert layer.bias.numpy().tolist() == [1.5, 1.5]
        w[:] = 0
        assert layer.weight.numpy().any()
        assert (L.Linear(3, 2, initial_weight=I.Ones(), device=device).weight.numpy() == 1).all()
        given = put(np.ones((2, 3)))
        layer = L.Linear(2, initial_weight=given)
        assert (layer.device, layer.in_features) == (device, 3)

    def test_float64_where_the_device_has_it(self, device, put):
        if "float64" not in device.backend.dtypes_on(device.native):
            with pytest.raises(DTypeError, match="has no float64"):
                L.Linear(3, 2, dtype="float64", device=device).weight.numpy()
            return
        layer = L.Linear(3, 2, dtype="float64", device=device)
        assert (layer.weight.dtype, layer.bias.dtype) == ("float64", "float64")
        assert layer(put([[1, 2, 3]])).dtype == "float64"
        assert L.Linear(3, 2, device=device)(put([[1, 2, 3]], "float64")).dtype == "float64"

    def test_without_a_bias(self, device, put):
        layer = L.Linear(3, 2, bias=False, initial_weight=1.0, device=device)
        assert layer.bias is None
        assert layer(put([1, 2, 3])).numpy().tolist() == [6, 6]


class TestLazy:
    def test_the_size_comes_from_the_first_input(self, device, put):
        layer = L.Linear(2, device=device)
        assert layer.in_features is None
        assert layer.device is device
        assert layer(put(np.ones((4, 7)))).shape == (4, 2)
        assert layer.in_features == 7
        assert layer(put(np.ones((2, 3, 7)))).shape == (2, 3, 2)

    def test_its_values_are_those_of_a_layer_built_with_the_size(self, device, put):
        lazy = L.Linear(None, 2, device=device)
        lazy(put(np.ones((1, 5))))
        random.seed(0)
        assert lazy.weight.numpy().tobytes() == L.Linear(5, 2, device=device).weight.numpy().tobytes()

    def test_moved_before_its_first_input_it_is_created_there(self, device, put):
        model = L.Sequential(L.Linear(4, device="cpu"), F.relu, L.Linear(2, device="cpu"))
        model.to_device(device)
        model(put(np.ones((3, 5))))
        assert {p.device for p in model.params()} == {device}

    def test_reading_it_too_early_says_what_to_do(self, device):
        model = L.Sequential(L.Linear(4, device=device))
        with pytest.raises(ShapeError, match=r"'0.weight' has no shape yet.*Call the model once"):
            model[0].weight.numpy()

    def test_a_refused_first_input_leaves_it_as_it_was(self, device, elsewhere, put):
        layer = L.Linear(2, device=device)
        with pytest.raises(DeviceMismatchError, match=r"'weight'\) on .*, shape unknown"):
            layer(put(np.ones((4, 7)), on=elsewhere))
        with pytest.raises(ShapeError, match="must have an axis of features"):
            layer(put(1.0))
        with pytest.raises(TypeError, match="x must be a Variable or an array, but it is a list"):
            layer([1.0])
        assert layer.in_features is None
        assert random.get_state()["steps"] == {}


class TestRefusals:
    @pytest.mark.parametrize("raw", [True, False])
    @pytest.mark.parametrize("drawn", [True, False])
    def test_a_host_input_to_a_model_on_a_device(self, device, elsewhere, put, raw, drawn):
        model = L.Chain(layers=L.Sequential(L.Linear(3, 4, device=elsewhere), F.relu))
        model.to_device(device)
        if drawn:
            model.layers(put(np.ones((2, 3))))
        x = put(np.ones((5, 3)), on=elsewhere)
        with transfers() as ledger, pytest.raises(DeviceMismatchError) as caught:
            model.layers(x.array if raw else x)
        assert ledger.count == 0
        text = str(caught.value)
        for part in (
            f"linear: operands live on different devices: x on {elsewhere}, shape (5, 3), float32",
            f"weight (parameter 'layers.0.weight') on {device}, shape (4, 3), float32",
            f"bias (parameter 'layers.0.bias') on {device}, shape (4,), float32",
            "test_linear.py:",
            f"Move it: x = af.to_device(x, '{device}')",
        ):
            assert part in text
        model.layers(put(np.ones((2, 3))))  # the process works on

    def test_the_one_operand_left_behind_is_named(self, device, elsewhere, put):
        model = L.Chain(layers=L.Sequential(L.Linear(3, 3, device=device), L.Linear(3, 3, device=device)))
        model.layers(put(np.ones((2, 3))))
        model.layers[1].bias = L.Parameter(I.Zeros(), (3,), device=elsewhere)
        with pytest.raises(
            DeviceMismatchError, match=rf"bias \(parameter 'layers.1.bias'\) on {elsewhere}.*Move the model whole"
        ):
            model.layers(put(np.ones((2, 3))))

    def test_an_array_of_another_device_cannot_be_assigned(self, device, elsewhere, put):
        layer = L.Linear(3, 2, device=device)
        before = layer.weight.numpy()
        with pytest.raises(DeviceMismatchError, match=f"'weight' lives on {device}.*on {elsewhere}"):
            layer.weight.array = put(np.zeros((2, 3)), on=elsewhere).array
        assert (layer.weight.numpy() == before).all()

    def test_a_wrong_shape_names_the_layer_and_both_shapes(self, device, put):
        model = L.Sequential(F.relu, L.Linear(4, 3, device=device))
        with pytest.raises(
            ShapeError, match=r"in_features = 4 .* x.shape is \(2, 5\) .*'1.weight'\) is \(3, 4\).*reshape"
        ):
            model(put(np.ones((2, 5))))

    @pytest.mark.parametrize(
        ("args", "error", "text"),
        [
            ((0, 3), ValueError, "in_features must be at least 1, but it is 0"),
            ((3, -1), ValueError, "out_features must be at least 1, but it is -1"),
            ((2.5, 3), TypeError, "in_features must be an integer, but it is a float"),
            ((None,), TypeError, "out_features must be an integer, but it is a NoneType"),
        ],
    )
    def test_sizes_that_are_none(self, args, error, text):
        with pytest.raises(error, match=text):
            L.Linear(*args, device="cpu")

    def test_an_initial_weight_that_does_not_fit(self, device):
        with pytest.raises(ShapeError, match=r"shape=\(2, 3\)"):
            L.Linear(3, 2, initial_weight=np.ones((3, 2), "float32"), device=device)
        with pytest.raises(ShapeError, match=r"out_features = 2, but its shape is \(3, 2\)"):
            L.Linear(2, initial_weight=np.ones((3, 2), "float32"), device=device)
