"""Huge files in ranges: how they are cut, who reads what, and what happens if a guess was wrong or a worker is lost."""

import os
import threading
from concurrent.futures import Executor, Future
from importlib.util import find_spec
from itertools import pairwise

import pytest
from memory_storage import MemoryStorage
from random_runs import same

from summaries import Event, Summary, read_logdir, read_run
from summaries.execution.processes import WorkerDiedError
from summaries.reading import ranges
from summaries.reading.collector import Collector
from summaries.reading.run import read_files
from summaries.storage.logdir import run_files
from summaries.wire.pb import DT_STRING, TensorProto
from summaries.wire.records import frame

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="numba is an extra")


def points(first, last, tag="loss"):
    """Records of 43 bytes."""
    values = (Summary.Value(tag=tag, simple_value=step) for step in range(first, last))
    return b"".join(
        frame(Event(step=1000 + step, wall_time=1.7e9, summary=Summary(value=[value])).SerializeToString())
        for step, value in zip(range(first, last), values, strict=True)
    )


RECORD = len(points(0, 1))


def embedded(data):
    """A record whose payload is a whole event file."""
    value = Summary.Value(tag="file", tensor=TensorProto(dtype=DT_STRING, string_val=[data]))
    return frame(Event(step=7, wall_time=1.7e9, summary=Summary(value=[value])).SerializeToString())


class Here(Executor):
    """An executor that works at once, in this thread."""

    def submit(self, task, /, *args):
        future = Future()
        try:
            future.set_result(task(*args))
        except Exception as error:  # noqa: BLE001 - as every executor does
            future.set_exception(error)
        return future


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Every file is huge: a head of 100 bytes, ranges of about 1000, which begin 64 bytes earlier."""
    for name, value in {"CUT_BYTES": 0, "_HEAD_BYTES": 100, "_RANGE_BYTES": 1000, "_LEAD_BYTES": 64}.items():
        monkeypatch.setattr(ranges, name, value)
    monkeypatch.setattr("summaries.reading.run.CUT_BYTES", 0)


@pytest.fixture
def read(monkeypatch):
    """The ranges that were read as such, and the parts that a collector read, in order."""
    seen = []
    as_range, part = ranges.read_range, Collector.read_part

    def read_range(one):
        seen.append(("range", one.begin, one.stop))
        inside.add(threading.get_ident())
        try:
            return as_range(one)
        finally:
            inside.remove(threading.get_ident())

    def read_part(self, file, start, stop=None):
        if threading.get_ident() not in inside:
            seen.append(("part", start, stop))
        return part(self, file, start, stop)

    inside = set()
    monkeypatch.setattr(ranges, "read_range", read_range)
    monkeypatch.setattr(Collector, "read_part", read_part)
    return seen


def whole(path):
    """The run as it is when no file is cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "CUT_BYTES", 1 << 60)
        return read_run(path, fast=False)


def test_a_file_is_cut_evenly_behind_its_head(tmp_path, read):
    (tmp_path / "a.tfevents").write_bytes(points(0, 100))
    same(read_run(tmp_path, fast=False, executor=Here()), whole(tmp_path))
    head, *cuts = read[:-1]
    assert head == ("part", 0, 100)
    assert {kind for kind, _, _ in cuts} == {"range"}
    assert cuts[0][1] == 3 * RECORD
    assert cuts[-1][2] is None
    assert all(one[2] == following[1] for one, following in pairwise(cuts))
    sizes = {stop - begin for _, begin, stop in cuts if stop}
    assert max(sizes) <= 1000
    assert max(sizes) - min(sizes) <= 1


