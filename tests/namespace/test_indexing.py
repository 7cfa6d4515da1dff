"""Indexing: every kind of key reads, writes and sums as NumPy's does, on every device, with gradients."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.autograd import Variable, gradients
from arrayflow.config import using_config
from arrayflow.errors import DeviceMismatchError, DTypeError, OperationError, ShapeError
from arrayflow.namespace.indexing import get_item, scatter_add, set_item
from arrayflow.testing import check_grads
from arrayflow.transfers import transfers

X = np.random.default_rng(1).standard_normal((2, 3, 4))
I = np.asarray([0, 1, 0, -1], dtype="int32")
J = np.asarray([[1], [-2]], dtype="int32")
ALL = slice(None)

BASIC = [
    0,
    -1,
    np.int64(1),
    ALL,
    ...,
    None,
    (),
    slice(1, None),
    slice(None, None, -1),
    slice(5, 9),
    slice(-9, None, 2),
    (0, 1),
    (0, 1, 2),
    (..., 0),
    (0, ..., None, -1),
    (None, 0, ALL, None),
    (ALL, slice(2, None, -1), slice(3, 0, -2)),
    (slice(2, 2), 0),
    (ALL, slice(1, 1), ..., None),
]
FANCY = [
    I,
    J,
    (ALL, I),
    (..., I),
    (I, J),
    (I, I, I),
    (I, ALL, I),
    (0, ALL, I),
    (ALL, 0, I),
    (ALL, I, 0),
    (ALL, I, None, 0),
    (None, I, J),
    (ALL, I, ..., J),
    (ALL, J, I),
    (slice(None, None, -1), slice(None, None, -1), I),
    (ALL, slice(0, 0), I),
    np.asarray(1, dtype="int32"),
    (ALL, np.asarray(-1, dtype="int32")),
    (ALL, np.asarray(0, dtype="int32"), I),
    np.zeros(0, dtype="int32"),
    (I.astype("int8"), ALL, slice(1, 3)),
    np.asarray([0, 1], dtype="uint8"),
]
MASKS = [X > 0, X[:, :, 0] > 0, X[:, 0, 0] > 9, np.asarray([True, True])]


@pytest.fixture
def on(make):
    """The same key with its arrays on the device, as Variables."""

    def on(key):
        if isinstance(key, tuple):
            return tuple(map(on, key))
        return make(key) if isinstance(key, np.ndarray) else key

    return on


def raw(key):
    if isinstance(key, tuple):
        return tuple(map(raw, key))
    return key.array if isinstance(key, Variable) else key


@pytest.mark.parametrize("key", [*BASIC, *FANCY], ids=repr)
class TestKeys:
    def test_reading(self, make, same, on, key):
        want = X.astype("float32")[key]
        same(get_item(make(X), on(key)), want)
        same(make(X)[on(key)], want)
        got = get_item(make(X).array, raw(on(key)))
        assert not isinstance(got, Variable)
        same(got, want)

    def test_summing_into_zeros(self, make, same, on, key):
        values = np.random.default_rng(2).standard_normal(X[key].shape)
        want = np.zeros(X.shape)
        np.add.at(want, key, values)
        same(scatter_add(make(values), on(key), X.shape), want)

    def test_writing(self, make, same, on, key):
        x = make(X)
        want = X.astype("float32")
        want[key] = 7
        same(set_item(x, on(key), 7), want)
        same(x, X.astype("float32"))
        value = (
            np.arange(1.0, 1 + X[key][..., :1].size).reshape(X[key][..., :1].shape) if X[key].ndim else np.asarray(3.0)
        )
        if np.all(scattered(key) <= 1):
            want[key] = value
            same(set_item(x, on(key), make(value)), want)

    def test_gradients(self, make, on, key):
        key_on = on(key)
        check_grads(lambda x: get_item(x, key_on) ** 2, make(X))
        if np.all(scattered(key) <= 1):
            value = make(X[key][..., :1] + 2 if X[key].ndim else np.asarray(2.0))
            check_grads(lambda x, value: set_item(x, key_on, value * value) ** 2, make(X), value)


def scattered(key):
    """How often each element is pointed at."""
    times = np.zeros(X.shape)
    np.add.at(times, key, 1)
    return times


class TestMasks:
    @pytest.mark.data_dependent
    @pytest.mark.parametrize("mask", MASKS, ids=lambda m: f"{m.ndim}d")
    def test_reading_writing_and_gradients(self, make, same, mask):
        on = make(mask)
        x = make(X)
        picked = X.astype("float32")[mask]
        same(get_item(x, on), picked)
        same(get_item(x, (on,)), picked)
        check_grads(lambda x: get_item(x, on) ** 2, x)
        want = X.astype("float32")
        want[mask] = 2 * picked
        same(set_item(x, on, make(2 * picked)), want)
        check_grads(lambda x, value: set_item(x, on, value) ** 2, x, make(picked))

    @pytest.mark.parametrize("mask", MASKS, ids=lambda m: f"{m.ndim}d")
    def test_writing_one_value_or_row_needs_no_shape_that_depends_on_values(self, make, same, mask):
        on, x = make(mask), make(X)
        want = X.astype("float32")
        want[mask] = 3
        same(set_item(x, on, 3), want)
        row = np.arange(float(np.prod(X.shape[mask.ndim :]))).reshape(X.shape[mask.ndim :])
        want[mask] = row
        same(set_item(x, on, make(row)), want)
        same(set_item(x, on, make(row[None])), want)
        check_grads(lambda x, value: set_item(x, on, value) ** 2, x, make(row))

    @pytest.mark.data_dependent
    def test_beside_other_items_it_stands_for_positions(self, make, same):
        mask = np.asarray([True, False, True])
        same(get_item(make(X), (0, make(mask))), X.astype("float32")[0, mask])
        same(get_item(make(X), (..., make(mask), 0)), X.astype("float32")[..., mask, 0])
        check_grads(lambda x: get_item(x, (slice(1, None), make(mask))) ** 2, make(X))

    def test_where_shapes_may_not_depend_on_values_the_library_says_so(self, make, device):
        if not device.name.startswith("strict"):
            pytest.skip("the other libraries read the mask")
        with pytest.raises(OperationError, match="boolean_indexing"):
            get_item(make(X), make(X > 0))

    def test_a_mask_of_other_lengths_is_refused_with_both(self, make):
        for f in (get_item, lambda x, key: set_item(x, key, 0)):
            with pytest.raises(IndexError, match=r"key.shape is \(3,\) and x.shape is \(2, 3, 4\)"):
                f(make(X), make([True, False, True]))


class TestRefusals:
    @pytest.mark.parametrize("key", [[0, 1], 1.0, "0", True, (0, [1])], ids=repr)
    def test_what_is_no_index(self, make, key):
        with pytest.raises(IndexError, match=r"get_item: key(\[1\])? is a (list|float|str|bool)"):
            get_item(make(X), key)
        with pytest.raises(IndexError, match=r"set_item: key"):
            set_item(make(X), key, 0)

    def test_a_floating_index_array(self, make):
        with pytest.raises(IndexError, match=r"key\[1\] is an array of float32.*astype"):
            get_item(make(X), (0, make([1.0])))

    @pytest.mark.parametrize("key", [2, -3, (0, 3), (..., 4), (0, 0, 0, 0), (..., 0, ...)], ids=repr)
    def test_integers_out_of_range_and_too_many(self, make, key):
        with pytest.raises(IndexError, match=r"out of range for axis|there are 4 items|one ellipsis"):
            get_item(make(X), key)
        with pytest.raises(IndexError, match="set_item"):
            set_item(make(X), key, 0)

    def test_index_arrays_out_of_range_when_debugging(self, xp, make):
        bad = make([0, 3], "int32")
        with using_config(debug=True):
            for f in (
                lambda: get_item(make(X), bad),
                lambda: xp.take(make(X), bad, axis=1),
                lambda: xp.take_along_axis(make(X[0]), make([[9, 0, 0, 0]], "int32"), axis=0),
            ):
                with pytest.raises(IndexError, match=r"index (3|9) is out of range for axis (0|1)"):
                    f()
            get_item(make(X), make([0, 1, -2], "int32"))

    def test_index_arrays_out_of_range_where_the_library_looks(self, make, device):
        if device.name.startswith(("cpu", "strict", "torch:cpu")):
            with pytest.raises(IndexError):
                get_item(make(X), make([0, 5], "int32"))

    def test_arrays_on_another_device_are_named_and_nothing_is_changed(self, make, same, elsewhere):
        x, there = make(X), make(I, on=elsewhere)
        row, number = make(X[0], on=elsewhere), make(0.5, on=elsewhere)
        with transfers() as ledger:
            with pytest.raises(DeviceMismatchError, match=rf"get_item: .*key on {elsewhere}"):
                x[there]
            with pytest.raises(DeviceMismatchError, match=r"get_item: .*key on"):
                get_item(x, there.array)
            with pytest.raises(DeviceMismatchError, match=rf"get_item: .*key\[1\] on {elsewhere}"):
                get_item(x, (0, there))
            with pytest.raises(DeviceMismatchError, match=r"set_item: .*key\[0\] on"):
                set_item(x, (there, 0), 1)
            with pytest.raises(DeviceMismatchError, match=rf"set_item: .*value on {elsewhere}"):
                x[0] = row
            with pytest.raises(DeviceMismatchError, match=r"set_item: .*value on"):
                x[0] = number
        assert len(ledger) == 0
        same(x, X.astype("float32"))

    def test_values_of_a_kind_that_does_not_fit(self, make, same):
        n = make([1, 2, 3], "int32")
        for value in (0.5, make(0.5), 1j):
            with pytest.raises(DTypeError, match="x holds int32, which cannot hold"):
                set_item(n, 0, value)
        same(set_item(n, 0, True), [1, 2, 3])
        same(set_item(make([1.0, 2.0]), 0, make(5, "int32")), [5, 2])
        with pytest.raises(DTypeError, match="value must be an array, a Variable or a number, but it is a list"):
            set_item(n, 0, [1])

    def test_values_of_a_shape_that_does_not_fit(self, make):
        with pytest.raises(ShapeError, match=r"value.shape is \(2,\) and x\[key\].shape is \(3, 4\)"):
            set_item(make(X), 0, make([1.0, 2.0]))
        with pytest.raises(ShapeError, match=r"x.shape is \(2,\) and that is \(3, 4\)"):
            scatter_add(make([1.0, 2.0]), 0, X.shape)


class TestInPlace:
    def test_writing_into_an_operand_leaves_the_gradient_right(self, xp, make, same):
        x = make([1.0, 2.0, 3.0], grad=True)
        y = x * 2
        z = y * y
        y[0] = 10.0
        (g,) = gradients([xp.sum(z)], [x], retain_graph=True)
        same(g, [8, 16, 24])
        (g,) = gradients([get_item(y, 0) + get_item(y, 1)], [x])
        same(g, [0, 2, 0])

    def test_gradients_of_what_was_written(self, make, same):
        x, value = make([1.0, 2.0, 3.0], grad=True), make(5.0, grad=True)
        y = x * 1
        y[1:] = value
        g, h = gradients([get_item(y, 0) + get_item(y, 1) * get_item(y, 2)], [x, value])
        same(g, [1, 0, 0])
        same(h, 10)


class TestTake:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_along_an_axis(self, xp, make, same, axis):
        i = make([1, 0, 1, -1], "int32")
        same(xp.take(make(X), i, axis=axis), np.take(X.astype("float32"), [1, 0, 1, -1], axis=axis))
        check_grads(lambda x: xp.take(x, i, axis=axis) ** 2, make(X))

    def test_one_axis_needs_no_name(self, xp, make, same):
        same(xp.take(make([1.0, 2.0]), make([1, 1], "int32")), [2, 2])
        same(xp.take(make([1.0, 2.0]), make([], "int32")), [])
        with pytest.raises(ShapeError, match="axis must be given"):
            xp.take(make(X), make([0], "int32"))

    def test_another_device_is_refused(self, xp, make, elsewhere):
        with pytest.raises(DeviceMismatchError, match=r"take: .*indices on"):
            xp.take(make([1.0]), make([0], "int32", on=elsewhere))
        with pytest.raises(DeviceMismatchError, match=r"take_along_axis: .*indices on"):
            xp.take_along_axis(make([1.0]), make([0], "int32", on=elsewhere))

    @pytest.mark.parametrize(
        ("shape", "indices", "axis"),
        [
            ((3, 4), [[0, 1], [2, 3], [-1, -1]], -1),
            ((3, 4), [[0, 1, 2, 0]], 0),
            ((1, 4), [[0, 0], [3, 1]], 1),
            ((2, 3, 2), [[[1], [1], [0]]], 2),
            ((4,), [2, 2, 0], 0),
            ((2, 3), np.zeros((2, 0)), 1),
        ],
    )
    def test_along_each_row(self, xp, make, same, shape, indices, axis):
        x = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
        i = np.asarray(indices, dtype="int32")
        on = make(i, "int8")
        same(xp.take_along_axis(make(x), on, axis=axis), np.take_along_axis(x, i.astype("int64"), axis=axis))
        check_grads(lambda x: xp.take_along_axis(x, on, axis=axis) ** 2, make(x))

    def test_as_many_axes_are_needed(self, xp, make):
        with pytest.raises(ShapeError, match=r"indices.shape is \(1,\) and x.shape is \(2, 3, 4\)"):
            xp.take_along_axis(make(X), make([0], "int32"))


def test_many_duplicates_are_summed_accurately(make, read):
    """The error of a sum of 10000 terms stays far below that of adding one after the other."""
    values = np.random.default_rng(0).standard_normal((10000, 2)).astype("float32") + 1
    key = np.asarray(np.arange(10000) % 3, dtype="int32")
    want = np.zeros((3, 2))
    np.add.at(want, key, values.astype("float64"))
    got = read(scatter_add(make(values), make(key), (3, 2)))
    np.testing.assert_allclose(got, want, rtol=5e-5)
