"""tensorboard's two readers read what reduce and convert write; a kill at any moment leaves all of it or nothing."""

import os
import signal
from contextlib import closing

import numpy as np
import pytest
from documentation import runs as documented_runs
from helpers import ROOT
from interop.tensorboard_readers import by_accumulator, by_server

from summaries import read_logdir
from summaries.tools import convert, reduce

pytest.importorskip("pyarrow", reason="an extra")


@pytest.fixture
def runs(tmp_path):
    documented_runs.write(tmp_path / "runs")
    return tmp_path / "runs"


def points_of(logdir):
    """{run: {tag: [(step, wall time, value)]}}, as we read it."""
    return {
        name: {
            tag: [*zip(one.step.tolist(), one.wall_time.tolist(), one.value.tolist(), strict=True)]
            for tag, one in run.scalars.items()
        }
        for name, run in read_logdir(logdir).items()
    }


def both_read(logdir, expected):
    assert by_accumulator(logdir) == expected
    assert by_server(logdir, lambda runs: runs == expected) == expected


def test_reduced_runs(runs, tmp_path):
    names = ["mean", "std", "q0.9"]
    reduced = reduce([runs], names)
    reduced.write(tmp_path / "reduced")
    expected = {}
    for name in names:
        columns = {tag: (one.step, one.wall_time, one.value[name].astype(np.float32)) for tag, one in reduced.items()}
        expected[name] = {tag: [*zip(*(c.tolist() for c in own), strict=True)] for tag, own in columns.items()}
    both_read(tmp_path / "reduced", expected)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.jsonl", "mlruns"])
def test_converted_runs(runs, tmp_path, name):
    convert(runs, tmp_path / name)
    convert(tmp_path / name, tmp_path / "back")
    both_read(tmp_path / "back", points_of(runs))


def test_a_run_of_wandb(tmp_path):
    convert(ROOT / "tests/golden/wandb", tmp_path / "runs", tags=["train/acc", "eval", "flag"])
    points = points_of(tmp_path / "runs")
    assert {tag: len(one) for tag, one in points["a run"].items()} == {"train/acc": 100, "flag": 100, "eval": 2}
    both_read(tmp_path / "runs", points)


CALLS = ("open", "write", "mkdir", "rename", "replace", "close")


def kills(work):
    """Do this work in another process. Before each of its calls of the system, a copy of it is killed; then yield.

    Each copy has done all the work until there, which need not be done again for the next.
    """
    fork, waitpid, kill, own = os.fork, os.waitpid, os.kill, os.getpid
    originals = {name: getattr(os, name) for name in CALLS}
    (looks, says), (hears, tells) = os.pipe(), os.pipe()
    child = fork()
    if child:
        originals["close"](says)
        originals["close"](hears)
        try:
            while (said := os.read(looks, 1)) == b"k":
                yield
                originals["write"](tells, b"on")
        finally:
            originals["close"](looks)
            originals["close"](tells)
            status = os.waitstatus_to_exitcode(waitpid(child, 0)[1])
        assert (said, status) == (b"", 0)
        return
    try:
        os.close(looks)
        os.close(tells)  # so that it hears when the test has failed

        def killed_before(original):
            def function(*arguments, **options):
                copy = fork()
                if not copy:
                    kill(own(), signal.SIGKILL)
                if os.waitstatus_to_exitcode(waitpid(copy, 0)[1]) != -signal.SIGKILL:
                    os._exit(2)
                originals["write"](says, b"k")
                if os.read(hears, 2) != b"on":  # the test has failed
                    os._exit(3)
                return original(*arguments, **options)

            return function

        for name, original in originals.items():
            setattr(os, name, killed_before(original))
        work()
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
@pytest.mark.parametrize(
    ("target", "work"),
    [
        ("reduced", lambda runs, target: reduce([runs], ["mean", "max"]).write(target)),
        ("reduced.csv", lambda runs, target: reduce([runs], ["mean", "max"]).write(target)),
        ("x.jsonl", convert),
        ("mlruns", convert),
        ("back", lambda runs, target: convert(runs.parent / "x.csv", target)),
    ],
)
def test_a_kill_leaves_all_or_nothing(runs, tmp_path, target, work):
    convert(runs, tmp_path / "x.csv")
    before = {path: path.read_bytes() for path in [*runs.rglob("*tfevents*"), tmp_path / "x.csv"]}
    there = tmp_path / "new" / target
    there.parent.mkdir()
    calls, was_there = 0, False
    with closing(kills(lambda: work(runs, there))) as killed:
        for _ in killed:
            calls += 1
            assert not was_there or there.exists()
            was_there = there.exists()
            assert not was_there or complete(there)
            assert {path: path.read_bytes() for path in before} == before
    assert calls > 2
    assert complete(there)


def complete(target):
    """Whether everything is there."""
    if target.suffix:
        text = target.read_text(encoding="utf-8")
        return len(text.splitlines()) == (211 if target.suffix == ".csv" else 630) and text.endswith("\n")
    if target.name == "mlruns":
        return len([*target.rglob("metrics/**/*loss")]) == 6 and len([*target.glob("*/*/meta.yaml")]) == 3
    lengths = {len(run.scalars["train/loss"]) for run in read_logdir(target).values()}
    return lengths == {100} and len(read_logdir(target)) == (2 if target.name == "reduced" else 3)
