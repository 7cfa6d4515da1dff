"""Creation: where arrays are made, of which type, what is copied, and what counts as a move."""

import array
import math

import numpy as np
import pytest

import arrayflow as af
from arrayflow.device import default_device, using_device
from arrayflow.errors import DeviceMismatchError, DTypeError, GraphError, ShapeError, TransferError
from arrayflow.testing import check_grads

CONSTANTS = {
    "zeros": lambda **k: af.zeros((2, 3), **k),
    "ones": lambda **k: af.ones((2, 3), **k),
    "empty": lambda **k: af.empty((2, 3), **k),
    "full": lambda **k: af.full((2, 3), 1.5, **k),
    "eye": lambda **k: af.eye(2, 3, **k),
    "linspace": lambda **k: af.linspace(0, 1, 5, **k),
    "arange": lambda **k: af.arange(0.0, 2.0, 0.5, **k),
}


def default_int(device):
    return af.int64 if af.int64 in device.backend.dtypes_on(device.native) else af.int32


def wide(device):
    if af.float64 not in device.backend.dtypes_on(device.native):
        pytest.skip(f"{device} has no float64")


class TestConstants:
    @pytest.mark.parametrize("name", CONSTANTS)
    def test_are_made_where_they_shall_be_and_move_nothing(self, name, device):
        with af.transfers() as ledger:
            x = CONSTANTS[name](device=device)
            number = af.asarray(1.5, device=device)
        assert x.device is number.device is device
        assert x.dtype == number.dtype == af.float32
        assert ledger.count == 0

    @pytest.mark.parametrize("name", CONSTANTS)
    def test_the_default_device_is_asked_for(self, name, device):
        with using_device(device):
            assert CONSTANTS[name]().device is device

    @pytest.mark.parametrize("name", CONSTANTS)
    def test_the_default_type_is_a_switch(self, name, device):
        wide(device)
        with af.using_config(dtype=af.float64):
            assert CONSTANTS[name](device=device).dtype == af.float64
            assert af.asarray([1.0], device=device).dtype == af.float64
            assert af.asarray(1j, device=device).dtype == af.complex128

    @pytest.mark.parametrize("name", CONSTANTS)
    @pytest.mark.parametrize("dtype", [af.int32, "float32", np.uint8])
    def test_take_a_type(self, name, dtype, device):
        if name == "linspace" and dtype != "float32":
            pytest.skip("linspace is floating")
        assert CONSTANTS[name](device=device, dtype=dtype).dtype == dtype

    def test_values(self, device):
        assert af.zeros(2, device=device).numpy().tolist() == [0.0, 0.0]
        assert af.ones((), device=device).numpy().tolist() == 1.0
        assert af.full((2,), 7, device=device).numpy().tolist() == [7, 7]
        assert af.eye(2, 3, k=1, device=device).numpy().tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        assert af.linspace(0, 1, 3, device=device).numpy().tolist() == [0.0, 0.5, 1.0]
        assert af.linspace(0, 1, 2, endpoint=False, device=device).numpy().tolist() == [0.0, 0.5]
        assert af.arange(3, device=device).numpy().tolist() == [0, 1, 2]
        assert af.arange(5, 0, -2, device=device).numpy().tolist() == [5, 3, 1]
        assert af.arange(3, 1, device=device).shape == (0,)

    def test_types_follow_the_kind_of_number(self, device):
        integer = default_int(device)
        assert af.full((1,), True, device=device).dtype == af.bool
        assert af.full((1,), 1, device=device).dtype == af.arange(3, device=device).dtype == integer
        assert af.full((1,), 1j, device=device).dtype == af.linspace(0j, 1, 2, device=device).dtype == af.complex64
        assert af.arange(3.0, device=device).dtype == af.float32
        assert af.full((1,), np.float64(1.0), device=device).dtype == af.float32

    def test_like_another_array(self, device, elsewhere):
        x = af.asarray([[1, 2]], dtype=af.int32, device=device)
        for function, value in ((af.zeros_like, 0), (af.ones_like, 1), (lambda x, **k: af.full_like(x, 7, **k), 7)):
            y = function(x)
            assert (y.dtype, y.device, y.numpy().tolist()) == (af.int32, device, [[value, value]])
            assert function(x, dtype=af.float32).dtype == af.float32
            assert function(x, device=elsewhere).device is elsewhere
            assert type(function(x.array)) is type(x.array)
        assert af.empty_like(x).shape == (1, 2)

    def test_full_of_a_variable_passes_gradients(self, device):
        check_grads(lambda x: af.full((2, 3), x) ** 2, af.asarray(1.5, device=device))

    def test_faults(self, device):
        with pytest.raises(ShapeError, match=r"zeros: lengths are 0 or more, but shape is \(2, -1\)"):
            af.zeros((2, -1), device=device)
        with pytest.raises(TypeError):
            af.zeros((2.5,), device=device)
        with pytest.raises(ShapeError, match="arange: step must not be 0"):
            af.arange(0, 1, 0, device=device)
        with pytest.raises(
            DTypeError, match=r"arange: stop must be a Python number, but it is a Variable.*stop.item\(\)"
        ):
            af.arange(0, af.asarray(3, device=device), device=device)
        with pytest.raises(DTypeError, match="full: fill_value 1j cannot become float32"):
            af.full((2,), 1j, dtype=af.float32, device=device)
        with pytest.raises(ShapeError, match=r"full: fill_value must be one number, but its shape is \(2,\)"):
            af.full((2,), af.zeros((2,), device=device))
        with pytest.raises(DTypeError, match="'float31' is no data type"):
            af.zeros((2,), dtype="float31", device=device)
        with pytest.raises(TypeError, match="zeros_like: x must be an array or a Variable, but it is a list"):
            af.zeros_like([1.0])


