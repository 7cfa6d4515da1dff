"""Utility functions, and what the namespace says of itself."""

import numpy as np
import pytest

import arrayflow as af
from arrayflow.device import using_device
from arrayflow.errors import DeviceMismatchError, DTypeError, ShapeError
from arrayflow.testing import check_grads


class TestAllAny:
    @pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_values(self, device, axis, keepdims):
        host = np.asarray([[True, False, True], [True, True, True]])
        x = af.asarray(host, device=device)
        for name in ("all", "any"):
            found = getattr(af, name)(x, axis=axis, keepdims=keepdims)
            assert found.dtype == af.bool
            assert found.numpy().tolist() == getattr(np, name)(host, axis=axis, keepdims=keepdims).tolist()

    def test_of_none_and_of_numbers(self, device):
        assert bool(af.all(af.zeros((0,), device=device))) is True
        assert bool(af.any(af.zeros((0,), device=device))) is False
        assert bool(af.any(af.asarray([0.0, float("nan")], device=device)))


class TestDiff:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    @pytest.mark.parametrize("n", [0, 1, 2, 5])
    def test_values(self, device, axis, n):
        host = np.asarray([[1.0, 4.0, 9.0], [2.0, 3.0, 5.0], [0.0, 1.0, 7.0]], dtype=np.float32)
        assert (
            af.diff(af.asarray(host, device=device), axis=axis, n=n).numpy().tolist()
            == np.diff(host, axis=axis, n=n).tolist()
        )

    def test_with_ends(self, device):
        x, a, b = (af.asarray(v, device=device) for v in ([1.0, 4.0], [0.0], [5.0, 9.0]))
        assert af.diff(x, prepend=a, append=b).numpy().tolist() == [1.0, 3.0, 1.0, 4.0]
        check_grads(lambda x, a, b: af.diff(x * x, prepend=a, append=b) ** 2, x, a, b, order=2)

    def test_of_truths_tells_where_they_change(self, device):
        assert af.diff(af.asarray([True, True, False], device=device)).numpy().tolist() == [False, True]

    def test_gradients_and_raw_arrays(self, device):
        x = af.asarray([[1.0, 4.0, 9.0], [2.0, 3.0, 5.0]], device=device)
        check_grads(lambda x: af.diff(x, n=2) ** 2, x, order=2)
        assert type(af.diff(x.array)) is type(x.array)

    def test_faults(self, device, elsewhere):
        with pytest.raises(ShapeError, match="diff: n must be 0 or more, and axis one of the 1 of x, but n is -1"):
            af.diff(af.zeros((2,), device=device), n=-1)
        with pytest.raises(ShapeError, match="one of the 0 of x"):
            af.diff(af.zeros((), device=device))
        with pytest.raises(DeviceMismatchError, match="concat"):
            af.diff(af.zeros((2,), device=device), append=af.zeros((2,), device=elsewhere))


class TestInfo:
    def test_of_a_device(self, device):
        info = af.__array_namespace_info__()
        with using_device(device):
            assert info.default_device() is device
            assert device in info.devices()
            defaults = info.default_dtypes()
        assert defaults == info.default_dtypes(device=device)
        assert defaults["real floating"] == af.float32
        assert defaults["integral"] == af.asarray([1], device=device).dtype == af.arange(3, device=device).dtype
        assert defaults["indexing"] == af.argmax(af.zeros((2,), device=device)).dtype
        found = info.dtypes(device=device)
        assert all(af.zeros((1,), dtype=d, device=device).dtype is d for d in found.values())
        assert "bfloat16" not in found
        assert info.dtypes(device=device, kind=("bool", "unsigned integer"))["bool"] is af.bool
        assert set(info.dtypes(device=device, kind="complex floating")) <= {"complex64", "complex128"}
        with pytest.raises(DTypeError, match="'floating' is no kind of data types"):
            info.dtypes(device=device, kind="floating")
        assert info.capabilities()["boolean indexing"] is True

    def test_the_namespace_knows_its_version(self):
        assert af.namespace.__array_api_version__ == af.__array_api_version__ == "2025.12"
        assert af.namespace.pi == np.pi
        assert af.newaxis is None


class TestArrayNamespace:
    def test_of_variables_is_ours_and_of_raw_arrays_their_librarys(self, device):
        x = af.zeros((2,), device=device)
        assert af.array_namespace(x) is af.array_namespace(x, 1.0, None) is af.namespace
        assert af.array_namespace(x, x.array) is af.namespace
        assert af.array_namespace(x.array) is device.backend.xp

    def test_faults(self, device, elsewhere):
        with pytest.raises(TypeError, match="there is no array among the arguments"):
            af.array_namespace(1.0, None)
        with pytest.raises(TypeError, match="array_namespace: a list is no array"):
            af.array_namespace([1.0])
        with pytest.raises(DeviceMismatchError, match="array_namespace"):
            af.array_namespace(af.zeros((1,), device=device), af.zeros((1,), device=elsewhere))
