"""Each client trains once with the writer that it knows and once with ours: TensorBoard finds the same in both."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.comparing import differences
from conformance.observing import by_tensorboard, trials
from helpers import ROOT

CLIENTS = (
    "transformers_trainer",
    "lightning_fit",
    "ignite_engine",
    "monai_handlers",
    "accelerate_tracker",
    "sb3_ppo",
    "tf1_hooks",
    "tf1_monitored_session",
    "tf1_supervisor",
)


@pytest.fixture(scope="module")
def clients():
    """name, writer, directory → exit status of that client, in a process of its own."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    with subprocess.Popen(
        [sys.executable, "-m", "conformance.clients.run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": paths},
        text=True,
    ) as process:

        def status(*line):
            print(json.dumps(line), file=process.stdin, flush=True)
            return int(process.stdout.readline())

        yield status
        process.stdin.close()


def run(clients, name, writer, root):
    """Run a client in a directory of its own."""
    root.mkdir()
    if clients(name, writer, str(root)):
        pytest.fail(f"{name} fails with {writer}:\n{(root / 'said').read_text()[-6000:]}", pytrace=False)
    shown = seen(root / "logs", importlib.import_module(f"conformance.clients.{name}").TIMES)
    by_the_clock = getattr(importlib.import_module(f"conformance.clients.{name}"), "STEPS_BY_THE_CLOCK", ())
    for scalars in (run["scalars"] for run in shown["runs"].values()):
        scalars.update({tag: len(scalars[tag]) for tag in by_the_clock if tag in scalars})
    return shown


def seen(logs, times):
    """What TensorBoard shows: run → kind → tag → points, without the values of times; and the trials."""
    runs = {name: without_hparams(run, times) for name, run in by_tensorboard(logs).items()}
    shown = {name: run for name, run in runs.items() if any(run.values())}
    return {"runs": shown, "trials": [numbered(hyperparameters) for hyperparameters, _ in trials(logs)]}


def numbered(hyperparameters):
    """Hyperparameters with truth values as numbers, as torch stores them."""
    return {name: float(value) if isinstance(value, bool) else value for name, value in hyperparameters.items()}


def without_hparams(run, times):
    """A run without its hyperparameters, which may be in a run of their own, and the values of times."""
    points = {
        tag: [step for step, _ in points] if is_time(tag, times) else points for tag, points in run["scalars"].items()
    }
    plugins = {tag: plugin for tag, plugin in run["plugins"].items() if plugin != "hparams"}
    return run | {"scalars": points, "plugins": plugins}


def is_time(tag, times):
    return any(part in tag for part in times)


@pytest.mark.parametrize("name", CLIENTS)
def test_the_client_logs_the_same_through_ours(clients, name, tmp_path, record_property):
    original, ours = (run(clients, name, writer, tmp_path / writer) for writer in ("original", "ours"))
    found = differences(ours, original)
    if found:
        pytest.fail("\n".join(found), pytrace=False)
    kinds = ("scalars", "histograms", "images", "audio", "tensors")
    found = [found for shown in original["runs"].values() for kind in kinds for found in shown[kind].values()]
    points = [points if isinstance(points, int) else len(points) for points in found]
    assert points
    record_property("client", (name, len(points), sum(points)))


def test_every_client_is_run():
    files = {path.stem for path in (Path(__file__).parent / "clients").glob("*.py")}
    assert files - {"run"} == set(CLIENTS)
