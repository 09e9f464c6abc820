"""Coordinator and LooperThread: what TF1 documents of them, one test each; no test waits for longer than it must."""

import logging
import sys
import threading

import pytest

from optim import Coordinator, LooperThread, ShutDown

LONG = 300.0  # seconds; nothing here takes so long


def started(target, count=1, **options):
    threads = [threading.Thread(target=target, daemon=True, **options) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_should_stop_from_the_request_on():
    coord = Coordinator()
    assert not coord.should_stop()
    coord.request_stop()
    assert coord.should_stop()
    assert coord.wait_for_stop()


def test_wait_for_stop_times_out_and_wakes():
    coord = Coordinator()
    assert not coord.wait_for_stop(0.001)
    answers = []
    (waiter,) = started(lambda: answers.append(coord.wait_for_stop(LONG)))
    coord.request_stop()
    waiter.join(LONG)
    assert answers == [True]


def test_join_waits_for_all_threads_without_a_stop():
    coord, done = Coordinator(), []
    coord.join(started(lambda: done.append(1), 5))
    assert len(done) == 5
    assert coord.joined
    assert not coord.should_stop()


def test_threads_end_together():
    coord = Coordinator()
    threads = started(coord.wait_for_stop, 5)
    started(coord.request_stop)
    coord.join(threads)
    assert not any(thread.is_alive() for thread in threads)


def test_join_waits_for_registered_threads_and_forgets_them():
    coord, release = Coordinator(), threading.Event()
    (thread,) = started(release.wait)
    coord.register_thread(thread)
    started(release.set)
    coord.join()
    assert not thread.is_alive()
    coord.join(stop_grace_period_secs=0)


def test_join_raises_the_first_exception_that_was_given():
    coord = Coordinator()
    coord.request_stop(ValueError("first"))
    coord.request_stop(TypeError("second"))
    with pytest.raises(ValueError, match=r"^first$"):
        coord.join()


def test_an_exception_behind_a_plain_request_is_logged_and_not_raised(caplog):
    coord = Coordinator()
    coord.request_stop()
    with caplog.at_level(logging.WARNING, "optim"):
        coord.request_stop(ValueError("late"))
    coord.join()
    assert caplog.messages == [
        "an exception came after the stop was requested, and is not raised: ValueError('late')"
    ]  # fmt: skip


def test_exc_info_will_do():
    coord = Coordinator()
    try:
        raise KeyError("k")  # noqa: TRY301
    except KeyError:
        coord.request_stop(sys.exc_info())
    with pytest.raises(KeyError):
        coord.join()


def test_stop_on_exception_reports_and_goes_no_further():
    coord = Coordinator()
    with coord.stop_on_exception():
        raise KeyboardInterrupt
    assert coord.should_stop()
    with pytest.raises(KeyboardInterrupt):
        coord.join()


def test_stop_on_exception_without_one_stops_nothing():
    coord = Coordinator()
    with coord.stop_on_exception():
        pass
    assert not coord.should_stop()


@pytest.mark.parametrize("error", [ShutDown(), StopIteration()], ids=repr)
def test_the_end_of_the_data_is_a_clean_stop(error):
    coord = Coordinator()
    with coord.stop_on_exception():
        raise error
    assert coord.should_stop()
    coord.join()


def test_clean_stop_exception_types():
    coord = Coordinator(clean_stop_exception_types=(KeyError,))
    coord.request_stop(KeyError())
    coord.join()
    other = Coordinator(clean_stop_exception_types=())
    other.request_stop(ShutDown())
    with pytest.raises(ShutDown):
        other.join()


def test_a_stop_that_is_clean_is_the_first_one_too():
    coord = Coordinator()
    coord.request_stop(ShutDown())
    coord.request_stop(ValueError("while it ended"))
    coord.join()


def test_threads_alive_after_the_grace_period_are_named():
    coord, release = Coordinator(), threading.Event()
    threads = [threading.Thread(target=release.wait, name=name, daemon=True) for name in ("slow", "slower")]
    for thread in threads:
        thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError) as raised:
        coord.join(threads, stop_grace_period_secs=0.01)
    assert str(raised.value) == "threads still running 0.01 s after they were asked to stop: slow, slower"
    release.set()


