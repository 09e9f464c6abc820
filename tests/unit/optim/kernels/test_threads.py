"""Threads share work; whatever errors and interrupts come, none is at work when the step returns."""

import copy
import os
import pickle
import threading
import time

import numpy as np
import pytest
from helpers import run_script

import optim
from optim import GradientDescentOptimizer, Variable
from optim.kernels import threads
from summaries.execution.sharing import share


@pytest.fixture(autouse=True)
def _four_threads():
    threads.set_num_threads(4)
    yield
    threads.set_num_threads(None)


def test_every_piece_is_done_once():
    done = []
    share(done.append, range(1000), 4)
    assert sorted(done) == list(range(1000))


def test_several_threads_are_at_work():
    meeting = threading.Barrier(4, timeout=60)
    share(lambda _: meeting.wait(), range(4), 4)


def test_an_error_is_raised_when_all_have_ended():
    running = []

    def work(piece):
        if piece == 0:
            raise ZeroDivisionError
        running.append(piece)
        time.sleep(0.02)
        running.remove(piece)

    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            share(work, range(8), 4)
        assert running == []
        done = []
        share(done.append, range(8), 4)
        assert sorted(done) == list(range(8))


def test_an_index_error_is_an_error():
    with pytest.raises(IndexError):
        share([].__getitem__, range(3), 4)


def test_two_steps_at_once_do_not_wait_for_each_other():
    began, may_end = threading.Event(), threading.Event()

    def hold(_):
        began.set()
        may_end.wait(60)

    first = threading.Thread(target=share, args=(hold, range(4), 4))
    first.start()
    began.wait(60)
    done = []
    share(done.append, range(4), 4)
    may_end.set()
    first.join()
    assert sorted(done) == list(range(4))


INTERRUPTED = """
import os, signal, threading, time
import optim
from summaries.execution.sharing import share

optim.set_num_threads(3)
main = threading.main_thread()
at_work, rounds = [], 0


def work(piece):
    if threading.current_thread() is main:
        return
    at_work.append(piece)
    time.sleep(0.005)
    at_work.remove(piece)


for delay in [0.0, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006] * 5:
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        share(work, range(6), 3)
        assert not at_work, at_work
        timer.join()
        time.sleep(1)
    except KeyboardInterrupt:
        assert not at_work, at_work
        rounds += 1
    timer.join()
    done = []
    share(done.append, range(6), 3)
    assert sorted(done) == list(range(6))
print(rounds)
"""


@pytest.mark.skipif(os.name == "nt", reason="a process cannot interrupt itself alone there")
def test_an_interrupt_waits_for_the_threads(tmp_path):
    assert int(run_script(tmp_path, INTERRUPTED)) == 40


FORKED = """
import os, signal, sys, threading, time, warnings

import numpy as np
import optim
from optim.kernels.own import kernel

warnings.simplefilter("ignore")  # that the process has threads is the point
w = optim.Variable(np.zeros(3, np.float32))
inside, may_end = threading.Event(), threading.Event()


def rate():
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        may_end.wait(60)
    return 1.0


def step():
    optimizer.apply_gradients([(np.ones(3, np.float32), w)])


optimizer = optim.GradientDescentOptimizer(rate, use_locking=True)
if sys.argv[1] == "in a step":
    other = threading.Thread(target=step)
    other.start()
    inside.wait(60)
else:  # at its first step: it imports numba, or compiles
    own = optim.Rule(lambda g, v, learning_rate: (v - learning_rate * g,), (), "")
    optimizer = optim.Optimizer(optim.Update(own, 1.0, "Own"))
    other = threading.Thread(target=kernel, args=(own, "float32", True))
    other.start()
    while sys.argv[1] == "compiling" and other.is_alive() and "optim.kernels.sums" not in sys.modules:
        time.sleep(0.01)
    time.sleep(0.2)
child = os.fork()
if not child:
    signal.alarm(600)
    step()
    os._exit(0 if w.value.tolist() == [-1, -1, -1] else 1)
status = os.waitpid(child, 0)[1]
may_end.set()
other.join()
print(status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("another_thread_is", ["in a step", "importing", "compiling"])
def test_a_fork_while(tmp_path, another_thread_is):
    assert int(run_script(tmp_path, FORKED, another_thread_is)) == 0


INTERRUPTED_STEPS = """
import random, signal, threading
import numpy as np
import optim


def interrupt(*_):  # one that comes where none is caught would end the program
    global interruptible
    if interruptible:
        interruptible = False
        raise KeyboardInterrupt


interruptible = False
signal.signal(signal.SIGALRM, interrupt)
w, g = optim.Variable(np.zeros(10, np.float32)), np.ones(10, np.float32)
optimizer = optim.GradientDescentOptimizer(1.0, use_locking=True)
optimizer.apply_gradients([(g, w)])
interrupts = 0
while interrupts < 1000:
    try:
        interruptible = True
        signal.setitimer(signal.ITIMER_REAL, random.uniform(2e-6, 5e-5))
        optimizer.apply_gradients([(g, w)])
        interruptible = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupts += 1
signal.setitimer(signal.ITIMER_REAL, 0)
other = threading.Thread(target=optimizer.apply_gradients, args=([(g, w)],), daemon=True)
other.start()
other.join(300)
print(other.is_alive())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals")
def test_an_interrupted_step_leaves_no_lock_held(tmp_path):
    assert run_script(tmp_path, INTERRUPTED_STEPS).split() == ["False"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])  # noqa: S301 - our own
def test_a_locking_optimizer_is_copied_with_a_lock_of_its_own(copied):
    optimizer = optim.clip_gradients_by_norm(GradientDescentOptimizer(1.0, use_locking=True), 1.0)
    twin = copied(optimizer)
    assert isinstance(twin.update.lock, threads.ProcessLock)
    assert twin.update.lock is not optimizer.update.lock
    w = Variable([1.0])
    twin.apply_gradients([(np.float32([0.5]), w)])
    assert w.value.tolist() == [0.5]


def test_the_number_of_threads_may_change_between_steps():
    w, g = Variable(np.zeros(1 << 19, np.float32)), np.ones(1 << 19, np.float32)
    optimizer = GradientDescentOptimizer(1.0)
    for number in (1, 3, 2):
        threads.set_num_threads(number)
        optimizer.apply_gradients([(g, w)])
    assert (w.value == -3).all()


def test_each_thread_keeps_moves_of_its_own():
    """Their squares are too small for float32, so that each block's moves are read again."""
    size = 64 * 65_536
    gradient = 1e-20 * np.random.default_rng(0).standard_normal(size, np.float32)
    reports = []
    for number in (4, 1):
        threads.set_num_threads(number)
        w = Variable(np.zeros(size, np.float32), name="w")
        reports += GradientDescentOptimizer(1.0).apply_gradients([(gradient, w)], report=True).variables
    assert reports[0] == reports[1]
    assert reports[0].update_norm == pytest.approx(np.linalg.norm(gradient.astype(np.float64)), rel=1e-6)


def test_what_the_environment_says_wrongly_is_told(monkeypatch):
    threads.set_num_threads(None)
    monkeypatch.setenv("GRADLEDGER_NUM_THREADS", "abc")
    threads._number_by_default.cache_clear()
    with pytest.warns(
        UserWarning, match="^GRADLEDGER_NUM_THREADS must be a positive number, got 'abc', which is ignored$"
    ):
        assert optim.get_num_threads() >= 1
    monkeypatch.setenv("GRADLEDGER_NUM_THREADS", "3")
    threads._number_by_default.cache_clear()
    assert optim.get_num_threads() == 3
    threads._number_by_default.cache_clear()
