"""The example programs run as a user runs them: each in a process of its own, which sees no fixture of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arrayflow.device import Device
from arrayflow.errors import BackendUnavailableError

DEVICES = os.environ.get("ARRAYFLOW_TEST_DEVICES", "cpu torch:cpu jax:cpu:0 dpnp:cpu strict:device1").split()
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def run_example():
    """``run_example("cpu", "digits", "--epochs", 3)``: the finished process of an example on a device."""

    def run(device, module, *args, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ARRAYFLOW_")}
        env |= {"ARRAYFLOW_DEVICE": str(device), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"} | environment
        command = [sys.executable, "-m", f"arrayflow.examples.{module}", *map(str, args)]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(params=DEVICES)
def device(request):
    """Each device that the examples promise to run on, in the place of those of the other tests."""
    try:
        return Device(request.param)
    except BackendUnavailableError as error:
        if os.environ.get("CI"):
            pytest.fail(f"{error}", pytrace=False)
        pytest.skip(f"{error}")
