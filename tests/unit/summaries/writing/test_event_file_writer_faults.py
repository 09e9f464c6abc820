"""What a writer does when its file does not take the bytes: nothing is lost, nothing is torn, memory is bounded."""

import errno
import math
import os
import threading
import time

import pytest
from helpers import event_files, scalars

from summaries import Event, EventFileWriter, Summary, summary_iterator
from summaries.storage.local import LocalEventFile
from summaries.wire.records import frame
from summaries.writing.event_queue import Deferred

NEVER = math.inf


class Disk:
    """Stands in for os.write: a disk on which there is room for so many bytes; None is without bound."""

    def __init__(self, monkeypatch):
        self.room = None
        self._write = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, fd, data):
        if self.room is None:
            return self._write(fd, data)
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = self._write(fd, data[: self.room])
        self.room -= done
        return done


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


def open_writer(logdir, **options):
    return EventFileWriter(logdir, flush_secs=NEVER, clock=lambda: 1.5e9, **options)


def log(writer, start, stop):
    """Scalars and summaries in turn."""
    for i in range(start, stop):
        writer.add_scalar("loss", i, i)
        writer.add_summary(Summary(value=[Summary.Value(tag="summary", simple_value=i)]), i)


def content(writer):
    with open(writer.path, "rb") as file:
        return file.read()


def full(path):
    return f"[Errno 28] No space left on device: {path!r}"


@pytest.fixture
def complete(tmp_path):
    """The bytes of a file that three rounds of logging make when nothing goes wrong."""
    with open_writer(tmp_path / "complete") as writer:
        log(writer, 0, 2)
        before = len(writer_flushed(writer))
        log(writer, 2, 4)
        middle = len(writer_flushed(writer))
        log(writer, 4, 6)
    return content(writer), before, middle


def writer_flushed(writer):
    writer.flush()
    return content(writer)


def test_a_full_disk_at_any_byte(tmp_path, disk, complete):
    """The file is at any time a prefix of what was logged, and all of it when there is room again."""
    whole, before, middle = complete
    for room in range(middle - before):
        with open_writer(tmp_path / str(room)) as writer:
            log(writer, 0, 2)
            writer.flush()
            disk.room = room
            log(writer, 2, 4)
            with pytest.raises(OSError, match="No space left") as raised:
                writer.flush()
            assert str(raised.value) == full(writer.path)
            assert content(writer) == whole[: before + room]
            disk.room = None
            log(writer, 4, 6)
        assert content(writer) == whole


@pytest.mark.parametrize("rooms", [[0, 0, 0], [1, 1, 1, 1], [5, 0, 30, 0, 1]], ids=str)
def test_a_disk_that_is_full_again_and_again(logdir, disk, complete, rooms):
    with open_writer(logdir) as writer:
        log(writer, 0, 4)
        for room in rooms:
            disk.room = room
            with pytest.raises(OSError, match="No space left"):
                writer.flush()
        disk.room = None
        log(writer, 4, 6)
    assert content(writer) == complete[0]


@pytest.mark.parametrize("room", [0, 1, 30])
def test_one_flush_after_a_failed_write_leaves_nothing_behind(logdir, disk, complete, room):
    """What was logged after the write that failed is written by the same flush that finishes it."""
    writer = open_writer(logdir)
    log(writer, 0, 4)
    disk.room = room
    with pytest.raises(OSError, match="No space left"):
        writer.flush()
    disk.room = None
    log(writer, 4, 6)
    assert writer_flushed(writer) == complete[0]
    writer.close()
    assert content(writer) == complete[0]


@pytest.mark.parametrize("log_one", ["scalar", "summary"])
def test_an_error_in_the_background_is_raised_by_the_next_call(logdir, disk, log_one):
    with open_writer(logdir) as writer:
        one = {
            "scalar": lambda step: writer.add_scalar("loss", step, step),
            "summary": lambda step: writer.add_summary(
                Summary(value=[Summary.Value(tag="loss", simple_value=step)]), step
            ),
        }[log_one]
        one(1)
        disk.room = 3
        writer._run_file.write_in_background()
        with pytest.raises(OSError, match="No space left") as raised:
            one(2)
        assert str(raised.value) == full(writer.path)
        one(3)
        disk.room = None
    assert scalars(writer.path) == [(1, "loss", 1.0), (3, "loss", 3.0)]


def test_an_error_that_has_passed_is_not_raised(logdir, disk):
    with open_writer(logdir) as writer:
        writer.add_scalar("loss", 1, 1)
        disk.room = 0
        writer._run_file.write_in_background()
        disk.room = None
        writer.flush()
        writer.add_scalar("loss", 2, 2)
    assert scalars(writer.path) == [(1, "loss", 1.0), (2, "loss", 2.0)]


def test_close_on_a_full_disk_can_be_tried_again(logdir, disk):
    writer = open_writer(logdir)
    writer.add_scalar("loss", 1, 1)
    disk.room = 3
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    writer.add_scalar("loss", 2, 2)
    disk.room = None
    writer.close()
    assert scalars(writer.path) == [(1, "loss", 1.0), (2, "loss", 2.0)]


def test_a_new_writer_on_a_full_disk(logdir, disk):
    disk.room = 0
    with pytest.raises(OSError, match="No space left"):
        open_writer(logdir)


