"""A library that arrayflow has never heard of: one file, one line of packaging, and models run on it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from arrayflow.backends import registry
from arrayflow.device import Device, device_of_raw, devices, move, to_host
from arrayflow.device import _device as placement
from arrayflow.dtypes import DTYPES
from arrayflow.errors import BackendUnavailableError, DeviceError

TOY = Path(__file__).parent / "toy"
LIBRARY = (TOY / "toylib.py").read_text()
BACKEND = (TOY / "toy_backend.py").read_text()


def install(folder, entry_points, **modules):
    """A distribution in a folder, as pip leaves it."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    info = folder / "arrayflow_toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: arrayflow-toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[arrayflow.backends]\n{entry_points}\n")


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A folder on the path, and a registry and table of devices that forget what the test adds."""
    monkeypatch.syspath_prepend(tmp_path)
    for table in (registry._loaded, registry._by_type, placement._by_name, placement._by_native):
        for key in list(table):
            monkeypatch.setitem(table, key, table[key])
    before = {id(t): set(t) for t in (registry._loaded, registry._by_type, placement._by_name, placement._by_native)}
    registry._third_party.cache_clear()
    importlib.invalidate_caches()
    yield tmp_path
    for table in (registry._loaded, registry._by_type, placement._by_name, placement._by_native):
        for key in set(table) - before[id(table)]:
            del table[key]
    for name in ("toylib", "toy_backend"):
        sys.modules.pop(name, None)
    registry._third_party.cache_clear()


@pytest.fixture
def toy(fresh):
    install(fresh, "toy = toy_backend:ToyBackend", toylib=LIBRARY, toy_backend=BACKEND)
    registry._third_party.cache_clear()
    return Device("toy:shelf")


class TestAToyLibrary:
    def test_it_is_some_forty_lines(self):
        assert len(BACKEND.strip().splitlines()) <= 45

    def test_its_devices_are_devices(self, toy):
        assert "toy" in registry.prefixes()
        assert devices()["toy:shelf"] == "available"
        assert Device("toy") == "toy:desk"
        with pytest.raises(DeviceError, match="toy:desk, toy:shelf"):
            Device("toy:floor")

    def test_its_arrays_are_known_by_their_type(self, toy):
        toylib = importlib.import_module("toylib")
        assert device_of_raw(toylib.ToyArray(np.ones(2), "shelf")) is toy

    def test_its_library_is_not_loaded_for_other_arrays(self, toy, monkeypatch):
        registry._loaded.pop("toy")
        sys.modules.pop("toylib")
        assert registry.backend_of(np.ones(2)).prefix == "cpu"
        assert registry.backend_of(object()) is None
        assert "toylib" not in sys.modules

    def test_arrays_move_there_and_back(self, toy):
        host = np.arange(6, dtype="float32").reshape(2, 3)
        x = move(host, toy)
        assert device_of_raw(x) is toy
        np.testing.assert_array_equal(to_host(x), host)
        assert device_of_raw(move(x, Device("toy:desk"))) == "toy:desk"

    def test_a_classifier_learns_on_it(self, toy):
        """Linear layer, loss, gradient and Adam step: portable kernels alone."""
        backend = toy.backend
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 3, 60)
        inputs = np.eye(3, dtype="float32")[labels] + 0.1 * rng.standard_normal((60, 3)).astype("float32")
        x, t = move(inputs, toy), move(labels.astype("int32"), toy)
        weight = backend.create("zeros", toy.native, (3, 3), dtype=DTYPES["float32"])
        m, v = backend.op("zeros_like")(weight), backend.op("zeros_like")(weight)
        losses = []
        for step in range(1, 41):
            loss, probabilities = backend.op("softmax_cross_entropy")(backend.op("linear")(x, weight, None), t)
            losses.append(float(to_host(loss)))
            one = backend.create("ones", toy.native, (), dtype=DTYPES["float32"])
            g = backend.op("softmax_cross_entropy_grad")(one, probabilities, t)
            gradient = backend.op("matmul_into")(g, x, None)
            weight, m, v = backend.op("adam")(weight, gradient, m, v, lr=0.1, beta1=0.9, beta2=0.999, eps=1e-8, t=step)
        assert losses[0] == pytest.approx(np.log(3))
        assert losses[-1] < 0.1
        assert device_of_raw(weight) is toy


class TestABrokenBackend:
    @pytest.mark.parametrize(
        ("module", "reason"),
        [
            ("import nothing_of_that_name", "registered for 'toy' by arrayflow-toy, cannot be loaded: No module named"),
            ("raise RuntimeError('wrong glibc')", "cannot be loaded: wrong glibc"),
            (
                BACKEND.replace("import toylib", "import toylib_that_is_absent as toylib"),
                "toylib is installed, but cannot",
            ),
            (BACKEND, "toylib is not installed. Install it: pip install toylib"),
        ],
    )
    def test_it_has_a_reason_and_harms_nobody(self, fresh, module, reason):
        install(fresh, "toy = toy_backend:ToyBackend", toy_backend=module)
        registry._third_party.cache_clear()
        assert reason in devices()["toy"]
        assert devices()["cpu"] == "available"
        with pytest.raises(BackendUnavailableError, match="toy"):
            Device("toy:desk")
