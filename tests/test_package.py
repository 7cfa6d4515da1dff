"""The package's own names: each found where the table says, none hidden by a submodule of the same name."""

import importlib
import subprocess
import sys

import pytest

import arrayflow as af


class TestNames:
    @pytest.mark.parametrize("name", af.__all__)
    def test_each_is_there_and_kept(self, name):
        assert getattr(af, name) is vars(af)[name]

    def test_dir_lists_them_and_the_rooms(self):
        assert {*af.__all__, "links", "functions", "optimizers"} <= set(dir(af))

    def test_the_table_names_all_that_the_chapters_export(self):
        chapters = [
            "constants", "creation", "data_types", "elementwise", "linear_algebra", "manipulation", "searching", "sets",
            "sorting", "statistical", "utility",
        ]  # fmt: skip
        for chapter in chapters:
            module = importlib.import_module(f"arrayflow.namespace.{chapter}")
            for name in module.__all__:
                assert getattr(af, name) is getattr(module, name)
                assert getattr(af.namespace, name) is getattr(module, name)

    def test_the_errors_are_all_there(self):
        for name in af.errors.__all__:
            assert getattr(af, name) is getattr(af.errors, name)

    def test_a_name_that_is_not_there_is_an_error_with_a_hint(self):
        with pytest.raises(AttributeError, match=r"no attribute 'trnsfers'. Did you mean af.transfers\?"):
            af.trnsfers
        with pytest.raises(AttributeError, match=r"no attribute 'quite_elsewhere'$"):
            af.quite_elsewhere
        assert not hasattr(af, "__wrapped__")

    def test_import_star(self):
        scope = {}
        exec("from arrayflow import *", scope)
        assert scope["zeros"] is af.zeros


class TestNamesThatAreModulesToo:
    @pytest.mark.parametrize(
        "before",
        [
            "",
            "import arrayflow.transfers",
            "from arrayflow.transfers import transfers",
            "import arrayflow.config",
            "from arrayflow import device",
            "import arrayflow.namespace, arrayflow.links, arrayflow.data",
        ],
    )
    def test_transfers_is_the_function_and_config_the_object_whatever_was_imported_first(self, before):
        code = (
            f"{before}\nimport arrayflow as af\n"
            "with af.transfers() as ledger:\n    pass\n"
            "assert af.config.train and ledger.count == 0\n"
            "import arrayflow.transfers, arrayflow.config\n"
            "with af.transfers() as ledger:\n    pass\n"
            "assert af.config.train\n"
            "from arrayflow.transfers import Ledger\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
