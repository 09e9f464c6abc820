"""Framing, both ways, and what a parser says of every kind of damage."""

import tracemalloc

import numpy as np
import pytest
from event_data.records import sound_header
from helpers import Record, chunks_of, one_by_one, parse

from summaries.errors import Fault
from summaries.wire.crc32c import crc32c, masked_crc32c, unmask
from summaries.wire.records import MAX_RECORD_BYTES, RecordParser, frame, length_crc

# (data, its record). The checksums are tensorboard's.
RECORDS = {
    "the world's first": (
        bytes.fromhex("09 0000803899d6d741 1a0d") + b"brain.Event:2",
        bytes.fromhex("1800000000000000 a37f4b22 09 0000803899d6d741 1a0d") + b"brain.Event:2\x12\x4b\x36\xab",
    ),
    "empty": (b"", bytes.fromhex("0000000000000000 29039807 d8ea82a2")),
    "a zero byte": (b"\0", bytes.fromhex("0100000000000000 0175de41 00 d28f2549")),
    "three bytes": (b"abc", bytes.fromhex("0300000000000000 b099490e 616263 6e57f121")),
    "zeros": (bytes(32), bytes.fromhex("2000000000000000 29eda950") + bytes(32) + bytes.fromhex("faffd70f")),
    "a length of two bytes": (
        bytes(range(256)) + b"more",
        bytes.fromhex("0401000000000000 4475e2da") + bytes(range(256)) + b"more" + bytes.fromhex("2ba1b452"),
    ),
    "a length of three bytes": (
        b"x" * 70000,
        bytes.fromhex("7011010000000000 45f346f4") + b"x" * 70000 + bytes.fromhex("2094f7f8"),
    ),
}
each_record = pytest.mark.parametrize(("data", "framed"), RECORDS.values(), ids=RECORDS)
each_way = pytest.mark.parametrize("size", [None, 1], ids=["whole", "byte by byte"])


@each_record
def test_frame(data, framed):
    assert frame(data) == framed


def pieces(data):
    """Byte by byte; of the middle of what is long, more at once: there, a byte is like the one before."""
    if len(data) < 1000:
        return chunks_of(data, 1)
    return [*chunks_of(data[:300], 1), *chunks_of(data[300:-300], 701), *chunks_of(data[-300:], 1)]


each_cut = pytest.mark.parametrize("cut", [lambda data: [data], pieces], ids=["whole", "byte by byte"])


@each_record
@each_cut
def test_parse(data, framed, cut):
    assert parse(cut(framed)) == [Record(0, data)]


@each_record
@each_cut
@pytest.mark.parametrize("trailing", [b"\x05", b"\0" * 11], ids=["a byte", "zeros"])
def test_parse_with_trailing_data(data, framed, cut, trailing):
    """What comes behind a record that is whole does not hold it up."""
    parser = RecordParser()
    items = []
    for chunk in cut(framed + trailing):
        parser.feed(chunk)
        items += one_by_one(parser.items())
    assert items == [Record(0, data)]
    assert parser.offset == len(framed)
    assert parser.unsettled_bytes == len(trailing)


def test_records_one_behind_the_other():
    framed = [framed for _, framed in RECORDS.values()]
    expected = [Record(sum(map(len, framed[:i])), data) for i, data in enumerate(data for data, _ in RECORDS.values())]
    assert parse([b"".join(framed)]) == expected


def test_nothing_is_nothing():
    assert parse([]) == parse([b""]) == parse([b"", b""]) == []


ONE, TWO, THREE = frame(b"one"), frame(b"two, which will be hit!!"), frame(b"three")
STREAM = ONE + TWO + THREE
AT, BEHIND = len(ONE), len(ONE + TWO)


def flipped(at):
    return STREAM[:at] + bytes([STREAM[at] ^ 1]) + STREAM[at + 1 :]


LONG, LENGTHY = sound_header(2**30), sound_header(2**40)

