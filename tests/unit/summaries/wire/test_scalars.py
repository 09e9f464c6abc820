"""Scalars in bulk are, byte for byte, scalars one by one, and both are what protobuf makes."""

import struct

import numpy as np
import pytest

from summaries.wire.pb import Event, Summary
from summaries.wire.protobuf import varint
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder, as_float32, encode_scalar, encode_summary_event

BULK = 200  # enough points of one shape for the fast way
NAN_WITH_PAYLOAD = struct.unpack("<d", struct.pack("<Q", 0xFFF8_1234_5678_9ABC))[0]

# name → columns (tags, steps, wall times, values); a column of one item stands for as many as there are rows.
COLUMNS = {
    "one point": (["loss"], [1], [1.5e9], [0.5]),
    "one tag": (["loss"], range(BULK), [1.5e9], np.linspace(-1, 1, BULK)),
    "few points": (["loss"], range(5), [1.5e9], [0.5]),
    "two tags in turn": (["loss", "acc."] * BULK, range(2 * BULK), [1.5e9], [0.5]),
    "tags of many lengths": (["a", "bb", "ccc", "dddd"] * BULK, range(4 * BULK), [1.5e9], [0.5]),
    "a hundred tags": ([f"tag/{i % 100}" for i in range(30 * BULK)], range(30 * BULK), [1.5e9], [0.5]),
    "a rare tag among many points": (["loss"] * BULK + ["rare tag"] + ["loss"] * BULK, range(2 * BULK + 1), [0], [1]),
    "tags of bytes that are not ASCII": (["Verlust/ä", "損失", "🙂"] * BULK, range(3 * BULK), [1.5e9], [0.5]),
    "a tag of 127 bytes": (["t" * 127], range(BULK), [1.5e9], [0.5]),
    "a tag of 128 bytes": (["t" * 128], range(BULK), [1.5e9], [0.5]),
    "tags around the longest in bulk": (["t" * n for n in (1023, 1024, 1025)] * BULK, range(3 * BULK), [0], [1]),
    "a very long tag": (["t" * 20_000], range(30), [1.5e9], [0.5]),
    "step 0": (["loss"], [0] * BULK, [1.5e9], [0.5]),
    "negative steps": (["loss"], range(-BULK, 0), [1.5e9], [0.5]),
    "steps around 0": (["loss"], range(-BULK, BULK), [1.5e9], [0.5]),
    "the largest and smallest steps": (["loss"], [2**63 - 1, -(2**63), 2**62, -1] * BULK, [1.5e9], [0.5]),
    "steps at the ends of a varint's sizes": (
        ["loss"],
        [step for size in range(1, 9) for step in (2 ** (7 * size) - 1, 2 ** (7 * size))] * BULK,
        [1.5e9],
        [0.5],
    ),
    "special values": (
        ["loss"],
        range(7 * BULK),
        [1.5e9],
        [np.nan, -np.nan, NAN_WITH_PAYLOAD, np.inf, -np.inf, -0.0, 0.0] * BULK,
    ),
    "values that float32 rounds": (["loss"], range(4 * BULK), [0], [1e39, -1e300, 1e-46, 0.1] * BULK),
    "special times": (["loss"], range(4 * BULK), [0.0, -1.0, np.inf, 1e300] * BULK, [0.5]),
}
each_column = pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)


def rows_of(columns):
    """The rows as tuples, every column being repeated to the longest one's length."""
    columns = [list(column) for column in columns]
    count = max(map(len, columns))
    return list(zip(*[column * count if len(column) == 1 else column for column in columns], strict=True))


def encode(rows, dtype=np.float64):
    encoder = ScalarEncoder()
    tags, steps, wall_times, values = zip(*rows, strict=True)
    numbers = {tag: encoder.register(tag) for tag in dict.fromkeys(tags)}
    return encoder.encode(
        np.array([numbers[tag] for tag in tags]),
        np.array(steps, np.int64),
        np.array(wall_times, np.float64),
        np.array(values, dtype),
    )


