"""Values on a device, and a random stream that each test has to itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrayflow import random
from arrayflow.autograd import Variable
from arrayflow.device import move


@pytest.fixture(autouse=True)
def own_stream():
    state = random.get_state()
    random.seed(0)
    yield
    random.set_state(state)


@pytest.fixture
def put(device):
    """A Variable on the device from a host array, narrowed to what the device has."""

    def make(values: Any, dtype: str = "float32", on: Any = None) -> Variable:
        return Variable(move(np.asarray(values, dtype), on or device))

    return make
