"""What is below `gradledger` is what `summaries` and `optim` have: the same modules, each of them loaded once."""

import importlib.util
import os
import pickle
import re
import subprocess
import sys
from importlib import import_module

import pytest
from helpers import ROOT, run

import gradledger
import optim
import summaries


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("optim", "optim"),
        ("optim.rules", "optim.rules"),
        ("optim.autodiff.gradients", "optim.autodiff.gradients"),
        ("optim.integrations", "optim.integrations"),
        ("tools", "summaries.tools"),
        ("reading.run", "summaries.reading.run"),
        ("auditing.live", "summaries.auditing.live"),
    ],
)
def test_a_module_is_its_original(name, original):
    module = import_module(f"gradledger.{name}")
    assert module is import_module(original)
    assert module is sys.modules[original] is sys.modules[f"gradledger.{name}"]
    assert (module.__name__, module.__spec__.name) == (original, original)


WAYS = [
    "import gradledger; optim = gradledger.optim",
    "import gradledger.optim; optim = gradledger.optim",
    "import gradledger.optim as optim",
    "from gradledger import optim",
    "import gradledger.optim.rules; optim = gradledger.optim",
    "from gradledger.optim import integrations; import gradledger; optim = gradledger.optim",
]


@pytest.mark.parametrize("first", ["import gradledger", "import optim.rules, optim.integrations"])
def test_however_optim_is_imported(first):
    """Before each way, all of ours is forgotten, and the finder: as in a new process, but for NumPy, which is there."""
    program = f"""
import sys

finders = list(sys.meta_path)
for statement in {WAYS!r}:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("gradledger", "optim", "summaries")]:
        del sys.modules[name]
    sys.meta_path[:] = finders
    names = {{}}
    exec({first!r}, names)
    exec(statement, names)
    optim = names["optim"]
    import optim as original
    from gradledger.optim import AdamOptimizer
    print(optim is original, AdamOptimizer is original.AdamOptimizer, optim.gradients.__module__, optim.rules.__name__)
    print([name for name, module in sys.modules.items() if module.__name__ != name and "gradledger" in module.__name__])
"""
    told = ["True True optim.autodiff.gradients optim.rules", "[]"]
    assert run("-c", program).splitlines() == told * len(WAYS)


def test_an_integration_is_loaded_once():
    """With what it is for: a class that is made twice would not be found by `isinstance`."""
    program = """
from unittest.mock import MagicMock
import sys
sys.modules["torch"] = sys.modules["torch.distributed"] = MagicMock()
from gradledger.optim.integrations.torch import attach
import gradledger, optim.integrations.torch
print(attach is optim.integrations.torch.attach is gradledger.optim.integrations.torch.attach)
print(attach.__module__, optim.integrations.torch.__spec__.name)
"""
    assert run("-c", program) == "True\noptim.integrations.torch optim.integrations.torch\n"


def test_pickles_name_the_originals():
    written = pickle.dumps([gradledger.optim.IndexedSlices, gradledger.Fault, gradledger.read_run])
    assert b"gradledger" not in written
    assert pickle.loads(written) == [optim.IndexedSlices, summaries.Fault, summaries.read_run]  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("import gradledger.nothing", "No module named 'gradledger.nothing'"),
        ("import gradledger.optim.nothing", "No module named 'gradledger.optim.nothing'"),
        ("from gradledger.reading.nothing import x", "No module named 'gradledger.reading.nothing'"),
        ("import gradledger.errors.x", "No module named 'gradledger.errors.x'; 'gradledger.errors' is not a package"),
        ("from gradledger import nothing", "cannot import name 'nothing' from 'gradledger' "),
        ("from gradledger.optim import nothing", "cannot import name 'nothing' from 'optim' "),
    ],
)
def test_what_is_not_there(statement, text):
    with pytest.raises(ImportError) as raised:
        exec(statement, {})  # noqa: S102 - as a user imports it
    assert str(raised.value).startswith(text)


def test_what_can_be_found():
    assert importlib.util.find_spec("gradledger.optim.clip").name == "gradledger.optim.clip"
    assert importlib.util.find_spec("gradledger.nothing") is None
    assert importlib.util.find_spec("gradledger.optim.nothing") is None


def test_type_checkers_find_the_modules_that_are_documented():
    """The reference names them; each has a file here that says whose names it has."""
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.rst"))
    documented = re.findall(r"^\.\. (?:py:currentmodule|automodule):: (\S+)$", pages, re.MULTILINE)
    wanted = {name.rsplit(".", up)[0] for name in documented for up in range(name.count(".") + 1)} - {"summaries"}
    stubs = {}
    for path in (ROOT / "gradledger").rglob("*.pyi"):
        name = ".".join(path.relative_to(ROOT / "gradledger").with_suffix("").parts).removesuffix(".__init__")
        stubs[name if name.startswith("optim") else f"summaries.{name}"] = path.read_text(encoding="utf-8")
    assert "optim.integrations.torch" in wanted
    assert stubs == {name: f"from {name} import *\n" for name in wanted}


OTHERS = {
    "optim.py": "raise SystemExit('this program ran')",
    "optim/__init__.py": "raise SystemExit('this package ran')",
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize(
    "statement",
    [
        "import gradledger.optim",
        "from gradledger import optim",
        "from gradledger.optim.integrations.torch import attach",
    ],
)
def test_a_program_beside_an_optim_of_its_own(tmp_path, other, statement):
    """It is told which one is in the way, which is not run for that; what needs no `optim` works."""
    mine = tmp_path / other
    mine.parent.mkdir(exist_ok=True)
    mine.write_text(OTHERS[other])
    program = tmp_path / "program.py"
    program.write_text(f"""
import gradledger
print(gradledger.read_run.__module__, "optim" in dir(gradledger))
try:
    {statement}
except ImportError as error:
    print(error.name, error.path)
    print(error)
""")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == (
        "summaries.reading.run True\n"
        f"optim {mine}\n"
        f"gradledger.optim is the package optim in {ROOT / 'optim'}, but Python finds another optim before it: {mine}. "
        "Rename that one, or move it into a package\n"
    )


def test_an_optim_that_was_loaded(tmp_path):
    """By the program itself, before."""
    (tmp_path / "optim.py").write_text("MINE = True")
    program = """
import optim, gradledger
try:
    gradledger.optim
except ImportError as error:
    print(error.path == optim.__file__, optim.MINE)
"""
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == "True True\n"


def test_the_command_line():
    assert run("-m", "gradledger", "--help") == run("-m", "summaries", "--help")
    assert "usage: gradledger" in run("-m", "gradledger", "audit", "--help").lower()
    assert run("-m", "gradledger", "--version").startswith("gradledger ")
    run("-m", "gradledger", "nothing", status=2)
