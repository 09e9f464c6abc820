"""Records by the batch: where a batch ends, what it waits for, and what it says of itself on the way."""

import pytest
from helpers import chunks_of
from strategies import sound_header

from summaries.errors import Fault, FaultKind
from summaries.wire import batches
from summaries.wire.batches import Batch, BatchParser, whole_records
from summaries.wire.records import Record, frame

DATA = [b"one", b"", b"three" * 30, b"\0" * 8]
WHOLE = b"".join(map(frame, DATA))
OFFSETS = [0, 19, 35, 201]


def found(buffer):
    """The offsets of the whole records in the buffer, and their data."""
    batch = whole_records(buffer)
    assert len(batch) == len(batch.offsets)
    return batch.offsets, batch.data


def test_whole_records():
    assert found(WHOLE) == (OFFSETS, DATA)
    assert found(b"") == ([], [])
    assert found(frame(b"")[:-1]) == ([], [])


@pytest.mark.parametrize("cut", range(1, 24))
def test_a_record_that_is_not_whole_is_left(cut):
    assert found(WHOLE[:-cut]) == (OFFSETS[:-1], DATA[:-1])


@pytest.mark.parametrize("record", range(len(DATA)))
@pytest.mark.parametrize("at", [0, 8, -1], ids=["length", "length's checksum", "data's checksum"])
def test_records_end_before_the_first_damaged_one(record, at):
    data = bytearray(WHOLE)
    stop = (*OFFSETS, len(WHOLE))[record + 1]
    data[OFFSETS[record] + at if at >= 0 else stop + at] ^= 1
    assert found(bytes(data)) == (OFFSETS[:record], DATA[:record])


ALIKE = [bytes([i]) * 50 for i in range(100)]  # these are checked together
MIXED = [*ALIKE[:80], b"short", bytes(70_000), *ALIKE[80:]]


@pytest.mark.parametrize("data", [ALIKE, MIXED], ids=["alike", "mixed"])
@pytest.mark.parametrize("record", [0, 1, 80, 81, 99])
@pytest.mark.parametrize("at", [0, 8, 12, 40, -1], ids=["length", "length's checksum", "first", "middle", "checksum"])
def test_damage_among_many_records_of_one_length(monkeypatch, data, record, at):
    monkeypatch.setattr(batches, "_MANY", 64)
    frames = [bytearray(frame(one)) for one in data]
    frames[record][min(at, len(frames[record]) - 1)] ^= 1
    batch = whole_records(b"".join(frames))
    assert batch.data == data[:record]
    assert len(batch) == record
    assert len(whole_records(b"".join(map(frame, data)))) == len(data)


def test_parts_of_a_batch():
    batch = whole_records(WHOLE, 1000, 40)
    for whole in (batch, Batch.of(40, list(map(Record, batch.offsets, batch.data)))):
        part = whole.part(1, 3)
        assert (part.number, part.data, len(part)) == (41, DATA[1:3], 2)
        assert part.offsets == [1019, 1035]
        assert (part.stop, whole.stop) == (1000 + OFFSETS[3], 1000 + len(WHOLE))
        cut = [part.buffer[first : first + size] for first, size in zip(part.starts, part.sizes, strict=True)]
        assert cut == part.data
    assert repr(batch) == "<Batch of 4 records from 40 on>"


@pytest.mark.parametrize("size", [1, 7, 20, 300, None])
@pytest.mark.parametrize(("offset", "number"), [(0, 0), (1000, 40)])
def test_offsets_and_numbers_go_on(size, offset, number):
    parser = BatchParser(offset, number)
    items = [item for chunk in chunks_of(WHOLE, size) for item in parser.feed(chunk)]
    items += parser.close()
    assert all(isinstance(item, Batch) for item in items)
    assert [data for item in items for data in item.data] == DATA
    assert [place for item in items for place in item.offsets] == [offset + place for place in OFFSETS]
    assert [item.number + i for item in items for i in range(len(item.data))] == [number + i for i in range(4)]
    assert (parser.number, parser.settled) == (number + 4, offset + len(WHOLE))


def test_what_is_settled_and_what_waits():
    parser = BatchParser(1000)
    (batch,) = parser.feed(WHOLE + WHOLE[:25])
    assert batch.data == [*DATA, b"one"]
    assert parser.settled == 1000 + len(WHOLE) + 19
    (tail,) = parser.close()
    assert (tail.kind, tail.offset, tail.record) == (FaultKind.UNFINISHED_TAIL, 1000 + len(WHOLE) + 19, 5)


