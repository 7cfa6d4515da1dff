"""A Variable as an array of the standard, and as a Python object."""

import gc
import math
import operator
import time

import numpy as np
import pytest

import arrayflow as af
from arrayflow.errors import DeviceMismatchError, DTypeError, GraphError, ShapeError

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def x3(device, **kwargs):
    return af.asarray([1.0, 2.0, 4.0], device=device, **kwargs)


def kept(x):
    """A second name for the values as they are now."""
    return x.numpy().tolist()


class TestOperators:
    @pytest.mark.parametrize("op", ARITHMETIC + COMPARISONS)
    def test_between_variables_numbers_and_raw_arrays_on_either_side(self, op, device):
        x, host = x3(device), np.asarray([1.0, 2.0, 4.0], dtype=np.float32)
        y, host2 = af.asarray([2.0, 2.0, 2.0], device=device), np.float32(2.0)
        expected, reflected = op(host, host2).tolist(), op(host2, host).tolist()
        for other in (y, 2.0, 2, y.array, np.float64(2.0)):
            assert op(x, other).numpy().tolist() == pytest.approx(expected)
        for other in (y, 2.0, 2, np.float64(2.0)):
            assert op(other, x).numpy().tolist() == pytest.approx(reflected)
        assert op(x, 2.0).device is device

    @pytest.mark.parametrize("op", ARITHMETIC + COMPARISONS)
    def test_a_raw_array_on_the_left_steps_aside_or_refuses(self, op, device):
        x, raw = x3(device), af.asarray([2.0, 2.0, 2.0], device=device).array
        if device.backend.prefix in ("strict", "dpnp"):  # they leave nothing to the other operand
            with pytest.raises(TypeError):
                op(raw, x)
            return
        y = op(raw, x)
        assert isinstance(y, af.Variable)
        assert y.numpy().tolist() == pytest.approx(op(2.0, x).numpy().tolist())

    @pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift])
    def test_of_integers(self, op, device):
        x = af.asarray([6, 5], device=device)
        assert op(x, 1).numpy().tolist() == [op(6, 1), op(5, 1)]
        assert op(1, x).numpy().tolist() == [op(1, 6), op(1, 5)]

    def test_of_one(self, device):
        x = af.asarray([-1.0, 2.0], device=device)
        assert kept(-x) == [1.0, -2.0]
        assert kept(+x) == [-1.0, 2.0]
        assert kept(abs(x)) == [1.0, 2.0]
        assert kept(~af.asarray([0], device=device)) == [-1]

    def test_matrix_product(self, device):
        a, b = af.asarray([[1.0, 2.0]], device=device), af.asarray([[3.0], [4.0]], device=device)
        assert kept(a @ b) == [[11.0]]
        if device.backend.prefix not in ("strict", "dpnp"):
            assert kept(a.array @ b) == [[11.0]]

    def test_integers_and_numbers_promote_the_same_everywhere(self, device):
        n = af.asarray([1, 2], device=device)
        assert (n * 0.5).dtype == (n / 2).dtype == af.float32
        assert (n * True).dtype == n.dtype
        assert (af.asarray([1.0], device=device) * n).dtype == af.float32

    def test_what_is_no_operand_is_left_to_python(self, device):
        x = x3(device)
        for other in (None, "text", [1.0], object()):
            with pytest.raises(TypeError, match=r"unsupported operand|must be"):
                x + other
            with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate|must be"):
                other + x
        assert (x == None) is False  # noqa: E711
        assert (x != "text") is True
        assert x not in (None, "text")

    def test_another_type_may_answer_instead(self, device):
        class Answer:
            def __radd__(self, other):
                return "radd"

            def __eq__(self, other):
                return "eq"

            __hash__ = None

        assert x3(device) + Answer() == "radd"
        assert (x3(device) == Answer()) == "eq"

    def test_two_devices_are_refused(self, device, elsewhere):
        a, b = x3(device), x3(elsewhere)
        for op in (*ARITHMETIC, *COMPARISONS, operator.matmul, operator.iadd):
            with pytest.raises(DeviceMismatchError, match=rf"on {elsewhere}"):
                op(a, b)
        assert kept(a) == [1.0, 2.0, 4.0]

    def test_hash_is_identity(self, device):
        x, y = x3(device), x3(device)
        assert len({x: 1, y: 2}) == 2


