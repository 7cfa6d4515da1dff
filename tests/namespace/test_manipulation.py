"""Manipulation: values as NumPy's, gradients to second order, and joins across devices refused."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import gradients
from arrayflow.errors import DeviceMismatchError, DTypeError, ShapeError
from arrayflow.testing import check_grads

X = np.arange(24.0).reshape(2, 3, 4) / 7


def same_function(name, np_name=None):
    """The function on Variables and NumPy's, taken from its namespace."""
    return lambda xp, *args, **kwargs: getattr(xp, (np_name or name) if xp is np else name)(*args, **kwargs)


CASES = {
    "broadcast_to": (lambda xp, x: xp.broadcast_to(x[:, :1, :], (5, 2, 3, 4)), X),
    "broadcast_to itself": (lambda xp, x: xp.broadcast_to(x, (2, 3, 4)), X),
    "broadcast_to from 0-d": (lambda xp, x: xp.broadcast_to(x, (2, 3)), X[0, 0, 0]),
    "broadcast_to nothing": (lambda xp, x: xp.broadcast_to(x, (0, 4)), X[0, :1]),
    "expand_dims": (lambda xp, x: xp.expand_dims(x, axis=1), X),
    "expand_dims from the end": (lambda xp, x: xp.expand_dims(x, axis=-1), X),
    "expand_dims several": (lambda xp, x: xp.expand_dims(x, axis=(0, -1)), X),
    "expand_dims of 0-d": (lambda xp, x: xp.expand_dims(x, axis=0), X[0, 0, 0]),
    "flip": (lambda xp, x: xp.flip(x), X),
    "flip one axis": (lambda xp, x: xp.flip(x, axis=-2), X),
    "flip several": (lambda xp, x: xp.flip(x, axis=(0, -1)), X),
    "moveaxis": (lambda xp, x: xp.moveaxis(x, 0, -1), X),
    "moveaxis several": (lambda xp, x: xp.moveaxis(x, (0, 1), (-1, 0)), X),
    "moveaxis back": (lambda xp, x: xp.moveaxis(x, -1, 0), X),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (2, 0, 1)), X),
    "permute_dims negative": (lambda xp, x: xp.permute_dims(x, (-1, 0, -2)), X),
    "permute_dims of 0-d": (lambda xp, x: xp.permute_dims(x, ()), X[0, 0, 0]),
    "repeat": (lambda xp, x: xp.repeat(x, 2), X),
    "repeat an axis": (lambda xp, x: xp.repeat(x, 3, axis=-2), X),
    "repeat never": (lambda xp, x: xp.repeat(x, 0, axis=0), X),
    "reshape": (lambda xp, x: xp.reshape(x, (4, -1)), X),
    "reshape to 0-d": (lambda xp, x: xp.reshape(x, ()), X[:1, 0, 0]),
    "reshape with a copy": (lambda xp, x: xp.reshape(x, (6, 4), copy=True), X),
    "reshape of nothing": (lambda xp, x: xp.reshape(x, (3, 0)), X[:0, 0]),
    "roll": (lambda xp, x: xp.roll(x, 5), X),
    "roll an axis": (lambda xp, x: xp.roll(x, -1, axis=1), X),
    "roll several": (lambda xp, x: xp.roll(x, (1, -2), axis=(0, -1)), X),
    "squeeze": (lambda xp, x: xp.squeeze(x, axis=1), X[:, :1]),
    "squeeze several": (lambda xp, x: xp.squeeze(x, axis=(0, -1)), X[:1, :, :1]),
    "tile": (lambda xp, x: xp.tile(x, (2, 1, 3)), X),
    "tile more axes": (lambda xp, x: xp.tile(x, (2, 1, 1, 2)), X),
    "tile fewer axes": (lambda xp, x: xp.tile(x, (2,)), X),
    "tile never": (lambda xp, x: xp.tile(x, (0, 1)), X[0]),
}


