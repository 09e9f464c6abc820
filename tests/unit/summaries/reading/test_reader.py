"""Readers: where events and values lie, with the compiled scanner as without."""

from struct import pack

import numpy as np
import pytest
from engines import ENGINES, needs_compiled, reader_of
from event_data.events import streams
from hypothesis import given

from summaries import Event, FaultKind, Summary, read_run
from summaries.errors import Fault
from summaries.reading.event_iterator import events_of
from summaries.storage.local import LOCAL
from summaries.wire.layout import KIND_SCALAR, LOST, SCALAR, SUMMARY, VERSION
from summaries.wire.protobuf import varint
from summaries.wire.records import frame


def rows_of(path, *, engine):
    """Every event (where, step, time, what, its data), every value, and every fault of a file."""
    source = reader_of(engine)
    events, values, faults = [], [], []
    for item in source.read(LOCAL.discover(str(path))[0]):
        if isinstance(item, Fault):
            faults.append(item)
            continue
        assert (item.events["start"][1:] == item.events["stop"][:-1]).all()
        assert (np.repeat(np.arange(len(item.events)), item.events["count"]) == item.values["event"]).all()
        for number, (start, stop, step, wall_time, _, count, what) in enumerate(item.events.tolist()):
            where = item.base + start, item.base + stop
            events.append((where, step, wall_time, count, what, item.data(number)))
        for value, step, wall_time, event, tag, length, kind, described in item.values.tolist():
            assert kind > KIND_SCALAR or length == 0
            assert repr((step, wall_time)) == repr(tuple(item.events[["step", "wall_time"]][event].tolist()))
            values.append((value, source.tags.names[tag], kind, described, length))
    return events, values, faults


USUAL = b"\x2a\x0d\x0a\x0b\x0a\x04loss\x15" + pack("<f", 0.5)
STEPS = b"".join(
    frame(b"\x09" + pack("<d", wall_time) + step + USUAL)
    for wall_time in (1.0, float("inf"))
    for step in (
        b"",
        b"\x10\x00",
        b"\x10\x81\x00",
        *(b"\x10" + varint((1 << 7 * i) - j) for i in range(1, 10) for j in (0, 1)),
        b"\x10" + varint(-1),
        b"\x10" + b"\xff" * 9,
    )
)


def written(directory, data):
    path = directory / "x.tfevents"
    path.write_bytes(data)
    return path


def test_rows(tmp_path):
    version = Event(wall_time=1.0, file_version="brain.Event:2")
    two = [Summary.Value(tag="a", simple_value=1.0), Summary.Value(tag="b", simple_value=2.0)]
    one = Event(wall_time=2.0, step=7, summary=Summary(value=two[:1]))
    data = [event.SerializeToString() for event in (version, one, Event(step=8, summary=Summary(value=two)))]
    events, values, faults = rows_of(written(tmp_path, b"".join(map(frame, data))), engine="plain")
    ends = np.cumsum([len(one) + 16 for one in data]).tolist()
    assert [event[0] for event in events] == list(zip([0, *ends[:-1]], ends, strict=True))
    assert [event[1:5] for event in events] == [(0, 1.0, 0, VERSION), (7, 2.0, 1, SCALAR), (8, 0.0, 2, SUMMARY)]
    assert [event[5] for event in events] == data
    assert values == [
        (1.0, "a", KIND_SCALAR, 0, 0),
        (1.0, "a", KIND_SCALAR, 0, 0),
        (2.0, "b", KIND_SCALAR, 0, 0),
    ]
    assert faults == []


@needs_compiled
@given(streams())
def test_the_compiled_scanner_gives_the_same(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("index"), data + STEPS)
    assert repr(rows_of(path, engine="compiled")) == repr(rows_of(path, engine="plain"))


@given(streams())
def test_the_same_events_and_faults_as_the_iterator(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("index"), data)
    events, values, faults = rows_of(path, engine="plain")
    wanted = []
    expected = list(events_of(LOCAL.discover(str(path))[0], wanted.append))
    read = [Event.FromString(event[5]) for event in events if event[4] != LOST]
    assert [event.SerializeToString(deterministic=True) for event in read] == [
        event.SerializeToString(deterministic=True) for event in expected
    ]
    assert [value[1] for value in values] == [value.tag for event in expected for value in event.summary.value]
    if not any(fault.kind is FaultKind.NO_EVENT_FILE for fault in faults):
        assert sorted(faults, key=repr) == sorted(wanted, key=repr)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_with_more_values_than_there_is_room_for(tmp_path, engine):
    many = Summary(value=[Summary.Value(tag="a", simple_value=i) for i in range(40_000)])
    few = frame(Event(step=1, summary=Summary(value=many.value[:2])).SerializeToString())
    path = written(tmp_path, few + frame(Event(step=2, summary=many).SerializeToString()) + few)
    events, values, _ = rows_of(path, engine=engine)
    assert [event[3] for event in events] == [2, 40_000, 2]
    assert [value[0] for value in values] == [0, 1, *range(40_000), 0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_record_larger_than_the_buffer(tmp_path, engine):
    small = frame(Event(step=1).SerializeToString())
    large = Event(step=2, graph_def=bytes(3 << 20)).SerializeToString()
    events, _, faults = rows_of(written(tmp_path, small + frame(large) + small), engine=engine)
    assert [event[1] for event in events] == [1, 2, 1]
    assert events[1][5] == large
    assert faults == []


NO_EVENT_FILES = {
    "a short text": (b"hello\n", FaultKind.NO_EVENT_FILE),
    "a text": (b"a text, longer than the header of a record", FaultKind.NO_EVENT_FILE),
    "the beginning of a record": (frame(b"")[:7], FaultKind.UNFINISHED_TAIL),
    "nothing": (b"", FaultKind.EMPTY_FILE),
    "zeros": (bytes(40), FaultKind.ZERO_FILLED),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("data", "kind"), NO_EVENT_FILES.values(), ids=NO_EVENT_FILES)
def test_files_without_a_record(tmp_path, data, kind, engine):
    _, _, faults = rows_of(written(tmp_path, data), engine=engine)
    assert [(fault.kind, fault.path) for fault in faults] == [(kind, str(tmp_path / "x.tfevents"))]
    assert list(read_run(tmp_path).faults) == faults
