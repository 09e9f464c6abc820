"""Files that are made to take a reader long: the work grows with the bytes, and both paths give the same."""

import cProfile
import functools
import tracemalloc

import pytest
from engines import ENGINES, needs_compiled, read_run
from event_data import hostile

from summaries.wire import crc_spans, records, resync

SIZE = 120_000
# Of how many bytes calls are counted, beside half of them: enough that most calls are for claims. What lies in large
# damaged records is searched in blocks, of which there have to be several.
COUNTED = dict.fromkeys(hostile.FILES, 60_000) | {hostile.damaged_records_of_headers: 240_000}
WARMS = 6_000  # a file for what is made once, and then kept
EVERY = pytest.mark.parametrize("file", hostile.FILES, ids=lambda file: file.__name__)


def written(tmp_path, file, size):
    path = tmp_path / f"{size}.tfevents"
    path.write_bytes(file(size))
    return path


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    """(file, engine) → the run, read once for all tests that look at nothing but the result."""

    place = tmp_path_factory.mktemp("read")

    @functools.cache
    def read(file, engine):
        (place / file.__name__).mkdir(exist_ok=True)
        return read_run(written(place / file.__name__, file, SIZE), engine=engine)

    return read


def calls(path, engine):
    """How many functions are called while the file is read, with what stands of it; C's count as well as Python's."""
    profile = cProfile.Profile()  # counts in C: a function of Python's for each call takes several times the reading
    with profile:
        run = read_run(path, engine=engine)
        assert all(len(series.standing) == len(series) for series in run.scalars.values())
        assert run.images is not None
    return sum(entry.callcount for entry in profile.getstats())


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_twice_the_bytes_are_at_most_twice_the_calls(tmp_path, file, engine):
    warm, *paths = [written(tmp_path, file, size) for size in (WARMS, COUNTED[file] // 2, COUNTED[file])]
    calls(warm, engine)
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
    size = 200_000
    read_run(written(tmp_path, file, size), engine=engine)
    claims = size / 12  # at most, and each is looked up at two places, 512 bytes from what was read before at most
    assert sum(searched) <= 2 * size
    assert sum(checksummed) <= 8 * size + 1024 * claims


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_kept_of_restarts_is_no_longer_than_the_points(reading, file, engine):
    run = reading(file, engine)
    for tag, series in run.scalars.items():
        epochs = run._points.epochs(run._numbers[tag])
        assert len(epochs.numbers) == len(epochs.firsts) <= len(series)
        assert len(series.restarts) <= 2 * len(series)


@EVERY
@pytest.mark.parametrize("engine", ENGINES)
def test_memory_grows_with_the_bytes(tmp_path, file, engine):
    path = written(tmp_path, file, SIZE)
    read_run(written(tmp_path, file, WARMS), engine=engine)
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
def test_compiled_equals_plain(reading, file):
    compiled, plain = (reading(file, way) for way in ("compiled", "plain"))
    assert (compiled.tags, compiled.faults, compiled.records) == (plain.tags, plain.faults, plain.records)
    for tag, series in compiled.scalars.items():
        assert series.step.tolist() == plain.scalars[tag].step.tolist()
        assert series.restarts == plain.scalars[tag].restarts
    assert list(compiled.images) == list(plain.images)
    for tag, items in compiled.images.items():
        assert items._locations.tolist() == plain.images[tag]._locations.tolist()