class TestOneArray:
    @pytest.mark.parametrize("name", CASES)
    def test_values_are_those_of_numpy(self, xp, make, same, name):
        f, values = CASES[name]
        want = f(np, values.astype("float32"))
        same(f(xp, make(values)), want)
        same(f(xp, make(values).array), want)
        same(f(xp, make(np.round(values), "int32")), f(np, np.round(values)))

    @pytest.mark.parametrize("name", CASES)
    def test_gradients(self, xp, make, name):
        f, values = CASES[name]
        check_grads(lambda x: f(xp, x) * f(xp, x), make(values))

    @pytest.mark.data_dependent
    def test_repeat_as_often_as_an_array_says(self, xp, make, same):
        times = make([2, 0, 1], "int64")
        same(xp.repeat(make(X), times, axis=1), np.repeat(X, [2, 0, 1], axis=1))
        same(xp.repeat(make(X[0, :, 0]), times), np.repeat(X[0, :, 0], [2, 0, 1]))
        same(xp.repeat(make(X), make([2], "int64"), axis=0), np.repeat(X, 2, axis=0))
        check_grads(lambda x: xp.repeat(x, times, axis=-2) ** 2, make(X))
        with pytest.raises(ShapeError, match=r"repeats.shape is \(3,\) and x.shape is \(2, 3, 4\)"):
            xp.repeat(make(X), times, axis=0)

    def test_shapes_that_do_not_fit_are_refused_with_both(self, xp, make):
        with pytest.raises(ShapeError, match=r"x.shape is \(2, 3, 4\) and shape is \(2, 3\)"):
            xp.broadcast_to(make(X), (2, 3))
        with pytest.raises(ShapeError, match="source is 3 and destination is 0"):
            xp.moveaxis(make(X), 3, 0)
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            xp.reshape(make(X), (5, 5))

    def test_unstack(self, xp, make, same):
        parts = xp.unstack(make(X), axis=-2)
        assert len(parts) == 3
        for k, part in enumerate(parts):
            same(part, X[:, k])
        assert xp.unstack(make(np.zeros((0, 2)))) == ()
        check_grads(lambda x: xp.unstack(x), make(X))
        check_grads(lambda x: [xp.unstack(x, axis=1)[2] ** 2, xp.unstack(x, axis=1)[0]], make(X))


class TestShapes:
    def test_lengths_of_1_give_way(self, xp):
        assert xp.broadcast_shapes((8, 1, 6, 1), (7, 1, 5), ()) == (8, 7, 6, 5)
        assert xp.broadcast_shapes() == ()
        assert xp.broadcast_shapes((0,), (1,)) == (0,)

    def test_an_unknown_length_stays_unknown_beside_1(self, xp):
        assert xp.broadcast_shapes((None, 3), (1, 3)) == (None, 3)
        assert xp.broadcast_shapes((None,), (4,)) == (4,)

    def test_others_are_refused_with_the_axis(self, xp):
        with pytest.raises(ShapeError, match=r"along axis -1 of the shapes \(2,\), \(3,\) they are 2 and 3"):
            xp.broadcast_shapes((2,), (3,))


class TestSeveralArrays:
    def test_broadcast_arrays(self, xp, make, same, elsewhere):
        a, b = make(X[:, :1]), make(X[0], "float32")
        for got, want in zip(xp.broadcast_arrays(a, b), np.broadcast_arrays(X[:, :1], X[0]), strict=True):
            same(got, want)
        check_grads(lambda a, b: xp.broadcast_arrays(a, b), a, b)
        with pytest.raises(DeviceMismatchError, match=r"broadcast_arrays: .*arrays\[1\] on"):
            xp.broadcast_arrays(a, make(X[0], on=elsewhere))

    @pytest.mark.parametrize("axis", [0, 1, -1, None])
    def test_concat(self, xp, make, same, axis):
        parts = [X, 2 * X, X - 1]
        if axis is not None:
            parts[1] = np.take(parts[1], [0, 0, 1], axis=axis)
        same(xp.concat([make(p) for p in parts], axis=axis), np.concatenate(parts, axis=axis))
        check_grads(lambda a, b, c: xp.concat([a, b * b, c], axis=axis) ** 2, *map(make, parts))

    def test_concat_of_one_array_twice(self, xp, make):
        check_grads(lambda x: xp.concat((x, x * x, x)) ** 3, make(X[0, 0]))

    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_stack(self, xp, make, same, axis):
        same(xp.stack([make(X), make(-X)], axis=axis), np.stack([X, -X], axis=axis))
        check_grads(lambda a, b: xp.stack((a, b * a), axis=axis) ** 2, make(X), make(X + 1))
        same(xp.stack([make(1.5), make(2.5)]), [1.5, 2.5])

    @pytest.mark.parametrize("name", ["concat", "stack"])
    def test_data_types_come_together(self, xp, make, same, name):
        f = getattr(xp, name)
        x = make([1.5, 2.5], grad=True)
        y = f([make([1, 2], "int32"), x, make([True, False])])
        assert y.dtype == "float32"
        (g,) = gradients([xp.sum(y)], [x])
        same(g, [1, 1])
        raw = f([make([1, 2], "int32").array, x.array])
        assert type(raw) is type(x.array)

    @pytest.mark.parametrize("name", ["concat", "stack"])
    def test_two_devices_are_refused_and_the_array_is_named(self, xp, make, name, elsewhere):
        with pytest.raises(DeviceMismatchError, match=rf"{name}: .*arrays\[0\] on .*; arrays\[1\] on .*{elsewhere}"):
            getattr(xp, name)([make([1.0]), make([1.0], on=elsewhere)])

    @pytest.mark.parametrize("name", ["concat", "stack"])
    def test_what_is_no_array_is_refused(self, xp, make, name):
        f = getattr(xp, name)
        with pytest.raises(DTypeError, match="an empty sequence"):
            f([])
        with pytest.raises(DTypeError, match="it is a Variable"):
            f(make([1.0, 2.0]))
        with pytest.raises(TypeError, match=name):
            f([make([1.0]), 2.0])
