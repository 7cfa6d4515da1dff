"""Third parties' array API code over Variables: right values and gradients, though it knows nothing of arrayflow."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.testing import check_grads

einops = pytest.importorskip("einops.array_api")
xpx = pytest.importorskip("array_api_extra")

# Apart, so that the steps of a gradient check change no extreme, and none is near 0.
X = np.random.default_rng(0).permutation(np.linspace(-3, 5, 24)).reshape(2, 3, 4)


class TestEinops:
    def test_rearrange(self, make, same):
        f = lambda x: einops.rearrange(x, "a b (c d) -> (b c) (a d)", d=2)  # noqa: E731
        same(f(make(X)), X.reshape(2, 3, 2, 2).transpose(1, 2, 0, 3).reshape(6, 4))
        check_grads(lambda x: f(x) ** 2, make(X))

    @pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "prod"])
    def test_reduce(self, make, same, how):
        f = lambda x: einops.reduce(x, "a b c -> b", how)  # noqa: E731
        same(f(make(X)), getattr(np, how)(X, axis=(0, 2)))
        check_grads(f, make(X))

    def test_repeat(self, make, same):
        f = lambda x: einops.repeat(x, "a b -> a (b k) j", k=2, j=3)  # noqa: E731
        same(f(make(X[0])), np.repeat(np.tile(X[0], (1, 1)).repeat(2, axis=1)[..., None], 3, axis=-1))
        check_grads(lambda x: f(x) ** 2, make(X[0]))

    def test_pack_and_unpack(self, make, same):
        def f(a, b):
            packed, shapes = einops.pack([a, b], "* c")
            return einops.unpack(packed * packed, shapes, "* c")

        got = f(make(X), make(X[0]))
        same(got[0], X * X)
        same(got[1], X[0] * X[0])
        check_grads(f, make(X), make(X[0]))


class TestArrayApiExtra:
    @pytest.mark.parametrize(
        ("f", "want"),
        [
            (lambda x: xpx.atleast_nd(x, ndim=4), X[None]),
            (lambda x: xpx.pad(x, 1, constant_values=2.0), np.pad(X, 1, constant_values=2.0)),
            (lambda x: xpx.cov(x[0]), np.cov(X[0])),
            (lambda x: xpx.kron(x[0], x[1]), np.kron(X[0], X[1])),
            (lambda x: xpx.sinc(x), np.sinc(X)),
            (lambda x: xpx.create_diagonal(x[0, 0]), np.diag(X[0, 0])),
            (
                lambda x: xpx.at(x, (0, slice(1, None))).add(5.0, copy=True),
                X + 5 * (np.arange(24).reshape(2, 3, 4) % 12 >= 4) * ([[[1]], [[0]]]),
            ),
            (lambda x: xpx.at(x)[1].multiply(2.0, copy=True), X * [[[1]], [[2]]]),
        ],
        ids=["atleast_nd", "pad", "cov", "kron", "sinc", "create_diagonal", "at-add", "at-multiply"],
    )
    def test_values_and_gradients(self, make, same, f, want, request, float_dtypes):
        if "cov" in request.node.callspec.id and len(float_dtypes) == 1:
            pytest.skip("array-api-extra computes it in float64")
        same(f(make(X)), want, atol=1e-5)
        check_grads(lambda x: f(x) ** 2, make(X))

    @pytest.mark.data_dependent
    def test_apply_where(self, xp, make, same):
        f = lambda x: xpx.apply_where(x > 0, x, xp.sqrt, lambda x: -x)  # noqa: E731
        got = f(make(X))
        same(got, np.where(X > 0, np.sqrt(np.abs(X)), -X))
        check_grads(f, make([-2.0, -1.0, 1.0, 2.0]))

    def test_nunique(self, make, device):
        if device.name.startswith("strict"):
            pytest.skip("needs shapes that depend on values")
        assert int(xpx.nunique(make([1.0, 1.0, 2.0]))) == 2
