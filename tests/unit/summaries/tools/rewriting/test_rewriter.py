"""Rewriting: what is not touched stays byte for byte, and what is read afterwards is what the edit says."""

import io
import itertools

import pytest
from engines import BOTH, ENGINES, read_run, reader_of
from event_data.events import SCALARS, TEXT, field, plain_scalars, sound_events, streams
from hypothesis import given
from hypothesis import strategies as st

from summaries import Event, Summary, read_events, verify
from summaries.storage.local import LOCAL
from summaries.tools.rewriting.copying import CopyCounts
from summaries.tools.rewriting.rewriter import Edit, Rewriter
from summaries.tools.rewriting.selecting import Selection
from summaries.wire.records import frame

DROPPED = ("loss", "grad/b", "é")


def kept(tag):
    return tag not in DROPPED


def rewritten(directory, data, edit, *, engine):
    """The bytes that an edit makes of a file, and what was counted."""
    path = directory / "in.tfevents"
    path.write_bytes(data)
    source, out, counts = reader_of(engine), io.BytesIO(), CopyCounts()
    rewriter = Rewriter(edit, source.tags)
    counts.copy(LOCAL.discover(str(path))[0], source, rewriter, out)
    counts.add(".", rewriter)
    return out.getvalue(), counts


def events_of(directory, data):
    path = directory / "out.tfevents"
    path.write_bytes(data)
    return list(read_events(path, on_fault="skip"))


def messages(events):
    return [event.SerializeToString(deterministic=True) for event in events]


@given(sound_events())
def test_keeping_everything_is_byte_identical(tmp_path_factory, events):
    data = b"".join(map(frame, events))
    directory = tmp_path_factory.mktemp("x")
    for engine in BOTH:
        out, counts = rewritten(directory, data, Edit(), engine=engine)
        assert out == data
        assert (counts.events, counts.dropped) == (len(events), 0)


@given(streams())
def test_of_damage_a_sound_file_is_made_and_nothing_else_is_lost(tmp_path_factory, data):
    directory = tmp_path_factory.mktemp("x")
    before = messages(events_of(directory, data))
    for engine in BOTH:
        out, _ = rewritten(directory, data, Edit(), engine=engine)
        assert messages(events_of(directory, out)) == before
        assert not [fault for fault in verify(directory / "out.tfevents").faults if fault.kind.is_data_loss]


@given(sound_events())
def test_dropping_then_reading_is_reading_then_dropping(tmp_path_factory, events):
    """Apart from the metadata, which the next value of a tag may have been given."""
    directory = tmp_path_factory.mktemp("x")
    expected, gone = [], 0
    for event in map(Event.FromString, events):
        if event.HasField("summary") and event.summary.value:
            stay = [value for value in event.summary.value if kept(value.tag)]
            gone += len(event.summary.value) - len(stay)
            if not stay:
                continue
            if len(stay) < len(event.summary.value):
                del event.summary.value[:]
                event.summary.value.extend(stay)
        expected.append(event)
    for engine in BOTH:
        out, counts = rewritten(directory, b"".join(map(frame, events)), Selection(kept), engine=engine)
        assert messages(events_of(directory, out)) == messages(expected)
        assert (counts.events, counts.dropped) == (len(expected), gone)


class EverySecond(Edit):
    """Drops every second value of the run, and so many a first one of a tag."""

    def __init__(self):
        self.turns = itertools.cycle([False, True])

    def keeps(self, index, tags):
        import numpy as np

        return np.array([next(self.turns) for _ in index.values], bool)