# What is left of STREAM, and what a parser says of it: a record's data, or the text of a fault.
DAMAGES = {
    "a flip in the length": (
        flipped(AT),
        b"one",
        "length checksum mismatch: got 0x224b7fa3, want 0x2808f18b - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "a flip in the upper half of the length": (
        flipped(AT + 7),
        b"one",
        "length checksum mismatch: got 0x224b7fa3, want 0x1c525af4 - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "a flip in the length's checksum": (
        flipped(AT + 8),
        b"one",
        "length checksum mismatch: got 0x224b7fa2, want 0x224b7fa3 - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "a flip in the data": (
        flipped(AT + 12),
        b"one",
        "data checksum mismatch: got 0x63c382fa, want 0xe6e0d795 - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "a flip in the data's checksum": (
        flipped(BEHIND - 4),
        b"one",
        "data checksum mismatch: got 0x63c382fb, want 0x63c382fa - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "bytes deleted from the data": (
        STREAM[: AT + 20] + STREAM[AT + 24 :],
        b"one",
        "a whole record starts inside another's data: got 36 bytes, want 40 bytes - at record 1, offset 19 (36 bytes)",
        b"three",
    ),
    "all data deleted": (
        STREAM[: AT + 12] + STREAM[BEHIND:],
        b"one",
        "a whole record starts inside another's data: got 12 bytes, want 40 bytes - at record 1, offset 19 (12 bytes)",
        b"three",
    ),
    "bytes inserted into the data": (
        STREAM[: AT + 20] + b"????" + STREAM[AT + 20 :],
        b"one",
        "data checksum mismatch: got 0x21217469, want 0x53d93e0a - at record 1, offset 19 (40 bytes)",
        "length checksum mismatch: got 0x00000000, want 0x95c35fab - at record 1, offset 59 (4 bytes)",
        b"three",
    ),
    "bytes inserted between records": (
        STREAM[:AT] + b"garbage of 19 bytes" + STREAM[AT:],
        b"one",
        "length checksum mismatch: got 0x3120666f, want 0x22aa032f - at record 1, offset 19 (19 bytes)",
        b"two, which will be hit!!",
        b"three",
    ),
    "a byte inserted in front": (
        b"!" + STREAM,
        "length checksum mismatch: got 0x4999b000, want 0x615bcafb - at record 0, offset 0 (1 byte)",
        b"one",
        b"two, which will be hit!!",
        b"three",
    ),
    "a record zeroed": (
        STREAM[:AT] + bytes(40) + STREAM[BEHIND:],
        b"one",
        "zero bytes: got 40 of them, want a record - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "zeros in the data": (
        STREAM[: AT + 12] + bytes(24) + STREAM[BEHIND - 4 :],
        b"one",
        "data checksum mismatch: got 0x63c382fa, want 0x7c5ff4cf - at record 1, offset 19 (40 bytes)",
        b"three",
    ),
    "zeros from inside the data to the end": (
        STREAM[: AT + 20] + bytes(100),
        b"one",
        "data checksum mismatch: got 0x00000000, want 0xfccb867d - at record 1, offset 19 (40 bytes)",
        "zero bytes: got 80 of them, want a record - at record 1, offset 59 (80 bytes)",
    ),
    "zeros behind the end": (
        STREAM + bytes(4096),
        b"one",
        b"two, which will be hit!!",
        b"three",
        "zero bytes: got 4096 of them, want a record - at record 3, offset 80 (4096 bytes)",
    ),
    "zeros and then something else": (
        ONE + bytes(100) + b"\1",
        b"one",
        "length checksum mismatch: got 0x00000000, want 0x07980329 - at record 1, offset 19 (101 bytes)",
    ),
    "a huge length, rightly checksummed": (
        ONE + LONG + TWO + THREE,
        b"one",
        (
            "a whole record starts inside another's data: got 12 bytes, want 1073741840 bytes"
            " - at record 1, offset 19 (12 bytes)"
        ),
        b"two, which will be hit!!",
        b"three",
    ),
    "a huge length at the end": (
        STREAM + LONG + b"data",
        b"one",
        b"two, which will be hit!!",
        b"three",
        "the bytes end inside a record: got 16 bytes, want 1073741840 bytes - at record 3, offset 80 (16 bytes)",
    ),
    "a length that no record has, rightly checksummed": (
        ONE + LENGTHY + TWO + THREE,
        b"one",
        "length too large: got 1099511627776 bytes, want at most 2147483647 bytes - at record 1, offset 19 (12 bytes)",
        b"two, which will be hit!!",
        b"three",
    ),
    "two records hit": (
        flipped(AT + 12)[:BEHIND] + b"\6" + THREE[1:] + ONE,
        b"one",
        "data checksum mismatch: got 0x63c382fa, want 0xe6e0d795 - at record 1, offset 19 (40 bytes)",
        "length checksum mismatch: got 0x3e04b2ea, want 0x37d56973 - at record 1, offset 59 (21 bytes)",
        b"one",
    ),
    "a record lost, and its neighbour doubled": (ONE + THREE + THREE, b"one", b"three", b"three"),
    "nothing but noise": (
        b"no record, none, none at all",
        "length checksum mismatch: got 0x6e202c64, want 0x1fc87ebd - at record 0, offset 0 (28 bytes)",
    ),
}


def told(items):
    return tuple(str(item) if isinstance(item, Fault) else item.data for item in items)


@each_way
@pytest.mark.parametrize("case", DAMAGES.values(), ids=DAMAGES)
def test_damage(case, size):
    data, *expected = case
    assert told(parse(chunks_of(data, size))) == tuple(expected)