def test_after_damage_batches_go_on():
    damaged = bytearray(frame(b"damaged"))
    damaged[-1] ^= 1
    parser = BatchParser(1000, 40)
    items = [*parser.feed(WHOLE + damaged + WHOLE + WHOLE), *parser.close()]
    (fault,) = (item for item in items if isinstance(item, Fault))
    batches = [item for item in items if isinstance(item, Batch)]
    assert (fault.kind, fault.offset, fault.record) == (FaultKind.DAMAGED_PAYLOAD, 1000 + len(WHOLE), 44)
    assert [data for batch in batches for data in batch.data] == DATA * 3
    behind = [*OFFSETS, *(len(WHOLE) + len(damaged) + place for place in OFFSETS)]
    behind += [2 * len(WHOLE) + len(damaged) + place for place in OFFSETS]
    assert [place for batch in batches for place in batch.offsets] == [1000 + place for place in behind]
    assert [batch.number + i for batch in batches for i in range(len(batch.data))] == list(range(40, 52))
    assert parser.settled == 1000 + 3 * len(WHOLE) + len(damaged)


def test_when_no_fault_has_come_for_a_while_batches_are_large_again():
    damaged = bytearray(frame(b"damaged"))
    damaged[-1] ^= 1
    parser = BatchParser()
    calm = []
    for _ in range(2):
        assert [type(item) for item in parser.feed(damaged + frame(bytes(1 << 15)))] == [Fault, Batch]
        calm.append(parser.calm)
        list(parser.feed(frame(bytes(1 << 15))))
        calm.append(parser.calm)
        (batch,) = parser.feed(WHOLE)
        assert batch.data == DATA
    assert calm == [False, True] * 2


def test_every_record_comes_once_between_several_faults_and_at_the_end():
    damaged = bytearray(frame(b"damaged"))
    damaged[-1] ^= 1
    cut = frame(bytes(2 << 20))[:-1]  # with this unfinished, the parser that reads damage waits
    parser = BatchParser()
    stream = 3 * (WHOLE + bytes(damaged)) + 4 * frame(bytes(1 << 15)) + cut
    items = [*parser.feed(stream), *parser.close()]
    kept = [data for item in items if isinstance(item, Batch) for data in item.data]
    assert kept == DATA * 3 + [bytes(1 << 15)] * 4
    assert [item.kind for item in items if isinstance(item, Fault)] == [
        *[FaultKind.DAMAGED_PAYLOAD] * 3,
        FaultKind.UNFINISHED_TAIL,
    ]
    assert parser.number == len(kept)


def test_all_that_is_left_comes_at_the_end():
    claimed = sound_header(3 << 20) + WHOLE + b"".join(frame(bytes([i]) * 1000) for i in range(200))
    parser = BatchParser()
    items = [*parser.feed(claimed), *parser.close()]
    assert sum(len(item) for item in items if isinstance(item, Batch)) == 4 + 200


def test_a_large_record_is_awaited_and_found():
    large = frame(bytes(3 << 20))
    parser = BatchParser()
    items = [item for chunk in chunks_of(WHOLE + large + WHOLE, 1 << 18) for item in parser.feed(chunk)]
    items += parser.close()
    assert [len(data) for item in items for data in item.data] == [*map(len, DATA), 3 << 20, *map(len, DATA)]


def test_several_hundred_thousand_bytes_in_a_record():
    """Lengths beyond the table of their checksums."""
    data = [bytes(size) for size in (1, 65_535, 65_536, 300_000)]
    assert whole_records(b"".join(map(frame, data))).data == data


STREAM = frame(b"one") + frame(b"two") + bytes(30) + frame(b"three") + b"cut"


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("stop", "items", "stopped"),
    [
        (0, 0, 0),
        (1, 1, 19),
        (19, 1, 19),
        (20, 2, 38),
        (38, 2, 38),
        (39, 3, 68),
        (68, 3, 68),
        (69, 4, 89),
        (90, 5, 92),
        (93, 5, None),
    ],
)
def test_only_what_begins_before_a_stop(size, stop, items, stopped):
    def parsed(parser):
        for start in range(0, len(STREAM), size):
            yield from parser.feed(STREAM[start : start + size])
        yield from parser.close()

    def flat(found):
        for item in found:
            yield from [item] if isinstance(item, Fault) else zip(item.offsets, item.data, strict=True)

    parser = BatchParser(stop=stop)
    found = list(flat(parsed(parser)))
    assert found == list(flat(parsed(BatchParser())))[:items]
    assert parser.stopped == stopped
    assert parser.number == sum(not isinstance(item, Fault) for item in found)
