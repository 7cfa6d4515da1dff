"""What every test gets: each device there is, a poisoned default device, and a strict array-api-strict.

Environment variables:

``ARRAYFLOW_TEST_DEVICES``
    The devices that tests run on, in the place of those below: ``"cpu cuda:0 torch:cuda:0 jax:gpu:0"``.
``ARRAYFLOW_TEST_PART``
    ``devices`` runs only the tests that take a device, ``rest`` only the others: for runs side by side.
``ARRAYFLOW_TEST_ABSENT``
    Packages that this machine is known to lack: ``"array_api_strict dpnp"``. Tests that need them are skipped.
``CI=true``
    A device that cannot be used is a failure, not a skip.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

DEVICES = tuple(
    os.environ.get(
        "ARRAYFLOW_TEST_DEVICES", "cpu strict:device1 strict:no_float64 torch:cpu jax:cpu:1 dpnp:cpu"
    ).split()
)
PART = os.environ.get("ARRAYFLOW_TEST_PART", "")
ABSENT = frozenset(os.environ.get("ARRAYFLOW_TEST_ABSENT", "").split())
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

# JAX reads them when it is first used: several devices on the host, and no claim to all of a GPU's memory.
if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4").strip()
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# Tests side by side, and libraries side by side in one, wait for one another's threads for longer than they compute.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# dpnp compiles its kernels when they are first used; kept on disk, a second run takes seconds, not minutes.
os.environ.setdefault("SYCL_CACHE_PERSISTENT", "1")

from arrayflow import device as placement  # noqa: E402  (the variables come first)
from arrayflow.backends._dpnp import point_to_driver  # noqa: E402
from arrayflow.backends.protocol import Backend  # noqa: E402
from arrayflow.errors import BackendUnavailableError  # noqa: E402

point_to_driver()


def pytest_report_header() -> list[str]:
    lines = [f"devices: {' '.join(DEVICES)}"]
    if ABSENT:
        lines.append(f"ABSENT, AND EVERY TEST THAT NEEDS THEM IS SKIPPED: {' '.join(sorted(ABSENT))}")
    return lines


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    if PART:
        kept = [item for item in items if ("device" in item.fixturenames) == (PART == "devices")]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


# --- libraries that this machine lacks -----------------------------------------------------------


def _absent(error: BaseException | None) -> str | None:
    """The package on the list of absent ones for whose lack something failed."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] in ABSENT:
            return error.name
        error = error.__cause__ or error.__context__
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    except Exception as error:
        package = _absent(error)
        if package is None:
            raise
        pytest.skip(f"{package} is absent here")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report: Any = yield
    if report.failed:
        for package in ABSENT:
            if f"No module named '{package}" in str(report.longrepr):
                report.outcome = "skipped"
                report.longrepr = (str(collector.path), 0, f"Skipped: {package} is absent here")
    return report


def _device(name: str) -> placement.Device:
    try:
        return placement.Device(name)
    except BackendUnavailableError as error:
        if IN_CI and _absent(error) is None:
            pytest.fail(f"{error}", pytrace=False)
        pytest.skip(f"{error}")


# --- devices -------------------------------------------------------------------------------------


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> placement.Device:
    """Each device in turn."""
    return _device(request.param)


@pytest.fixture
def elsewhere(device: placement.Device) -> placement.Device:
    """A device other than `device`, and one of them is the host."""
    if device != "cpu":
        return _device("cpu")
    return _device(next((name for name in DEVICES if name != "cpu"), "strict:device1"))


@pytest.fixture
def xp() -> Any:
    """The array API over Variables. Its creation functions take ``device=device``."""
    import arrayflow.namespace

    return arrayflow.namespace


@pytest.fixture
def float_dtypes(device: placement.Device) -> list[Any]:
    """The real floating types that a device computes gradients in: float32, and float64 where it has it."""
    return [d for d in device.backend.dtypes_on(device.native) if d in ("float32", "float64")]


# --- the poisoned default ------------------------------------------------------------------------


class PoisonBackend(Backend):
    """No array can be made on it: whoever comes here left out ``device=``."""

    prefix = "poison"
    packages = ()
    install = ""
    array_types = ()
    one_device = True

    def devices(self) -> tuple[str, ...]:
        return ("poison",)

    def native(self, name: str) -> str:
        return name

    def name_of(self, native: Any) -> str:
        return "poison"

    def _forgotten(self, *args: Any, **kwargs: Any) -> Any:
        pytest.fail("a device= was forgotten: something was to be made on the default device", pytrace=True)

    create = from_host = transfer = op = raw_dtype = dtypes_on = context = synchronize = _forgotten
    xp = raw_dtypes = property(_forgotten)


POISON = placement.Device._intern(PoisonBackend(), "poison")


@pytest.fixture(autouse=True)
def poisoned_default(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``ARRAYFLOW_DEVICE`` or, without it, ``cpu`` would be, is poison, in every thread."""
    if request.node.get_closest_marker("real_default") is None:
        text = os.environ.get("ARRAYFLOW_DEVICE", "cpu")
        monkeypatch.setattr(placement._default, "_environment", (text, POISON))


# --- array-api-strict ----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def strict_flags(request: pytest.FixtureRequest) -> Iterator[None]:
    """No boolean masks and no shapes that depend on values, but for tests that are marked for them."""
    strict = sys.modules.get("array_api_strict")
    if strict is None and "array_api_strict" not in ABSENT:
        try:
            import array_api_strict as strict
        except ImportError:
            strict = None
    if strict is None:
        yield
        return
    allowed = request.node.get_closest_marker("data_dependent") is not None
    with strict.ArrayAPIStrictFlags(boolean_indexing=allowed, data_dependent_shapes=allowed):
        yield