class TestAsarrayOfPython:
    def test_lists_take_the_default_types(self, device):
        for values, dtype in (
            ([1.0, 2.0], af.float32),
            ([[1], [2]], default_int(device)),
            ([True, False], af.bool),
            ([1, 2.5], af.float32),
            ((1j,), af.complex64),
            ([], af.float32),
            ([np.float64(1.0)], af.float32),
            (range(3), default_int(device)),
        ):
            x = af.asarray(values, device=device)
            assert (x.dtype, x.device) == (dtype, device)
            assert x.numpy().tolist() == (list(values) if not isinstance(values, list) else values)

    def test_a_list_is_host_data_and_its_upload_is_recorded(self, device):
        with af.transfers() as ledger:
            af.asarray([1.0, 2.0], device=device)
        found = [(e.direction, e.kind, e.entry, e.count, e.bytes) for e in ledger.entries]
        assert found == ([] if device.is_host else [("h2d", "explicit", "asarray", 1, 8)])

    def test_numbers_of_numpy_are_values_like_pythons(self, device):
        assert af.asarray(np.float64(1.5), device=device).dtype == af.float32
        assert af.asarray(np.int8(3), device=device).dtype == default_int(device)
        assert af.asarray(np.float64(1.5), dtype=af.int32, device=device).dtype == af.int32

    def test_integers_out_of_range_are_refused(self, device):
        with pytest.raises(DTypeError, match=r"int8 holds -128 to 127, but the list reaches from 0 to 300"):
            af.asarray([0, 300], dtype=af.int8, device=device)
        if default_int(device) == af.int32:
            with pytest.raises(DTypeError, match="int32 holds"):
                af.asarray([2**40], device=device)

    def test_bad_lists(self, device):
        with pytest.raises(ShapeError, match="asarray: the rows of a nested list must have equal lengths"):
            af.asarray([[1.0], [2.0, 3.0]], device=device)
        with pytest.raises(DTypeError, match="a list must hold numbers alone, but this one is of type str"):
            af.asarray([1.0, "two"], device=device)
        with pytest.raises(DTypeError, match="type NoneType"):
            af.asarray([1.0, None], device=device)
        with pytest.raises(DTypeError, match="complex numbers cannot become float32"):
            af.asarray([1j], dtype=af.float32, device=device)
        with pytest.raises(DTypeError, match=r"\(1\+2j\) cannot become float32"):
            af.asarray(1 + 2j, dtype=af.float32, device=device)
        with pytest.raises(TransferError, match="asarray: a dict is neither a number, a list of numbers"):
            af.asarray({}, device=device)
        for thing in ([1.0], 1.0):
            with pytest.raises(ValueError, match="asarray: copy=False, but a"):
                af.asarray(thing, copy=False, device=device)

    def test_buffers_keep_their_type(self, device):
        numbers = array.array("f", [1.0, 2.0])
        for buffer in (numbers, memoryview(numbers)):
            x = af.asarray(buffer, device=device)
            numbers[0] = 1.0
            assert (x.dtype, x.numpy().tolist()) == (af.float32, [1.0, 2.0])
        numbers[0] = 5.0
        assert x.numpy().tolist() == [1.0, 2.0]
        assert af.asarray(b"\x01\x02", device=device).dtype == af.uint8
        assert af.asarray(bytearray(b"\x01"), dtype=af.float32, device=device).numpy().tolist() == [1.0]

    def test_objects_that_numpy_can_read(self, device):
        class Table:
            def __array__(self, dtype=None, copy=None):
                return np.asarray([[1.0, 2.0]], dtype=np.float32)

        assert af.asarray(Table(), device=device).numpy().tolist() == [[1.0, 2.0]]

    def test_lists_of_arrays(self, device):
        rows = [np.asarray([1, 2], dtype=np.int16), np.asarray([3, 4], dtype=np.int16)]
        x = af.asarray(rows, device=device)
        assert (x.dtype, x.numpy().tolist()) == (af.int16, [[1, 2], [3, 4]])

    def test_through_variables_in_a_list_gradients_pass(self, device):
        x, y = (af.asarray(v, device=device, requires_grad=True) for v in (2.0, 3.0))
        assert af.asarray([x, np.float32(2.0), 1]).device is device
        z = af.asarray([[x, 1.0], [x * y, y]], device=device)
        assert z.device is device
        assert z.numpy().tolist() == [[2.0, 1.0], [6.0, 3.0]]
        af.sum(z).backward()
        assert (float(x.grad), float(y.grad)) == (4.0, 3.0)
        assert af.asarray([x]).device is device

    def test_arrays_of_two_devices_in_a_list_are_refused_unless_a_device_is_named(self, device, elsewhere):
        x, y = af.asarray(1.0, device=device), af.asarray(2.0, device=elsewhere)
        for pair in ([x, y], [x, y.array], [[x], [y.array]]):
            with af.transfers() as ledger, pytest.raises(DeviceMismatchError, match="stack"):
                af.asarray(pair)
            assert ledger.count == 0
        with af.transfers() as ledger:
            assert af.asarray([x, y], device=device).device is device
        assert ledger.count == 1


