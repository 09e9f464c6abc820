"""Importing our packages imports nothing heavy, and no more than is used; and what a package shows is always there."""

import pytest
from helpers import run

from summaries.cli.program import command_names
from summaries.writing.summary_writer import SummaryWriter

HEAVY = set(
    "numba pandas pyarrow matplotlib PIL IPython fsspec tensorboard torch tensorflow rich onnx autograd scipy".split()  # noqa: SIM905
)
MONITORING = 85  # of our modules, at most, for a GradientMonitor; it was 210 when it stood above the optimizers
WRITING = 50  # of our modules, at most, for a SummaryWriter; it was 128 when a package imported all that it has


def loaded(program, *arguments):
    """The modules that are loaded after a program, with a last line of its output that names them."""
    return set(run("-c", f"import sys\n{program}\nprint()\nprint(*sys.modules)", *arguments).splitlines()[-1].split())


def ours(modules, *rooms):
    rooms = rooms or ("summaries", "optim")
    return {name for name in modules if any(name == room or name.startswith(f"{room}.") for room in rooms)}


LIGHT = "gradledger", "gradledger.optim", "gradledger.optim.integrations", "gradledger.tools"


@pytest.mark.parametrize("module", ["summaries", "summaries.cli", "optim", "optim.integrations", *LIGHT])
def test_import_is_light(module):
    assert not (HEAVY | {"numpy", "google.protobuf", "logging"}) & loaded(f"import {module}")


@pytest.mark.parametrize("names", ["SummaryWriter", "EventFileWriter", "read_run", "audit", "Config", "export"])
def test_what_is_used_is_light(names):
    modules = loaded(f"from summaries import {names}")
    assert not HEAVY & modules


def test_gradledger_loads_the_same_as_the_packages_themselves():
    assert not ours(loaded("import gradledger"))
    aliases = {"gradledger", "gradledger.aliases", "importlib._abc", "importlib.machinery", "importlib.util"}
    assert loaded("from gradledger import SummaryWriter") - loaded("from summaries import SummaryWriter") <= aliases
    aliases.add("gradledger.optim")
    assert loaded("from gradledger.optim import Rule") - loaded("from optim import Rule") <= aliases


@pytest.mark.parametrize("names", ["AdamOptimizer", "GradientMonitor", "clip_by_global_norm", "with_summaries"])
def test_what_is_used_of_optim_is_light(names):
    modules = loaded(f"from optim import {names}")
    assert not HEAVY & modules
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
    used = {f"optim.{room}" for room in ("checks", "integrations", "kernels", "rules", "telemetry", "wiring")}
    assert {".".join(name.split(".")[:2]) for name in ours(modules, "optim")} - {"optim"} <= used
    assert len(ours(modules)) <= MONITORING
    assert not (HEAVY - {"torch"}) & modules
    assert "google.protobuf.descriptor" not in modules
    assert not ours(modules, "summaries.wire.pb", "summaries.auditing")


BARE = {"numpy", "rich", "google.protobuf", "google_crc32c", "multiprocessing", "concurrent", "logging", "asyncio"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        *([name, "--help"] for name in command_names()),
        ["completion", "bash"],
        ["rule"],
        ["rule", "GL401"],
        ["rule", "loss", "nan"],
        ["rule", "GL999"],
    ],
    ids=" ".join,
)
def test_help_and_the_pages_of_rules_need_no_numpy(arguments):
    assert not BARE & loaded(f"from summaries.cli import main; main({arguments!r})")


@pytest.mark.parametrize("line", ["gradledger ", "gradledger au", "gradledger audit --f", "gradledger show ru"])
def test_a_completion_needs_no_numpy(line, monkeypatch):
    monkeypatch.setenv("_GRADLEDGER_COMPLETE", "bash_complete")
    monkeypatch.setenv("GRADLEDGER_LINE", line)
    assert not BARE & loaded("from summaries.cli import main; main([])")


def test_an_audit_of_a_few_runs_starts_no_processes(tmp_path):
    for name in ("a", "b"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(100):
                writer.add_scalar("train/loss", 0.9**step, step)
    modules = loaded(f"from summaries.cli import main; main(['audit', {str(tmp_path)!r}])")
    assert not {"multiprocessing", "asyncio", "email", "summaries.execution.dask"} & modules


@pytest.mark.parametrize("module", ["summaries", "optim", "summaries.tools", "summaries.auditing", "summaries.kinds"])
def test_no_module_hides_a_public_name(module):
    """`optim.gradients` is the function, whichever of the modules below were imported before it was asked for."""
    program = f"""
import importlib, pkgutil, types
import {module} as package
shown = set(getattr(package, "__all__", ())) | set(dir(package))
for found in pkgutil.walk_packages(package.__path__, "{module}."):
    if found.name.rpartition(".")[2] != "__main__":
        try:
            importlib.import_module(found.name)
        except ImportError as error:  # an extra is not installed
            assert error.name.partition(".")[0] not in ("summaries", "optim"), error
public = getattr(package, "__all__", ())
print([name for name in public if isinstance(getattr(package, name), types.ModuleType)])
print([name for name in public if name not in shown])
"""
    assert run("-c", program).splitlines() == ["[]", "[]"]


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
