"""Importing our packages imports nothing heavy, and no more than is used; and what a package shows is always there."""

import functools
import json

import pytest
from helpers import run

from summaries.cli.program import command_names
from summaries.writing.summary_writer import SummaryWriter

HEAVY = set(
    "numba pandas pyarrow matplotlib PIL IPython fsspec tensorboard torch tensorflow rich onnx autograd scipy".split()  # noqa: SIM905
)
MONITORING = 86  # of our modules, at most, for a GradientMonitor; it was 210 when it stood above the optimizers
WRITING = 50  # of our modules, at most, for a SummaryWriter; it was 128 when a package imported all that it has


@functools.cache
def loaded(program, *arguments):
    """The modules that are loaded after a program, with a last line of its output that names them."""
    return set(run("-c", f"import sys\n{program}\nprint()\nprint(*sys.modules)", *arguments).splitlines()[-1].split())


def ours(modules, *rooms):
    rooms = rooms or ("summaries", "optim")
    return {name for name in modules if any(name == room or name.startswith(f"{room}.") for room in rooms)}


def of_each(programs, before="", around="exec(program)"):
    """What is loaded after each of these programs, one after the other in one process: {program: modules}.

    What none of them has loaded at its end, none of them loads by itself. A failure names the first that did.
    """
    found = run(
        "-c",
        f"""
import contextlib, json, os, sys
{before}
found = {{}}
for program in json.loads({json.dumps(programs)!r}):
    with open(os.devnull, 'w') as nowhere, contextlib.redirect_stdout(nowhere):
        {around}
    found[str(program)] = list(sys.modules)
print(json.dumps(found))
""",
    )
    return {program: set(modules) for program, modules in json.loads(found).items()}


def bad(found, unwanted):
    return {program: names for program, modules in found.items() if (names := unwanted & modules)}


def test_import_is_light():
    light = ("summaries", "summaries.cli", "optim", "optim.integrations")
    ours = (*light, "gradledger", "gradledger.optim", "gradledger.optim.integrations", "gradledger.tools")
    found = of_each([f"import {module}" for module in ours])
    assert len(found) == len(ours)
    assert bad(found, HEAVY | {"numpy", "google.protobuf", "logging"}) == {}


def test_what_is_used_is_light():
    names = ("SummaryWriter", "EventFileWriter", "read_run", "audit", "Config", "export")
    found = of_each([f"from summaries import {name}; assert {name}" for name in names])
    assert bad(found, HEAVY) == {}


def test_gradledger_loads_the_same_as_the_packages_themselves():
    assert not ours(loaded("import gradledger"))
    aliases = {"gradledger", "gradledger.aliases", "importlib._abc", "importlib.machinery", "importlib.util"}
    assert loaded("from gradledger import SummaryWriter") - loaded("from summaries import SummaryWriter") <= aliases
    aliases.add("gradledger.optim")
    assert loaded("from gradledger.optim import Rule") - loaded("from optim import Rule") <= aliases


def test_what_is_used_of_optim_is_light():
    names = ("AdamOptimizer", "GradientMonitor", "clip_by_global_norm", "with_summaries")
    found = of_each([f"from optim import {name}; assert {name}" for name in names])
    assert bad(found, HEAVY) == {}
    for modules in found.values():
        assert not ours(modules, "optim.queues", "optim.checkpoints.files", "optim.checkpoints.saver", "optim.demo")


def test_a_writer_loads_what_writes_scalars():
    modules = loaded("from summaries import SummaryWriter")
    assert len(ours(modules)) <= WRITING
    assert not ours(modules, "summaries.reading", "summaries.tools", "summaries.auditing", "summaries.wire.pb")
    assert "google.protobuf.descriptor" not in modules


def test_a_writer_that_was_made_imports_nothing_more(tmp_path):
    """A signal's handler may log while the call that it interrupts is in the middle of an import."""
    program = f"""
import numpy as np
from summaries import SummaryWriter
with SummaryWriter({str(tmp_path)!r}) as writer:
    before = set(sys.modules)
    writer.add_scalar("a", 1.0, 1)
    writer.add_histogram("b", np.arange(9.0), 1)
    writer.add_text("c", "words", 1)
    writer.add_tensor("d", np.arange(9.0), 1)
    writer.add_hparams({{"lr": 0.1}}, {{"a": 1.0}})
    print(sorted(name for name in set(sys.modules) - before if name.startswith(("summaries", "google"))))
"""
    assert run("-c", f"import sys\n{program}") == "[]\n"


def test_reading_loads_no_writer():
    modules = loaded("from summaries import read_run")
    assert not ours(modules, "summaries.writing", "summaries.kinds", "summaries.auditing", "optim")


