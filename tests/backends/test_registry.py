"""Backends are found by prefix and by type, loaded when needed, and where they are missing the reason is a sentence."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arrayflow.backends import registry
from arrayflow.errors import BackendUnavailableError, DeviceError


@pytest.fixture
def forget(monkeypatch):
    """Backends loaded so far are forgotten, for this test."""
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr(registry, "_by_type", {})


class TestGet:
    def test_the_built_in_prefixes(self):
        assert registry.prefixes()[:6] == ("cpu", "cuda", "torch", "jax", "dpnp", "strict")

    def test_an_unknown_prefix_lists_those_known(self):
        with pytest.raises(DeviceError, match=r"prefix 'cupi'\. Prefixes known here: cpu, cuda, torch"):
            registry.get("cupi")

    @pytest.mark.parametrize("prefix", ["torch", "jax", "dpnp", "strict"])
    def test_a_library_that_is_not_installed_says_how_to_get_it(self, prefix, forget, monkeypatch):
        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("torch", "jax", "dpnp", "dpctl", "array_api_strict"):
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        for name in list(sys.modules):
            if name.partition(".")[0] in ("torch", "jax", "dpnp", "dpctl", "array_api_strict"):
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.delitem(sys.modules, "array_api_compat.torch", raising=False)
        monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
        package = "array_api_strict" if prefix == "strict" else prefix
        with pytest.raises(BackendUnavailableError, match=rf"{package} is not installed\. Install it: pip install "):
            registry.get(prefix)
        assert registry.why_missing(prefix).startswith(f"{package} is not installed")

    @pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="cupy is installed here")
    def test_cupy_names_both_of_its_wheels(self):
        reason = registry.why_missing("cuda")
        assert reason.startswith("cupy is not installed. Install it: pip install cupy-cuda13x (CUDA 13)")
        assert reason.endswith("or pip install cupy-cuda12x (CUDA 12)")

    def test_what_can_be_used_has_no_reason(self):
        assert registry.why_missing("cpu") is None


class TestBackendOf:
    def test_arrays_of_each_library(self, device):
        x = device.backend.from_host(np.ones(2, dtype="float32"), device.native)
        assert registry.backend_of(x) is device.backend

    @pytest.mark.parametrize("value", [1, 1.0, "x", None, [np.ones(2)], object(), np.dtype("f4"), slice(None)])
    def test_other_values_have_none(self, value):
        assert registry.backend_of(value) is None
        assert registry.backend_of(value) is None  # and not when asked again

    def test_subclasses_of_numpys_arrays_are_numpys(self):
        assert registry.backend_of(np.ma.masked_array([1.0])).prefix == "cpu"

    def test_parameters_of_torch_are_tensors(self):
        torch = pytest.importorskip("torch")
        assert registry.backend_of(torch.nn.Parameter(torch.zeros(2))).prefix == "torch"


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path]), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestFreshInterpreter:
    def test_the_registry_loads_no_array_library(self):
        loaded = run(
            "import sys; from arrayflow.backends import registry\n"
            "print([n for n in ('numpy', 'cupy', 'torch', 'jax', 'dpnp', 'array_api_strict') if n in sys.modules])"
        )
        assert loaded == "[]\n"

    def test_one_backend_loads_no_other(self):
        pytest.importorskip("array_api_strict")
        loaded = run(
            "import sys; from arrayflow.backends import registry; registry.get('strict')\n"
            "print([n for n in ('cupy', 'torch', 'jax', 'dpnp') if n in sys.modules])"
        )
        assert loaded == "[]\n"

    def test_dpnp_finds_the_driver_that_pip_brought(self):
        pytest.importorskip("dpnp")
        environment = {"OCL_ICD_FILENAMES": ""}
        code = "import os; del os.environ['OCL_ICD_FILENAMES']\nfrom arrayflow.backends import registry\n"
        assert "dpnp:cpu" in run(code + "print(registry.get('dpnp').devices())", **environment)

    def test_dpnp_without_a_driver_says_so(self):
        pytest.importorskip("dpnp")
        code = "from arrayflow.backends import registry; print(registry.why_missing('dpnp'))"
        assert "finds no SYCL device: it needs an OpenCL or Level Zero driver" in run(
            code, OCL_ICD_FILENAMES="/nowhere"
        )
