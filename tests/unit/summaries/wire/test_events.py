"""A record's data as an Event: what is one, what is wrong with it, word for word, and where its values stand."""

import math

import pytest
from google.protobuf.message import DecodeError

from summaries import Event, FaultKind, Summary
from summaries.wire.events import decode_event, decode_value, value_spans
from summaries.wire.protobuf import varint


def field(key, data):
    return bytes([key]) + varint(len(data)) + data


def with_tag(tag):
    """An Event whose one value has these bytes as its tag."""
    return field(0x2A, field(0x0A, field(0x0A, tag) + b"\x15\x00\x00\x00\x3f"))


CASES = {
    "a scalar": (Event(step=1, wall_time=2.0, summary={}), []),
    "the lowest step": (Event(step=-(2**63), wall_time=2.0), [f"step below zero: got {-(2**63)}, want 0 or more"]),
    "step 0": (Event(step=0, wall_time=2.0), []),
    "wall time 0": (Event(step=1), []),
    "wall time NaN": (Event(wall_time=math.nan), ["wall time is not finite: got nan, want seconds since the epoch"]),
    "both": (
        Event(step=-1, wall_time=math.inf),
        [
            "step below zero: got -1, want 0 or more",
            "wall time is not finite: got inf, want seconds since the epoch",
        ],
    ),
    "nothing but a version": (Event(file_version="brain.Event:2"), []),
    "nothing but a source": (Event(source_metadata={"writer": "x"}), []),
    "nothing": (Event(), []),
}


@pytest.mark.parametrize(("event", "reasons"), CASES.values(), ids=CASES)
def test_events(event, reasons):
    data = event.SerializeToString()
    got, faults = decode_event(data, 100, 7)
    assert got.SerializeToString() == data
    place = f" - at record 7, offset 100 ({len(data) + 16} bytes)"
    assert [str(fault) for fault in faults] == [reason + place for reason in reasons]


@pytest.mark.parametrize("data", [b"\x7a\x03abc", b"\xa2\x06\x03new"])
def test_a_message_with_no_field_of_an_event(data):
    event, (fault,) = decode_event(data)
    assert event is None
    assert (fault.kind, fault.got) == (FaultKind.UNDECODABLE, "no field of an Event")


def test_bytes_that_are_no_message():
    event, (fault,) = decode_event(b"\xff")
    assert event is None
    assert (fault.kind, fault.reason, fault.want) == (
        FaultKind.UNDECODABLE, "data is not an Event", "a serialized Event",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tag", "escaped"), [(b"a\xff", "a\\xff"), (b"\xe2\x82", "\\xe2\\x82"), (b"\xff" * 60, "\\xff" * 60)]
)
def test_a_tag_that_is_no_text(tag, escaped):
    event, (fault,) = decode_event(with_tag(tag))
    (value,) = event.summary.value
    assert (value.tag, value.simple_value) == (escaped, 0.5)
    assert (fault.kind, fault.reason, fault.got, fault.want) == (
        FaultKind.UNDECODABLE_TEXT, "tag is not UTF-8", repr(tag), "UTF-8 text",
    )  # fmt: skip


def test_a_value_alone():
    data = field(0x0A, b"a\xff") + b"\x15\x00\x00\x00\x3f"
    assert decode_value(data).tag == "a\\xff"
    with pytest.raises(DecodeError):
        decode_value(b"\xff")


def test_where_values_stand():
    values = [Summary.Value(tag=tag, simple_value=0.5) for tag in ("a", "", "c" * 300)]
    data = Event(step=3, wall_time=1.0, summary=Summary(value=values)).SerializeToString()
    spans = value_spans(data, 3)
    assert [Summary.Value.FromString(data[start : start + length]) for start, length in spans] == values
    assert value_spans(data, 0) == []


def test_where_values_stand_after_another_member_of_the_oneof():
    """The summary that came before it does not count."""
    first, second = (Event(summary=Summary(value=[Summary.Value(tag=tag)])).SerializeToString() for tag in "ab")
    data = first + Event(file_version="x").SerializeToString() + second
    assert [value.tag for value in Event.FromString(data).summary.value] == ["b"]
    ((start, length),) = value_spans(data, 1)
    assert Summary.Value.FromString(data[start : start + length]).tag == "b"
