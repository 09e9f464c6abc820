"""Random events, in random files, with random damage: nothing is lost but what is damaged, and fast equals plain."""

import threading

import numpy as np
import pytest
from engines import BOTH, needs_compiled, read_run
from event_data.random_runs import EVENT, ODD_EVENT, SCALAR, TAGS, same, written
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries import Event, FaultKind, read_events
from summaries.patterns import matcher
from summaries.reading import reader
from summaries.reading.kinds import KINDS
from summaries.reading.run import Run
from summaries.wire.records import frame

DAMAGE = {
    FaultKind.DAMAGED_LENGTH,
    FaultKind.DAMAGED_PAYLOAD,
    FaultKind.ZERO_FILLED,
    FaultKind.UNFINISHED_TAIL,
    FaultKind.NO_EVENT_FILE,
}


@needs_compiled
@settings(deadline=None)
@given(files=st.lists(st.lists(st.one_of(EVENT, EVENT, ODD_EVENT), max_size=25), min_size=1, max_size=3))
def test_compiled_equals_plain_on_any_records(tmp_path_factory, files):
    directory = written(tmp_path_factory.mktemp("run"), [b"".join(map(frame, file)) for file in files])
    same(read_run(directory, engine="compiled"), read_run(directory, engine="plain"))


class Selected:
    """A run as `read_run(tags=patterns)` has to return it: what the whole run has of these tags."""

    def __init__(self, run, patterns):
        wanted = matcher(patterns)
        self.tags = tuple(filter(wanted, run.tags))
        for kind in ("scalars", *KINDS, "metadata"):
            setattr(self, kind, {tag: own for tag, own in getattr(run, kind).items() if wanted(tag)})
        self.faults, self.session_logs = run.faults, run.session_logs
        self.versions, self.records = run.versions, run.records
        self._non_summary_events = run._non_summary_events


PATTERNS = st.one_of(st.sampled_from(TAGS), st.lists(st.sampled_from([*TAGS, "*loss*", "?", "*"]), max_size=3))


def same_selection(selected: Run, run: Run, patterns):
    want = Selected(run, patterns)
    for kind in KINDS:  # the places have the numbers of the tags, which are the whole run's
        for tag, items in getattr(selected, kind).items():
            assert selected._numbers[tag] == run._numbers[tag]
            assert len(items)
    same(selected, want)
    assert (selected.files, selected.versions, selected.records) == (run.files, run.versions, run.records)
    assert [selected.file_starts(tag) for tag in selected.tags] == [run.file_starts(tag) for tag in want.tags]


@needs_compiled
@settings(deadline=None)
@given(
    files=st.lists(st.lists(st.one_of(EVENT, EVENT, ODD_EVENT), max_size=25), min_size=1, max_size=3),
    patterns=PATTERNS,
)
def test_selected_tags_are_the_same_as_when_all_are_read(tmp_path_factory, files, patterns):
    directory = written(tmp_path_factory.mktemp("run"), [b"".join(map(frame, file)) for file in files])
    run = read_run(directory, engine="plain")
    for engine in BOTH:
        same_selection(read_run(directory, engine=engine, tags=patterns), run, patterns)


@st.composite
def damaged_files(draw):
    """(The records, the file's bytes, which byte ranges were damaged.)"""
    records = [frame(data) for data in draw(st.lists(EVENT, min_size=1, max_size=20))]
    data = bytearray(b"".join(records))
    spans = []
    for _ in range(draw(st.integers(0, 3))):
        if not data:
            break
        start = draw(st.integers(0, len(data) - 1))
        length = draw(st.integers(1, 40))
        what = draw(st.sampled_from(["flip", "zero", "noise"]))
        stop = min(len(data), start + length if what != "flip" else start + 1)
        old = bytes(data[start:stop])
        new = {
            "flip": bytes([old[0] ^ 1 << draw(st.integers(0, 7))]),
            "zero": bytes(stop - start),
            "noise": draw(st.binary(min_size=stop - start, max_size=stop - start)),
        }[what]
        data[start:stop] = new
        spans.append((start, stop))
    cut = draw(st.one_of(st.none(), st.integers(0, len(data))))
    return records, bytes(data), spans, len(data) if cut is None else cut


