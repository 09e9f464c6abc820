"""Files that are made to take a reader long: the work grows with the bytes, and both paths give the same."""

import sys
import tracemalloc

import pytest
from engines import ENGINES, needs_compiled, read_run
from event_data import hostile

from summaries.wire import crc_spans, records, resync

SIZE = 120_000
EVERY = pytest.mark.parametrize("file", hostile.FILES, ids=lambda file: file.__name__)


def written(tmp_path, file, size):
    path = tmp_path / f"{size}.tfevents"
    path.write_bytes(file(size))
    return path


def calls(path, engine):
    """How many functions are called while the file is read, with what stands of it; C's count as well as Python's."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    old = sys.getprofile()
    sys.setprofile(profile)
    try:
        run = read_run(path, engine=engine)
        assert all(len(series.standing) == len(series) for series in run.scalars.values())
        assert run.images is not None
    finally:
        sys.setprofile(old)
    return count


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_twice_the_bytes_are_at_most_twice_the_calls(tmp_path, file, engine):
    warm, *paths = [written(tmp_path, file, size) for size in (SIZE // 20, SIZE // 2, SIZE)]
    calls(warm, engine)  # what is made once is made now
    one, two = (calls(path, engine) for path in paths)
    assert two <= 2.2 * one + 1000


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_each_byte_is_checksummed_and_searched_a_few_times(tmp_path, monkeypatch, file, engine):
    checksummed, searched = [], []
    sound_headers, extend = resync._sound_headers, crc_spans.extend
    crc = records.crc32c
    monkeypatch.setattr(records, "crc32c", lambda data: checksummed.append(len(data)) or crc(data))
    monkeypatch.setattr(crc_spans, "extend", lambda crc, data: checksummed.append(len(data)) or extend(crc, data))
    monkeypatch.setattr(resync, "_sound_headers", lambda b, limit: searched.append(len(b)) or sound_headers(b, limit))
    size = 400_000
    read_run(written(tmp_path, file, size), engine=engine)
    claims = size / 12  # at most, and each is looked up at two places, 512 bytes from what was read before at most
    assert sum(searched) <= 2 * size
    assert sum(checksummed) <= 8 * size + 1024 * claims


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_kept_of_restarts_is_no_longer_than_the_points(tmp_path, file, engine):
    run = read_run(written(tmp_path, file, SIZE), engine=engine)
    for tag, series in run.scalars.items():
        epochs = run._points.epochs(run._numbers[tag])
        assert len(epochs.numbers) == len(epochs.firsts) <= len(series)
        assert len(series.restarts) <= 2 * len(series)


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_memory_grows_with_the_bytes(tmp_path, file, engine):
    path = written(tmp_path, file, SIZE)
    read_run(path, engine=engine)  # what is made once is made now
    tracemalloc.start()
    try:
        run = read_run(path, engine=engine)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.files
    assert peak < 80 * SIZE


@EVERY
@needs_compiled
def test_compiled_equals_plain(tmp_path, file):
    path = written(tmp_path, file, SIZE)
    compiled, plain = (read_run(path, engine=way) for way in ("compiled", "plain"))
    assert (compiled.tags, compiled.faults, compiled.records) == (plain.tags, plain.faults, plain.records)
    for tag, series in compiled.scalars.items():
        assert series.step.tolist() == plain.scalars[tag].step.tolist()
        assert series.restarts == plain.scalars[tag].restarts
    assert list(compiled.images) == list(plain.images)
    for tag, items in compiled.images.items():
        assert items._locations.tolist() == plain.images[tag]._locations.tolist()
