"""Run the tests with NumPy and array-api-strict alone, where the other libraries are not installed."""

import os
import sys

import pytest

os.environ["ARRAYFLOW_TEST_DEVICES"] = "cpu,strict:device1"
sys.exit(pytest.main(["-q"]))
