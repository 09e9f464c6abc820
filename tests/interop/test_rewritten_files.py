"""Rewritten runs are read by tensorboard's two readers, with the points that are expected."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from interop.tensorboard_readers import by_accumulator, by_server
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from summaries import Event, SummaryWriter, read_run
from summaries.tools import drop, keep, merge, rename, repair, shift, thin
from summaries.wire.records import frame
from summaries.wire.scalars import encode_scalar


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run with both styles of scalars, other kinds, and a restart; and one in which it is continued."""
    place = tmp_path_factory.mktemp("original")
    rng = np.random.default_rng(0)
    with SummaryWriter(place / "run") as writer:
        writer.add_hparams({"lr": 0.1}, {"accuracy": 1.0}, run_name=".")
        for step in range(100):
            writer.add_scalar("loss", rng.normal(), step, walltime=1000.0 + step)
            writer.add_scalar("new/loss", rng.normal(), step, walltime=1000.0 + step, new_style=True)
            writer.add_scalar("grad/a", rng.normal(), step, walltime=1000.0 + step)
            if step % 10 == 0:
                writer.add_histogram("weights", rng.normal(size=9), step, walltime=1000.0 + step)
                writer.add_text("note", "words", step, walltime=1000.0 + step)
    with SummaryWriter(place / "resumed") as writer:
        for step in range(80, 120):
            writer.add_scalar("loss", rng.normal(), step, walltime=2000.0 + step)
            writer.add_scalar("new/loss", rng.normal(), step, walltime=2000.0 + step, new_style=True)
    return place


def points(directory):
    """{tag: [(step, wall time, value)]} as we read them; only the values that stand."""
    latest = {tag: series.latest() for tag, series in read_run(directory).scalars.items()}
    return {
        tag: list(zip(series.step.tolist(), series.wall_time.tolist(), series.value.tolist(), strict=True))
        for tag, series in latest.items()
    }


def new_style_by_accumulator(directory):
    """The scalars that the Python reader takes for tensors."""
    accumulator = EventAccumulator(str(directory), size_guidance={"tensors": 0}).Reload()
    tags = [tag for tag in accumulator.Tags()["tensors"] if "loss" in tag]
    return {
        tag: [(p.step, p.wall_time, make_ndarray(p.tensor_proto).item()) for p in accumulator.Tensors(tag)]
        for tag in tags
    }


def damaged(place, source):
    path = max((source / "run").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    (place / "hurt").mkdir()
    (place / "hurt" / path.name).write_bytes(bytes(data) + bytes(30))
    return place / "hurt"


TOOLS = {
    "drop": lambda run, out: drop(run, out, tags="grad/*"),
    "keep": lambda run, out: keep(run, out, tags="new/*"),
    "rename": lambda run, out: rename(run, out, tags={"*loss": "all/*the_loss"}),
    "shift": lambda run, out: shift(run, out, steps=1000, seconds=5.0),
    "every": lambda run, out: thin(run, out, every=7),
    "minmax": lambda run, out: thin(run, out, minmax=20),
    "merge": lambda run, out: merge([run], out),
    "latest": lambda run, out: merge([run, run.parent / "resumed"], out, latest=True),
    "repair": lambda run, out: repair(damaged(out.parent.parent, run.parent), out),
}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_both_readers_read_it(tmp_path, original, tool):
    (tmp_path / "logs").mkdir()
    tool(original / "run", tmp_path / "logs" / "out")
    expected = points(tmp_path / "logs" / "out")
    assert expected
    in_python = by_accumulator(tmp_path / "logs")["out"] | new_style_by_accumulator(tmp_path / "logs" / "out")
    assert in_python == expected
    assert by_server(tmp_path / "logs", lambda runs: runs == {"out": expected}) == {"out": expected}


def test_the_expected_points_are_those_of_the_originals(tmp_path, original):
    """What the test above expects, said in other words."""
    before, resumed = points(original / "run"), points(original / "resumed")
    for name, tool in TOOLS.items():
        if name != "repair":
            tool(original / "run", tmp_path / name / "out")
    after = {name: points(tmp_path / name / "out") for name in TOOLS if name != "repair"}
    assert after["drop"] == {tag: own for tag, own in before.items() if tag != "grad/a"}
    assert after["keep"] == {"new/loss": before["new/loss"]}
    assert after["rename"]["all/new/the_loss"] == before["new/loss"]
    assert after["shift"]["loss"] == [(step + 1000, time_ + 5, value) for step, time_, value in before["loss"]]
    assert after["every"]["loss"] == before["loss"][::7]
    assert set(after["minmax"]["grad/a"]) < set(before["grad/a"])
    assert max(value for *_, value in after["minmax"]["grad/a"]) == max(value for *_, value in before["grad/a"])
    assert after["merge"] == before
    assert after["latest"]["loss"] == before["loss"][:80] + resumed["loss"]


REWRITES = """
import os, sys
from summaries.tools import drop, merge, repair, thin
tool, run = sys.argv[1:]
work = {"drop": lambda out: drop(run, out, tags="b"), "merge": lambda out: merge([run], out, latest=True),
        "thin": lambda out: thin(run, out, minmax=100), "repair": lambda out: repair(run, out)}[tool]
for line in sys.stdin:  # each in a process of its own, which has all that is imported
    child = os.fork()
    if not child:
        try:
            print(os.getpid(), flush=True)
            work(line.rstrip())
            os._exit(0)
        finally:
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def rewriting(large, request):
    """(where to, seconds or None) → how a process ended that rewrites the run, and is killed after these seconds."""
    command = [sys.executable, "-c", REWRITES, request.getfixturevalue("tool"), str(large)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def rewrite(out, seconds):
            print(out, file=process.stdin, flush=True)
            child = int(process.stdout.readline())
            if seconds is not None:
                time.sleep(seconds)
                with suppress(ProcessLookupError):  # it has ended before
                    os.kill(child, signal.SIGKILL)
            return int(process.stdout.readline())

        yield rewrite
        process.stdin.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A run of three files, rewriting of which takes a while."""
    place = tmp_path_factory.mktemp("large") / "run"
    place.mkdir()
    version = frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())
    for file in range(3):
        records = (encode_scalar("ab"[step % 2], step, 1.0, step) for step in range(6_000))
        (place / f"{file}.tfevents").write_bytes(version + b"".join(records))
    return place


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
@pytest.mark.parametrize("tool", ["drop", "merge", "thin", "repair"])
def test_a_kill_at_any_moment_leaves_the_originals_and_all_or_nothing(tmp_path, large, tool, rewriting):
    before = {path.name: path.read_bytes() for path in large.iterdir()}
    rng = np.random.default_rng(len(tool))
    assert rewriting(tmp_path / "whole", None) == 0
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    began = time.monotonic()
    assert rewriting(tmp_path / "whole again", None) == 0  # the first one may have waited for imports
    lasts = time.monotonic() - began
    ended = set()
    for attempt in range(8):
        out = tmp_path / f"out{attempt}"
        ended.add(rewriting(out, rng.uniform(0, lasts)))
        written = {path.name: path.read_bytes() for path in out.iterdir()} if out.exists() else None
        assert written in (None, whole)
    assert -signal.SIGKILL in ended
    assert ended <= {0, -signal.SIGKILL}
    assert {path.name: path.read_bytes() for path in large.iterdir()} == before
    left = {path.name.split(".")[1] for path in tmp_path.iterdir() if not path.name.startswith(("out", "whole"))}
    assert left <= {"gradledger"}
