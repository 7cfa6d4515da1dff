"""Arrays that users bring: odd byte orders, masks, other libraries' gradients, tracers."""

from __future__ import annotations

import numpy as np
import pytest

import arrayflow as af
from arrayflow import functions as F
from arrayflow import links as L
from arrayflow import optimizers
from arrayflow.errors import DeviceError, DTypeError


class TestNumPy:
    def test_another_byte_order_becomes_the_machines(self, device):
        host = np.arange(3, dtype=">i4" if np.little_endian else "<i4")
        for x in (af.asarray(host, device=device), af.Variable(af.to_device(host, device))):
            assert x.dtype == af.int32
            assert (x + 1).numpy().tolist() == [1, 2, 3]
        assert af.asarray(host, device=device, dtype=af.float32).numpy().tolist() == [0.0, 1.0, 2.0]
        assert (af.Variable(host) * 2).numpy().tolist() == [0, 2, 4]

    def test_a_mask_is_not_lost_in_silence(self, device):
        masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False], dtype=np.float32)
        for make in (lambda: af.asarray(masked, device=device), lambda: af.Variable(masked)):
            with pytest.raises(DTypeError, match=r"lose its mask, which hides 1 elements.*x.filled"):
                make()
        assert af.asarray(np.ma.array([1.0], dtype=np.float32), device=device).numpy().tolist() == [1.0]

    def test_its_scalars_have_no_device(self, device):
        for scalar in (np.float32(1), np.float64(1), np.int8(1), np.bool_(True)):
            assert af.to_device(scalar, device) is scalar


class TestPyTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    def test_its_gradients_are_left_behind(self, torch):
        x = torch.ones(2, requires_grad=True)
        p = af.Parameter(x)
        p.grad = x
        for v in (af.Variable(x), af.asarray(x), af.asarray(x, copy=False), p, p.grad, af.Variable(x) * 2):
            assert not v.array.requires_grad

    def test_an_input_that_requires_them_leaves_none_in_a_model(self, torch):
        model = L.Sequential(L.Linear(2, 3, device="torch:cpu"), F.relu, L.Linear(3, 2, device="torch:cpu"))
        optimizer = optimizers.Adam().setup(model)
        x, t = torch.ones(4, 2, requires_grad=True), torch.tensor([0, 1, 0, 1])
        for _ in range(3):
            model.cleargrads()
            F.softmax_cross_entropy(model(x), t).backward()
            optimizer.update()
        assert not any(p.array.requires_grad or p.grad.array.requires_grad for p in model.params())

    def test_raw_tensors_keep_them(self, torch):
        x = torch.ones(2, requires_grad=True)
        af.sum(af.where(x > 0, af.exp(x), x)).backward()
        assert x.grad.tolist() == pytest.approx([np.e] * 2)

    def test_a_sparse_tensor_is_refused(self, torch):
        with pytest.raises(DTypeError, match=r"layout torch.sparse_coo is no array of the standard. Use x.to_dense"):
            af.Variable(torch.eye(2).to_sparse())


class TestJAX:
    @pytest.fixture
    def jax(self):
        return pytest.importorskip("jax")

    def test_what_is_traced_has_no_device(self, jax):
        for transform in (jax.jit, jax.grad, jax.vmap):
            with pytest.raises(DeviceError, match=r"jax.jit, jax.grad or jax.vmap traces has no device"):
                transform(lambda x: (af.Variable(x) * 2).array)(jax.numpy.ones(3) if transform is not jax.grad else 1.0)

    def test_what_is_spread_over_devices_has_no_one(self, jax):
        if len(jax.devices()) < 2:
            pytest.skip("there is one device")
        mesh = jax.make_mesh((2,), ("i",))
        spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
        x = jax.device_put(jax.numpy.ones(4), spread)
        with pytest.raises(DeviceError, match="spread over several devices has no one device"):
            af.device_of(x)
        assert repr(af.Variable(x)) == "Variable(unreadable)"