class TestInPlace:
    @pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**"])
    def test_changes_the_variable_and_not_the_array(self, symbol, device):
        x = x3(device)
        alias, raw = x, x.array
        scope = {"x": x}
        exec(f"x {symbol}= 2.0; y = x", scope)
        assert scope["y"] is alias
        assert kept(alias) == pytest.approx(eval(f"x {symbol} 2.0", {"x": np.asarray([1.0, 2.0, 4.0])}).tolist())
        assert af.asarray(raw).numpy().tolist() == [1.0, 2.0, 4.0]

    def test_matrix_product(self, device):
        x = af.asarray([[1.0, 2.0], [3.0, 4.0]], device=device)
        x @= af.asarray([[0.0, 1.0], [1.0, 0.0]], device=device)
        assert kept(x) == [[2.0, 1.0], [4.0, 3.0]]

    def test_what_a_graph_saved_stays(self, device):
        x = x3(device, requires_grad=True)
        y = x * 1.0
        z = y * y
        y += 100.0
        af.sum(z + y).backward()
        assert kept(x.grad) == [3.0, 5.0, 9.0]

    def test_a_leaf_is_refused_while_operations_are_recorded(self, device):
        x = x3(device, requires_grad=True)
        with pytest.raises(GraphError, match=r"\+=: this leaf requires a gradient.*af.no_grad\(\)"):
            x += 1.0
        with pytest.raises(GraphError, match=r"x\[key\] = value: this leaf"):
            x[0] = 1.0
        assert kept(x) == [1.0, 2.0, 4.0]

    def test_a_leaf_changes_under_no_grad_and_stays_a_leaf(self, device):
        x = x3(device, requires_grad=True)
        with af.no_grad():
            x -= 1.0
            x[0] = 9.0
        assert kept(x) == [9.0, 1.0, 3.0]
        assert x.is_leaf
        assert x.requires_grad
        af.sum(x * x).backward()
        assert kept(x.grad) == [18.0, 2.0, 6.0]

    def test_shape_and_type_cannot_change(self, device):
        x = x3(device)
        with pytest.raises(
            ShapeError, match=r"\+=: the shape \(3,\) cannot change in place, but the result's is \(2, 3\)"
        ):
            x += af.zeros((2, 3), device=device)
        n = af.asarray([1, 2], device=device)
        with pytest.raises(
            DTypeError, match=r"/=: the dtype int\d+ cannot change in place, but the result's is float32"
        ):
            n /= 2
        assert kept(n) == [1, 2]

    def test_a_parameter_cannot_become_a_result(self, device):
        p = af.Parameter([1.0, 2.0], device=device, name="scale")
        p.requires_grad = False
        x = af.asarray([1.0, 1.0], device=device, requires_grad=True)
        with pytest.raises(GraphError, match="parameter 'scale' cannot become a result"):
            p += x
        p += 1.0
        assert kept(p) == [2.0, 3.0]

    def test_a_constant_becomes_a_result(self, device):
        total, x = af.zeros((3,), device=device), x3(device, requires_grad=True)
        total += x * x
        total[0] = 5.0
        af.sum(total).backward()
        assert kept(x.grad) == [0.0, 4.0, 8.0]


class TestItems:
    def test_reading(self, device):
        x = af.asarray([[1.0, 2.0], [3.0, 4.0]], device=device)
        assert kept(x[0]) == [1.0, 2.0]
        assert float(x[1, 0]) == 3.0
        assert kept(x[..., 1]) == [2.0, 4.0]
        assert x[None, ...].shape == (1, 2, 2)

    def test_writing_is_copy_on_write(self, device):
        x = x3(device)
        before = x + 0.0
        view = x[:2]
        x[1] = 7.0
        assert kept(x) == [1.0, 7.0, 4.0]
        assert kept(view) == [1.0, 2.0]
        assert kept(before) == [1.0, 2.0, 4.0]

    def test_gradients_of_writing(self, device):
        x, v = x3(device, requires_grad=True), af.asarray(5.0, device=device, requires_grad=True)
        y = x * x
        y[1] = v * v
        af.sum(y).backward()
        assert kept(x.grad) == [2.0, 0.0, 8.0]
        assert float(v.grad) == 10.0

    def test_writing_across_devices_is_refused_and_changes_nothing(self, device, elsewhere):
        x = x3(device)
        with pytest.raises(DeviceMismatchError, match="set_item"):
            x[:] = x3(elsewhere)
        with pytest.raises(DeviceMismatchError, match="get_item"):
            x[af.asarray([0], device=elsewhere)]
        assert kept(x) == [1.0, 2.0, 4.0]

    def test_length_iteration_membership(self, device):
        x = x3(device)
        assert len(x) == 3
        assert [float(v) for v in x] == [1.0, 2.0, 4.0]
        assert 2.0 in x
        assert 3.0 not in x
        with pytest.raises(TypeError, match="0-d Variable has no length"):
            len(x[0])
        with pytest.raises(TypeError, match="iteration over a 0-d Variable"):
            iter(x[0])


