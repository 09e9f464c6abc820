"""Copying: a tree of runs to a new place, whole or not at all, with what could not be kept."""

import os

import fsspec
import pytest
from helpers import run_script

from summaries import Event, FaultKind, SummaryWriter, read_logdir, read_run
from summaries.reading.reader import Reader
from summaries.storage.protocols import UnreachableError
from summaries.tools import drop, keep, repair, thin
from summaries.wire.records import frame
from summaries.wire.scalars import encode_scalar

VERSION = frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())


def write_run(directory, *tags):
    with SummaryWriter(directory) as writer:
        for tag in tags:
            writer.add_scalar(tag, 1.0, 0)


@pytest.fixture
def runs(tmp_path):
    for name in ("a/one", "a/two", "b"):
        write_run(tmp_path / "runs" / name, "loss", "grad/x")
    return tmp_path / "runs"


def tree(directory):
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def test_the_tree_is_that_of_the_original(runs, tmp_path):
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    seen = []
    written = drop(runs, tmp_path / "out", tags="grad*", on_run=seen.append)
    assert tree(tmp_path / "out") == tree(runs)
    assert written.runs == tuple(seen) == ("a/one", "a/two", "b")
    assert (written.events, written.dropped) == (6, 3)
    assert {name: run.tags for name, run in read_logdir(tmp_path / "out").items()} == dict.fromkeys(seen, ("loss",))
    assert {path: path.read_bytes() for path in before} == before
    assert sorted(os.listdir(tmp_path)) == ["out", "runs"]


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
def test_what_cannot_be_read_is_raised_unless_somebody_hears_of_it(runs, tmp_path, refuse_to_list):
    (runs / "a/one/z.tfevents").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError):
        thin(runs, tmp_path / "out", minmax=4)
    refuse_to_list("b")
    with pytest.raises(PermissionError):
        thin(runs, tmp_path / "out", minmax=4)
    assert os.listdir(tmp_path) == ["runs"]
    errors = []
    written = thin(runs, tmp_path / "out", minmax=4, on_error=errors.append)
    assert [error.filename for error in errors] == [str(runs / "b"), str(runs / "a/one/z.tfevents")]  # each once
    assert written.runs == ("a/one", "a/two")


def test_a_store_that_cannot_be_reached_ends_it(runs, tmp_path, monkeypatch):
    def unreachable(self, file):
        raise UnreachableError(111, "Connection refused", "s3://bucket")

    monkeypatch.setattr(Reader, "read", unreachable)
    errors = []
    with pytest.raises(UnreachableError):
        repair(runs, tmp_path / "out", on_error=errors.append)
    assert errors == []


def test_only_runs_that_match(runs, tmp_path):
    assert keep(runs, tmp_path / "out", runs=["a/*"]).runs == ("a/one", "a/two")
    with pytest.raises(LookupError) as caught:
        keep(runs, tmp_path / "other", runs=["a/*", "c"])
    assert str(caught.value) == "no run matches 'c'; there are a/one, a/two and b"


def test_an_event_file_alone(runs, tmp_path):
    (path,) = (runs / "b").iterdir()
    keep(path, tmp_path / "out")
    assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_an_existing_place_is_refused_before_anything_is_read(runs, tmp_path):
    with pytest.raises(FileExistsError) as caught:
        keep(runs, runs)
    assert str(caught.value) == f"the output must be a new directory or an empty one, got {runs}, which has contents"


def test_a_mistake_leaves_no_output(runs, tmp_path):
    with pytest.raises(LookupError) as caught:
        drop(runs, tmp_path / "out", tags=["grad*", "weights/*"])
    assert str(caught.value) == "no tag matches 'weights/*'; there are loss and grad/x"
    assert os.listdir(tmp_path) == ["runs"]


def test_addresses(runs):
    system = fsspec.filesystem("memory")
    for path in tree(runs):
        system.pipe_file(f"/copied/{path}", (runs / path).read_bytes())
    written = drop("memory://copied", "memory://cleaned", tags="grad*")
    assert written.path == "memory://cleaned"
    assert {name: run.tags for name, run in read_logdir("memory://cleaned").items()} == dict.fromkeys(
        ("a/one", "a/two", "b"), ("loss",)
    )
    with pytest.raises(FileExistsError, match="the output must be a new place, got memory://cleaned, which exists"):
        drop("memory://copied", "memory://cleaned", tags="grad*")


