"""Sharing with one other thread: who takes what, errors, and what may happen meanwhile."""

import os
import signal
import threading
import time

import pytest

from summaries.execution import sharing
from summaries.execution.sharing import Job, share, share_nothing


@pytest.fixture(autouse=True)
def two_processors(monkeypatch):
    monkeypatch.setattr(sharing, "processors", lambda: 2)


def meet(who=(0, 9)):
    """Work that notes its thread; the first piece and the last wait for each other."""
    threads, barrier = {}, threading.Barrier(2)

    def work(piece):
        threads[piece] = threading.current_thread()
        if piece in who:
            barrier.wait(60)
        return -piece

    return work, threads


def test_both_threads_take_pieces_from_either_end():
    work, threads = meet()
    assert sorted(share(work, range(10))) == list(range(-9, 1))
    assert threads[0] is threading.current_thread()
    assert threads[9].name == "gradledger-helper"
    assert share(work, []) == []


@pytest.mark.parametrize("processors", [1, 2])
def test_one_thread_is_enough_for_one_piece_or_processor(processors, monkeypatch):
    monkeypatch.setattr(sharing, "processors", lambda: processors)
    work, threads = meet(())
    assert share(work, range(3 - processors)) == [-piece for piece in range(3 - processors)]
    assert set(threads.values()) == {threading.current_thread()}


@pytest.mark.parametrize("culprit", [0, 9])
def test_an_error_of_either_thread_is_raised(culprit):
    meeting, _ = meet()

    def work(piece):
        meeting(piece)
        if piece == culprit:
            raise ValueError("not this one")
        return piece

    with pytest.raises(ValueError, match=r"^not this one$"):
        share(work, range(10))
    assert sorted(share(meet()[0], range(10))) == list(range(-9, 1))  # the other thread is still there


def test_a_thread_that_is_busy_is_not_waited_for():
    go_on, begun = threading.Event(), threading.Event()
    meeting, _ = meet()

    def slow(piece):
        meeting(piece)
        begun.set()
        go_on.wait(60)

    first = threading.Thread(target=share, args=(slow, range(10)))
    first.start()
    begun.wait(60)
    work, threads = meet(())
    assert len(share(work, range(10))) == 10
    assert set(threads.values()) == {threading.current_thread()}
    go_on.set()
    first.join(60)
    assert not first.is_alive()


def test_a_job_is_done_while_the_caller_goes_on():
    begun, go_on = threading.Event(), threading.Event()
    job = Job(lambda piece: begun.set() or (go_on.wait(60) and -piece), [3])
    job.begin(1)
    assert begun.wait(60)
    go_on.set()
    assert job.results() == [-3]


def test_a_job_that_no_thread_begins_is_done_by_the_caller():
    work, threads = meet(())
    job = Job(work, [3])
    assert job.results() == [-3]
    assert threads == {3: threading.current_thread()}


def test_one_of_several_threads_shares_nothing():
    work, threads = meet(())
    several = threading.Thread(target=lambda: (share_nothing(), share(work, range(10))))
    several.start()
    several.join(60)
    assert set(threads.values()) == {several}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_a_thread_of_its_own():
    share(meet()[0], range(10))
    child = os.fork()
    if not child:
        status = 1
        try:
            status = len(share(meet()[0], range(10))) != 10
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_a_handler_forks_while_the_other_thread_is_waited_for_says_so():
    forked, goes_on = [], threading.Event()

    def fork(*_):
        forked.append(os.fork())
        if forked[0]:
            goes_on.set()
        else:
            time.sleep(0.3)  # longer than one wait of the child's lasts

    before = signal.signal(signal.SIGALRM, fork)
    job = Job(goes_on.wait, [60.0])
    try:
        job.begin(1)
        while not job._helpers:
            goes_on.wait(0.001)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        job.end()
        assert forked[0], "the child has ended its wait without an error"
    except RuntimeError as error:
        os._exit(7 if not forked[0] and "forked amid a read" in str(error) else 8)
    except BaseException:
        if forked[:1] == [0]:
            os._exit(9)
        raise
    finally:
        signal.signal(signal.SIGALRM, before)
    killer = threading.Timer(60, os.kill, (forked[0], signal.SIGKILL))
    killer.start()
    _, status = os.waitpid(forked[0], 0)
    killer.cancel()
    assert os.waitstatus_to_exitcode(status) == 7


def test_where_no_thread_can_be_started_one_does_all(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(sharing, "_threads", [])
    monkeypatch.setattr(sharing, "_jobs", sharing.SimpleQueue())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert sorted(share(abs, range(10))) == list(range(10))