class TestNumbers:
    def test_of_one_element(self, device):
        assert float(af.asarray(1.5, device=device)) == 1.5
        assert int(af.asarray([1.5], device=device)) == 1
        assert bool(af.asarray([[0.0]], device=device)) is False
        assert complex(af.asarray(1 + 2j, device=device)) == 1 + 2j
        assert [10, 20, 30][af.asarray(1, device=device)] == 20
        assert f"{af.asarray(math.pi, device=device):.3f}" == "3.142"

    def test_of_several_are_refused(self, device):
        for function in (float, int, bool, complex):
            with pytest.raises(
                ValueError, match=r"only a Variable of one element is a number, but the shape is \(3,\)"
            ):
                function(x3(device))
        with pytest.raises(ShapeError, match="format"):
            f"{x3(device):.2f}"

    def test_an_index_is_an_integer(self, device):
        with pytest.raises(
            TypeError, match=r"only a 0-d integer Variable is an index, but this one is float32 of shape \(\)"
        ):
            operator.index(af.asarray(1.0, device=device))
        with pytest.raises(TypeError):
            float(af.asarray(1j, device=device))

    def test_each_is_one_implicit_read_of_one_element(self, device):
        x, n = af.asarray(2.0, device=device), af.asarray(1, device=device)
        reads = [
            ("float()", lambda: float(x)),
            ("int()", lambda: int(x)),
            ("bool()", lambda: bool(x)),
            ("complex()", lambda: complex(x)),
            ("__index__()", lambda: operator.index(n)),
            ("format()", lambda: f"{x:.1f}"),
            ("__array__()", lambda: np.asarray(x)),
        ]
        for name, read in reads:
            with af.transfers() as ledger:
                read()
            found = [(e.entry, e.direction, e.kind, e.count, e.bytes) for e in ledger.entries]
            size = n.dtype.itemsize if name == "__index__()" else 4
            assert found == ([] if device.is_host else [(name, "d2h", "implicit", 1, size)])
            if ledger.entries:
                assert ledger.entries[0].site.startswith(__file__)


class TestNumPy:
    def test_asarray_gives_the_values(self, device):
        x = x3(device)
        assert np.asarray(x).tolist() == [1.0, 2.0, 4.0]
        assert np.asarray(x).dtype == np.float32
        assert np.asarray(x, dtype=np.float64).dtype == np.float64
        assert np.array(x).flags.writeable

    def test_memory_of_the_variable_is_read_only_to_others(self, device):
        x = x3(device)
        host = np.asarray(x)
        if device.is_host:
            assert not host.flags.writeable
            assert np.shares_memory(host, x.array)
        else:
            host[0] = 5.0
        assert kept(x) == [1.0, 2.0, 4.0]

    def test_no_copy_where_it_takes_one_is_refused(self, device):
        x = x3(device)
        with pytest.raises(ValueError, match="copy=False, but it takes a copy of float32"):
            np.asarray(x, dtype=np.float64, copy=False)
        if not device.is_host:
            with af.transfers() as ledger, pytest.raises(ValueError, match="copy=False"):
                np.asarray(x, copy=False)
            assert ledger.count == 0

    def test_a_parameter_gives_a_copy(self, device):
        p = af.Parameter([1.0], device=device)
        assert np.asarray(p).flags.writeable
        assert not np.shares_memory(np.asarray(p), p.array) if device.is_host else True


