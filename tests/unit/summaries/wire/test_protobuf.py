"""Protobuf's own encoding: numbers, fields, and what is refused, word for word."""

import pytest
from google.protobuf.message import DecodeError

from summaries.wire.pb import Event, Summary
from summaries.wire.protobuf import OurBytes, fields, message_bytes, rewrite_field, serialized, varint

VARINTS = {
    0: b"\x00",
    1: b"\x01",
    127: b"\x7f",
    128: b"\x80\x01",
    16383: b"\xff\x7f",
    16384: b"\x80\x80\x01",
    2**63 - 1: b"\xff" * 8 + b"\x7f",
    -1: b"\xff" * 9 + b"\x01",
    -(2**63): b"\x80" * 9 + b"\x01",
}


@pytest.mark.parametrize(("number", "data"), VARINTS.items())
def test_varint(number, data):
    assert varint(number) == data
    assert Event.FromString(b"\x10" + data).step == number


MESSAGE = b"\x08\x96\x01" + b"\x12\x03abc" + b"\x19" + bytes(8) + b"\x25" + bytes(4) + b"\x2a\x00" + b"\x82\x01\x01z"


def test_fields_are_those_with_a_length():
    assert [(number, MESSAGE[start:stop]) for number, start, stop in fields(MESSAGE, 0, len(MESSAGE))] == [
        (2, b"abc"),
        (5, b""),
        (16, b"z"),
    ]


def test_fields_of_a_part():
    outer = b"\x0a\x05" + MESSAGE[3:8] + b"\x12\x00"
    assert list(fields(outer, 2, 7)) == [(2, 4, 7)]


NO_MESSAGES = {
    "a length beyond the end": (b"\x12\x04abc", "a field is longer than its message"),
    "no length": (b"\x12", "a varint is not terminated"),
    "a number without an end": (b"\x08\x80", "a varint is not terminated"),
    "a number of eleven bytes": (b"\x08" + b"\x80" * 10 + b"\x01", "a varint is not terminated"),
    "wire type 6": (b"\x0e", "wire type 6 is not allowed in an event"),
    "the end of a group that has no start": (b"\x0c", "wire type 4 is not allowed in an event"),
}


@pytest.mark.parametrize(("data", "text"), NO_MESSAGES.values(), ids=NO_MESSAGES)
def test_no_message(data, text):
    with pytest.raises(DecodeError) as raised:
        list(fields(data, 0, len(data)))
    assert str(raised.value) == text


@pytest.mark.parametrize("tag", ["", "b", "x" * 127, "x" * 128, "x" * 20_000])
def test_rewrite_field(tag):
    """Every occurrence of the one field, whatever the lengths of old and new; all else stays."""
    data = Summary.Value(tag="old", simple_value=0.5, node_name="node").SerializeToString()
    assert rewrite_field(data, 1, lambda old: old) == data
    changed = rewrite_field(data * 2, 1, lambda old: tag.encode() if old == b"old" else old)
    assert changed.count(b"node") == 2
    value = Summary.Value.FromString(changed)
    assert (value.tag, value.simple_value, value.node_name) == (tag, 0.5, "node")


def test_a_long_field_made_short():
    data = Summary.Value(tag="x" * 300, simple_value=0.5).SerializeToString()
    assert rewrite_field(data, 1, lambda _: b"y") == Summary.Value(tag="y", simple_value=0.5).SerializeToString()


def test_message_bytes():
    summary = Summary(value=[Summary.Value(tag="a")])
    data = summary.SerializeToString()
    assert message_bytes(summary, Summary, "summary") == message_bytes(data, Summary, "summary") == data
    assert serialized(summary, "summary") == data
    broken = OurBytes(b"abc")  # our own bytes are not parsed again
    assert message_bytes(broken, Summary, "summary") is broken
