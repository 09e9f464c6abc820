"""Queues that can be closed, and QueueRunner: TF1's documented behaviour, one test each."""

import logging
import queue
import threading
import time

import pytest

from optim import Coordinator, Queue, QueueRunner, ShutDown

LONG = 300.0


def started(target, count=1):
    threads = [threading.Thread(target=target, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def drained(q):
    items = []
    while True:
        try:
            items.append(q.get(timeout=LONG))
        except ShutDown:
            return items


# The queue: as Python 3.13's own, on every Python.


def test_what_is_left_can_be_got_and_nothing_be_put():
    q = Queue(maxsize=3)
    q.put(1)
    q.put(2)
    q.shutdown()
    with pytest.raises(ShutDown):
        q.put(3)
    with pytest.raises(ShutDown):
        q.put_nowait(3)
    assert drained(q) == [1, 2]
    with pytest.raises(ShutDown):
        q.get_nowait()


def test_an_immediate_shutdown_drops_what_is_left_and_join_returns():
    q = Queue()
    q.put(1)
    (joiner,) = started(q.join)
    q.shutdown(immediate=True)
    joiner.join(LONG)
    assert not joiner.is_alive()
    assert q.empty()
    with pytest.raises(ShutDown):
        q.get()


@pytest.mark.parametrize("immediate", [False, True])
@pytest.mark.parametrize("what", ["get", "put"])
def test_a_shutdown_wakes_all_who_wait(what, immediate):
    q, woken = Queue(maxsize=1), []
    if what == "put":
        q.put("full")

    def wait():
        try:
            getattr(q, what)(*["more"] * (what == "put"))
        except ShutDown:
            woken.append(1)

    threads = started(wait, 3)
    while len((q.not_full if what == "put" else q.not_empty)._waiters) < 3:
        time.sleep(0.001)
    q.shutdown(immediate)
    for thread in threads:
        thread.join(LONG)
    assert len(woken) == 3


def test_bounds_timeouts_and_task_counts_are_a_queues():
    q = Queue(maxsize=1)
    with pytest.raises(queue.Empty):
        q.get(timeout=0.001)
    with pytest.raises(queue.Empty):
        q.get_nowait()
    q.put(1)
    with pytest.raises(queue.Full):
        q.put(2, timeout=0.001)
    with pytest.raises(queue.Full):
        q.put_nowait(2)
    for call in (lambda: q.put(2, timeout=-1), lambda: q.get(timeout=-1)):
        with pytest.raises(ValueError, match=r"^'timeout' must be a non-negative number$"):
            call()
    assert q.get() == 1
    q.task_done()
    q.join()


def test_many_producers_and_consumers_lose_nothing():
    q, got, lock = Queue(maxsize=3), [], threading.Lock()

    def produce():
        for i in range(200):
            q.put(i)

    def consume():
        items = drained(q)
        with lock:
            got.extend(items)

    consumers, producers = started(consume, 3), started(produce, 3)
    for thread in producers:
        thread.join(LONG)
    q.shutdown()
    for thread in consumers:
        thread.join(LONG)
    assert sorted(got) == sorted([*range(200)] * 3)


# The runner.


def test_one_thread_for_each_op_and_one_that_closes():
    q, coord = Queue(), Coordinator()
    runner = QueueRunner(q, [lambda: q.put(1)] * 3)
    threads = runner.create_threads(coord)
    assert len(threads) == 4
    assert not any(thread.is_alive() for thread in threads)
    assert len(QueueRunner(q, [lambda: q.put(1)] * 3).create_threads()) == 3


def test_everything_is_enqueued_and_then_the_queue_is_closed():
    q, coord = Queue(maxsize=2), Coordinator()
    sources = [iter(range(100)), iter(range(100, 150))]
    runner = QueueRunner(q, [lambda source=source: q.put(next(source)) for source in sources])
    threads = runner.create_threads(coord, start=True)
    assert sorted(drained(q)) == list(range(150))
    coord.request_stop()
    coord.join(threads)
    assert runner.exceptions_raised == []


def test_without_a_coordinator():
    q, source = Queue(maxsize=2), iter(range(10))
    QueueRunner(q, [lambda: q.put(next(source))]).create_threads(start=True)
    assert drained(q) == list(range(10))


def test_the_queue_stays_open_while_one_thread_still_fills_it():
    q, first_done, second = Queue(), threading.Event(), threading.Event()

    def ends():
        first_done.set()
        raise StopIteration

    def goes_on():
        second.wait(LONG)
        q.put("late")
        raise StopIteration

    QueueRunner(q, [ends, goes_on]).create_threads(start=True)
    assert first_done.wait(LONG)
    assert not q.is_shutdown
    second.set()
    assert drained(q) == ["late"]


def test_a_closed_queue_ends_the_threads_quietly():
    q, coord = Queue(maxsize=1), Coordinator()
    threads = QueueRunner(q, [lambda: q.put(1)] * 3).create_threads(coord, start=True)
    q.shutdown()
    for thread in threads[:3]:
        thread.join(LONG)
    assert not coord.should_stop()
    coord.request_stop()
    coord.join(threads)


def test_any_other_exception_stops_the_coordinator():
    q, coord = Queue(maxsize=1), Coordinator()

    def fail():
        raise ValueError("bad record")

    runner = QueueRunner(q, [lambda: q.put(1), fail])
    threads = runner.create_threads(coord, start=True)
    with pytest.raises(ValueError, match="bad record"):
        coord.join(threads)
    assert [str(error) for error in runner.exceptions_raised] == ["bad record"]
    assert drained(q) in ([], [1])  # a consumer is not left waiting


def test_without_a_coordinator_an_exception_is_logged_and_the_queue_closed(caplog):
    q = Queue()

    def fail():
        raise ValueError("bad record")

    runner = QueueRunner(q, [fail])
    with caplog.at_level(logging.ERROR, "optim"):
        runner.create_threads(start=True)
        assert drained(q) == []
    assert [str(error) for error in runner.exceptions_raised] == ["bad record"]
    assert caplog.messages == ["a thread that fills a queue has failed"]


def test_a_stop_closes_the_queue_and_wakes_who_waits():
    q, coord = Queue(maxsize=1), Coordinator()
    threads = QueueRunner(q, [lambda: q.put(1)] * 2).create_threads(coord, start=True)
    (consumer,) = started(lambda: drained(q))
    coord.request_stop()
    coord.join([*threads, consumer])
    assert q.is_shutdown


def test_no_new_threads_while_the_old_ones_run():
    q, coord = Queue(maxsize=1), Coordinator()
    runner = QueueRunner(q, [lambda: q.put(1)])
    threads = runner.create_threads(coord, start=True)
    assert runner.create_threads(coord, start=True) == []
    coord.request_stop()
    coord.join(threads)


def test_a_runner_may_run_again():
    coord, failures = Coordinator(), [ValueError("first time")]
    q = Queue()

    def op():
        if failures:
            raise failures.pop()
        raise StopIteration

    runner = QueueRunner(q, [op])
    threads = runner.create_threads(coord, start=True)
    with pytest.raises(ValueError, match="first time"):
        coord.join(threads)
    coord.clear_stop()
    threads = runner.create_threads(coord, start=True)
    threads[0].join(LONG)
    assert runner.exceptions_raised == []
    coord.request_stop()
    coord.join(threads)


def test_daemons_unless_told_otherwise():
    q = Queue()
    assert all(thread.daemon for thread in QueueRunner(q, [q.get]).create_threads(Coordinator()))
    assert not any(thread.daemon for thread in QueueRunner(q, [q.get]).create_threads(Coordinator(), daemon=False))


def test_close_and_cancel_may_be_ones_own():
    calls, coord = [], Coordinator()

    def end():
        raise KeyError

    runner = QueueRunner(None, [end], lambda: calls.append("close"), lambda: calls.append("cancel"), (KeyError,))
    threads = runner.create_threads(coord, start=True)
    threads[0].join(LONG)
    assert calls == ["close"]
    coord.request_stop()
    coord.join(threads)
    assert calls == ["close", "cancel"]


def test_a_close_that_fails_is_logged(caplog):
    def fail():
        raise OSError("no")

    def end():
        raise StopIteration

    runner = QueueRunner(None, [end], fail, fail)
    with caplog.at_level(logging.ERROR, "optim"):
        (thread,) = runner.create_threads(start=True)
        thread.join(LONG)
    assert caplog.messages == ["a queue could not be closed"]


REFUSED = {
    "queue must have a shutdown method, as optim.Queue and Python 3.13's queue.Queue do; got 3": (TypeError, 3, [len]),
    "enqueue_ops must not be empty: there is nothing to run": (ValueError, Queue(), []),
    "enqueue_ops must be callables without arguments, got str: 'x'": (TypeError, Queue(), ["x"]),
}


@pytest.mark.parametrize(("text", "case"), REFUSED.items(), ids=REFUSED)
def test_what_is_refused(text, case):
    error, q, ops = case
    with pytest.raises(error) as raised:
        QueueRunner(q, ops)
    assert str(raised.value) == text