@given(sound_events())
def test_a_tag_keeps_its_first_metadata(tmp_path_factory, events):
    directory = tmp_path_factory.mktemp("x")
    data = b"".join(map(frame, events))
    first, expected = {}, {}
    turns = itertools.cycle([False, True])
    for value in (value for event in map(Event.FromString, events) for value in event.summary.value):
        if value.HasField("metadata"):
            first.setdefault(value.tag, text_of(value))
        if next(turns) and value.tag in first:  # the first one that stays of those that the metadata is for
            expected.setdefault(value.tag, first[value.tag])
    for engine in BOTH:
        out, _ = rewritten(directory, data, EverySecond(), engine=engine)
        seen = {}
        for value in (value for event in events_of(directory, out) for value in event.summary.value):
            if value.HasField("metadata"):
                seen.setdefault(value.tag, text_of(value))
        assert seen == expected


def text_of(value):
    return value.metadata.SerializeToString(deterministic=True)


def described(tag, metadata, step):
    value = Summary.Value(tag=tag, metadata=metadata, simple_value=step)
    return Event(step=step, summary=Summary(value=[value])).SerializeToString()


def bare(tag, step):
    return Event(step=step, summary=Summary(value=[Summary.Value(tag=tag, simple_value=step)])).SerializeToString()


CARRIED = {
    "to a value without": ([described("a", SCALARS, 0), bare("a", 1)], [SCALARS]),
    "past values without": ([described("a", SCALARS, 0), bare("a", 1), bare("a", 2), bare("a", 3)], [SCALARS, None]),
    "in place of other": ([described("a", SCALARS, 0), described("a", TEXT, 1)], [SCALARS]),
    "once": ([described("a", SCALARS, i) for i in range(4)], [SCALARS, SCALARS]),
    "only later": ([bare("a", 0), bare("a", 1), described("a", TEXT, 2), bare("a", 3)], [None, TEXT]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("events", "expected"), CARRIED.values(), ids=CARRIED)
def test_metadata_is_carried(tmp_path, events, expected, engine):
    out, _ = rewritten(tmp_path, b"".join(map(frame, events)), EverySecond(), engine=engine)
    values = [value for event in events_of(tmp_path, out) for value in event.summary.value]
    assert [value.metadata if value.HasField("metadata") else None for value in values] == expected


class Moved(Edit):
    seconds = 10.0

    def __init__(self):
        self.renamed = lambda tag: f"x/{tag}" if tag != "val/loss" else tag

    def moves(self, index):
        import numpy as np

        return np.full(len(index.events), 1000)


@given(st.lists(st.one_of(plain_scalars(), sound_events().map(lambda events: events[0] if events else b""))))
def test_new_names_steps_and_times(tmp_path_factory, events):
    directory = tmp_path_factory.mktemp("x")
    expected = [Event.FromString(event) for event in events]
    for event, data in zip(expected, events, strict=True):
        event.step += 1000
        if data[:1] == b"\x09":
            event.wall_time += 10.0
        for value in event.summary.value if event.HasField("summary") else ():
            value.tag = value.tag if value.tag == "val/loss" else f"x/{value.tag}"
    for engine in BOTH:
        out, _ = rewritten(directory, b"".join(map(frame, events)), Moved(), engine=engine)
        assert messages(events_of(directory, out)) == messages(expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_payload_of_a_nan_stays(tmp_path, engine):
    data = bare("a", 7)[:-4] + b"\x01\x00\xa0\x7f"
    out, _ = rewritten(tmp_path, frame(bare("a", 7)) + frame(data), Moved(), engine=engine)
    assert out[-8:-4] == b"\x01\x00\xa0\x7f"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tag_that_is_not_text_is_escaped(tmp_path, engine):
    bad = field(5, field(1, b"\x0a\x02\xff\xfe\x15" + bytes(4))) + b"\x10\x04"
    out, counts = rewritten(tmp_path, frame(bare("a", 1)) + frame(bad), Edit(), engine=engine)
    (tmp_path / "out.tfevents").write_bytes(out)
    assert read_run(tmp_path / "out.tfevents").tags == ("a", "\\xff\\xfe")
    assert [str(fault.kind) for fault in counts.faults] == ["undecodable text"]