HOOK = """
from unittest.mock import MagicMock
sys.modules["torch"] = sys.modules["torch.distributed"] = MagicMock()
import optim.integrations.torch"""


@pytest.mark.parametrize("program", ["from optim import GradientMonitor", HOOK], ids=["a monitor", "a hook"])
def test_who_measures_gradients_loads_neither_variables_nor_optimizers_nor_messages(program):
    modules = loaded(program)
    used = {
        f"optim.{room}" for room in ("checks", "formulas", "integrations", "kernels", "rules", "telemetry", "wiring")
    }
    assert {".".join(name.split(".")[:2]) for name in ours(modules, "optim")} - {"optim"} <= used
    assert len(ours(modules)) <= MONITORING
    assert not (HEAVY - {"torch"}) & modules
    assert "google.protobuf.descriptor" not in modules
    assert not ours(modules, "summaries.wire.pb", "summaries.auditing")


BARE = {"numpy", "rich", "google.protobuf", "google_crc32c", "multiprocessing", "concurrent", "logging", "asyncio"}


def test_help_and_the_pages_of_rules_need_no_numpy():
    pages = [["rule"], ["rule", "GL401"], ["rule", "loss", "nan"], ["rule", "GL999"]]
    helps = [["--help"], ["--version"], *([name, "--help"] for name in command_names())]
    found = of_each([*helps, ["completion", "bash"], *pages], "from summaries.cli import main", "main(program)")
    assert len(found) == len(command_names()) + 7
    assert bad(found, BARE) == {}


def test_a_completion_needs_no_numpy(monkeypatch):
    monkeypatch.setenv("_GRADLEDGER_COMPLETE", "bash_complete")
    lines = ["gradledger ", "gradledger au", "gradledger audit --f", "gradledger show ru"]
    main = "os.environ['GRADLEDGER_LINE'] = program; assert main([]) == 0"
    assert bad(of_each(lines, "from summaries.cli import main", main), BARE) == {}


def test_an_audit_of_a_few_runs_starts_no_processes(tmp_path):
    for name in ("a", "b"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(100):
                writer.add_scalar("train/loss", 0.9**step, step)
    modules = loaded(f"from summaries.cli import main; main(['audit', {str(tmp_path)!r}])")
    assert not {"multiprocessing", "asyncio", "email", "summaries.execution.dask"} & modules


def test_no_module_hides_a_public_name():
    """`optim.gradients` is the function, whichever of the modules below were imported before it was asked for."""
    program = """
import importlib, pkgutil, types
names = ("summaries", "optim", "summaries.tools", "summaries.auditing", "summaries.kinds")
packages = [importlib.import_module(name) for name in names]
shown = [set(getattr(package, "__all__", ())) | set(dir(package)) for package in packages]
for package in packages[:2]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if found.name.rpartition(".")[2] != "__main__":
            try:
                importlib.import_module(found.name)
            except ImportError as error:  # an extra is not installed
                assert error.name.partition(".")[0] not in ("summaries", "optim"), error
for package, there in zip(packages, shown):
    public = getattr(package, "__all__", ())
    print([name for name in public if isinstance(getattr(package, name), types.ModuleType)])
    print([name for name in public if name not in there])
"""
    assert run("-c", program).splitlines() == ["[]"] * 10


def test_gradients_is_the_function():
    program = "import optim.autodiff.gradients, optim; print(optim.gradients is optim.autodiff.gradients.gradients)"
    assert run("-c", program) == "True\n"


def test_the_name_of_a_package_is_enough_for_its_rooms():
    program = "import summaries, optim; print(summaries.reading.__name__, optim.telemetry.__name__)"
    assert run("-c", program) == "summaries.reading optim.telemetry\n"


@pytest.mark.parametrize("optim", ["optim", "gradledger.optim"])
def test_the_name_of_optim_is_enough_for_an_integration(optim):
    program = (
        f"import {optim} as optim"
        """
import sys, types
print("optim.integrations" in sys.modules)
sys.modules["torch"] = None  # not installed
for name in ("ranks", "jax", "torch"):
    try:
        getattr(optim.integrations, name)
    except (AttributeError, ImportError) as error:
        print(type(error).__name__, error)
sys.modules["optim.integrations.torch"] = attached = types.ModuleType("optim.integrations.torch")
print(optim.integrations.torch is attached)
"""
    )
    assert run("-c", program).splitlines() == [
        "False",
        "AttributeError module 'optim.integrations' has no attribute 'ranks'",
        "AttributeError module 'optim.integrations' has no attribute 'jax'",
        "ModuleNotFoundError import of torch halted; None in sys.modules",
        "True",
    ]
