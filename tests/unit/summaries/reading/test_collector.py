"""What one run's reader takes by the scanner, what it parses, and where the two change."""

import functools
import os
import time
from contextlib import closing

import numpy as np
import pytest
from engines import ENGINES, needs_compiled, read_run, using

from summaries import Event, Fault, SessionLog, Summary
from summaries.execution.sharing import Job
from summaries.native.calls import address
from summaries.reading import columns, reader
from summaries.reading.collector import Collector
from summaries.storage.local import LOCAL, LocalFile
from summaries.wire.index import Rows
from summaries.wire.records import frame

BOTH = pytest.mark.parametrize("engine", ENGINES)
BUFFER_BYTES = reader._BUFFER_BYTES


def scalar(tag, step, value=1.0):
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
    return frame(Event(step=step, wall_time=1.0, summary=summary).SerializeToString())


@functools.cache
def losses(count):
    """The records of so many scalars, which take longer to make than to read."""
    return [scalar("loss", step) for step in range(count)]


@functools.cache
def image_record(size):
    """A record of exactly so many bytes, with an image in it."""

    def record(encoded_bytes, tag):
        image = Summary.Image(encoded_image_string=bytes(encoded_bytes))
        summary = Summary(value=[Summary.Value(tag=tag, image=image)])
        return frame(Event(step=1, wall_time=1.0, summary=summary).SerializeToString())

    # A length of lengths may take a byte more where the image does: longer tags make up for it.
    around = len(record(size, "i")) - size
    attempts = (record(size - less, "i" * letters) for letters in range(1, 9) for less in range(around, around + 9))
    return next(made for made in attempts if len(made) == size)


def collected(path, engine, monkeypatch):
    """The collector after it has read the file, and how many records came to it."""
    parsed = []
    add = Rows.add
    monkeypatch.setattr(Rows, "add", lambda self, data, *at: parsed.append(data) or add(self, data, *at))
    with using(engine):
        collector = Collector()
    collector.read(LOCAL.discover(str(path))[0])
    return collector, len(parsed)


@BOTH
@pytest.mark.parametrize("size", [BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 3 * BUFFER_BYTES + 5])
def test_a_record_as_large_as_the_buffer_or_larger(tmp_path, monkeypatch, engine, size):
    before, after = 10, 20_000
    path = tmp_path / "a.tfevents"
    records = losses(before + after)
    path.write_bytes(b"".join((*records[:before], image_record(size), *records[before:])))
    collector, parsed = collected(path, engine, monkeypatch)
    assert collector.faults == []
    assert collector.records == [1 + before + after]
    assert collector.points.columns()[0].step.tolist() == [*range(before + after)]
    assert [len(locations) for locations in collector.locations] == [1]
    # The first of each tag, the large record, and the rest of the stretch that was read with it.
    assert engine == "plain" or parsed < 5000


@BOTH
def test_a_large_record_that_is_damaged(tmp_path, monkeypatch, engine):
    path = tmp_path / "a.tfevents"
    large = bytearray(image_record(2 * BUFFER_BYTES + 100))
    large[-1] ^= 1
    records = losses(20_010)
    path.write_bytes(b"".join((records[0], large, *records[1:])))
    collector, parsed = collected(path, engine, monkeypatch)
    (fault,) = collector.faults
    assert (fault.kind, fault.offset, fault.length) == ("damaged payload", len(records[0]), len(large))
    assert collector.points.columns()[0].step.tolist() == [*range(20_010)]
    assert engine == "plain" or parsed < 5000


@needs_compiled
def test_the_scanner_goes_on_when_no_fault_has_come_for_a_while(tmp_path, monkeypatch):
    """Many faults close together are one stretch for the plain parser, and behind them the scanner takes over again."""
    damaged = bytearray(scalar("loss", 7))
    damaged[-1] ^= 1
    stretch = b"".join(scalar("loss", step) + damaged for step in range(100))
    path = tmp_path / "a.tfevents"
    calm = b"".join(scalar("loss", step) for step in range(30_000))
    path.write_bytes(stretch + calm + stretch + calm)
    collector, parsed = collected(path, "compiled", monkeypatch)
    assert len(collector.faults) == 200
    assert collector.points.columns(copy=True)[0].step.tolist() == 2 * [*range(100), *range(30_000)]
    assert parsed < 12_000
    reads = []
    plainly = reader.ScannedReader._plainly
    monkeypatch.setattr(reader.ScannedReader, "_plainly", lambda *args: reads.append(args[2]) or plainly(*args))
    collector.read(LOCAL.discover(str(path))[0])
    assert len(reads) == 2  # for each stretch


class Watched(LocalFile):
    """A file that notes how much further into a page its parts lay than they are to lie; it fails from an offset on."""

    def __init__(self, path, fails_from=1 << 30):
        super().__init__(path)
        self.shifts, self.fails_from = [], fails_from

    def read_into(self, start, buffer):
        if start >= self.fails_from:
            raise OSError(5, "Input/output error")
        self.shifts.append((start - address(np.frombuffer(buffer, np.uint8))) % reader._PAGE_BYTES)
        return super().read_into(start, buffer)


def long_file(tmp_path):
    """A file of several buffers."""
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"".join(losses(200_000)))
    return path


@needs_compiled
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("start", [False, True])
def test_what_is_read_lies_in_its_page_as_in_the_file(tmp_path, large, start):
    """Else a processor may copy it five times as slowly."""
    path = tmp_path / "a.tfevents"
    records = 40 * [image_record(300_001)] if large else losses(200_000)
    path.write_bytes(b"".join(records))
    first = len(records[0]) if start else 0
    with using("compiled"), Watched(path) as opened:
        found = list(reader.reader(events=False).read_from(opened, first))
    assert sum(index.records for index in found) == len(records) - start
    assert len(opened.shifts) > path.stat().st_size / BUFFER_BYTES
    assert set(opened.shifts) == {0}