class TestAsarrayOfArrays:
    def test_stays_where_it_is_and_keeps_its_type(self, device):
        raw = af.asarray([1, 2], dtype=af.int16, device=device).array
        with af.transfers() as ledger:
            x = af.asarray(raw)
        assert (x.device, x.dtype, ledger.count) == (device, af.int16, 0)
        assert af.asarray(np.asarray([1.0])).dtype == af.float64
        assert af.asarray(np.asarray([1.0])).device == "cpu"

    def test_what_others_may_write_to_is_copied(self, device):
        host = np.asarray([1.0, 2.0], dtype=np.float32)
        x, y = af.asarray(host), af.asarray(host, device=device)
        host[0] = 5.0
        assert x.numpy().tolist() == y.numpy().tolist() == [1.0, 2.0]
        raw = af.asarray([1.0, 2.0], device=device).array
        z = af.asarray(raw)
        if device.backend.mutable:
            raw[0] = 5.0
        assert z.numpy().tolist() == [1.0, 2.0]

    def test_copy_false_shares(self, device):
        raw = af.asarray([1.0, 2.0], device=device).array
        assert af.asarray(raw, copy=False).array is raw

    def test_copy_false_where_it_takes_a_copy_is_refused(self, device, elsewhere):
        raw = af.asarray([1.0, 2.0], device=device).array
        for wanted in ({"dtype": af.int32}, {"device": elsewhere}):
            for x in (raw, af.asarray(raw)):
                with (
                    af.transfers() as ledger,
                    pytest.raises(ValueError, match=r"copy=False, but .* float32 on .*Drop copy=False"),
                ):
                    af.asarray(x, copy=False, **wanted)
                assert ledger.count == 0

    def test_a_move_is_explicit_and_the_cast_comes_on_the_side_of_more_bytes(self, device, elsewhere):
        raw = af.asarray([1.0, 2.0, 3.0], device=elsewhere).array
        for dtype, size in ((None, 12), (af.float16, 6), (af.float32, 12)):
            if any(dtype is not None and dtype not in d.backend.dtypes_on(d.native) for d in (device, elsewhere)):
                continue
            with af.transfers() as ledger:
                x = af.asarray(raw, device=device, dtype=dtype)
            assert x.device is device
            assert [(e.kind, e.entry, e.bytes) for e in ledger.entries] == [("explicit", "asarray", size)]

    def test_float64_where_there_is_none(self, device):
        host = np.asarray([1.0, 2.0])
        if af.float64 in device.backend.dtypes_on(device.native):
            assert af.asarray(host, device=device).dtype == af.float64
        else:
            with af.transfers() as ledger, pytest.raises(DTypeError, match=r"has no float64. Cast first.*af.float32"):
                af.asarray(host, device=device)
            assert ledger.count == 0
        assert af.asarray(host, device=device, dtype=af.float32).dtype == af.float32

    def test_complex_into_real_is_refused(self, device):
        raw = af.asarray([1j], device=device).array
        with pytest.raises(DTypeError, match="asarray: a complex array cannot become a real one, but it is complex64"):
            af.asarray(raw, dtype=af.float32)