def pending_bytes(writer):
    """What waits in memory: encoded, as rows, and as whole records."""
    queue = writer._run_file.queue
    return queue.encoded_bytes() + len(queue.rows) + queue.record_bytes


BOUND = 10_000
SLACK = 5_000  # "about": a queue of rows that is encoded when the bound is found reached


def many_points(writer):
    for i in range(5000):
        yield lambda i=i: writer.add_scalar("loss", i, i)


def many_summaries(writer):
    data = Summary(value=[Summary.Value(tag="summary" * 20, simple_value=1)]).SerializeToString()
    for i in range(1000):
        yield lambda i=i: writer.add_summary(data, i)


@pytest.mark.parametrize("calls", [many_points, many_summaries])
def test_memory_is_bounded_when_nobody_writes_in_the_background(logdir, calls):
    """The call that finds the bound reached does the writing."""
    most = 0
    with open_writer(logdir, max_queue=50, max_pending_bytes=BOUND) as writer:
        for call in calls(writer):
            call()
            most = max(most, pending_bytes(writer))
    assert BOUND / 2 < most < BOUND + SLACK


@pytest.mark.parametrize("calls", [many_points, many_summaries])
def test_memory_is_bounded_when_the_file_takes_nothing(logdir, monkeypatch, calls):
    """Then every call raises, and takes nothing; what was taken is written in the end."""
    append = LocalEventFile.append

    def failing(file, data, start):
        raise OSError(errno.EIO, "Input/output error", file.path)

    taken = most = 0
    errors = set()
    with open_writer(logdir, max_queue=50, max_pending_bytes=BOUND) as writer:
        monkeypatch.setattr(LocalEventFile, "append", failing)
        for call in calls(writer):
            try:
                call()
                taken += 1
            except OSError as error:
                errors.add(str(error))
            most = max(most, pending_bytes(writer))
        monkeypatch.setattr(LocalEventFile, "append", append)
    assert errors == {f"[Errno 5] Input/output error: {writer.path!r}"}
    assert len(scalars(writer.path)) == taken
    assert most < BOUND + SLACK


def test_a_finalizer_that_flushes_in_the_middle_of_deferred_work(logdir):
    """It runs in whatever thread comes along, also in the one that counts a histogram for another that waits for it."""
    writer = EventFileWriter(logdir, flush_secs=float("inf"))
    begun = threading.Event()

    def make():
        if threading.current_thread() is not threading.main_thread() and not begun.is_set():
            begun.set()
            time.sleep(0.05)  # the other thread comes to want this record
            writer.flush()
        return frame(Event(step=1).SerializeToString())

    background = threading.Thread(target=writer._run_file.write_in_background, daemon=True)
    writer._run_file.add_record(Deferred(make), 10)
    background.start()
    begun.wait()
    writer.flush()
    background.join(60)
    assert not background.is_alive()
    writer.close()
    assert [event.step for event in summary_iterator(writer.path)] == [0, 1]


def test_trying_again_on_a_full_disk_leaves_no_files(logdir, disk):
    disk.room = 0
    for _ in range(3):
        with pytest.raises(OSError, match="No space left"):
            EventFileWriter(logdir)
    assert event_files(logdir) == []


@pytest.mark.parametrize("room", [0, 3])
@pytest.mark.parametrize("log_one", ["scalar", "summary"])
def test_a_call_that_writes_at_once_and_fails_logs_nothing(logdir, disk, room, log_one):
    def log_it(step):
        if log_one == "scalar":
            writer.add_scalar("loss", step, step)
        else:
            writer.add_summary(Summary(value=[Summary.Value(tag="loss", simple_value=step)]), step)

    writer = open_writer(logdir, max_queue=0)
    log_it(1)
    for _ in range(3):
        disk.room = room
        with pytest.raises(OSError, match="No space left"):
            log_it(2)
        disk.room = None
    log_it(3)
    assert scalars(writer.path) == [(1, "loss", 1.0), (3, "loss", 3.0)]
    writer.close()
    assert scalars(writer.path) == [(1, "loss", 1.0), (3, "loss", 3.0)]


def test_a_call_that_writes_at_once_and_cannot_open_the_file_logs_nothing(logdir, monkeypatch):
    def none_left(*_):
        raise OSError(24, "Too many open files")

    writer = open_writer(logdir, max_queue=0)
    writer.add_scalar("loss", 1, 1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", none_left)
        for step in (2, 3):
            with pytest.raises(OSError, match="Too many open files"):
                writer.add_scalar("loss", step, step)
    writer.add_scalar("loss", 4, 4)
    writer.close()
    assert scalars(writer.path) == [(1, "loss", 1.0), (4, "loss", 4.0)]


def test_a_thread_that_cannot_be_started_leaves_no_file(logdir, monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="can't start"):
                open_writer(logdir)
    assert not logdir.exists()


def test_long_tags_count_as_long_as_they_are(logdir):
    writer = EventFileWriter(logdir, flush_secs=float("inf"), max_pending_bytes=1 << 20)
    tag = "x" * 100_000
    for step in range(100):
        writer.add_scalar(tag, step, step)
        assert len(writer._run_file.queue.rows) <= 24 * 11
        assert writer._run_file.queue.encoded_bytes() <= 2 << 20
    writer.close()
    assert len(scalars(writer.path)) == 100
