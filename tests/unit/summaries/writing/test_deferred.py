"""A record that is made later: once, by whoever needs it first, whatever happens on the way."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from summaries.writing.deferred import Deferred, resolved


def test_it_is_made_when_it_is_asked_for_and_once():
    made, released = [], []

    def make():
        made.append(1)
        return b"record"

    deferred = Deferred(make, lambda: released.append(len(made)))
    assert (made, released) == ([], [])
    assert [deferred.record() for _ in range(3)] == [b"record"] * 3
    assert (made, released) == ([1], [1])
    assert resolved(deferred) == resolved(b"record") == b"record"


def test_an_error_is_raised_once_and_the_record_is_empty_then():
    released = []

    def fail():
        raise MemoryError("no room")

    deferred = Deferred(fail, lambda: released.append(1))
    with pytest.raises(MemoryError, match="no room"):
        deferred.record()
    assert deferred.record() == b""
    assert released == [1]


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
    """One of them was first: its bytes count, and the memory is given back once."""
    together, released = threading.Barrier(2), []

    def make():
        together.wait()
        return str(threading.get_ident()).encode()

    deferred = Deferred(make, lambda: released.append(1))
    with ThreadPoolExecutor(2) as pool:
        first, second = (future.result() for future in [pool.submit(deferred.record) for _ in range(2)])
    assert first == second == deferred.record()
    assert released == [1]
