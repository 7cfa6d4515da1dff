"""What the package promises as a whole: a light import, its floors, and a README that works."""

import doctest
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARIES = {
    "array_api_compat",
    "array_api_strict",
    "cupy",
    "dpctl",
    "dpnp",
    "jax",
    "jaxlib",
    "ndonnx",
    "numpy",
    "torch",
}


def _readme():
    spec = importlib.util.spec_from_file_location("readme", ROOT / ".ci" / "readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


README = _readme()


def _python(code, **environment):
    """Run code in a new process, away from the tests' fixtures; its standard output."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("ARRAYFLOW_")}
    env["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestImport:
    def test_it_loads_no_array_library(self):
        loaded = json.loads(_python("import arrayflow, json, sys; print(json.dumps(sorted(sys.modules)))"))
        assert not LIBRARIES & {name.partition(".")[0] for name in loaded}

    def test_everything_public_can_be_looked_at_without_loading_one(self):
        code = (
            "import arrayflow as af, sys\n"
            "from arrayflow import functions, links, optimizers, serializers, initializers, data\n"
            "[getattr(af, name) for name in af.__all__]\n"
            "print(sorted(sys.modules))"
        )
        assert not LIBRARIES & {name.strip("' ").partition(".")[0] for name in _python(code).strip("[]\n").split(",")}

    def test_it_takes_less_than_60_ms(self):
        # Of this process alone: on a busy machine a clock on the wall counts what others do, too.
        code = "import time; start = time.process_time(); import arrayflow; print(time.process_time() - start)"
        _python(code)  # the first one compiles
        assert min(float(_python(code)) for _ in range(5)) < 0.060


class TestFloors:
    @pytest.mark.skipif(
        shutil.which("lint-imports", path=str(Path(sys.executable).parent)) is None,
        reason="import-linter is not installed",
    )
    def test_each_floor_imports_only_from_below(self):
        command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout

    def test_only_backend_files_name_an_array_library_in_an_import(self):
        found = []
        for path in (ROOT / "arrayflow").rglob("*.py"):
            if path.parent.name == "backends" and path.name.startswith("_") and path.name != "__init__.py":
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                words = line.split()
                # Docstring examples are user programs: their prompts keep them apart.
                if words[:1] in (["import"], ["from"]) and len(words) > 1 and words[1].partition(".")[0] in LIBRARIES:
                    found.append(f"{path.relative_to(ROOT)}:{number}")
        assert found == []


class TestPackage:
    def test_it_needs_numpy_and_array_api_compat_alone(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert sorted(d.partition(">")[0] for d in project["dependencies"]) == ["array-api-compat", "numpy"]
        assert {"cuda12x", "cuda13x", "torch", "jax", "dpnp", "test", "notebooks", "all-cpu"} <= set(
            project["optional-dependencies"]
        )

    def test_each_python_claimed_is_in_the_gate(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        claimed = [
            c.rpartition(" ")[2] for c in project["classifiers"] if c.startswith("Programming Language :: Python :: 3.")
        ]
        assert f"for version in {' '.join(claimed)}; do" in (ROOT / ".ci" / "run").read_text()
        assert project["requires-python"] == ">=3.11,<3.14"


class TestReadme:
    def test_its_two_commands_are_those_of_the_gate(self):
        gate = (ROOT / ".ci" / "run").read_text()
        for name, job in (("run", "-m arrayflow.examples.digits"), ("test", "-m pytest")):
            assert README.command(name).startswith("python3 -m venv .venv && ")
            assert f" && .venv/bin/python {job}" in README.command(name)
            assert f"python3 .ci/readme.py {name}" in gate

    def test_it_has_examples(self):
        assert len(README.examples()) >= 5

    @pytest.mark.parametrize(
        ("line", "code", "printed"),
        README.examples(),
        ids=lambda value: f"line{value}" if isinstance(value, int) else "",
    )
    def test_each_example_prints_what_it_says(self, line, code, printed):
        output = _python(code)
        if printed is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert doctest.OutputChecker().check_output(printed, output, flags), f"README.md:{line} printed {output}"
