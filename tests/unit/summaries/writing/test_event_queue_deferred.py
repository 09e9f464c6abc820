"""A record that is made later: once, by whoever needs it first, whatever happens on the way."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from summaries.writing.event_queue import Deferred


def test_it_is_made_when_it_is_asked_for_and_once():
    made = []

    def make():
        made.append(1)
        return b"record"

    deferred = Deferred(make)
    assert made == []
    assert [deferred.record() for _ in range(3)] == [b"record"] * 3
    assert made == [1]


def test_an_error_is_raised_once_and_the_record_is_empty_then():
    def fail():
        raise MemoryError("no room")

    deferred = Deferred(fail)
    with pytest.raises(MemoryError, match="no room"):
        deferred.record()
    assert deferred.record() == b""


def test_an_interrupt_leaves_the_work_to_the_next_who_asks():
    interrupts = [KeyboardInterrupt()]

    def make():
        if interrupts:
            raise interrupts.pop()
        return b"record"

    deferred = Deferred(make)
    with pytest.raises(KeyboardInterrupt):
        deferred.record()
    assert deferred.record() == b"record"


def test_deferred_work_that_two_do_at_once():
    """One of them was first: its bytes count."""
    together = threading.Barrier(2)

    def make():
        together.wait()
        return str(threading.get_ident()).encode()

    deferred = Deferred(make)
    with ThreadPoolExecutor(2) as pool:
        first, second = (future.result() for future in [pool.submit(deferred.record) for _ in range(2)])
    assert first == second == deferred.record()


def test_an_error_of_two_at_once_is_raised_once():
    together = threading.Barrier(2)

    def fail():
        together.wait()
        raise MemoryError("no room")

    deferred = Deferred(fail)
    with ThreadPoolExecutor(2) as pool:
        errors = [future.exception() for future in [pool.submit(deferred.record) for _ in range(2)]]
    assert sorted(map(str, errors)) == ["None", "no room"]
