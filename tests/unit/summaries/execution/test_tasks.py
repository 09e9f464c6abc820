"""A task on many items: every item has one outcome, whatever the executor is and whichever workers die."""

import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

import pytest
from processes.calls import Counting, cubed, dies_at_7, squared

from summaries.execution.processes import Processes
from summaries.execution.tasks import Died, batches, in_threads, run_tasks, workers_of

SQUARES = {number: number**2 for number in range(1000)}


class KilledWorker(Exception):  # noqa: N818 - as Dask calls it
    """What an engine raises whose worker died."""


def never(items, number):
    """Nothing fails."""


class Engine(Executor):
    """Runs a call when its future is waited for, so that the test sees what is submitted; `fails` may raise."""

    _max_workers = 2

    def __init__(self, fails=never):
        self._fails = fails
        self.batches = []
        self.unfinished = 0
        self.most_unfinished = 0

    def submit(self, fn, /, *args):
        self.batches.append(list(args[1]))
        self.unfinished += 1
        self.most_unfinished = max(self.most_unfinished, self.unfinished)
        future = Future()
        number = len(self.batches)
        threading.Timer(0.002, self._run, (future, number, fn, args)).start()
        return future

    def _run(self, future, number, fn, args):
        self.unfinished -= 1
        if not future.set_running_or_notify_cancel():
            return
        try:
            self._fails(args[1], number)
            future.set_result(fn(*args))
        except Exception as error:  # noqa: BLE001 - as engines do
            future.set_exception(error)


@pytest.mark.parametrize("jobs", [None, 1, 3])
def test_without_an_executor_here_or_in_threads(jobs):
    assert dict(run_tasks(lambda number: number**2, range(1000), jobs=jobs)) == SQUARES


def test_on_threads_nothing_needs_to_be_picklable():
    with ThreadPoolExecutor(3) as executor:
        assert dict(run_tasks(lambda number: number**2, range(1000), executor=executor)) == SQUARES


@pytest.mark.parametrize("kind", [ProcessPoolExecutor, Processes])
def test_on_processes(kind):
    with kind(2) as executor:
        assert dict(run_tasks(cubed, range(100), executor=executor)) == {x: x**3 for x in range(100)}
        assert list(run_tasks(cubed, [], executor=executor)) == []


def test_in_processes_of_its_own():
    assert dict(run_tasks(cubed, range(100), jobs=2, processes=True)) == {x: x**3 for x in range(100)}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to be killed by")
def test_a_poisonous_item_costs_only_itself():
    numbers = [number for number in range(200) if number != 5]
    outcomes = dict(run_tasks(squared, numbers, jobs=2, processes=True))
    assert outcomes == {number: number**2 for number in numbers} | {
        3: Died(
            "killed its worker three times: the last one was killed by signal 9, as happens when the system runs out "
            "of memory"
        ),
        7: Died("killed its worker three times: the last one ended with status 4"),
    }


def test_an_item_is_tried_with_others_and_then_alone_three_times():
    def fails(items, number):
        if 7 in items:
            raise KilledWorker(f"Attempted to run it on {number}\nworkers. Read the logs.")

    engine = Engine(fails)
    outcomes = dict(run_tasks(abs, range(10), executor=engine, jobs=1))
    last = len(engine.batches) - engine.batches[::-1].index([7])
    reason = f"killed its worker three times: Attempted to run it on {last} workers"
    assert outcomes == {number: number for number in range(10)} | {7: Died(reason)}
    assert engine.batches.count([7]) == 3
    assert engine.batches[0] == list(range(10))


def test_a_worker_that_is_taken_away_costs_nothing():
    def fails(items, number):
        if number in {1, 4, 40, 41}:
            raise KilledWorker

    engine = Engine(fails)
    assert dict(run_tasks(abs, range(2000), executor=engine)) == {number: number for number in range(2000)}


def test_what_was_beside_a_poisonous_item_is_not_blamed():
    """Engines count a death against all that a worker had been given."""

    class Together(Engine):
        """All that is in flight is one worker's."""

        def __init__(self):
            super().__init__(self._lost)
            self._given = []

        def submit(self, fn, /, *args):
            self._given.append(args[1])
            return super().submit(fn, *args)

        def _lost(self, items, number):
            beside = [other for other in self._given if 7 in other]
            if items in self._given:
                self._given.remove(items)
            if beside or 7 in items:
                raise KilledWorker

    outcomes = dict(run_tasks(abs, range(20), executor=Together()))
    assert outcomes == {number: number for number in range(20)} | {
        7: Died("killed its worker three times: KilledWorker")
    }