@needs_compiled
@settings(deadline=None)
@given(damaged_files())
def test_compiled_equals_plain_on_damaged_files(tmp_path_factory, file):
    _, data, _, cut = file
    directory = written(tmp_path_factory.mktemp("run"), [data[:cut]])
    same(read_run(directory, engine="compiled"), read_run(directory, engine="plain"))


@needs_compiled
@settings(deadline=None)
@given(
    damaged_files(),
    st.integers(0, 2),
    st.sampled_from([100, 300, 1000]),
    st.sampled_from([1, 16, 64]),
    st.sampled_from([5, 70, 1000]),
)
def test_buffers_pages_and_reads_of_any_size(tmp_path_factory, file, helpers, buffer, page, read):
    _, data, _, cut = file
    directory = written(tmp_path_factory.mktemp("run"), [data[:cut]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_BUFFER_BYTES", buffer)
        patch.setattr(reader, "_PAGE_BYTES", page)
        patch.setattr(reader, "_READ_BYTES", read)
        patch.setattr(reader, "_threads", threading.local())  # the buffer that this thread has kept is larger
        patch.setattr(reader, "helpers", lambda: helpers)
        compiled = read_run(directory, engine="compiled")
    same(compiled, read_run(directory, engine="plain"))


@needs_compiled
@settings(deadline=None)
@given(damaged_files(), PATTERNS)
def test_selected_tags_of_damaged_files(tmp_path_factory, file, patterns):
    _, data, _, cut = file
    directory = written(tmp_path_factory.mktemp("run"), [data[:cut]])
    run = read_run(directory, engine="plain")
    for engine in BOTH:
        same_selection(read_run(directory, engine=engine, tags=patterns), run, patterns)


@settings(deadline=None)
@given(damaged_files())
def test_every_undamaged_record_comes_back_and_every_damage_is_reported(tmp_path_factory, file):
    records, data, _, cut = file
    path = tmp_path_factory.mktemp("run") / "a.tfevents"
    path.write_bytes(data[:cut])
    faults = []
    events = [event.SerializeToString(deterministic=True) for event in read_events(path, on_fault=faults.append)]
    want, lost, offset = [], [], 0
    for record in records:
        whole = data[offset : offset + len(record)] == record and offset + len(record) <= cut
        if whole:
            want.append(Event.FromString(record[12:-4]).SerializeToString(deterministic=True))
        else:
            lost.append((offset, min(offset + len(record), cut)))
        offset += len(record)
    assert _is_subsequence(want, events)
    covered = [(fault.offset, fault.offset + fault.length) for fault in faults if fault.kind in DAMAGE]
    for start, stop in lost:
        if start < stop:
            assert any(first < stop and last > start for first, last in covered)


def _is_subsequence(want, got):
    rest = iter(got)
    return all(any(one == other for other in rest) for one in want)


@settings(deadline=None)
@given(st.lists(SCALAR, max_size=40).map(lambda events: [event.SerializeToString() for event in events]), st.data())
def test_any_split_into_files_gives_the_same_points(tmp_path_factory, events, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=3)))
    pieces = [events[a:b] for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True)]
    one = written(tmp_path_factory.mktemp("one"), [b"".join(map(frame, events))])
    many = written(tmp_path_factory.mktemp("many"), [b"".join(map(frame, piece)) for piece in pieces])
    together, apart = read_run(one), read_run(many)
    assert together.tags == apart.tags
    for tag, series in together.scalars.items():
        for name in ("step", "wall_time", "value"):
            np.testing.assert_array_equal(getattr(series, name), getattr(apart.scalars[tag], name))


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from([None, "plain"]))
def test_any_bytes_are_read_without_an_error(tmp_path_factory, data, engine):
    path = tmp_path_factory.mktemp("run") / "a.tfevents"
    path.write_bytes(data)
    run = read_run(path, engine=engine)
    assert run.faults
    for kind in KINDS:
        assert not getattr(run, kind)
