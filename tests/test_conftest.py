"""The fixtures themselves: a poison that poisons nothing would let every forgotten device= through."""

from __future__ import annotations

import threading

import pytest

from arrayflow.device import Device, default_device, devices, using_device


class TestThePoisonedDefault:
    def test_making_an_array_without_a_device_fails(self):
        with pytest.raises(pytest.fail.Exception, match="a device= was forgotten"):
            default_device().backend.create("zeros", default_device().native, (2,), dtype="float32")

    def test_it_reaches_threads(self):
        seen = []
        thread = threading.Thread(target=lambda: seen.append(str(default_device())))
        thread.start()
        thread.join()
        assert seen == ["poison"]

    def test_using_device_lifts_it(self):
        with using_device("cpu"):
            assert default_device() == "cpu"

    @pytest.mark.real_default
    def test_a_marked_test_has_the_real_default(self, monkeypatch):
        monkeypatch.delenv("ARRAYFLOW_DEVICE", raising=False)
        assert default_device() == "cpu"

    def test_no_message_offers_it_as_a_device(self):
        assert "poison" not in str(devices())


class TestDevices:
    def test_elsewhere_is_another_device(self, device, elsewhere):
        assert device != elsewhere
        assert "cpu" in (device, elsewhere)

    def test_float32_is_everywhere(self, device, float_dtypes):
        assert "float32" in float_dtypes
        if device in ("strict:no_float64", "jax:cpu:1"):
            assert float_dtypes == ["float32"]


class TestStrictFlags:
    def test_boolean_masks_are_off(self):
        strict = pytest.importorskip("array_api_strict")
        x = strict.asarray([1, 2], device=Device("strict:device1").native)
        with pytest.raises(RuntimeError, match="boolean"):
            x[x > 1]

    @pytest.mark.data_dependent
    def test_a_marked_test_may_use_them(self):
        strict = pytest.importorskip("array_api_strict")
        x = strict.asarray([1, 2], device=Device("strict:device1").native)
        assert x[x > 1].shape == (1,)
