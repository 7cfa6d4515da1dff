"""Devices as values, and the one function that moves data."""

import collections
import os
import pickle
import subprocess
import sys
import threading

import pytest

import arrayflow as af
from arrayflow.errors import (
    BackendUnavailableError,
    DeviceError,
    DeviceMismatchError,
    DTypeError,
    TransferError,
)


class TestDevice:
    def test_spellings_of_one_device_are_one_object(self):
        assert af.Device("jax:cpu") is af.Device("jax:cpu:0")
        assert af.Device("@numpy") is af.Device("cpu")
        assert af.Device(af.Device("cpu")) is af.Device("cpu")

    def test_it_equals_its_strings_and_hashes_as_its_name(self, device):
        assert device == str(device)
        assert {str(device): 1}[device] == 1
        assert device != "cpu:7"
        assert device != 3
        assert af.Device("jax:cpu:0") == "jax:cpu"

    def test_it_survives_pickling_as_the_same_object(self, device):
        assert pickle.loads(pickle.dumps(device)) is device

    @pytest.mark.parametrize("spec", ["", ":", "cuda:", "torch::0", " cpu", "cpu ", ":0", "strict:", "cpu:"])
    def test_malformed_strings_are_refused(self, spec):
        with pytest.raises(DeviceError, match=r"malformed.*Devices here: cpu"):
            af.Device(spec)

    @pytest.mark.parametrize("spec", ["gpu", "numpy", "tpu:0", "CPU"])
    def test_unknown_prefixes_are_refused_with_what_there_is(self, spec):
        with pytest.raises(DeviceError, match=rf"'{spec}'.*no array library.*Devices here: cpu"):
            af.Device(spec)

    @pytest.mark.parametrize("spec", ["cpu:1", "strict:device9", "jax:cpu:99", "torch:cpu:3"])
    def test_a_device_that_is_not_there_is_refused_with_those_that_are(self, spec):
        with pytest.raises(DeviceError, match=rf"'{spec}'.*no such device.*Devices here: cpu"):
            af.Device(spec)

    @pytest.mark.parametrize("spec", [None, 0, 1.5, ["cpu"]])
    def test_only_strings_name_devices(self, spec):
        with pytest.raises(DeviceError, match="a device is a string"):
            af.Device(spec)

    def test_a_library_that_cannot_be_used_says_why_and_how_to_get_it(self):
        if af.devices().get("cuda:0") == "available":
            pytest.skip("this machine has a GPU, so nothing is missing")
        with pytest.raises(BackendUnavailableError, match=r"'cuda:0'.*cupy"):
            af.Device("cuda:0")
        assert "cupy" in af.devices()["cuda"]

    def test_devices_lists_every_one_and_prints_as_a_table(self, device):
        table = af.devices()
        assert table[str(device)] == "available"
        assert str(table).splitlines()[0].split() == ["cpu", "available"]


@pytest.mark.real_default
class TestDefaultDevice:
    @pytest.fixture(autouse=True)
    def no_environment(self, monkeypatch):
        monkeypatch.delenv("ARRAYFLOW_DEVICE", raising=False)

    def test_it_is_the_host(self):
        assert af.default_device() == "cpu"
        assert af.zeros((1,)).device == "cpu"

    def test_the_environment_sets_it(self, monkeypatch):
        monkeypatch.setenv("ARRAYFLOW_DEVICE", "strict:device1")
        assert af.zeros((1,)).device == "strict:device1"

    @pytest.mark.parametrize("text", ["nonsense:0", "cpu:5", "", "torch:"])
    def test_a_bad_environment_is_an_error_that_names_the_variable(self, monkeypatch, text):
        monkeypatch.setenv("ARRAYFLOW_DEVICE", text)
        with pytest.raises(DeviceError, match=rf"ARRAYFLOW_DEVICE='{text}'.*Devices here: cpu"):
            af.zeros((1,))

    def test_using_device_nests_and_ends_after_an_exception(self):
        with af.using_device("strict:device1"):

            def fail():
                with af.using_device("strict:device2"):
                    assert af.ones(()).device == "strict:device2"
                    raise ValueError("boom")

            with pytest.raises(ValueError, match="boom"):
                fail()
            assert af.ones(()).device == "strict:device1"
        assert af.default_device() == "cpu"

    def test_a_thread_neither_inherits_nor_changes_another_s(self):
        seen = []

        def work():
            seen.append(str(af.default_device()))
            with af.using_device("strict:device2"):
                barrier.wait()
                barrier.wait()

        barrier = threading.Barrier(2)
        with af.using_device("strict:device1"):
            thread = threading.Thread(target=work)
            thread.start()
            barrier.wait()
            assert af.default_device() == "strict:device1"
            barrier.wait()
            thread.join()
        assert seen == ["cpu"]