@each_column
def test_fast_is_plain(columns):
    rows = rows_of(columns)
    plain = [encode_scalar(*row) for row in rows]
    data, offsets = encode(rows)
    assert bytes(data) == b"".join(plain)
    assert offsets.tolist() == [0, *np.cumsum([len(record) for record in plain]).tolist()]


@each_column
def test_plain_is_what_protobuf_makes(columns):
    for tag, step, wall_time, value in dict.fromkeys(rows_of(columns)):
        # Assigned, because as an argument protobuf takes 0.0 for absent, which a member of a oneof is not.
        point = Summary.Value(tag=tag)
        point.simple_value = value
        event = Event(wall_time=wall_time, step=step, summary=Summary(value=[point]))
        # An Event of time 0 leaves the time out; ours always tells it.
        if wall_time:
            assert encode_scalar(tag, step, wall_time, value) == frame(event.SerializeToString())
        else:
            written = Event.FromString(encode_scalar(tag, step, wall_time, value)[12:-4])
            assert written.SerializeToString() == event.SerializeToString()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.dtype(">f8")])
def test_values_of_any_float_dtype(dtype):
    rows = [("loss", step, 1.5e9, 0.5) for step in range(BULK)]
    assert bytes(encode(rows, dtype)[0]) == b"".join(encode_scalar(*row) for row in rows)


def test_no_points():
    empty = np.zeros(0)
    data, offsets = ScalarEncoder().encode(np.zeros(0, np.int32), np.zeros(0, np.int64), empty, empty)
    assert (bytes(data), offsets.tolist()) == (b"", [0])


def test_an_encoder_takes_new_tags_between_batches():
    encoder = ScalarEncoder()
    steps, times, values = np.arange(BULK), np.ones(BULK), np.ones(BULK)
    for tag in ["aa", "bb", "c", *(f"{i:02}" for i in range(40))]:
        number = encoder.register(tag)
        data, _ = encoder.encode(np.full(BULK, number), steps, times, values)
        assert bytes(data) == b"".join(encode_scalar(tag, step, 1.0, 1.0) for step in range(BULK))


def test_tags_are_numbered_in_order():
    encoder = ScalarEncoder()
    assert [encoder.register(str(i)) for i in range(100)] == list(range(100))


def test_columns_are_left_alone():
    columns = np.zeros(BULK, np.int32), np.arange(BULK), np.ones(BULK), np.ones(BULK)
    encoder = ScalarEncoder()
    encoder.register("loss")
    for column in columns:
        column.flags.writeable = False
    encoder.encode(*columns)


@pytest.mark.parametrize(("step", "wall_time"), [(0, 1.5e9), (7, 1.5e9), (-7, 1.5e9), (2**63 - 1, 0.25)])
def test_encode_summary_event(step, wall_time):
    summary = Summary(value=[Summary.Value(tag="a", simple_value=1.0), Summary.Value(tag="b", simple_value=2.0)])
    event = Event(wall_time=wall_time, step=step, summary=summary)
    assert encode_summary_event(summary.SerializeToString(), step, wall_time) == frame(event.SerializeToString())


def test_encode_an_empty_summary_event():
    event = Event(wall_time=1.0, summary=Summary())
    assert encode_summary_event(b"", 0, 1.0) == frame(event.SerializeToString())


@pytest.mark.parametrize(
    ("number", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (2**63 - 1, "ff" * 8 + "7f"),
        (-1, "ff" * 9 + "01"),
    ],
)
def test_varint(number, encoded):
    assert varint(number).hex() == encoded


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.5, 0.5), (0.1, 0.10000000149011612), (3.5e38, np.inf), (-1e300, -np.inf), (1e-50, 0.0), (np.inf, np.inf)],
)
def test_as_float32(value, rounded):
    assert as_float32(value) == rounded
