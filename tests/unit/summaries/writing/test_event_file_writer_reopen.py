"""EventFileWriter.reopen(): a new file in the same directory, which goes on where the one before ended."""

import math
import os
from pathlib import Path

import pytest
from helpers import event_files, scalars

from summaries import EventFileWriter, SessionLog, read_run, summary_iterator

NEVER = math.inf


@pytest.fixture
def writer(logdir):
    with EventFileWriter(logdir, flush_secs=NEVER) as writer:
        yield writer


def test_reopen(writer):
    writer.add_scalar("loss", 0.5, 1)
    first = writer.path
    writer.close()
    writer.reopen()
    assert not writer.closed
    writer.add_scalar("loss", 0.25, 2)
    writer.close()
    assert first != writer.path
    assert scalars(first) == [(1, "loss", 0.5)]
    assert scalars(writer.path) == [(2, "loss", 0.25)]
    assert [str(path) for path in event_files(writer.get_logdir())] == sorted([first, writer.path])


def test_a_run_goes_on_in_its_order_though_the_clock_is_set_back(logdir):
    times = [7000.0, 6000.0, 5000.0]
    for step, time in enumerate(times):
        with EventFileWriter(logdir, flush_secs=NEVER, clock=lambda time=time: time) as writer:
            writer.add_scalar("loss", 1 / (1 + step), step)
        assert event_files(logdir)[-1] == Path(writer.path)
    loss = read_run(logdir).scalars["loss"]
    assert loss.step.tolist() == [0, 1, 2]
    assert loss.wall_time.tolist() == times  # points have what the clock said


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever is root can list any directory")
def test_a_directory_that_cannot_be_listed(logdir):
    logdir.mkdir(mode=0o333)
    with EventFileWriter(logdir, flush_secs=NEVER) as writer:
        writer.add_scalar("loss", 0.5, 1)
    logdir.chmod(0o755)
    assert scalars(writer.path) == [(1, "loss", 0.5)]


def test_reopen_of_an_open_writer_does_nothing(writer):
    """As in TF1."""
    writer.add_scalar("loss", 0.5, 1)
    first = writer.path
    writer.reopen()
    writer.add_scalar("loss", 0.25, 2)
    writer.close()
    assert writer.path == first
    assert scalars(first) == [(1, "loss", 0.5), (2, "loss", 0.25)]


def test_only_the_first_file_has_the_session_start(logdir):
    """A second one would supersede what the first file has."""
    with EventFileWriter(logdir, flush_secs=NEVER, purge_step=5) as writer:
        first = writer.path
        writer.add_scalar("loss", 0.5, 5)
        writer.close()
        writer.add_scalar("loss", 0.25, 6)

    def starts(path):
        logs = (event.session_log for event in summary_iterator(path) if event.HasField("session_log"))
        return [log.status for log in logs]

    assert starts(first) == [SessionLog.START] * 2
    assert starts(writer.path) == []
    assert read_run(os.path.dirname(first)).scalars["loss"].latest().step.tolist() == [5, 6]


def test_what_the_old_file_did_not_take_begins_anew_in_the_new_one(logdir, monkeypatch):
    """A write that was begun has a place in the old file; it has another in the new one, which is shorter."""

    def refuse(fd, data):
        raise OSError(28, "No space left on device")

    writer = EventFileWriter(logdir, flush_secs=NEVER)
    writer.add_scalar("loss", 0.5, 1)
    writer.flush()
    writer.add_scalar("loss", 0.25, 2)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        with pytest.raises(OSError, match="No space left"):
            writer.flush()
    os.rename(writer.path, logdir / "elsewhere")
    writer.reopen()
    writer.add_scalar("loss", 0.125, 3)
    writer.close()
    assert scalars(logdir / "elsewhere") == [(1, "loss", 0.5)]
    assert scalars(writer.path) == [(2, "loss", 0.25), (3, "loss", 0.125)]
