"""Lifecycle of a writer: what is written when, what close() and reopen() do, and what is left at the end."""

import logging
import math
import os
import warnings

import pytest
from helpers import event_files, point, polls, run_script, scalars

from summaries import (
    Event,
    EventFileWriter,
    summary_iterator,
)
from summaries.writing import event_file_writer
from summaries.writing.run_file import CLOSED, FORKED, OPEN

NEVER = math.inf


def test_a_file_is_whole_before_anything_is_logged(writer):
    assert [event.file_version for event in summary_iterator(writer.path)] == ["brain.Event:2"]


def test_flush_is_seen_by_another_process(writer, tmp_path):
    writer.add_scalar("loss", 0.5, 1)
    writer.flush()
    text = "import sys, summaries; print(len(list(summaries.summary_iterator(sys.argv[1]))))"
    assert run_script(tmp_path, text, writer.path) == "2\n"


def test_nothing_is_written_before_it_is_due(writer):
    writer.add_scalar("loss", 0.5, 1)
    assert scalars(writer.path) == []


@pytest.mark.parametrize("count", [1, 10_000])
def test_what_is_logged_is_written_in_the_background(logdir, count):
    with EventFileWriter(logdir, flush_secs=0.01) as writer:
        for i in range(count):
            writer.add_scalar("loss", i, i)
        assert any(len(scalars_so_far(writer.path)) == count for _ in polls())


