"""Each framework's module has its example, its tests, its place in the documentation, and is known by its full name."""

import ast

import pytest
from helpers import ROOT

import optim.integrations

FRAMEWORKS = optim.integrations.FRAMEWORKS.split()
FOLDER = ROOT / "optim/integrations"


def imported(module):
    """The modules of the folder that one of them imports."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.rpartition(".")[2] for name in names if name.startswith("optim.integrations.")}


def test_a_module_is_a_frameworks_or_helps_those():
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    helpers = set().union(*map(imported, modules)) - set(FRAMEWORKS)
    assert sorted(modules - helpers) == FRAMEWORKS


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_type_checkers_know_it(name):
    assert f" {name} as {name}" in (FOLDER / "__init__.py").read_text(encoding="utf-8")
    stub = ROOT / f"gradledger/optim/integrations/{name}.pyi"
    assert stub.read_text(encoding="utf-8") == f"from optim.integrations.{name} import *\n"


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_it_is_documented_and_tried(name):
    assert f"optim.integrations.{name} import " in optim.integrations.__doc__
    pages = [ROOT / "docs/how-to/gradients.md", ROOT / "docs/api/integrations.rst"]
    how_to, reference = (page.read_text(encoding="utf-8") for page in pages)
    assert f"optim.integrations.{name}." in how_to
    assert f"examples/gradients_{name}.py\n" in how_to
    assert f".. automodule:: optim.integrations.{name}\n" in reference
    assert f"from optim.integrations.{name} import " in (ROOT / f"examples/gradients_{name}.py").read_text("utf-8")
    assert (ROOT / f"tests/frameworks/test_{name}.py").exists()
