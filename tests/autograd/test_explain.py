"""A mistake is the same error on every device, and names the operation, the operands and the user's line."""

from __future__ import annotations

import pytest

import arrayflow as af
from arrayflow.autograd import explain
from arrayflow.errors import ArrayflowError, DTypeError, ShapeError


class TestMistakes:
    @pytest.mark.parametrize("raw", [False, True])
    def test_shapes_that_do_not_broadcast(self, device, raw):
        x, y = af.ones((2, 3), device=device), af.ones((2, 4), device=device)
        if raw:
            x, y = x.array, y.array
        for operation in (lambda: af.add(x, y), lambda: af.where(x > 0, x, y), lambda: af.atan2(x, y)):
            with pytest.raises(
                ShapeError, match=r"lengths must be equal, or 1.*\(2, 3\), float32.*\(2, 4\).*test_explain.py"
            ):
                operation()

    @pytest.mark.parametrize(
        ("name", "operation"),
        [
            ("matmul", lambda x: x @ x),
            ("reshape", lambda x: af.reshape(x, (4, 2))),
            ("concat", lambda x: af.concat([x, x.T])),
            ("stack", lambda x: af.stack([x, x.T])),
            ("stack", lambda x: af.asarray([x, 1.0])),
            ("sum", lambda x: af.sum(x, axis=2)),
            ("max", lambda x: af.max(x[:0])),
            ("permute_dims", lambda x: af.permute_dims(x, (0, 0))),
            ("bitwise_invert", lambda x: ~x),
            ("add", lambda x: x + 10**5000),
        ],
    )
    def test_others_are_errors_of_ours_and_of_value_and_type(self, device, name, operation):
        x = af.ones((2, 3), device=device)
        with pytest.raises(ArrayflowError) as caught:
            operation(x)
        assert isinstance(caught.value, TypeError)
        if name != "bitwise_invert":  # PyTorch has a word of its own for it
            assert isinstance(caught.value, ValueError)
            assert str(caught.value).startswith(f"{name}: ")
            assert "test_explain.py" in str(caught.value)
            assert caught.value.__cause__ is not None
        assert (x + x).numpy().tolist() == [[2.0] * 3] * 2  # the process works on


class TestOrder:
    @pytest.mark.parametrize(
        "operation",
        [
            lambda x: af.less(x, x),
            lambda x: af.greater_equal(x, 1),
            lambda x: af.greater(af.real(x), 1j),
            lambda x: af.maximum(x, 1.0),
            lambda x: af.clip(x, 0.0, 1.0),
            af.max,
            af.argmin,
            af.sort,
            lambda x: af.searchsorted(x, x),
        ],
    )
    def test_complex_numbers_have_none(self, device, operation):
        x = af.asarray([1 + 1j, 2], device=device)
        for argument in (x, x.array):
            with pytest.raises(DTypeError, match=r"complex numbers have no order.*af.real\(x\), af.abs\(x\)"):
                operation(argument)


class TestNoMistakes:
    @pytest.mark.parametrize("error", [MemoryError("x"), RuntimeError("out of memory"), FloatingPointError("x")])
    def test_are_raised_as_they_are(self, error):
        with pytest.raises(type(error)) as caught:
            explain.refuse(af.exp.primitive, (), error)
        assert caught.value is error