def scalars_so_far(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an unfinished tail, where a write is going on
        return scalars(path)


LOGGING = {
    "add_scalar": lambda writer: writer.add_scalar("loss", 0.5),
    "add_scalar, new tag": lambda writer: writer.add_scalar("new", 0.5),
    "add_summary": lambda writer: writer.add_summary(point("loss", 0.5)),
    "add_event": lambda writer: writer.add_event(Event()),
}


@pytest.mark.parametrize("log", LOGGING.values(), ids=LOGGING)
def test_what_is_logged_after_close_begins_a_new_file(writer, log, caplog):
    """As in torch and tensorboardX: Lightning's test() after fit() uses the same writer."""
    caplog.set_level(logging.INFO, "summaries")
    writer.add_scalar("loss", 0.5, 1)
    first = writer.path
    for _ in range(2):
        writer.close()
        writer.close()
        writer.flush()
        assert writer.closed
        log(writer)
        assert not writer.closed
    writer.close()
    assert scalars(first) == [(1, "loss", 0.5)]
    assert [len(list(summary_iterator(path))) for path in event_files(writer.get_logdir())] == [2, 2, 2]
    second = str(event_files(writer.get_logdir())[1])
    assert caplog.messages == [f"something was logged after close() of {first}: it goes to {second}"]


WRITTEN_AT_ONCE = {"max_queue": {"max_queue": 0, "flush_secs": NEVER}, "flush_secs": {"flush_secs": 0}}


@pytest.mark.parametrize("options", WRITTEN_AT_ONCE.values(), ids=WRITTEN_AT_ONCE)
def test_each_call_writes_what_it_logs(logdir, options):
    with EventFileWriter(logdir, **options) as writer:
        for step in range(3):
            writer.add_scalar("loss", step, step)
            writer.add_summary(point("summary", step), step)
            events = list(summary_iterator(writer.path))[1:]
            assert [event.step for event in events] == [step for step in range(step + 1) for _ in range(2)]


def test_a_call_that_cannot_write_at_once_logs_nothing(logdir, monkeypatch):
    writer = EventFileWriter(logdir, max_queue=0, flush_secs=NEVER)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        with pytest.raises(OSError, match="No space left"):
            writer.add_scalar("loss", 0.5, 1)
    writer.add_scalar("loss", 0.25, 2)
    assert scalars(writer.path) == [(2, "loss", 0.25)]


def refuse(fd, data):
    raise OSError(28, "No space left on device")


def test_a_writer_that_does_not_write(logdir):
    """tensorboardX's write_to_disk=False."""
    with EventFileWriter(logdir, write_to_disk=False, purge_step=3, fsync=True) as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.flush()
        writer.close()
        writer.add_scalar("loss", 0.5, 2)
        assert (writer.get_logdir(), writer.path) == (str(logdir), os.devnull)
    assert not logdir.exists()


def test_with_statement(logdir):
    with EventFileWriter(logdir, flush_secs=NEVER) as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert scalars(writer.path) == [(1, "loss", 0.5)]


def test_with_statement_left_by_an_error(logdir):
    writer = EventFileWriter(logdir, flush_secs=NEVER)

    def interrupted():
        with writer:
            writer.add_scalar("loss", 0.5, 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert scalars(writer.path) == [(1, "loss", 0.5)]


def test_two_writers_in_the_same_second(logdir):
    def clock():
        return 1795202364.0

    with EventFileWriter(logdir, clock=clock) as one, EventFileWriter(logdir, clock=clock) as two:
        one.add_scalar("one", 1, 1)
        two.add_scalar("two", 2, 2)
    assert scalars(one.path) == [(1, "one", 1.0)]
    assert scalars(two.path) == [(2, "two", 2.0)]


def test_fsync(logdir, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with EventFileWriter(logdir, flush_secs=NEVER, fsync=True) as writer:
        writer.add_scalar("loss", 0.5, 1)
        synced.clear()
        writer.flush()
        assert len(synced) == 3  # the file, and the two directories with new names


KILLED = """
import os
import sys
import time
from summaries import SummaryWriter, read_run

writer = SummaryWriter(sys.argv[1], flush_secs=3600)
time.sleep(0.5)
for step in range(3):
    writer.add_scalar("loss", 0.5, step)
for _ in range(1200):
    time.sleep(0.05)
    found = read_run(writer.path).scalars
    if "loss" in found and len(found["loss"]) == 3:
        break
os._exit(0)
"""


def test_the_first_events_are_written_soon(logdir, tmp_path):
    run_script(tmp_path, KILLED, logdir)
    (path,) = event_files(logdir)
    assert scalars(path) == [(step, "loss", 0.5) for step in range(3)]


def test_the_first_event_hastens_the_background_thread_however_long_it_takes_to_come(writer, monkeypatch):
    begun = []
    monkeypatch.setattr(writer._run_file.flusher, "begin", lambda: begun.append(1))
    for _ in range(3):
        writer._run_file.write_in_background()
        writer.flush()
    assert begun == []
    for step in range(3):
        writer.add_scalar("loss", 0.5, step)
    assert begun == [1]


LOG, FLUSH, CLOSE, REOPEN, FORK = "log", "flush", "close", "reopen", "fork"
CALLS = {
    LOG: lambda writer: writer.add_scalar("loss", 0.5),
    FLUSH: lambda writer: writer.flush(),
    CLOSE: lambda writer: writer.close(),
    REOPEN: lambda writer: writer.reopen(),
    FORK: lambda writer: writer._run_file.after_fork_in_child(),
}
STATES = {
    OPEN: {LOG: (OPEN, 1), FLUSH: (OPEN, 1), CLOSE: (CLOSED, 1), REOPEN: (OPEN, 1), FORK: (FORKED, 1)},
    CLOSED: {LOG: (OPEN, 2), FLUSH: (CLOSED, 1), CLOSE: (CLOSED, 1), REOPEN: (OPEN, 2), FORK: (CLOSED, 1)},
    FORKED: {LOG: (OPEN, 2), FLUSH: (FORKED, 1), CLOSE: (CLOSED, 1), REOPEN: (FORKED, 1), FORK: (FORKED, 1)},
}
"""State → call → the next state, and the number of files so far."""


@pytest.mark.parametrize(
    ("state", "call", "after", "files"), [(state, call, *row[call]) for state, row in STATES.items() for call in row]
)
def test_the_table_of_states(writer, state, call, after, files):
    {OPEN: CALLS[FLUSH], CLOSED: CALLS[CLOSE], FORKED: CALLS[FORK]}[state](writer)
    CALLS[call](writer)
    assert (writer._run_file._state, len(event_files(writer.get_logdir()))) == (after, files)
    assert writer.closed == (after == CLOSED)


def test_a_failed_write_leaves_the_writer_open(writer, monkeypatch):
    writer.add_scalar("loss", 0.5)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        for call in (writer.flush, writer.close):
            with pytest.raises(OSError, match="No space left"):
                call()
            assert writer._run_file._state == OPEN


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_in_the_middle_of_a_call_logs_to_its_own_file(writer, monkeypatch):
    """A handler may fork after the call has found the writer open: the event is the child's, and the parent's."""
    pack_row, first = event_file_writer.pack_row, writer.path
    writer.add_scalar("loss", 0.5, 1)
    writer.flush()
    writer.add_scalar("loss", 0.5, 2)

    def forking(*row):
        monkeypatch.undo()
        children.append(os.fork())
        return pack_row(*row)

    children = []
    monkeypatch.setattr(event_file_writer, "pack_row", forking)
    writer.add_scalar("loss", 0.25, 3)
    writer.close()
    if not children[0]:
        os._exit(0)
    assert os.waitpid(children[0], 0)[1] == 0
    assert scalars(first) == [(1, "loss", 0.5), (2, "loss", 0.5), (3, "loss", 0.25)]
    (second,) = (path for path in event_files(writer.get_logdir()) if str(path) != first)
    assert scalars(second) == [(3, "loss", 0.25)]