@needs_compiled
def test_an_error_amid_a_file_is_raised_after_what_was_read(tmp_path):
    path = long_file(tmp_path)
    found = []
    with using("compiled"), Watched(path, 2 * BUFFER_BYTES) as opened:
        items = reader.reader(events=False).read_from(opened)
        with pytest.raises(OSError, match="Input/output error"):
            found.extend(items)
    assert sum(index.records for index in found) > BUFFER_BYTES // len(scalar("loss", 1))
    assert len(read_run(path).scalars["loss"]) == 200_000  # with the same memory


class Growing(LocalFile):
    """A file to which its writer adds when its end was seen."""

    def __init__(self, path, rest):
        super().__init__(path)
        self.rest = rest

    def _grow(self, got):
        if not got and self.rest:
            with open(self.name_of, "ab") as file:
                file.write(self.rest.pop(0))
        return got

    def read_into(self, start, buffer):
        return self._grow(super().read_into(start, buffer))

    def read_range(self, start, size):
        return self._grow(super().read_range(start, size))


@BOTH
@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
def test_a_file_that_grows_in_the_middle_of_a_record_has_nothing_but_a_tail(tmp_path, engine, pieces):
    path = tmp_path / "a.tfevents"
    before, large = b"".join(losses(100)), image_record(200_000)
    size = len(large) // (pieces + 1)
    path.write_bytes(before + large[:size])
    rest = [large[size * i : size * (i + 1)] for i in range(1, pieces)]
    with using(engine), Growing(path, rest) as opened:
        opened.name_of = path
        items = list(reader.reader(events=False).read_from(opened))
    assert [str(item.kind) for item in items if isinstance(item, Fault)] == ["unfinished tail"]
    assert sum(item.records for item in items if not isinstance(item, Fault)) == 100


@needs_compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_was_forked_amid_a_read_says_so_and_does_not_hang(tmp_path):
    path = long_file(tmp_path)
    with using("compiled"), LocalFile(path) as opened, closing(reader.reader(events=False).read_from(opened)) as items:
        next(items)
        job = Job(time.sleep, [0.5])
        job.begin(1)
        while not job._helpers:
            time.sleep(0.001)
        child = os.fork()
        if not child:
            try:
                job.end()
            except RuntimeError as error:
                os._exit(7 if "forked amid a read" in str(error) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert sum(index.records for index in items) > 0
        job.results()


@BOTH
def test_values_without_a_value_leave_their_tag_and_nothing_else(tmp_path, engine):
    path = tmp_path / "a.tfevents"
    values = [Summary.Value(tag="empty"), Summary.Value(tag="image", image=Summary.Image(width=3))]
    path.write_bytes(2 * frame(Event(wall_time=1.0, summary=Summary(value=values)).SerializeToString()))
    run = read_run(path, engine=engine)
    assert run.tags == ("empty", "image")
    assert [image.width for image in run.images["image"]] == [3, 3]
    assert run.tensors == {}


@BOTH
def test_session_starts_divide_scalars_and_items(tmp_path, engine):
    def start(step):
        return frame(Event(step=step, session_log=SessionLog(status=SessionLog.START)).SerializeToString())

    def image(step):
        value = Summary.Value(tag="image", image=Summary.Image(width=1))
        return frame(Event(step=step, wall_time=1.0, summary=Summary(value=[value])).SerializeToString())

    one = [start(0), *(scalar("loss", step) + image(step) for step in range(3)), start(1), scalar("late", 1)]
    two = [scalar("loss", 1), start(1), start(0), image(0), scalar("loss", 0)]
    for name, records in (("a", one), ("b", two)):
        (tmp_path / f"{name}.tfevents").write_bytes(b"".join(records))
    run = read_run(tmp_path, engine=engine)
    assert run.scalars["loss"].restarts == [(3, 1), (4, 0), (4, 0)]
    assert run.scalars["late"].restarts == [(1, 0), (1, 0)]
    assert run.images["image"].restarts == [(3, 0), (3, 0)]
    assert run.file_starts("loss") == [0, 3]
    assert run.file_starts("late") == [0, 1]
    assert run.file_starts("image") == [0, 0]


@needs_compiled
def test_a_flipped_bit_has_few_records_read_plainly(tmp_path, monkeypatch):
    path, flips = tmp_path / "a.tfevents", 20
    records = losses(20_010)
    data = bytearray(b"".join(records))
    for i in range(flips):
        data[(i + 1) * len(data) // (flips + 2)] ^= 1
    path.write_bytes(data)
    collector, parsed = collected(path, "compiled", monkeypatch)
    assert len(collector.faults) == flips
    assert len(collector.points.columns()[0].step) == len(records) - flips
    assert parsed < flips * 100


@needs_compiled
def test_a_stretch_stays_as_it_is_while_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "helpers", lambda: 1)
    scatter = columns.scatter
    monkeypatch.setattr(columns, "scatter", lambda *arguments: time.sleep(0.02) or scatter(*arguments))
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"".join(scalar(f"loss/{step % 7}", step) for step in range(100_000)))
    collector = Collector()
    collector.read(LOCAL.discover(str(path))[0])
    for tag, block in enumerate(collector.points.columns()):
        assert block.step.tolist() == [*range(tag, 100_000, 7)]