class TestDLPack:
    def test_goes_to_numpy(self, device):
        x = x3(device)
        if x.__dlpack_device__()[0] != 1 or device.backend.prefix == "strict":
            pytest.skip("its memory is not the host's")
        assert np.from_dlpack(x).tolist() == [1.0, 2.0, 4.0]

    def test_to_the_host_is_an_implicit_read(self, device):
        x = x3(device)
        try:
            there = tuple(map(int, x.__dlpack_device__()))
        except Exception:
            pytest.skip(f"{device} has no DLPack")
        with af.transfers() as ledger:
            x.__dlpack__(dl_device=(1, 0))
        assert ledger.count == (there != (1, 0))

    def test_to_some_other_place_is_refused(self, device):
        with pytest.raises(BufferError, match=r"cannot be exported to DLPack device \(8, 0\)"):
            x3(device).__dlpack__(dl_device=(8, 0))


class TestMethods:
    def test_transposes(self, device):
        x = af.reshape(af.arange(6, device=device), (2, 3))
        assert kept(x.T) == kept(x.mT) == [[0, 3], [1, 4], [2, 5]]
        with pytest.raises(ShapeError, match=r"x.T is for matrices, but x.shape is \(1, 2, 3\).*x.mT"):
            x[None, ...].T
        assert x[None, ...].mT.shape == (1, 3, 2)

    def test_reductions_and_shapes(self, device):
        x = af.asarray([[1.0, 2.0], [3.0, 6.0]], device=device)
        assert float(x.sum()) == 12.0
        assert kept(x.mean(axis=0)) == [2.0, 4.0]
        assert kept(x.max(1, keepdims=True)) == [[2.0], [6.0]]
        assert float(x.min()) == 1.0
        assert x.reshape(4).shape == x.reshape((4,)).shape == x.reshape(-1).shape == (4,)
        assert x.reshape(1, -1).shape == (1, 4)
        assert x.astype(af.int32).dtype == af.int32

    def test_namespace(self, device):
        x = x3(device)
        assert x.__array_namespace__() is af.namespace
        assert x.__array_namespace__(api_version="2024.12").__array_api_version__ == "2025.12"
        with pytest.raises(ValueError, match=r"version '2031.12' of the array API is not there"):
            x.__array_namespace__(api_version="2031.12")


class TestText:
    def test_small_arrays_are_shown_whole(self, device):
        assert repr(x3(device)) == f"Variable([1., 2., 4.], dtype=float32, device='{device}')"
        assert str(af.asarray(1.5, device=device)) == f"Variable(1.5, dtype=float32, device='{device}')"
        assert repr(af.zeros((0, 2), device=device)) == f"Variable([], shape=(0, 2), dtype=float32, device='{device}')"

    def test_of_large_arrays_the_edges_are_read(self, device):
        x = af.reshape(af.arange(90000, dtype=af.float32, device=device), (300, 300))
        with af.transfers() as ledger:
            text = repr(x)
        assert text.startswith("Variable([[0.0000e+00, 1.0000e+00, 2.0000e+00, ..., 2.9700e+02,")
        assert f"shape=(300, 300), dtype=float32, device='{device}')" in text
        assert "8.9999e+04" in text
        assert ledger.count == (not device.is_host)
        assert ledger.bytes <= 7 * 7 * 4

    def test_time_does_not_grow_with_size(self):
        x = af.zeros((20_000_000,), device="cpu")
        repr(x)
        gc.disable()
        start = time.perf_counter()
        for _ in range(10):
            repr(x)
        gc.enable()
        assert (time.perf_counter() - start) / 10 < 0.01

    def test_many_axes_show_facts_alone(self, device):
        assert (
            repr(af.zeros((2,) * 12, device=device)) == f"Variable(shape={(2,) * 12}, dtype=float32, device='{device}')"
        )

    def test_a_parameter_without_values_is_not_drawn(self, device):
        p = af.Parameter(lambda *a, **k: pytest.fail("drawn"), (2, 3), device=device, name="weight")
        assert repr(p) == f"Parameter 'weight'(shape=(2, 3), dtype=float32, device='{device}')"
        p = af.Parameter(lambda *a, **k: pytest.fail("drawn"), device=device)
        assert "shape unknown" in repr(p)

    def test_it_never_raises(self, device, monkeypatch):
        from arrayflow.namespace import _text

        def refuse(*args, **kwargs):
            raise RuntimeError

        monkeypatch.setattr(_text, "to_host", refuse)
        assert repr(x3(device)) == f"Variable(shape=(3,), dtype=float32, device='{device}')"
