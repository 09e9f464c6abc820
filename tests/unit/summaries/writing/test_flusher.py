"""The background thread: what it calls, and when it ends."""

import gc
import math
import threading

import pytest

from summaries.writing.flusher import Flusher

NEVER = math.inf


class Writer:
    """Notes each time that it is asked to write."""

    def __init__(self):
        self.rounds = threading.Semaphore(0)

    def write_in_background(self):
        self.rounds.release()

    def was_asked(self):
        return self.rounds.acquire(timeout=60)


def flusher_threads():
    return {thread for thread in threading.enumerate() if thread.name == "gradledger-flusher"}


@pytest.fixture
def before():
    """The threads of flushers that other tests left to the garbage collector."""
    gc.collect()
    return flusher_threads()


def test_a_writer_is_asked_again_and_again():
    writer, flusher = Writer(), Flusher(0.001)
    flusher.add(writer)
    assert all(writer.was_asked() for _ in range(5))


def test_wake():
    writer, flusher = Writer(), Flusher(NEVER)
    flusher.add(writer)
    for _ in range(2):
        flusher.wake()
        assert writer.was_asked()


def test_several_writers_share_a_thread(before):
    writers, flusher = [Writer(), Writer()], Flusher(0.001)
    for writer in writers:
        flusher.add(writer)
    assert all(writer.was_asked() for writer in writers for _ in range(3))
    assert len(flusher_threads() - before) == 1


def test_a_removed_writer_is_left_alone():
    removed, other, flusher = Writer(), Writer(), Flusher(0.001)
    flusher.add(removed)
    flusher.remove(removed)
    flusher.remove(removed)  # once more does nothing
    flusher.add(other)
    assert all(other.was_asked() for _ in range(3))
    while removed.rounds.acquire(blocking=False):
        pass
    assert all(other.was_asked() for _ in range(3))
    assert not removed.rounds.acquire(blocking=False)


@pytest.mark.parametrize("asked", [False, True])
def test_the_thread_ends_with_its_flusher(before, asked):
    """It has asked nobody by itself, whenever it began."""
    flusher = Flusher(NEVER)
    writer = Writer()
    flusher.add(writer)
    (thread,) = flusher_threads() - before
    if asked:
        flusher.wake()
        assert writer.was_asked()
    del flusher
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()
    assert not writer.rounds.acquire(blocking=False)


def test_no_thread_before_there_is_a_writer(before):
    flusher = Flusher(NEVER)
    assert flusher_threads() <= before  # some of these may end just now
    del flusher


def test_the_thread_keeps_no_writer_alive():
    flusher = Flusher(NEVER)
    writer = Writer()
    flusher.add(writer)
    flusher.wake()
    assert writer.was_asked()
    rounds = writer.rounds
    del writer
    gc.collect()
    flusher.wake()
    other = Writer()
    flusher.add(other)
    flusher.wake()
    assert other.was_asked()
    assert not rounds.acquire(blocking=False)


def test_a_forked_child_begins_without_a_thread(before):
    flusher, writer = Flusher(NEVER), Writer()
    flusher.add(writer)
    flusher.forget_thread()
    flusher.add(writer)
    flusher.wake()
    assert writer.was_asked()
    assert len(flusher_threads() - before) == 2


def test_flush_secs_must_be_a_number():
    with pytest.raises(ValueError, match=r"^flush_secs must be a number of seconds, got nan$"):
        Flusher(float("nan"))


@pytest.mark.parametrize("flush_secs", [0, -1.0])
def test_a_flusher_of_writers_that_write_by_themselves(flush_secs):
    writer, flusher = Writer(), Flusher(flush_secs)
    assert flusher.flush_secs == 0
    flusher.add(writer)
    assert writer.was_asked()


def test_flush_secs_may_be_infinite():
    writer, flusher = Writer(), Flusher(float("inf"))
    flusher.add(writer)
    flusher.wake()
    assert writer.was_asked()


def test_the_thread_ends_with_its_last_writer(before):
    first, second, flusher = Writer(), Writer(), Flusher(NEVER)
    flusher.add(first)
    flusher.add(second)
    (thread,) = flusher_threads() - before
    flusher.remove(first)
    flusher.join()
    assert thread.is_alive()
    flusher.remove(second)
    flusher.join()
    assert not thread.is_alive()
    flusher.add(first)
    flusher.wake()
    assert first.was_asked()
    assert len(flusher_threads() - before) == 1


def test_the_thread_can_be_stopped(before):
    """As suites of other libraries do with threads that they find."""
    flusher = Flusher(NEVER)
    writer = Writer()
    flusher.add(writer)
    (thread,) = flusher_threads() - before
    thread.stop()
    assert not thread.is_alive()


def test_a_closed_writer_leaves_no_thread(before, tmp_path):
    from summaries import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("losses", {"train": 1.0, "test": 2.0})
    assert not flusher_threads() - before
    writer.add_scalar("more", 1.0)
    assert len(flusher_threads() - before) == 1
    writer.close()
    assert not flusher_threads() - before
