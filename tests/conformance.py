"""The reference suite of the standard over arrayflow: which of its failures are ours, and not the array library's.

    git clone --recurse-submodules https://github.com/data-apis/array-api-tests
    pip install -r array-api-tests/requirements.txt
    python tests/conformance.py array-api-tests

runs the suite of each version over ``arrayflow`` on NumPy and over ``array_api_compat.numpy``, prints the tests that
fail on the first alone, and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).parent.parent
BACKEND = "array_api_compat.numpy"
VERSIONS = ("2025.12", "2024.12")


def failures(suite: Path, module: str, version: str, examples: int, only: list[str]) -> tuple[set[str], int]:
    """The tests that fail, by file and name, and how many ran."""
    folder = suite / "array_api_tests"
    chapters = ROOT / "arrayflow" / "namespace"
    missing = [n for n in ("linalg", "fft") if not (chapters / n).is_dir() and not (chapters / f"{n}.py").exists()]
    paths = ":".join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
    env = os.environ | {
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": version,
        "ARRAYFLOW_DEVICE": "cpu",
        "PYTHONPATH": paths,
    }
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q"]
        command += ["--disable-extension", *missing] if missing else []
        # As far as can be the same examples for both, and none that fails because the machine was busy.
        command += ["--derandomize", "--disable-deadline"]
        command += ["-p", "no:cacheprovider", "--tb=short", f"--max-examples={examples}", f"--junitxml={report}"]
        command += [str(folder / name) for name in only] or [str(folder)]
        done = subprocess.run(command, cwd=suite, env=env, capture_output=True, text=True, check=False)
        if not report.exists():
            sys.exit(f"the suite did not run:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    if not cases:
        sys.exit(f"the suite ran no test:\n{done.stdout[-3000:]}")
    # The suite asks for the names of an extension even where its tests are switched off.
    later = tuple(f"test_has_names[{name}-" for name in missing)
    failed = {
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if (case.find("failure") is not None or case.find("error") is not None)
        and not str(case.get("name")).startswith(later)
    }
    return failed, len(cases)


def _node(name: str) -> str:
    """What pytest calls a test of the report."""
    module, _, test = name.partition("::")
    _, file, *classes = module.split(".")
    return "::".join([f"{file}.py", *classes, test])


def main() -> int:
    """Compare, print, and tell by the exit status whether a failure is ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "suite", type=Path, help="folder of a checkout of data-apis/array-api-tests, with its submodule"
    )
    parser.add_argument("--version", action="append", choices=VERSIONS, help="of the standard; by default each")
    parser.add_argument("--examples", type=int, default=100, help="of each test (100)")
    parser.add_argument("--only", nargs="*", default=[], help="files of the suite, such as test_creation_functions.py")
    arguments = parser.parse_args()
    suite = arguments.suite.resolve()
    if not (suite / "array_api_tests").is_dir():
        parser.error(f"{suite} holds no folder array_api_tests")
    ours = 0
    for version in arguments.version or VERSIONS:
        found, n = failures(suite, "arrayflow", version, arguments.examples, arguments.only)
        theirs, _ = failures(suite, BACKEND, version, arguments.examples, arguments.only)
        if found - theirs:  # the library may have failed too, had it met the same example: more of them tell
            nodes = [_node(name) for name in sorted(found - theirs)]
            theirs |= failures(suite, BACKEND, version, 30 * arguments.examples, nodes)[0]
        print(
            f"{version}: {n} tests, {len(found)} fail on arrayflow, {len(theirs)} on {BACKEND}; "
            f"on arrayflow alone: {len(found - theirs)}"
        )
        for name in sorted(found - theirs):
            print(f"  {name}")
        ours += len(found - theirs)
    return 1 if ours else 0


if __name__ == "__main__":
    sys.exit(main())