class TestToDevice:
    def test_the_same_object_comes_back_and_nothing_is_recorded(self, device):
        x = af.ones((2, 3), device=device)
        with af.transfers() as ledger:
            assert af.to_device(x, device) is x
            assert af.to_device(x, str(device)) is x
            assert af.to_device(x.array, device) is x.array
            assert x.to_device(device) is x
        assert ledger.count == 0

    def test_there_and_back_keeps_values_dtype_and_shape(self, device):
        for x in (
            af.asarray([[1.5, -2.0]], device="cpu"),
            af.asarray(True, device="cpu"),
            af.zeros((0, 3), device="cpu"),
        ):
            y = af.to_device(x, device)
            assert (y.device, y.dtype, y.shape) == (device, x.dtype, x.shape)
            back = af.to_device(y, "cpu")
            assert back.numpy().tolist() == x.numpy().tolist()

    def test_between_any_two_devices_one_event_is_recorded(self, device):
        x = af.ones((4,), device=device)
        target = af.Device("strict:device2")
        with af.transfers() as ledger:
            af.to_device(x, target)
        (entry,) = ledger.entries
        assert (entry.source, entry.destination, entry.bytes) == (str(device), "strict:device2", 16)
        assert entry.direction == ("h2d" if device == "cpu" else "d2d")

    def test_the_gradient_travels_back_and_is_recorded(self, device):
        elsewhere = "strict:device2"
        x = af.asarray([1.0, 2.0], device=device, requires_grad=True)
        y = af.to_device(x, elsewhere)
        with af.transfers() as ledger:
            af.sum(y * y).backward()
        assert x.grad.device is device
        assert x.grad.numpy().tolist() == [2.0, 4.0]
        assert [(e.source, e.destination) for e in ledger.entries] == [(elsewhere, str(device))]

    def test_containers_keep_their_types_and_what_has_no_device(self, device):
        Pair = collections.namedtuple("Pair", "x n")  # noqa: PYI024
        a = af.ones((1,), device="cpu")
        grouped = collections.defaultdict(list, k=[a])
        tree = {"p": Pair(a, 3), "l": [a, (None, "text", 2.5)], "g": grouped}
        moved = af.to_device(tree, device)
        assert isinstance(moved["p"], Pair)
        assert moved["p"].n == 3
        assert moved["l"][1] == (None, "text", 2.5)
        assert moved["g"].default_factory is list
        assert af.device_of(moved) is device
        assert tree["p"].x is a

    def test_copy_true_copies_where_it_is(self, device):
        x = af.ones((2,), device=device)
        y = af.to_device(x, device, copy=True)
        assert y is not x
        assert y.array is not x.array

    def test_copy_false_refuses_a_move(self, device):
        x = af.ones((2,), device=device)
        assert af.to_device(x, device, copy=False) is x
        with pytest.raises(TransferError, match=rf"copy=False.*on {device}.*strict:device2"):
            af.to_device(x, "strict:device2", copy=False)

    def test_a_buffer_that_is_overwritten_at_once_never_shows(self, device):
        import numpy as np

        for offset in (0, 1):  # aligned, and not
            memory = np.zeros(4 * 256 + offset, dtype=np.uint8)
            buffer = memory[offset:].view(np.float32)
            for k in range(100):
                buffer[...] = k
                moved = af.to_device(buffer, device) if device != "cpu" else af.asarray(buffer, device="cpu")
                buffer[...] = -1
                values = moved.numpy() if isinstance(moved, af.Variable) else af.Variable(moved).numpy()
                assert (values == k).all()

    def test_what_is_no_array_is_refused(self, device):
        with pytest.raises(TransferError, match="a object is no array"):
            af.to_device(object(), device)

    def test_an_unknown_device_moves_nothing(self, device):
        x = af.ones((2,), device=device)
        with af.transfers() as ledger, pytest.raises(DeviceError, match="no array library"):
            af.to_device([x, x], "nowhere:0")
        assert ledger.count == 0

    def test_a_device_without_the_data_type_says_cast_first(self):
        x = af.asarray([1.0], dtype=af.float64, device="cpu")
        with af.transfers() as ledger, pytest.raises(DTypeError, match=r"no_float64 has no float64. Cast first"):
            af.to_device(x, "strict:no_float64")
        assert ledger.count == 0