@each_way
@pytest.mark.parametrize("cut", range(1, len(TWO)))
def test_tail_cut_at_every_byte(cut, size):
    want = 12 if cut < 12 else len(TWO)
    got = "1 byte" if cut == 1 else f"{cut} bytes"
    fault = f"the bytes end inside a record: got {got}, want {want} bytes - at record 1, offset 19 ({got})"
    assert told(parse(chunks_of((ONE + TWO)[: AT + cut], size))) == (b"one", fault)


@pytest.mark.parametrize("cut", range(1, len(TWO)))
def test_an_unfinished_record_is_awaited(cut):
    """Nothing is wrong with the bytes of a file that is still being written."""
    parser = RecordParser()
    parser.feed(TWO[:cut])
    assert one_by_one(parser.items()) == []
    parser.feed(TWO[cut:])
    assert one_by_one(parser.items()) == [Record(0, b"two, which will be hit!!")]


@each_way
def test_max_record_bytes(size):
    """A record of just this length is one; a byte more is damage."""
    data = frame(b"12345") + frame(b"123456") + frame(b"1234")
    fault = "length too large: got 6 bytes, want at most 5 bytes - at record 1, offset 21 (22 bytes)"
    assert told(parse(chunks_of(data, size), max_record_bytes=5)) == (b"12345", fault, b"1234")


@pytest.mark.parametrize("bound", [0, -1, 2**32])
def test_max_record_bytes_refused(bound):
    with pytest.raises(ValueError, match=rf"^max_record_bytes must be positive and below 2\*\*32, got {bound}$"):
        RecordParser(max_record_bytes=bound)


def test_nothing_is_allocated_for_a_claim():
    parser = RecordParser()
    tracemalloc.start()
    try:
        for chunk in chunks_of(sound_header(MAX_RECORD_BYTES) + b"data", 1):
            parser.feed(chunk)
            assert one_by_one(parser.items()) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 16


MEGABYTES = 4 << 20
# Streams of a few items each, so that what they take is the bytes' own.
LARGE = {
    "noise": np.random.default_rng(0).bytes(MEGABYTES),
    "zeros": bytes(MEGABYTES),
    "a record": frame(bytes(MEGABYTES)),
    "a record of noise, damaged": frame(np.random.default_rng(0).bytes(MEGABYTES))[:-1] + b"!",
    "an unfinished record": sound_header(MAX_RECORD_BYTES) + bytes(MEGABYTES),
}


@pytest.mark.parametrize("stream", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("size", [None, 1 << 16], ids=["whole", "in chunks"])
def test_memory_is_a_small_multiple_of_the_input(stream, size):
    tracemalloc.start()
    try:
        assert len(parse(chunks_of(stream, size))) == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(stream)


def test_a_sound_header_that_overlaps_a_record():
    """Eight bytes of damage can be a length whose checksum is the beginning of the record behind them."""
    size, claim = next((size, claim) for size in range(100) if (claim := length_of_checksum(size)) <= MAX_RECORD_BYTES)
    record = frame(bytes(size))
    data = claim.to_bytes(8, "little") + record
    assert data.startswith(sound_header(claim))
    assert Record(8, bytes(size)) in parse([data])


def length_of_checksum(crc):
    """The length below 2**32 whose masked checksum is `crc`. A checksum is affine in the length's bits: elimination."""
    zero = crc32c(bytes(8))
    rows = [(crc32c((1 << bit).to_bytes(8, "little")) ^ zero, 1 << bit) for bit in range(32)]
    rest, length = unmask(crc) ^ zero, 0
    for bit in reversed(range(32)):
        pivot = next(row for row in rows if row[0] >> bit & 1)
        rows.remove(pivot)
        rows = [(row[0] ^ pivot[0], row[1] ^ pivot[1]) if row[0] >> bit & 1 else row for row in rows]
        if rest >> bit & 1:
            rest, length = rest ^ pivot[0], length ^ pivot[1]
    return length


def test_feed_after_close():
    parser = RecordParser()
    parser.close()
    message = r"^feed\(\) after close\(\): a closed parser takes no more bytes; make a new one$"
    with pytest.raises(ValueError, match=message):
        parser.feed(b"")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_feed_takes_any_bytes(kind):
    assert parse([kind(ONE)]) == [Record(0, b"one")]


def test_a_fed_buffer_may_be_used_again():
    buffer = bytearray(ONE)
    parser = RecordParser()
    parser.feed(buffer)
    buffer[:] = bytes(len(buffer))
    assert one_by_one(parser.items()) == [Record(0, b"one")]


@pytest.mark.parametrize("length", [0, 1, 24, 2**31 - 1, 2**64 - 1])
def test_length_crc(length):
    assert length_crc(length) == masked_crc32c(length.to_bytes(8, "little"))
