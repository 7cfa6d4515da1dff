"""Products of matrices and vectors: every form of broadcasting, complex numbers, gradients to second order."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import gradients
from arrayflow.errors import DeviceMismatchError, ShapeError
from arrayflow.testing import check_grads


def draw(*shape, seed=0, complex_=False):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if complex_ else x


MATMUL = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)),
    ((1, 2, 3), (4, 3, 3)),
    ((2, 2, 2), (2,)),
    ((3,), (2, 3, 3)),
    ((2, 1, 2, 3), (3,)),
    ((3, 3), (1, 3, 3)),
    ((2, 0), (0, 3)),
    ((0, 3), (3, 2)),
]
TENSORDOT = [
    ((2, 3, 4), (3, 4, 2), 2),
    ((2, 3), (3, 4), 1),
    ((2,), (3,), 0),
    ((2, 3), (2, 3), 2),
    ((2, 3, 4), (4, 2, 5), ((0, -1), (1, 0))),
    ((2, 3, 4), (4, 3), ((1, 2), (-1, -2))),
    ((4, 2, 3), (3, 2, 5, 4), ([2, 0, 1], [0, 3, 1])),
    ((2, 3), (4,), ((), ())),
]
VECDOT = [
    ((3,), (3,), -1),
    ((2, 3), (2, 3), -1),
    ((2, 3), (3,), -1),
    ((3,), (3, 3), -1),
    ((2, 3), (2, 3), -2),
    ((2, 3), (2, 3), 0),
    ((4, 1, 3), (2, 3), -1),
    ((2, 0), (2, 0), -1),
]


@pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
class TestProducts:
    @pytest.mark.parametrize(("shape_1", "shape_2"), MATMUL)
    def test_matmul(self, xp, make, same, shape_1, shape_2, complex_):
        a, b = draw(*shape_1, complex_=complex_), draw(*shape_2, seed=1, complex_=complex_)
        want = np.matmul(a, b)
        same(xp.matmul(make(a), make(b)), want, atol=1e-5)
        same(make(a) @ make(b), want, atol=1e-5)
        same(xp.matmul(make(a).array, make(b).array), want, atol=1e-5)
        check_grads(xp.matmul, make(a), make(b))

    @pytest.mark.parametrize(("shape_1", "shape_2", "axes"), TENSORDOT)
    def test_tensordot(self, xp, make, same, shape_1, shape_2, axes, complex_):
        a, b = draw(*shape_1, complex_=complex_), draw(*shape_2, seed=1, complex_=complex_)
        same(xp.tensordot(make(a), make(b), axes=axes), np.tensordot(a, b, axes), atol=1e-5)
        check_grads(lambda x1, x2: xp.tensordot(x1, x2, axes=axes), make(a), make(b))

    @pytest.mark.parametrize(("shape_1", "shape_2", "axis"), VECDOT)
    def test_vecdot(self, xp, make, same, shape_1, shape_2, axis, complex_):
        a, b = draw(*shape_1, complex_=complex_), draw(*shape_2, seed=1, complex_=complex_)
        same(xp.vecdot(make(a), make(b), axis=axis), np.vecdot(a, b, axis=axis), atol=1e-5)
        check_grads(lambda x1, x2: xp.vecdot(x1, x2, axis=axis), make(a), make(b))

    @pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (0, 2)])
    def test_matrix_transpose(self, xp, make, same, shape, complex_):
        a = draw(*shape, complex_=complex_)
        same(xp.matrix_transpose(make(a)), np.swapaxes(a, -1, -2))
        same(make(a).mT, np.swapaxes(a, -1, -2))
        check_grads(lambda x: xp.matrix_transpose(x) ** 2, make(a))


class TestTypesAndDevices:
    def test_the_gradient_of_a_complex_product_is_pytorchs(self, xp, make, same):
        torch = pytest.importorskip("torch")
        a, b = draw(2, 3, complex_=True), draw(3, 2, seed=1, complex_=True)
        ta, tb = (torch.tensor(x, requires_grad=True) for x in (a, b))
        (ta @ tb).abs().pow(2).sum().backward()
        x1, x2 = make(a, grad=True), make(b, grad=True)
        y = xp.matmul(x1, x2)
        g = gradients([xp.sum(xp.real(y * xp.conj(y)))], [x1, x2])
        same(g[0], ta.grad.numpy(), rtol=1e-4)
        same(g[1], tb.grad.numpy(), rtol=1e-4)

    @pytest.mark.parametrize("name", ["matmul", "tensordot", "vecdot"])
    def test_integers_take_the_floating_type(self, xp, make, same, name):
        f = getattr(xp, name)
        options = {"axes": 1} if name == "tensordot" else {}
        x1, x2 = make([1, 2], "int32"), make([0.5, 1.5], grad=True)
        y = f(x1, x2, **options)
        assert y.dtype == "float32"
        same(y, 3.5)
        (g,) = gradients([y], [x2])
        same(g, [1, 2])

    @pytest.mark.parametrize("name", ["matmul", "tensordot", "vecdot"])
    def test_two_devices_are_refused(self, xp, make, name, elsewhere):
        options = {"axes": 1} if name == "tensordot" else {}
        with pytest.raises(DeviceMismatchError, match=rf"{name}: .*x1 on .*x2 on"):
            getattr(xp, name)(make([1.0]), make([1.0], on=elsewhere), **options)

    def test_vectors_of_two_lengths_are_refused(self, xp, make):
        with pytest.raises(ShapeError, match=r"\(2,\) and \(3,\), and axis is -1"):
            xp.vecdot(make([1.0, 2.0]), make([1.0, 2.0, 3.0]))
        with pytest.raises((ValueError, RuntimeError, TypeError)):
            xp.matmul(make([1.0, 2.0]), make([1.0, 2.0, 3.0]))
