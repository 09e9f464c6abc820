"""A file read in ranges is the file read at once: whatever it contains, wherever it is damaged and cut."""

import pickle
from concurrent.futures import Executor, Future
from importlib.util import find_spec
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import EVENT, ODD_EVENT, SCALAR, field, same, tensors, written
from strategies import sound_header

from summaries import Event, SessionLog, Summary, read_run
from summaries.reading import ranges
from summaries.wire.records import frame

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="numba is an extra")
SPEEDS = [pytest.param(True, marks=needs_numba), False]


class Here(Executor):
    """An executor that is this thread; or another process, as far as what it gets and returns can tell."""

    def __init__(self, send):
        self._send = send

    def submit(self, task, /, *args):
        future = Future()
        task, args = self._send((task, args))
        future.set_result(self._send(task(*args)))
        return future


class Busy(Here):
    """Threads that begin every other call before its turn comes."""

    def __init__(self, threads):
        super().__init__(lambda what: what)
        self._begun = threads == 1

    def submit(self, task, /, *args):
        self._begun = not self._begun
        return super().submit(task, *args) if self._begun else Future()


HERE = Here(lambda what: what)
ELSEWHERE = Here(lambda what: pickle.loads(pickle.dumps(what)))  # noqa: S301 - it was just pickled


def in_ranges(directory, fast, cuts, head, lead, executor, tags=None):
    """Read a run whose files are cut at these offsets; without an executor, by two threads."""

    def cut(start, end):
        inside = [start, *sorted(at for at in set(cuts) if start < at < end)]
        return zip(inside, [*inside[1:], None], strict=True) if start < end else iter(())

    small = {"CUT_BYTES": 0, "_HEAD_BYTES": head, "_LEAD_BYTES": lead, "_cuts": cut, "_LEAST_FETCHED": 50}
    with mock.patch.multiple(ranges, **small, ThreadPoolExecutor=Busy), mock.patch("os.cpu_count", return_value=2):
        return read_run(directory, tags=tags, fast=fast, executor=executor)


def _tagged(tag, tensor, plugin):
    value = Summary.Value(tag=tag, tensor=tensor)
    if plugin is not None:
        value.metadata.plugin_data.plugin_name = plugin
    return value


POINT = SCALAR.map(Event.SerializeToString)
EMBEDDING = st.lists(POINT, min_size=1, max_size=8).map(
    lambda events: field(
        5, field(1, field(1, b"file") + field(8, b"\x08\x07" + field(8, b"".join(map(frame, events)))))
    )
)
"""An event whose tensor is a string that is an event file."""


MEANT = st.builds(
    lambda tag, value, plugin: Event(wall_time=1.7e9, summary=Summary(value=[_tagged(tag, value, plugin)])),
    st.sampled_from("ab"),
    tensors(),
    st.sampled_from([None, None, None, "scalars", "histograms"]),
).map(Event.SerializeToString)
"""An event whose tensor is a scalar or not, depending on what was said of its tag before."""

VERSION = st.builds(Event, file_version=st.sampled_from(["brain.Event:1", "brain.Event:2"]))
START = st.builds(Event, step=st.integers(0, 5), session_log=st.just(SessionLog(status=SessionLog.START)))
RARE = st.one_of(VERSION, START).map(Event.SerializeToString)
RECORD = st.one_of(EVENT, MEANT, ODD_EVENT, EMBEDDING, RARE).map(frame)
GARBAGE = st.one_of(
    st.binary(max_size=40), st.integers(0, 60).map(bytes), st.integers(0, 300).map(sound_header), POINT.map(frame)
)


@st.composite
def cut_files(draw):
    """(The bytes of a file, offsets at which it is cut: many beside its records' ends and its damage.)"""
    kind = draw(st.sampled_from([RECORD, RECORD, MEANT.map(frame)]))
    data, edges = b"", [0]
    for record in draw(st.lists(kind, min_size=draw(st.sampled_from([0, 5, 15])), max_size=25)):
        data += record
        edges.append(len(data))
    for _ in range(draw(st.integers(0, 3))):
        at = min(max(0, draw(st.sampled_from(edges)) + draw(st.integers(-20, 20))), len(data))
        gone = draw(st.sampled_from([0, 0, 1, 5, 30]))
        data = data[:at] + draw(GARBAGE) + data[at + gone :]
        edges.append(at)
    data = data[: draw(st.one_of(st.none(), st.integers(0, len(data))))]
    near = st.builds(int.__add__, st.sampled_from(edges), st.integers(-30, 30))
    few = draw(st.sampled_from([0, 2, 5]))
    return data, draw(st.lists(st.one_of(near, st.integers(0, len(data))), min_size=few, max_size=8))


HEADS = st.sampled_from([0, 1, 100, 500])
LEADS = st.sampled_from([0, 1, 30, 300])


@pytest.mark.parametrize("fast", SPEEDS, ids=["scanner", "plain"])
@settings(deadline=None, max_examples=300)
@given(
    cut_files(),
    HEADS,
    LEADS,
    st.sampled_from([HERE, ELSEWHERE, None]),
    st.sampled_from([None, None, "a", ["b", "*loss*"]]),
)
def test_any_cuts_give_the_same(tmp_path_factory, fast, file, head, lead, executor, tags):
    data, cuts = file
    directory = written(tmp_path_factory.mktemp("run"), [data])
    cut, whole = in_ranges(directory, fast, cuts, head, lead, executor, tags), read_run(directory, fast=fast, tags=tags)
    same(cut, whole)
    assert cut._numbers == whole._numbers


@pytest.mark.parametrize("fast", SPEEDS, ids=["scanner", "plain"])
@settings(deadline=None, max_examples=60)
@given(st.lists(cut_files(), min_size=2, max_size=3), HEADS, LEADS, st.sampled_from([HERE, None]))
def test_any_cuts_of_several_files_give_the_same(tmp_path_factory, fast, files, head, lead, executor):
    directory = written(tmp_path_factory.mktemp("run"), [data for data, _ in files])
    cuts = [at for _, cuts in files for at in cuts]
    same(in_ranges(directory, fast, cuts, head, lead, executor), read_run(directory, fast=fast))