def test_live_threads_may_be_ignored():
    coord, release = Coordinator(), threading.Event()
    threads = started(release.wait)
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=0, ignore_live_threads=True)
    release.set()


def test_the_exception_counts_for_more_than_live_threads():
    coord, release = Coordinator(), threading.Event()
    threads = started(release.wait)
    coord.request_stop(ValueError("reason"))
    with pytest.raises(ValueError, match="reason"):
        coord.join(threads, stop_grace_period_secs=0)
    release.set()


def test_the_grace_period_begins_with_the_stop():
    """A thread that goes on for longer than the grace period is fine while nobody asked it to stop."""
    coord, release = Coordinator(), threading.Event()
    threads = started(release.wait)
    timer = threading.Timer(0.05, release.set)
    timer.start()
    coord.join(threads, stop_grace_period_secs=0)
    timer.join()


def test_clear_stop_begins_anew():
    coord = Coordinator()
    coord.request_stop(ValueError("old"))
    with pytest.raises(ValueError, match="old"):
        coord.join()
    coord.clear_stop()
    assert not coord.should_stop()
    assert not coord.joined
    coord.raise_requested_exception()
    coord.join()


def test_raise_requested_exception():
    coord = Coordinator()
    coord.raise_requested_exception()
    coord.request_stop(ValueError("now"))
    with pytest.raises(ValueError, match="now"):
        coord.raise_requested_exception()
    with pytest.raises(ValueError, match="now"):
        coord.join()
    coord.raise_requested_exception()  # join() has raised it


def test_an_exception_after_join_is_raised_at_once():
    coord = Coordinator()
    coord.join()
    with pytest.raises(ValueError, match="nobody would hear"):
        coord.request_stop(ValueError("nobody would hear"))
    coord.request_stop(ShutDown())


def test_a_thread_may_join_the_others():
    coord, answers = Coordinator(), []

    def work():
        coord.join()
        answers.append("joined")

    (thread,) = started(work)
    coord.register_thread(thread)
    thread.join(LONG)
    assert answers == ["joined"]


def test_what_is_refused():
    coord = Coordinator()
    with pytest.raises(TypeError) as raised:
        coord.request_stop("why")
    assert str(raised.value) == "ex must be an exception or what sys.exc_info() returns, got 'why'"
    with pytest.raises(ValueError, match=r"^stop_grace_period_secs must be at least 0 and finite, got -1$"):
        coord.join(stop_grace_period_secs=-1)
    with pytest.raises(TypeError, match=r"^coord must be a Coordinator, got str: 'x'$"):
        LooperThread("x", 1.0)
    assert not coord.should_stop()


@pytest.mark.parametrize("interval", [None, 0.0, 0.001])
def test_a_looper_repeats_until_the_stop(interval):
    coord, calls = Coordinator(), []

    def work(first, second):
        calls.append((first, second))
        if len(calls) == 3:
            coord.request_stop()

    thread = LooperThread.loop(coord, interval, work, args=(1,), kwargs={"second": 2})
    assert thread.daemon
    coord.join()  # it has registered
    assert calls == [(1, 2)] * 3


def test_a_stop_wakes_a_looper_that_waits():
    coord, called = Coordinator(), threading.Event()
    LooperThread.loop(coord, LONG, called.set)
    assert called.wait(LONG)
    coord.request_stop()
    coord.join(stop_grace_period_secs=LONG)


def test_a_loopers_exception_stops_the_coordinator():
    def fail():
        raise ValueError("in the loop")

    coord = Coordinator()
    LooperThread.loop(coord, 0.001, fail)
    with pytest.raises(ValueError, match="in the loop"):
        coord.join()


def test_derived_loopers():
    said = []

    class Saying(LooperThread):
        def start_loop(self):
            said.append("start")

        def run_loop(self):
            said.append("run")
            coord.request_stop()

        def stop_loop(self):
            said.append("stop")

    coord = Coordinator()
    Saying(coord, None).start()
    coord.join()
    assert said == ["start", "run", "stop"]