class TestDeviceOf:
    def test_parts_on_two_devices_are_named_by_their_paths(self):
        x, y = af.ones((1,), device="cpu"), af.ones((1,), device="strict:device1")
        with pytest.raises(DeviceMismatchError, match=r"x\['a'\] on cpu, x\['b'\]\[1\] on strict:device1"):
            af.device_of({"a": x, "b": [x, y]})

    def test_scalars_have_none(self):
        with pytest.raises(TransferError, match="Python scalars have no device"):
            af.device_of([1, 2.0])


class TestMixing:
    """Rule 2, in every door."""

    @pytest.fixture
    def pair(self, device):
        elsewhere = "cpu" if device != "cpu" else "strict:device2"
        return af.ones((2,), device=device), af.ones((2,), device=elsewhere)

    @pytest.mark.parametrize(
        "operation",
        [
            lambda a, b: a + b,
            lambda a, b: b * a,
            lambda a, b: a == b,
            lambda a, b: a @ b,
            lambda a, b: af.where(a > 0, a, b),
            lambda a, b: af.concat([a, b]),
            lambda a, b: af.stack([a, b]),
            lambda a, b: af.take(a, af.astype(b, af.int32)),
            lambda a, b: a[af.astype(b, af.int32)],
            lambda a, b: a + b[0],
            lambda a, b: af.clip(a, b, b),
            lambda a, b: af.tensordot(a, b, axes=1),
            lambda a, b: a + b.array,
        ],
    )
    def test_every_operation_refuses_and_names_both_places(self, pair, operation):
        a, b = pair
        with af.transfers() as ledger, pytest.raises(DeviceMismatchError) as caught:
            operation(a, b)
        text = str(caught.value)
        assert str(a.device) in text
        assert str(b.device) in text
        assert "test_device.py" in text
        assert "af.to_device(" in text
        assert ledger.count == 0
        assert (a + a).numpy().tolist() == [2.0, 2.0]  # the process works on

    def test_assignment_leaves_the_target_as_it_was(self, pair):
        a, b = pair
        with pytest.raises(DeviceMismatchError):
            a[0] = b[0]
        with pytest.raises(DeviceMismatchError):
            a[...] = b
        assert a.numpy().tolist() == [1.0, 1.0]

    def test_python_and_numpy_scalars_go_anywhere_and_never_promote(self, device):
        import numpy as np

        x = af.ones((2,), device=device)
        for scalar in (2, 2.0, True, np.float64(2.0), np.float32(2.0), np.int64(2)):
            for y in (x * scalar, scalar * x):
                assert (y.device, y.dtype) == (device, "float32")


def test_two_processes_agree_on_the_default(tmp_path):
    code = "import arrayflow as af; print(af.zeros((1,)).device)"
    environment = {**os.environ, "ARRAYFLOW_DEVICE": "strict:device1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "strict:device1"
