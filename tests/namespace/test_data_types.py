"""Data types: casts and their gradients, limits, and the one promotion table."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import arrayflow as af
from arrayflow.dtypes import DTYPES, as_dtype
from arrayflow.errors import DTypeError
from arrayflow.testing import check_grads

FLOATS = [af.float16, af.float32, af.float64]
INTEGERS = [d for d in DTYPES.values() if "integer" in d.kind]


class TestDType:
    @pytest.mark.parametrize("dtype", [*DTYPES.values()], ids=str)
    def test_equals_its_name_and_survives_copies(self, dtype):
        assert dtype == str(dtype) == dtype.name
        assert hash(dtype) == hash(dtype.name)
        assert not isinstance(dtype, str)
        assert pickle.loads(pickle.dumps(dtype)) is dtype is copy.deepcopy(dtype)
        assert repr(dtype) == f"arrayflow.{dtype}"
        assert f"{dtype:>12}" == dtype.name.rjust(12)
        assert dtype != "complex"
        assert dtype is not None

    @pytest.mark.parametrize("name", ["float32", "int8", "bool", "complex64"])
    def test_equals_the_librarys_object_and_names_it(self, name, device):
        dtype = getattr(af, name)
        raw = device.backend.raw_dtype(dtype, device.native)
        assert dtype == raw
        assert as_dtype(raw) is dtype
        assert as_dtype(name) is af.zeros((1,), dtype=raw, device=device).dtype is dtype

    def test_numpy_takes_it(self):
        assert np.zeros(1, dtype=af.float32).dtype == np.float32
        assert np.dtype(af.int8) == np.int8
        assert np.dtype("int16") != af.int8

    def test_what_is_none(self):
        with pytest.raises(DTypeError, match="'float31' is no data type of the array API standard"):
            as_dtype("float31")


class TestAstype:
    @pytest.mark.parametrize(("source", "target"), [*itertools.permutations(["float32", "int32", "bool", "uint8"], 2)])
    def test_values(self, device, source, target):
        x = af.asarray(np.asarray([0, 1, 2]).astype(source), device=device)
        y = af.astype(x, getattr(af, target))
        assert (y.dtype, y.device) == (target, device)
        assert y.numpy().tolist() == x.numpy().astype(target).tolist()

    def test_gradients_pass_between_floating_types(self, device):
        check_grads(lambda x: af.astype(x, af.float32) ** 2, af.asarray([1.0, 2.0], device=device), order=1, rtol=1e-3)
        x = af.asarray([1.0, 2.0], device=device, requires_grad=True)
        af.sum(af.real(af.astype(x * x, af.complex64) * (1 + 1j))).backward()
        assert x.grad.numpy().tolist() == [2.0, 4.0]
        assert x.grad.dtype == af.float32
        assert not af.astype(x, af.int32).requires_grad

    def test_copies_unless_told_otherwise(self, device):
        x = af.asarray([1.0], device=device)
        assert af.astype(x, af.float32, copy=False) is x
        assert af.astype(x, af.float32).array is not x.array
        assert af.astype(x.array, af.float32, copy=False) is x.array

    def test_to_another_device(self, device, elsewhere):
        with af.transfers() as ledger:
            y = af.astype(af.ones((4,), device=device), af.int8, device=elsewhere)
        assert (y.device, y.dtype, ledger.bytes) == (elsewhere, af.int8, 4)

    def test_complex_to_real_is_refused(self, device):
        z = af.asarray([1j], device=device)
        with pytest.raises(DTypeError, match=r"x is complex64 and dtype is float32.*af.real\(x\)"):
            af.astype(z, af.float32)
        assert af.astype(z, af.bool).numpy().tolist() == [True]

    def test_a_type_that_the_device_lacks(self, device):
        lacks = [d for d in (af.float64, af.int64) if d not in device.backend.dtypes_on(device.native)]
        for dtype in lacks:
            with pytest.raises(DTypeError, match=f"Device {device} has no {dtype}. Cast first"):
                af.astype(af.ones((1,), device=device), dtype)


class TestLimits:
    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_of_floating_types_are_numpys(self, dtype):
        found, expected = af.finfo(dtype), np.finfo(np.dtype(dtype))
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(found, name) == getattr(expected, name)
            assert type(getattr(found, name)) in (int, float)
        assert found.dtype is dtype

    def test_of_complex_types_are_those_of_their_parts(self):
        assert af.finfo(af.complex64) == af.finfo(af.float32)
        assert af.finfo(af.complex128).dtype is af.float64
        assert af.finfo(af.bfloat16).eps == 2.0**-7

    @pytest.mark.parametrize("dtype", INTEGERS, ids=str)
    def test_of_integer_types_are_numpys(self, dtype):
        found, expected = af.iinfo(dtype), np.iinfo(np.dtype(dtype))
        assert (found.bits, found.max, found.min) == (expected.bits, expected.max, expected.min)
        assert found.dtype is dtype

    def test_of_arrays(self, device):
        x = af.ones((1,), device=device)
        assert af.finfo(x) == af.finfo(x.array) == af.finfo(af.float32)
        assert af.iinfo(af.astype(x, af.int8)).max == 127

    def test_of_the_wrong_kind(self):
        with pytest.raises(DTypeError, match=r"finfo is for floating types, but int8 was given. For integers"):
            af.finfo(af.int8)
        with pytest.raises(DTypeError, match="iinfo is for integer types, but float32"):
            af.iinfo(af.float32)


class TestKinds:
    @pytest.mark.parametrize(
        "kind",
        ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"],
    )
    def test_isdtype_agrees_with_numpy(self, kind):
        for dtype in DTYPES.values():
            if dtype not in ("bfloat16", "float16"):
                assert af.isdtype(dtype, kind) is np.isdtype(np.dtype(dtype), kind)

    def test_isdtype_of_types_and_tuples(self, device):
        assert af.isdtype(af.ones((1,), device=device).array.dtype, af.float32)
        assert af.isdtype(af.int8, ("bool", af.int8))
        assert not af.isdtype(af.int8, ("bool", "real floating"))
        with pytest.raises(DTypeError, match="isdtype: 'floating' is no kind"):
            af.isdtype(af.int8, "floating")

    def test_can_cast(self, device):
        assert af.can_cast(af.int8, af.int16)
        assert not af.can_cast(af.int16, af.int8)
        assert af.can_cast(af.float32, af.complex64)
        assert not af.can_cast(af.uint64, af.int64)
        assert af.can_cast(af.ones((1,), device=device), af.float64)


class TestPromotion:
    def test_within_a_kind_it_is_the_standards(self):
        kinds = {"bool", "integral", "real floating", "complex floating"}
        for a, b in itertools.product(DTYPES.values(), repeat=2):
            if {"bfloat16", "float16"} & {str(a), str(b)} or (
                {a, b} >= {af.uint64} and "signed integer" in (a.kind, b.kind)
            ):
                continue
            if any(af.isdtype(a, k) and af.isdtype(b, k) for k in kinds):
                assert af.result_type(a, b) == np.result_type(np.dtype(a), np.dtype(b))

    def test_integers_take_the_floating_type_beside_them(self, device):
        x, n = af.ones((2,), device=device), af.ones((2,), dtype=af.int32, device=device)
        assert af.result_type(x, n) == af.result_type(x.array, n.array) == (x + n).dtype == af.float32
        assert af.result_type(af.uint64, af.int8, af.float32) == af.float32

    def test_scalars_count_by_their_kind(self, device):
        x, n = af.ones((2,), device=device), af.ones((2,), dtype=af.int8, device=device)
        assert af.result_type(x, 1.0, 2) == af.float32
        assert af.result_type(af.float16, 1.0) == af.float16
        assert af.result_type(n, 1) == af.int8
        assert af.result_type(n, 1.0) == (n * 1.0).dtype == af.float32
        assert af.result_type(x, 1j) == af.complex64
        assert af.result_type(af.float64, 1j) == af.complex128
        assert af.result_type(n, np.float64(1.0)) == af.float32
        assert af.result_type(af.bool, 1) == af.int64

    def test_faults(self):
        with pytest.raises(DTypeError, match="at least one argument must be an array or a data type"):
            af.result_type(1, 2.0)
        with pytest.raises(DTypeError, match=r"uint64 and int8 have no common data type|int8 and uint64"):
            af.result_type(af.uint64, af.int8)


class TestPythonIntegersOutOfRange:
    """Libraries differ: some raise, some wrap around in silence."""

    @pytest.mark.parametrize("operation", [
        lambda x: x + -1,
        lambda x: -1 + x,
        lambda x: x > -1,
        lambda x: x == -1,
        lambda x: x * 256,
        lambda x: x // 2**70,
        lambda x: af.where(x == x, x, 256),
        lambda x: af.clip(x, -1, 5),
        lambda x: x.__setitem__(0, 256),
        lambda x: af.full_like(x, 256),
        lambda x: af.asarray(256, dtype=af.uint8, device=x.device),
        lambda x: af.asarray([1, -1], dtype=af.uint8, device=x.device),
    ])  # fmt: skip
    def test_are_refused_everywhere(self, device, operation):
        x = af.asarray([1, 2], dtype=af.uint8, device=device)
        with pytest.raises(DTypeError, match=r"uint8 holds 0 to 255, but the (Python integer is|list reaches)"):
            operation(x)
        assert x.numpy().tolist() == [1, 2]

    def test_of_more_bits_than_any_type(self, device):
        for values in (2**70, [2**70], [[1, 2], [3, -(2**70)]]):
            with pytest.raises(DTypeError, match=r"of 71 bits"):
                af.asarray(values, device=device)

    def test_lists_of_large_ones_are_exact_or_refused(self):
        values = [1, 2**63 + 1, 2**64 - 1]
        assert af.asarray(values, device="cpu", dtype=af.uint64).numpy().tolist() == values
        assert af.asarray(values, device="cpu").numpy().tolist() == values
        assert af.asarray(values, device="cpu", dtype=af.float32).dtype == af.float32
        assert af.asarray([1, 2.0**63], device="cpu").dtype == af.float32
        for dtype, bad in ((af.int64, values), (af.int32, [1e30]), (af.int8, [float("nan")]), (af.uint8, [0.5, -1.5])):
            with pytest.raises(DTypeError, match=rf"{dtype} holds -?\d+ to \d+, but the list reaches"):
                af.asarray(bad, device="cpu", dtype=dtype)
        with pytest.raises(DTypeError, match="no integer type holds negative numbers and numbers from"):
            af.asarray([-1, 2**63], device="cpu")

    def test_those_in_range_are_taken(self, device):
        x = af.asarray([1, 2], dtype=af.uint8, device=device)
        assert (x + 253).numpy().tolist() == [254, 255]
        assert (255 - x).dtype == (x * 0).dtype == af.uint8
