"""The examples of readers and of resuming do what they say, and tensorboard's two readers see one curve."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from helpers import CORE_TYPES, ROOT, environment_of, run
from interop.tensorboard_readers import by_accumulator, by_server

from summaries import read_run

STEPS, KILLED_AT = 1300, (610, 1190)


# What goes on from a checkpoint has the same numbers on any processor; two of OpenBLAS's kernels show it.
@pytest.fixture(scope="module", params=CORE_TYPES[::3], ids=lambda core_type: core_type or "own")
def environment(request):
    return environment_of(request.param)


def test_reader_threads_give_every_digit_as_often(tmp_path, environment):
    out = run(ROOT / "examples/reader_threads.py", "--epochs", 6, "--logdir", tmp_path / "run", env=environment)
    scalars = read_run(tmp_path / "run").scalars
    assert scalars["input/digits_seen"].value.sum() == 6 * (1797 - 360)
    assert set(scalars["input/digits_seen"].value[:-1]) == {64}
    assert scalars["test/accuracy"].value[-1] > 0.85
    assert f"accuracy {scalars['test/accuracy'].value[-1]:.3f}" in out
    assert scalars["train/loss"].step.tolist() == list(range(1, len(scalars["train/loss"].step) + 1))
    assert scalars["input/batches_waiting"].value.max() <= 8


def test_a_reader_that_fails_ends_everything(tmp_path):
    program = [sys.executable, ROOT / "examples/reader_threads.py", "--fail", "--logdir", tmp_path / "run"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment_of(""), timeout=600)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "OSError: the disk of one reader is broken"


def train(logdir, environment, *options, status=0):
    program = ROOT / "examples/resumable_digits.py"
    return run(program, "--steps", STEPS, "--logdir", logdir, *options, status=status, env=environment)


RATE = "train/global_step_per_sec"


def points(pairs):
    """What compares as equal where the values are, NaN with NaN."""
    return [(int(step), None if np.isnan(value) else float(value)) for step, value in pairs]


@pytest.fixture(scope="module")
def runs(tmp_path_factory, environment):
    """One run that nobody killed, and one that was killed twice."""
    pytest.importorskip("safetensors", reason="the extra `checkpoint` is not installed")
    logdir = tmp_path_factory.mktemp("runs")
    train(logdir / "whole", environment)
    killed = logdir / "killed"
    said = [train(killed, environment, "--kill-at", step, status=-signal.SIGKILL) for step in KILLED_AT]
    said.append(train(killed, environment))
    return logdir, said


@pytest.mark.skipif(os.name == "nt", reason="needs signal 9")
def test_a_killed_run_goes_on_and_its_curve_is_the_same(runs):
    logdir, said = runs
    assert [text.splitlines()[0] for text in said] == [
        "from the beginning",
        f"going on from {logdir}/killed/model-500.safetensors",
        f"going on from {logdir}/killed/model-1000.safetensors",
    ]
    assert f"{STEPS} steps in 3 starts: loss " in said[-1]
    whole, killed = (read_run(logdir / name).scalars for name in ("whole", "killed"))
    assert set(whole) == set(killed)
    for tag, series in whole.items():
        if tag == RATE:
            continue  # how fast it went is another thing each time
        again = killed[tag].latest()
        assert again.step.tolist() == series.step.tolist()
        np.testing.assert_array_equal(again.value, series.value)


@pytest.mark.skipif(os.name == "nt", reason="needs signal 9")
@pytest.mark.parametrize("environment", [""], indirect=True)
def test_tensorboard_shows_one_curve(runs):
    logdir, _ = runs
    scalars = read_run(logdir / "whole").scalars
    expected = {tag: points(zip(s.step, s.value, strict=True)) for tag, s in scalars.items() if tag != RATE}

    def curves(of_all):
        found = of_all["killed"].items()
        return {tag: points((step, value) for step, _, value in series) for tag, series in found if tag != RATE}

    assert curves(by_accumulator(logdir)) == expected
    server = by_server(logdir, lambda found: "killed" in found and curves(found) == expected)
    assert curves(server) == expected