def test_a_pool_that_breaks_is_named_for_all_that_was_left():
    with ProcessPoolExecutor(1) as executor:
        outcomes = dict(run_tasks(dies_at_7, range(100), executor=executor, jobs=1))
    reasons = {outcome.reason for outcome in outcomes.values()}
    assert len(outcomes) == 100
    (reason,) = reasons
    said, _, why = reason.partition(": ")
    assert said == "its executor broke, and with it all that was left"
    assert why in {  # Python's: while the call runs, or already when the next one is submitted
        "A process in the process pool was terminated abruptly while the future was running or pending.",
        "A child process terminated abruptly, the process pool is not usable anymore",
    }


def test_what_was_done_before_a_pool_broke_is_kept():
    with ProcessPoolExecutor(1) as executor:
        outcomes = dict(run_tasks(dies_at_7, [100, *range(8)], executor=executor, jobs=1, size=lambda n: n << 21))
    assert outcomes[100] == 100
    assert isinstance(outcomes[7], Died)


def test_an_executor_that_cancels_is_broken():
    class Cancelling(Engine):
        def submit(self, fn, /, *args):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    reason = "its executor broke, and with it all that was left: CancelledError"
    assert dict(run_tasks(abs, [1, 2], executor=Cancelling())) == {1: Died(reason), 2: Died(reason)}


def test_what_a_task_raises_is_raised():
    with ThreadPoolExecutor(2) as executor, pytest.raises(TypeError, match=r"^bad operand type for abs"):
        list(run_tasks(abs, [1, "2"], executor=executor))


def test_what_an_engine_raises_that_is_no_death_is_raised():
    def fails(items, number):
        raise ModuleNotFoundError("No module named 'summaries'")

    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'summaries'$"):
        list(run_tasks(abs, range(1000), executor=Engine(fails)))


def test_few_are_in_flight_and_stopping_cancels_them():
    engine = Engine()
    done = run_tasks(abs, range(2000), executor=engine)
    next(done)
    done.close()
    assert engine.most_unfinished <= 6
    assert len(engine.batches) < 2000 / 125


def test_a_task_is_unpickled_once_in_each_process():
    with ProcessPoolExecutor(1) as executor:
        counts = [count for _, count in run_tasks(Counting(), range(500), executor=executor)]
    assert sorted(counts) == list(range(1, 501))


def test_a_batch_is_announced_before_it_is_worked_on():
    announced = []

    class Announcing:
        @contextmanager
        def expecting(self, items):
            announced.append(list(items))
            yield

        def __call__(self, number):
            return number in announced[-1]

    assert all(expected for _, expected in run_tasks(Announcing(), range(130), executor=Engine()))
    assert sorted(len(items) for items in announced) == [30, 50, 50]


@pytest.mark.parametrize("where", [{}, {"executor": Engine()}], ids=["here", "on an executor"])
def test_a_task_may_take_several_items_at_once(where):
    class Doubling:
        def each(self, numbers):
            for number in numbers:
                if number == 70:
                    raise ValueError(number)
                yield 2 * number

    assert dict(run_tasks(Doubling(), range(60), **where)) == {number: 2 * number for number in range(60)}
    results = run_tasks(Doubling(), range(60, 90), **where)
    assert dict(islice(results, 10)) == {number: 2 * number for number in range(60, 70)}
    with pytest.raises(ValueError, match=r"^70$"):
        next(results)


def test_batches_hold_some_hundred_small_items_or_many_bytes():
    assert [len(batch) for batch in batches(range(100_000), 2)] == [500] * 200
    assert [len(batch) for batch in batches(range(2_000), 2)] == [125] * 16
    sizes = [sum(batch) >> 20 for batch in batches([20 << 20] * 1000, 2, int)]
    assert sizes == [240] * 83 + [80]
    assert next(batches([1, 5 << 30, 2], 2, int)) == [5 << 30]


def test_how_many_workers_an_executor_has():
    with ThreadPoolExecutor(3) as executor:
        assert (workers_of(executor), workers_of(executor, 8), workers_of(Future())) == (3, 8, 16)
    with pytest.raises(ValueError, match=r"^jobs must be at least 1, got 0$"):
        list(run_tasks(abs, [1], jobs=0))


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_in_threads_results_are_in_order(threads):
    assert list(in_threads(abs, range(-100, 0), threads)) == list(range(100, 0, -1))


def test_in_threads_what_has_not_begun_is_not_done_after_a_stop():
    begun = []

    def work(number):
        begun.append(number)
        time.sleep(0.01)
        return number

    results = in_threads(work, range(1000), 2)
    assert next(results) == 0
    results.close()
    assert len(begun) < 1000