class TestAsarrayOfVariables:
    def test_gives_it_back_or_copies(self, device):
        x = af.asarray([1.0], device=device)
        assert af.asarray(x) is af.asarray(x, device=device, dtype=af.float32, copy=False) is x
        assert af.asarray(x, copy=True).array is not x.array

    def test_gradients_pass_through_copies_casts_and_moves(self, device, elsewhere):
        x = af.asarray([1.0, 2.0], device=device, requires_grad=True)
        y = af.asarray(af.asarray(x, copy=True) ** 2, device=elsewhere, dtype=af.complex64)
        assert (y.device, y.dtype) == (elsewhere, af.complex64)
        af.sum(af.real(y)).backward()
        assert x.grad.numpy().tolist() == [2.0, 4.0]
        assert x.grad.device is device

    def test_requires_grad_makes_a_leaf_of_its_own(self, device):
        x = af.asarray([1.0], device=device)
        y = af.asarray(x, requires_grad=True)
        assert y.requires_grad
        assert not x.requires_grad
        z = af.asarray(y * 2, requires_grad=True)
        assert z.is_leaf
        with pytest.raises(TypeError, match="only floating arrays have gradients"):
            af.asarray([1], device=device, requires_grad=True)
        with pytest.raises(GraphError):
            (y * 2).requires_grad = True


