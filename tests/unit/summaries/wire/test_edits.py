"""Edits of one event's bytes: what is asked for changes, every other byte stays."""

import pytest
from event_data.events import field, long_varint, summary_events
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from summaries import Event, Summary
from summaries.wire.edits import metadata_of, moved, with_metadata, with_tag, with_values
from summaries.wire.pb import SummaryMetadata

NEW = b"\x7a\x03new"  # a field 15, which no message here has
VALUE = Summary.Value(tag="loss", simple_value=0.5).SerializeToString()
METADATA = SummaryMetadata(display_name="shown").SerializeToString()


def count_of(data):
    return len(Event.FromString(data).summary.value)


@given(summary_events())
def test_no_change_leaves_every_byte(data):
    assert with_values(data, count_of(data), lambda _number, value: value) == data
    assert moved(data, 0, 0.0) == data


@given(summary_events(), st.data())
def test_removing_values(data, choices):
    count = count_of(data)
    gone = {number for number in range(count) if choices.draw(st.booleans())}
    left = with_values(data, count, lambda number, value: None if number in gone else value)
    expected = Event.FromString(data)
    for number in sorted(gone, reverse=True):
        del expected.summary.value[number]
    assert Event.FromString(left).SerializeToString(deterministic=True) == expected.SerializeToString(
        deterministic=True
    )


def test_unknown_fields_order_and_long_lengths_stay():
    data = NEW + field(5, field(1, VALUE, long_varint) + NEW + field(1, VALUE), long_varint) + b"\x10\x07"
    left = with_values(data, 2, lambda number, value: value if number == 0 else None)
    assert left == NEW + field(5, field(1, VALUE, long_varint) + NEW) + b"\x10\x07"


def test_values_that_a_graph_replaces_stay():
    data = field(5, field(1, b"\x0a\x01a")) + field(4, b"graph") + field(5, field(1, b"\x0a\x01b"))
    assert with_values(data, 1, lambda _number, value: with_tag(value, "c")) == data.replace(b"\x0a\x01b", b"\x0a\x01c")


def test_tags():
    assert with_tag(VALUE + NEW, "train/loss") == b"\x0a\x0atrain/loss" + VALUE[6:] + NEW
    assert with_tag(b"\x15" + bytes(4), "é") == b"\x0a\x02\xc3\xa9\x15" + bytes(4)


def test_metadata():
    assert metadata_of(VALUE) == b""
    described = with_metadata(VALUE + NEW, METADATA)
    assert described == VALUE + NEW + field(9, METADATA)
    assert metadata_of(described) == METADATA
    assert with_metadata(described, b"") == VALUE + NEW + b"\x4a\x00"


MOVES = [
    (Event(wall_time=1.0, step=5), 3, 0.0, Event(wall_time=1.0, step=8)),
    (Event(wall_time=1.0, step=5), -5, 0.5, Event(wall_time=1.5)),
    (Event(wall_time=1.0), 2**40, 0.0, Event(wall_time=1.0, step=2**40)),
    (Event(), 7, 1.0, Event(step=7)),
    (Event(wall_time=1.0, step=-3), 4, 0.0, Event(wall_time=1.0, step=1)),
]


@pytest.mark.parametrize(("before", "steps", "seconds", "after"), MOVES)
def test_moving(before, steps, seconds, after):
    assert moved(before.SerializeToString() + NEW, steps, seconds) == after.SerializeToString() + NEW


def test_what_is_no_event_is_told():
    with pytest.raises(DecodeError, match="a field is longer than its message"):
        moved(b"\x2a\x05a", 1, 0.0)
