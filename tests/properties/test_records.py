"""What holds for all bytes, however they are cut, and for all records, whatever is damaged beside them."""

import tracemalloc

from event_data.records import chunked, damaged_streams, hostile_bytes, payloads
from helpers import Record, parse
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries.errors import Fault
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES, frame

examples = settings(max_examples=120, deadline=None)  # what a parser does wrong shows within tens of them


def length_of(item):
    return item.length if isinstance(item, Fault) else HEADER_BYTES + len(item.data) + FOOTER_BYTES


@examples
@given(st.lists(payloads()), st.data())
def test_round_trip(datas, data):
    stream = b"".join(map(frame, datas))
    items = parse(data.draw(chunked(stream)))
    assert all(isinstance(item, Record) for item in items)
    assert [item.data for item in items] == datas


@examples
@given(hostile_bytes(), st.data())
def test_any_chunking_gives_the_same(stream, data):
    assert parse(data.draw(chunked(stream))) == parse([stream])


@examples
@given(hostile_bytes(), st.data(), st.integers(1, 300))
def test_any_chunking_gives_the_same_with_a_low_bound(stream, data, bound):
    whole = parse([stream], max_record_bytes=bound)
    assert parse(data.draw(chunked(stream)), max_record_bytes=bound) == whole
    assert all(len(item.data) <= bound for item in whole if isinstance(item, Record))


@examples
@given(hostile_bytes())
def test_items_tile_the_stream(stream):
    """Every byte is told of once: as part of a record or of a fault."""
    offset = 0
    for records_before, item in counted(parse([stream])):
        assert item.offset == offset
        assert length_of(item) > 0
        offset += length_of(item)
        if isinstance(item, Fault):
            assert item.record == records_before
        else:
            assert stream[item.offset : offset] == frame(item.data)
    assert offset == len(stream)


def counted(items):
    records = 0
    for item in items:
        yield records, item
        records += isinstance(item, Record)


@examples
@given(damaged_streams(), st.data())
def test_undamaged_records_are_found(damaged, data):
    found = {(item.offset, item.data) for item in parse(data.draw(chunked(damaged.data))) if isinstance(item, Record)}
    assert set(damaged.survivors) <= found


@examples
@given(damaged_streams())
def test_damage_is_never_passed_over(damaged):
    """Where there is no fault, the bytes are records and nothing else."""
    items = parse([damaged.data])
    if all(isinstance(item, Record) for item in items):
        assert b"".join(frame(item.data) for item in items) == damaged.data


@settings(max_examples=60, deadline=None)
@given(hostile_bytes(), st.integers(1, 40))
def test_memory_is_a_small_multiple_of_the_input(piece, times):
    stream = piece * times
    tracemalloc.start()
    try:
        items = parse([stream])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(stream) + 1000 * len(items) + SEARCH_BYTES


SEARCH_BYTES = 2_000_000  # NumPy's temporaries while a block of 32 KiB is searched for headers, and its tables
