"""What a new user does, with the installed wheel alone, in an empty directory.

    python -I smoke.py [--only PART,…] [NAME==VERSION …]

It takes nothing from the tree: whatever the wheel lacks, or a dependency does not know yet or any longer, fails here.
The arguments say which parts of it are run, and what has to be installed, in which version.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points, version
from importlib.resources import files

STEPS = 100

# Commands in an order in which each finds what it needs: (arguments, exit status, what it says). Those without a line
# are asked for their help.
COMMANDS = [
    ("ls runs", 0, "diverges"),
    ("show runs --tags loss", 0, "loss"),
    ("diff runs/learns runs/diverges --tags loss", 1, "loss"),
    ("tail -n 2 runs/learns --tags loss", 0, "99"),
    ("dump runs/learns --tags weights", 0, "histogram"),
    ("audit runs --format json", 1, "GL304"),
    ("audit runs -o report.html", 1, ""),
    ("compare runs --metric loss", 0, "learns"),
    ("rule GL304", 0, "GL304"),
    ("clip-advice runs/learns --bound 1", 0, "clip_norm"),
    ("verify runs", 0, "none of them damaged"),
    ("repair cut -o mended", 0, "lost: "),
    ("verify mended", 0, "0 faults"),
    ("shift runs/learns -o resumed --steps 90", 0, "resumed"),
    ("merge runs/learns resumed -o whole", 0, "whole"),
    ("rename runs loss train/loss -o renamed", 0, "renamed"),
    ("drop runs -o dropped --tags weights", 0, "dropped"),
    ("keep runs -o kept --tags loss", 0, "kept"),
    ("thin runs -o thinned --every 10", 0, "thinned"),
    ("label runs/learns good", 0, "good"),
    ("note runs/learns 40 halfway", 0, "step 40"),
    ("export runs runs.csv", 0, "runs.csv"),
    ("reduce runs -o reduced", 0, "reduced"),
    ("convert runs points.jsonl", 0, "points.jsonl"),
    ("convert points.jsonl converted", 0, "converted"),
    ("completion bash", 0, "gradledger"),
    ("clear-cache nothing", 0, "0 files"),
    ("demo demo --quick", 0, "unclipped"),
]


def check_names() -> None:
    """Import every public name; the types are there, and the version is that of the metadata."""
    for name in ("gradledger", "summaries", "optim"):
        package = importlib.import_module(name)
        assert os.path.realpath(package.__file__ or "").startswith(os.path.realpath(sys.prefix)), package.__file__
        assert package.__version__ == version("gradledger"), package.__version__
        assert all(getattr(package, public) is not None for public in package.__all__)
        assert (files(name) / "py.typed").is_file(), name
    names = importlib.import_module("gradledger.optim.rules"), importlib.import_module("optim.rules")
    assert names[0] is names[1], names
    assert entry_points(group="tensorboard_plugins")["gradledger"].module == "gradledger.tensorboard"


def write_runs() -> None:
    """Write a run that learns, one that diverges, and a copy of the first that ends within a record."""
    import numpy as np

    from summaries import SummaryWriter, read_run

    for name in ("learns", "diverges"):
        with SummaryWriter(f"runs/{name}") as writer:
            for step in range(STEPS):
                learned = 2.0 * 0.96**step + 0.25
                loss = learned if name == "learns" or step < STEPS * 0.4 else 0.64 * 1.06 ** (step - STEPS * 0.4)
                writer.add_scalar("loss", loss + 0.01 * (step * 7 % 5), step)
                writer.add_scalar("gradients/global_norm", 0.5 + loss / 2, step)
            writer.add_histogram("weights", np.linspace(-1, 1, 101), STEPS)
            writer.add_text("plan", "*as* before", STEPS)
        run = read_run(f"runs/{name}")
        assert run.scalars["loss"].step.tolist() == list(range(STEPS)), run
        assert "as* before" in str(run.texts["plan/text_summary"][0]), run.texts["plan/text_summary"][0]
        assert not run.faults, run.faults
    (file,) = os.listdir("runs/learns")
    os.mkdir("cut")
    with open(os.path.join("runs/learns", file), "rb") as whole, open(os.path.join("cut", file), "wb") as cut:
        cut.write(whole.read()[:-5])


# Their formulas are no part of the compiled code; or they wrap another optimizer.
OTHERS: dict[str, dict[str, object]] = {
    **{name: {"learning_rate": 0.1} for name in ("AMSGradOptimizer", "AdEMAMixOptimizer", "AdaMaxOptimizer")},
    **{name: {"learning_rate": 0.1} for name in ("AdafactorOptimizer", "MuonOptimizer", "RAdamOptimizer")},
    **{name: {"learning_rate": 0.1} for name in ("ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer")},
    **{name: {"learning_rate": 0.1} for name in ("LARSOptimizer", "LambOptimizer", "SoapOptimizer")},
    "AdagradDAOptimizer": {"learning_rate": 0.1, "global_step": None},
    "MovingAverageOptimizer": {"opt": None},
    "MultitaskOptimizerWrapper": {"opt": None},
    "ProdigyOptimizer": {"learning_rate": 1.0},
    "ScheduleFreeAdamW": {"learning_rate": 0.1},
    "ScheduleFreeSGD": {"learning_rate": 0.1},
    "VariableClippingOptimizer": {"opt": None, "vars_to_clip_dims": None, "max_norm": 1.0},
}


def step_optimizers() -> None:
    """A step of every optimizer, from a loss and clipped; of most by the compiled code that is in the wheel."""
    import numpy as np

    import optim
    from summaries.native import library

    needed = {"MomentumOptimizer": {"momentum": 0.9}}
    every = [name for name in optim.__all__ if name.endswith("Optimizer") and name != "Optimizer"]
    names = [name for name in every if name not in OTHERS]
    assert len(names) > 5, names
    for name in names:
        weights = optim.Variable(np.float32([1, 2, 3]), name="weights")
        optimizer = getattr(optim, name)(learning_rate=0.1, **needed.get(name, {}))
        optimizer = optim.clip_gradients_by_norm(optimizer, clip_norm=1.0)
        report = optimizer.minimize(lambda w=weights: np.sum(w**2))
        assert abs(report.global_norm - 56**0.5) < 1e-5, (name, report.global_norm)
        assert np.isfinite(weights.value).all(), (name, weights.value)
        assert (weights.value < [1, 2, 3]).all(), (name, weights.value)
    assert library.is_available()
    assert "numba" not in sys.modules
    for name, arguments in OTHERS.items():
        weights = optim.Variable(np.float32([[1, 2], [3, 4]]), name="weights")
        step = optim.Variable(0, trainable=False, name="global_step")
        given = {"global_step": lambda step=step: step, "opt": optim.AdamOptimizer, "vars_to_clip_dims": dict}
        optimizer = getattr(optim, name)(**{key: given[key]() if key in given else arguments[key] for key in arguments})
        for _ in range(2):
            optimizer.minimize(lambda w=weights: np.sum(w**2), step)
        assert np.isfinite(weights.value).all(), (name, weights.value)
        assert (weights.value != [[1, 2], [3, 4]]).any(), (name, weights.value)


def has_numba() -> bool:
    """Whether the extra `numba` is installed."""
    return importlib.util.find_spec("numba") is not None


def run_commands() -> None:
    """Run every command: in this process, and the demo as the program that is installed."""
    from summaries.cli.program import command_names

    tried = {line.split()[0] for line, _, _ in COMMANDS}
    others = [(f"{name} --help", 0, "Usage: ") for name in command_names() if name not in tried]
    failed = []
    for line, expected, word in COMMANDS + others:
        status, printed = (as_program if line.startswith("demo") else in_this_process)(line)
        if status != expected or word not in printed:
            failed.append(f"gradledger {line}: status {status} for {expected}, {word!r} is to be in:\n{printed}")
    assert not failed, "\n".join(failed)
    with open("report.html", encoding="utf-8") as file:
        assert "GL304" in file.read()
    assert as_program("--version") == (0, f"gradledger {version('gradledger')}\n")
    as_module = [sys.executable, "-I", "-m", "gradledger", "--version"]
    assert subprocess.check_output(as_module, text=True) == f"gradledger {version('gradledger')}\n"


def in_this_process(line: str) -> tuple[int, str]:
    """The exit status of a command, and what it prints."""
    from summaries.cli import main

    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = main(line.split())
    return status, out.getvalue() + err.getvalue()


def as_program(line: str) -> tuple[int, str]:
    """The same, of the program that is installed."""
    program = os.path.join(sysconfig.get_path("scripts"), "gradledger")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([program, *line.split()], capture_output=True, encoding="utf-8", check=False, env=environment)
    return done.returncode, done.stdout + done.stderr


PARTS = (check_names, write_runs, step_optimizers, run_commands)


if __name__ == "__main__":
    only, arguments = [part.__name__ for part in PARTS], sys.argv[1:]
    if arguments[:1] == ["--only"]:
        only, arguments = arguments[1].split(","), arguments[2:]
    for wanted in arguments:
        name, _, number = wanted.partition("==")
        assert version(name) == number, f"{wanted} is wanted, {version(name)} is installed"
    for part in PARTS:
        if part.__name__ in only:
            part()
    print(f"{sys.version.split()[0]}: {', '.join(only)}; numba {'on' if has_numba() else 'off'}")