def test_damage_is_reported_and_left_out(tmp_path):
    good = VERSION + encode_scalar("loss", 1, 1.0, 2.0)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.tfevents").write_bytes(good + bytes(40) + encode_scalar("loss", 2, 1.0, 2.0))
    (tmp_path / "runs" / "b.tfevents").write_bytes(encode_scalar("loss", 3, 1.0, 2.0) + good[:-2])
    (tmp_path / "runs" / "empty.tfevents").write_bytes(b"")
    (tmp_path / "runs" / "text.tfevents").write_bytes(b"no event file at all")
    mended = repair(tmp_path / "runs", tmp_path / "out")
    assert tree(tmp_path / "out") == ["a.tfevents", "b.tfevents"]
    assert (tmp_path / "out" / "a.tfevents").read_bytes() == good + encode_scalar("loss", 2, 1.0, 2.0)
    assert [(os.path.basename(fault.path), fault.kind, fault.offset, fault.length) for fault in mended.faults] == [
        ("a.tfevents", FaultKind.ZERO_FILLED, len(good), 40),
        ("b.tfevents", FaultKind.UNFINISHED_TAIL, 42 + len(VERSION), 40),
        ("empty.tfevents", FaultKind.EMPTY_FILE, 0, 0),
        ("text.tfevents", FaultKind.NO_EVENT_FILE, 0, 20),
    ]
    assert (mended.lost_bytes, mended.damaged) == (100, True)


def test_an_unfinished_file_is_not_damaged(tmp_path):
    (tmp_path / "a.tfevents").write_bytes(VERSION + VERSION[:-1])
    assert not repair(tmp_path / "a.tfevents", tmp_path / "out").damaged


def test_a_run_of_which_nothing_remains_is_not_there(tmp_path):
    for name, tag in (("a", "loss"), ("b", "grad")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "x.tfevents").write_bytes(encode_scalar(tag, 1, 1.0, 2.0))
    assert drop(tmp_path / "runs", tmp_path / "out", tags="grad").runs == ("a",)
    assert tree(tmp_path / "out") == ["a/x.tfevents"]
    assert os.listdir(tmp_path / "out") == ["a"]


@pytest.mark.only_on_disks(reason="stores refuse some of these names")
def test_odd_names(tmp_path):
    """Bytes that are not UTF-8, line breaks and control characters: in names of runs, and in tags."""
    name = "a\nb\x1b[31m"
    (tmp_path / "runs" / name).mkdir(parents=True)
    (tmp_path / "runs" / name / "x.tfevents").write_bytes(encode_scalar("lo\nss\x1b", 1, 1.0, 2.0))
    try:
        other = os.path.join(bytes(tmp_path / "runs"), b"\xff")
        os.mkdir(other)
        with open(os.path.join(other, b"\xfe.tfevents"), "wb") as file:
            file.write(encode_scalar("loss", 1, 1.0, 2.0))
    except OSError:
        pytest.skip("this file system has no such names")
    assert keep(tmp_path / "runs", tmp_path / "out").runs == (name, "\udcff")
    assert sorted(os.listdir(bytes(tmp_path / "out" / "\udcff"))) == [b"\xfe.tfevents"]
    assert read_run(tmp_path / "out" / name).tags == ("lo\nss\x1b",)


MEMORY = """
import sys
import numpy as np
from summaries.tools import drop, keep, merge, thin
from summaries.wire.scalars import ScalarEncoder
place, size = sys.argv[1], int(sys.argv[2])
encoder = ScalarEncoder()
tags = np.array([encoder.register(f"tag{i}") for i in range(20)])
with open(place + "/x.tfevents", "wb") as file:
    for start in range(0, size, 100_000):
        i = np.arange(start, start + 100_000)
        file.write(encoder.encode(tags[i % 20], i // 20, i * 1.0, i * 1.0)[0])
del i
thin(place + "/x.tfevents", place + "/thin", minmax=100)
merge([place + "/x.tfevents"], place + "/merged", latest=True)
drop(place + "/x.tfevents", place + "/small", tags="tag1*")
with open("/proc/self/status") as file:
    print(*(line.split()[1] for line in file if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="elsewhere, a process has its parent's peak")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Of 12 MB and of 48 MB, both with compiled code: a quarter of the difference would be 9 MB."""
    peaks = []
    for number, size in enumerate((300_000, 1_200_000)):
        (tmp_path / str(number)).mkdir()
        peaks.append(int(run_script(tmp_path, MEMORY, tmp_path / str(number), size)) << 10)
    assert peaks[1] - peaks[0] < 8 << 20
