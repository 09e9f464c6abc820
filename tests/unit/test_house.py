"""The house keeps its order: private names stay in their folder, tests lie beside what they test, files stay short."""

import ast
import functools
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from helpers import ROOT

PACKAGES = ("gradledger", "summaries", "optim")
GENERATED = "_pb2.py"
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if not path.name.endswith(GENERATED)
)
TESTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/unit").rglob("test_*.py"))
OTHERS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("tests", "examples", "proto", "vendor")
    for path in (ROOT / folder).rglob("*.py")
)

NOT_NAMED_AFTER_A_MODULE = {
    "tests/unit/optim/optimizers/test_as_tf1_at_the_edges.py": "all optimizers, beside TensorFlow's results",
    "tests/unit/optim/optimizers/test_tf1_golden.py": "all optimizers, beside TensorFlow's results",
    "tests/unit/summaries/auditing/rules/test_labelled_runs.py": "every rule, against labelled runs",
}
MOST_LINES = 400


@functools.cache
def parsed(path):
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def of_interest(tree):
    """The nodes of a tree that the rules on names are about."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute)]


@functools.cache
def nodes_of(path):
    return of_interest(parsed(path))


def dotted(path):
    """The name by which a module is imported."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@functools.cache
def folders():
    """Every module's folder, by the name by which it is imported."""
    return {dotted(module): Path(module).parent for module in MODULES}


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def imports(nodes):
    """Every import from our packages: (the module that it names, the name in it or "", what it is called here)."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            yield from ((node.module, alias.name, alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if alias.name.split(".")[0] in PACKAGES]
            yield from ((alias.name, "", alias.asname or alias.name) for alias in ours)


def private_uses(path, source=None):
    """Names with an underscore that a module takes from another folder: by import, or as an attribute of a module."""
    nodes = nodes_of(path) if source is None else of_interest(ast.parse(source))
    folder = Path(path).parent
    modules = folders()
    imported = {}
    for module, name, here in imports(nodes):
        whole = f"{module}.{name}" if name else module
        if is_private(name) and modules.get(module) != folder:
            yield whole
        if whole in modules and modules[whole] != folder:
            imported[here] = whole
    for node in nodes:
        if isinstance(node, ast.Attribute) and is_private(node.attr) and ast.unparse(node.value) in imported:
            yield f"{imported[ast.unparse(node.value)]}.{node.attr}"


def test_private_names_stay_in_their_folder():
    assert {path: names for path in MODULES if (names := list(private_uses(path)))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from summaries.wire.records import _x", ["summaries.wire.records._x"]),
        ("from summaries.wire import records\nrecords._x()", ["summaries.wire.records._x"]),
        ("from summaries.wire import records as r\nr._x", ["summaries.wire.records._x"]),
        ("import summaries.wire.records\nsummaries.wire.records._x", ["summaries.wire.records._x"]),
        ("from summaries.reading.run import _x", []),
        ("from summaries.wire import records\nrecords.x, records.__name__", []),
    ],
)
def test_private_uses_are_seen(source, found):
    assert list(private_uses("summaries/reading/series.py", source)) == found


@pytest.mark.parametrize("room", ["kinds", "presenting", "reading"])
def test_a_room_has_no_circle_of_imports(room):
    """Neither with those that only type checkers see, nor with those inside functions; a package lists its modules."""
    modules = {dotted(path): path for path in MODULES if Path(path).parent == Path("summaries", room)}
    del modules[f"summaries.{room}"]
    imported = {
        name: {
            f"{module}.{own}" if f"{module}.{own}" in modules else module for module, own, _ in imports(nodes_of(path))
        }
        for name, path in modules.items()
    }
    assert set(modules) <= set(TopologicalSorter(imported).static_order())


def is_named_after_a_module(path):
    """Whether a test lies beside a module of its name, or of the first words of it."""
    folder = ROOT / Path(path).parent.relative_to("tests/unit")
    stem = Path(path).stem.removeprefix("test_")
    names = {entry.stem for entry in folder.iterdir() if entry.suffix == ".py" or (entry / "__init__.py").exists()}
    return any(stem == name or stem.startswith(f"{name}_") for name in names)


def test_a_test_is_named_after_a_module_beside_which_it_lies():
    mirrors = [path for path in TESTS if path.count("/") > 2 and path not in NOT_NAMED_AFTER_A_MODULE]
    assert [path for path in mirrors if not is_named_after_a_module(path)] == []


def test_the_exceptions_are_there():
    assert set(NOT_NAMED_AFTER_A_MODULE) <= set(TESTS)


def test_a_module_says_what_it_is():
    assert [path for path in MODULES if not ast.get_docstring(parsed(path))] == []


def test_the_source_distribution_carries_what_its_tests_need():
    """Everything at the top but what is made there; `pyproject.toml` is always in it."""
    target = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    included = set(target["sdist"]["include"])
    files = {path.name for pattern in ("*.py", "*.md", "Makefile", "LICENSE") for path in ROOT.glob(pattern)}
    assert included >= files | {path.split("/")[0] for path in (*MODULES, *OTHERS)} | {".ci"}
    assert [name for name in sorted(included) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_with_modules_is_a_package(package):
    folders = {path.parent for path in (ROOT / package).rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_a_file_is_short():
    lines = {path: (ROOT / path).read_bytes().count(b"\n") for path in (*MODULES, *OTHERS)}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}
