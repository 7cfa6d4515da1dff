"""Every native body computes what the portable body, which defines the kernel, computes in NumPy."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import array_api_compat.numpy as reference
import numpy as np
import pytest

from arrayflow.backends.kernels import KERNELS

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((5, 4)).astype("float32"), RNG.standard_normal((5, 4)).astype("float32")
W, B = RNG.standard_normal((3, 4)).astype("float32"), RNG.standard_normal(3).astype("float32")
LABELS = np.asarray([0, 3, 1, 2, 2], dtype="int32")
ONE, NONE = np.ones((), dtype="float32"), np.zeros((0, 4), dtype="float32")
P = np.abs(X) / np.sum(np.abs(X), axis=1, keepdims=True)
NANS = np.asarray([np.nan, -1.0, 0.0, 2.0], dtype="float32")

# Kernel: calls, each of positional arguments and keywords; NumPy arrays go to the device first.
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "identity": [((X,), {})],
    "broadcast": [((B,), {"to": (2, 3)})],
    "sum_to": [((X,), {"to": (4,)}), ((X,), {"to": (5, 1)}), ((X,), {"to": ()}), ((X,), {"to": (5, 4)})],
    "shares_of_extreme": [((NANS[1:], NANS[3:]), {"axis": 0})],
    "linear": [((X, W, B), {}), ((X, W, None), {}), ((X[0], W, B), {}), ((NONE, W, B), {})],
    "matmul_into": [((X, Y, None), {}), ((X, Y, np.zeros((4, 4), "float32")), {}), ((NONE, NONE, None), {})],
    "sum_into": [((X, None), {}), ((X, np.zeros(4, "float32")), {}), ((NONE, None), {})],
    "relu": [((X,), {}), ((NANS,), {}), ((ONE,), {})],
    "relu_grad": [((X, Y), {}), ((B, B), {})],
    "softmax_cross_entropy": [((X, LABELS), {}), ((1000 * X, LABELS), {}), ((NONE, LABELS[:0]), {})],
    "softmax_cross_entropy_grad": [((ONE, P, LABELS), {}), ((ONE, NONE, LABELS[:0]), {})],
    "sgd": [((X, Y), {"lr": 0.1})],
    "momentum_sgd": [((X, Y, X - Y), {"lr": 0.1, "momentum": 0.9})],
    "adam": [
        ((X, Y, X - Y, Y * Y), {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "t": t}) for t in (1, 2, 1000)
    ],
}
# Those that make numbers from a key are compared in tests/test_random.py, those about indices in test_indexing.py.
ELSEWHERE = ("get_item", "philox_words", "random", "repeat_positions", "scatter_add", "set_item")


def flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


class TestNativeBodies:
    def test_every_native_body_of_a_kernel_is_compared(self, device):
        kernels = [name for name in device.backend.natives if name in KERNELS]
        assert [name for name in kernels if name not in CALLS and not name.startswith(ELSEWHERE)] == []

    @pytest.mark.parametrize("name", CALLS)
    def test_it_agrees_with_the_portable_body(self, name, device):
        backend = device.backend

        def place(x):
            return backend.from_host(x, device.native) if isinstance(x, np.ndarray) else x

        for arguments, keywords in CALLS[name]:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy speaks up about the mean of nothing
                copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
                want = flat(KERNELS[name](reference, *copies, **keywords))
                placed = [place(x) for x in arguments]
                got = [backend.as_array(x) for x in flat(backend.op(name)(*placed, **keywords))]
                portable = flat(partial(KERNELS[name], backend.patched)(*[place(x) for x in arguments], **keywords))
            for x, y, z in zip(got, want, portable, strict=True):
                assert backend.key(x) == device.native
                assert backend.dtype_of_raw[x.dtype] == np.asarray(y).dtype.name
                host = backend.to_host(x)
                assert host.shape == np.asarray(y).shape
                np.testing.assert_allclose(host, y, rtol=2e-5, atol=1e-6)
                np.testing.assert_allclose(host, backend.to_host(backend.as_array(z)), rtol=2e-5, atol=1e-6)
            if keywords.get("lr"):  # the gradient is still another's
                np.testing.assert_array_equal(backend.to_host(placed[1]), arguments[1])
