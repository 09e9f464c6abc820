"""A run's file that is lost: taken away, changed by others, or not taken by the disk; what it lacks comes again."""

import errno
import math
import os
import shutil
from pathlib import Path

import pytest
from helpers import event_files, scalars

from summaries import EventFileWriter


def open_writer(logdir, **options):
    return EventFileWriter(logdir, flush_secs=math.inf, **options)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


class Disk:
    """A disk on which there is room for so many bytes, and where these calls of fsync fail, by number from 0 on."""

    def __init__(self, monkeypatch):
        self.room, self.failing, self.syncs = math.inf, set(), 0
        self._write, self._fsync = os.write, os.fsync
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(os, "fsync", self.fsync)

    def write(self, fd, data):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = self._write(fd, data[: min(self.room, len(data))])
        self.room -= done
        return done

    def fsync(self, fd):
        self.syncs += 1
        if self.syncs - 1 in self.failing:
            raise OSError(errno.EIO, "Input/output error")
        self._fsync(fd)


def append_to(path, data):
    with open(path, "ab") as file:
        file.write(data)


LOSSES = {
    "removed": os.remove,
    "renamed": lambda path: os.rename(path, path + ".moved"),
    "emptied": lambda path: os.truncate(path, 0),
    "cut short": lambda path: os.truncate(path, os.path.getsize(path) - 1),
    "written by others": lambda path: append_to(path, b"theirs"),
    "in a directory that was removed": lambda path: shutil.rmtree(os.path.dirname(path)),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("half_written", [False, True])
@pytest.mark.parametrize("fsync", [False, True])
def test_a_file_that_others_take_or_change(logdir, disk, caplog, lose, half_written, fsync):
    """It goes on in a new file, which has all that was not in the lost one; it says so once."""
    if half_written and lose is LOSSES["cut short"]:
        pytest.skip("what is left is the beginning of what waits, and is completed")
    writer = open_writer(logdir, fsync=fsync)
    writer.add_scalar("loss", 1, 1)
    writer.flush()
    writer.add_scalar("loss", 2, 2)
    if half_written:
        disk.room = 3
        with pytest.raises(OSError, match="No space left"):
            writer.flush()
        disk.room = math.inf
    old = writer.path
    lose(old)
    theirs = Path(old).read_bytes() if os.path.exists(old) else None
    writer.flush()
    assert (Path(old).read_bytes() if os.path.exists(old) else None) == theirs
    assert writer.paths == [old, writer.path]
    assert scalars(writer.path) == [(2, "loss", 2.0)]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].startswith(f"{old}: it was ")
    assert caplog.messages[0].endswith(f"; what follows goes to {writer.path}")
    os.remove(writer.path)
    writer.add_scalar("loss", 3, 3)
    writer.close()
    assert scalars(writer.path) == [(3, "loss", 3.0)]
    assert len(caplog.records) == 1


def test_a_lost_file_is_left_only_when_another_can_be_made(logdir, disk):
    writer = open_writer(logdir)
    writer.add_scalar("loss", 1, 1)
    os.remove(writer.path)
    disk.room = 0
    for _ in range(3):
        with pytest.raises(OSError, match="No space left"):
            writer.flush()
    assert event_files(logdir) == []
    disk.room = math.inf
    writer.close()
    assert [path.name for path in logdir.iterdir()] == [os.path.basename(writer.path)]
    assert scalars(writer.path) == [(1, "loss", 1.0)]


def all_scalars(writer):
    return [scalar for path in writer.paths if os.path.exists(path) for scalar in scalars(path)]


@pytest.mark.parametrize("background", [False, True])
def test_what_was_not_synced_is_written_again_into_a_new_file(logdir, disk, background):
    """After an fsync that failed, the system takes the pages for clean: a second one says nothing of them."""
    writer = open_writer(logdir, fsync=True)
    writer.add_scalar("loss", 1, 1)
    writer.flush()
    writer.add_scalar("loss", 2, 2)
    disk.failing = {disk.syncs}
    old = writer.path
    writer._run_file.write_in_background() if background else writer.flush()
    assert writer.path != old
    assert scalars(old) == [(1, "loss", 1.0)]
    assert scalars(writer.path) == [(2, "loss", 2.0)]
    writer.add_scalar("loss", 3, 3)
    writer.close()
    assert all_scalars(writer) == [(1, "loss", 1.0), (2, "loss", 2.0), (3, "loss", 3.0)]


@pytest.mark.parametrize("rounds", range(1, 5))
def test_a_disk_that_takes_nothing_for_a_while(logdir, disk, rounds):
    writer = open_writer(logdir, fsync=True)
    writer.add_scalar("loss", 1, 1)
    disk.failing = set(range(1000))
    for _ in range(rounds):
        with pytest.raises(OSError, match="the disk did not take it: Input/output error"):
            writer.flush()
    disk.failing = set()
    writer.flush()
    assert all_scalars(writer) == [(1, "loss", 1.0)]
    assert scalars(writer.path) == [(1, "loss", 1.0)]
    assert event_files(logdir) == [Path(writer.path)]  # those that were tried in vain had nothing else
    writer.close()


def test_what_is_kept_until_it_is_synced_is_bounded(logdir, disk):
    with open_writer(logdir, fsync=True, max_pending_bytes=10_000, max_queue=0) as writer:
        most = 0
        for step in range(1000):
            writer.add_scalar("loss", step, step)
            most = max(most, writer._run_file.queue.unsynced_bytes())
        assert 1000 < most < 11_000
        assert disk.syncs > 3
    assert len(scalars(writer.path)) == 1000