@needs_numba
def test_threads_read_the_ranges_with_the_scanner(tmp_path, read):
    (tmp_path / "a.tfevents").write_bytes(points(0, 1000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: 4)
        run = read_run(tmp_path, fast=True)
    assert read[0] == ("part", 0, 100)
    assert sorted(stop or 0 for _, _, stop in read[1:])[:2] == [0, 1126]
    assert len(read) == 1 + 43
    same(run, whole(tmp_path))


class Pool(Here):
    """Threads that begin as many calls as they are given time for: the first ones; what they were given, in order."""

    begun, ended = 0, None

    def __init__(self, threads):
        assert threads == 1
        self.calls = Pool.calls = []

    def submit(self, task, /, *args):
        self.calls.append(args[0].begin)
        return super().submit(task, *args) if len(self.calls) <= self.begun else Future()

    def shutdown(self, wait=True, *, cancel_futures=False):
        Pool.ended = "at once" if wait and cancel_futures else "later"


@needs_numba
@pytest.mark.parametrize("begun", [0, 1, 4, 6, 7])
def test_this_thread_reads_what_no_other_has_begun(tmp_path, read, monkeypatch, begun):
    """The other begins with two of three ranges, and goes on with the last of this thread's."""
    (tmp_path / "a.tfevents").write_bytes(points(0, 150))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(ranges, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(Pool, "begun", begun)
    run = read_run(tmp_path, fast=True)
    order = [129 + (len(points(0, 150)) - 129) * i // 7 for i in (1, 2, 4, 5, 6, 3, 0)]
    assert Pool.calls == order
    assert [one[1] for one in read if one[0] == "range"] == order[:begun]
    assert sum(one[0] == "part" for one in read) == 1 + 7 - begun
    same(run, whole(tmp_path))


@needs_numba
def test_what_is_wrong_with_what_this_thread_reads_is_raised_and_the_others_end(tmp_path, monkeypatch):
    (tmp_path / "a.tfevents").write_bytes(points(0, 150))
    part = Collector.read_part

    def failing(self, file, start, stop=None):
        if start:
            raise OSError(5, "Input/output error", file.path)
        return part(self, file, start, stop)

    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(ranges, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(Collector, "read_part", failing)
    monkeypatch.setattr(Pool, "ended", None)
    with pytest.raises(OSError, match="Input/output error"):
        read_run(tmp_path, fast=True)
    assert Pool.ended == "at once"


@pytest.mark.parametrize(
    ("fast", "cores", "cut"), [pytest.param(True, 1, 0, marks=needs_numba), (False, 4, 0), (False, 4, 1 << 30)]
)
def test_what_is_read_as_a_whole(tmp_path, read, monkeypatch, fast, cores, cut):
    """What threads cannot help: on one core, without the scanner, small."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(ranges, "CUT_BYTES", cut)
    (tmp_path / "a.tfevents").write_bytes(points(0, 100))
    read_run(tmp_path, fast=fast)
    assert read == [("part", 0, None)]


@needs_numba
def test_a_run_with_a_huge_file_takes_all_threads_before_the_others_take_one_each(tmp_path, read, monkeypatch):
    monkeypatch.setattr(ranges, "CUT_BYTES", 3000)
    monkeypatch.setattr("summaries.reading.run.CUT_BYTES", 3000)
    for name, count in {"a": 10, "b": 100, "c": 10}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.tfevents").write_bytes(points(0, count))
    runs = read_logdir(tmp_path, fast=True, jobs=2)
    assert list(runs) == ["a", "b", "c"]
    assert [len(run.scalars["loss"]) for run in runs.values()] == [10, 100, 10]
    assert read[-2:] == [("part", 0, None)] * 2
    assert len(read) == 1 + 5 + 2


def test_a_cut_in_an_event_file_inside_another_is_seen_through(tmp_path, read):
    """The ranges in it are passed over; the one behind it is right, since its reader has left it in time."""
    inside = embedded(points(500, 600))
    data = points(0, 10) + inside + points(10, 100)
    (tmp_path / "a.tfevents").write_bytes(data)
    run = read_run(tmp_path, fast=False, executor=Here())
    again = [(start, stop) for kind, start, stop in read if kind == "part"][1:]
    same(run, whole(tmp_path))
    assert run.scalars["loss"].step.tolist() == list(range(1000, 1100))
    end = 10 * RECORD + len(inside)
    assert [start for start, _ in again] == [end]
    assert again[0][1] - end < 1000


def test_a_lead_longer_than_the_event_file_inside_another_leaves_nothing_to_read_again(tmp_path, read, monkeypatch):
    monkeypatch.setattr(ranges, "_LEAD_BYTES", 300)
    inside = embedded(points(500, 501))
    (tmp_path / "a.tfevents").write_bytes(b"".join(inside + points(i, i + 1) for i in range(100)))
    run = read_run(tmp_path, fast=False, executor=Here())
    assert [one for one in read if one[0] == "part"] == [("part", 0, 100)]
    same(run, whole(tmp_path))


@pytest.mark.parametrize("middle", [bytes(5000), frame(bytes(5000)), frame(bytes(5000))[:-1] + b"?"])
def test_what_spans_several_ranges_is_read_once(tmp_path, read, middle):
    (tmp_path / "a.tfevents").write_bytes(points(0, 20) + middle + points(20, 50))
    same(read_run(tmp_path, fast=False, executor=Here()), whole(tmp_path))
    assert len([one for one in read if one[0] == "part"]) <= 2


def test_a_range_is_read_with_little_else():
    data = points(0, 10_000)
    storage = MemoryStorage({"memory://run/a.tfevents": data})
    (file,) = storage.discover("memory://run/a.tfevents")
    given = ranges.Given((), {}, None, False)
    storage.requests.clear()
    part = ranges.read_range(ranges.FileRange(file, 0, 200_000, 220_000, given))
    assert part.records == -(-220_000 // RECORD) - -(-200_000 // RECORD)
    assert min(start for start, _ in storage.requests) == 200_000 - 64
    assert sum(size for start, size in storage.requests if start < 200_000) == 1 << 13


def test_a_file_that_grew_is_read_to_its_end(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(points(0, 100))
    files = run_files(tmp_path)
    path.write_bytes(points(0, 120))
    run = read_files(files, 0, fast=False, executor=Here())
    assert run.scalars["loss"].step.tolist() == list(range(1000, 1120))


def test_a_file_that_was_cut_short_meanwhile_has_what_is_left(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(points(0, 100))
    files = run_files(tmp_path)
    os.truncate(path, 60 * RECORD)
    run = read_files(files, 0, fast=False, executor=Here())
    assert run.scalars["loss"].step.tolist() == list(range(1000, 1060))
    assert run.faults == ()


def test_a_file_that_is_replaced_meanwhile_is_read_again(tmp_path, monkeypatch):
    path, other = tmp_path / "a.tfevents", tmp_path / "new"
    path.write_bytes(points(0, 100))
    other.write_bytes(points(500, 600))
    as_range = ranges.read_range

    def replacing(one):
        if other.exists():
            os.replace(other, path)
        return as_range(one)

    monkeypatch.setattr(ranges, "read_range", replacing)
    run = read_run(path, fast=False, executor=Here())
    assert run.scalars["loss"].step.tolist() == list(range(1500, 1600))


def test_a_range_whose_worker_died_is_read_here(tmp_path, read):
    (tmp_path / "a.tfevents").write_bytes(points(0, 100))
    tries = []

    class Dying(Here):
        def submit(self, task, /, *args):
            tries.append([one.begin for one in args[1]])
            if 963 not in tries[-1]:
                return super().submit(task, *args)
            future = Future()
            future.set_exception(WorkerDiedError("killed"))
            return future

    run = read_run(tmp_path, fast=False, executor=Dying())
    assert tries.count([963]) == 3
    assert [one for one in read if one[0] == "part"] == [("part", 0, 100), ("part", 23 * RECORD, 1797)]
    same(run, whole(tmp_path))


def test_what_is_wrong_with_a_range_is_raised(tmp_path, monkeypatch):
    (tmp_path / "a.tfevents").write_bytes(points(0, 100))

    def failing(one):
        raise OSError(5, "Input/output error", one.file.path)

    monkeypatch.setattr(ranges, "read_range", failing)
    with pytest.raises(OSError, match="Input/output error"):
        read_run(tmp_path, fast=False, executor=Here())