class TestFromDLPack:
    def test_of_known_arrays(self, device, elsewhere):
        x = af.asarray([1.0, 2.0], device=device)
        for source in (x, x.array):
            assert af.from_dlpack(source).device is device
            with af.transfers() as ledger:
                assert af.from_dlpack(source, device=elsewhere).device is elsewhere
            assert ledger.count == 1

    def test_of_a_read_only_array_is_a_copy(self):
        host = np.asarray([1.0, 2.0])
        host.flags.writeable = False
        x = af.from_dlpack(host)
        x[0] = 5.0
        assert host.tolist() == [1.0, 2.0]

    def test_of_a_stranger(self, device):
        class Stranger:
            def __init__(self, host):
                self.host = host

            def __dlpack__(self, **kwargs):
                return self.host.__dlpack__(**kwargs)

            def __dlpack_device__(self):
                return self.host.__dlpack_device__()

        host = np.asarray([1.0, 2.0], dtype=np.float32)
        x = af.from_dlpack(Stranger(host), device=device)
        host[0] = 5.0
        assert (x.device, x.numpy().tolist()) == (device, [1.0, 2.0])
        assert af.asarray(Stranger(host), device=device).numpy().tolist() == [5.0, 2.0]

    def test_who_refused(self):
        class Refuses:
            def __dlpack__(self, **kwargs):
                raise RuntimeError("not today")

            def __dlpack_device__(self):
                return (1, 0)

        with pytest.raises(BufferError, match="exchange between Refuses and numpy failed: not today"):
            af.from_dlpack(Refuses())
        with pytest.raises(BufferError, match="a list has no __dlpack__"):
            af.from_dlpack([1.0])

        class Far(Refuses):
            def __dlpack_device__(self):
                return (8, 0)

        with pytest.raises(BufferError, match=r"no backend takes memory of DLPack device \(8, 0\)"):
            af.from_dlpack(Far())

    def test_a_refusal_falls_back_to_one_copy_on_the_host(self, device):
        class Half:
            def __dlpack__(self, **kwargs):
                raise RuntimeError("not today")

            def __dlpack_device__(self):
                return (1, 0)

            def __array__(self, dtype=None, copy=None):
                return np.asarray([1.0], dtype=np.float32)

        with af.transfers() as ledger:
            assert af.from_dlpack(Half(), device=device).device is device
        assert ledger.count == (not device.is_host)


class TestTriangles:
    @pytest.mark.parametrize("k", [-1, 0, 1])
    def test_values_and_gradients(self, device, k):
        x = af.reshape(af.arange(12, dtype=af.float32, device=device), (2, 2, 3)) + 1.0
        host = x.numpy()
        assert af.tril(x, k=k).numpy().tolist() == np.tril(host, k).tolist()
        assert af.triu(x, k=k).numpy().tolist() == np.triu(host, k).tolist()
        check_grads(lambda x: af.tril(x, k=k) * af.triu(x) * x, x, order=2)

    def test_a_vector_has_none(self, device):
        with pytest.raises(ShapeError, match=r"tril: x must be a matrix or a stack of them, but x.shape is \(2,\)"):
            af.tril(af.zeros((2,), device=device))


class TestMeshgrid:
    @pytest.mark.parametrize("indexing", ["xy", "ij"])
    @pytest.mark.parametrize("lengths", [(2,), (2, 3), (2, 3, 4), (0, 3)])
    def test_values(self, device, indexing, lengths):
        xs = [af.arange(n, dtype=af.float32, device=device) for n in lengths]
        expected = np.meshgrid(*(x.numpy() for x in xs), indexing=indexing)
        found = af.meshgrid(*xs, indexing=indexing)
        assert isinstance(found, tuple)
        assert [x.numpy().tolist() for x in found] == [e.tolist() for e in expected]

    def test_gradients(self, device):
        x, y = af.asarray([1.0, 2.0], device=device), af.asarray([0.5, 1.5, 2.5], device=device)
        check_grads(lambda x, y: math.prod(af.meshgrid(x, y)), x, y, order=2)

    def test_faults(self, device, elsewhere):
        assert af.meshgrid() == ()
        with pytest.raises(ShapeError, match=r"meshgrid: arrays must be 1-d, but their shapes are \[\(2, 2\)\]"):
            af.meshgrid(af.zeros((2, 2), device=device))
        with pytest.raises(ValueError, match="indexing must be 'xy' or 'ij', but it is 'xx'"):
            af.meshgrid(af.zeros((2,), device=device), indexing="xx")
        with pytest.raises(DeviceMismatchError, match="meshgrid"):
            af.meshgrid(af.zeros((2,), device=device), af.zeros((2,), device=elsewhere))


def test_the_poison_is_in_force():
    assert default_device() == "poison"
