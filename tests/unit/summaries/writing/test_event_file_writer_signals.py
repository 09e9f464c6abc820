"""Signal handlers that log, flush and close, wherever in the writer's own work they come."""

import re
import signal
import sys
import threading

import pytest
from helpers import run_script

import summaries
from summaries.writing import event_file_writer
from summaries.writing.current_file import Destination
from summaries.writing.event_queue import EventQueue

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")

# A short queue, a usual one, and one that is never full; test_run_file_instructions.py has a handler at
# each instruction.
QUEUES = pytest.mark.parametrize(("seed", "queue"), [(0, 16), (1, 512), (2, 8192)])
LOGGING = """
import random, signal, sys, time
import numpy as np
import summaries

rng = random.Random(int(sys.argv[2]))
writer = summaries.SummaryWriter(sys.argv[1], flush_secs=0.01, max_queue=int(sys.argv[3]))
large = np.linspace(-1, 1, 40_000, dtype=np.float32)
handled = 0


def handler(*_):
    global handled
    writer.add_scalar("handler", handled, handled)
    writer.add_summary(summaries.scalar("summary", handled), handled)
    if handled % 3 == 0:
        writer.add_histogram("histogram", large, handled)
    if handled % 2:
        writer.flush()
    handled += 1
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 2e-3))


writer.add_scalar("handler", handled, handled)  # a tag that is new in a handler may have to be logged again
handled += 1
writer.add_scalar("main", 0.0, 0)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001)
step = 0
while handled < 200 or step < 5000:
    step += 1
    writer.add_scalar("main", step, step)
    if step % 5000 == 0:
        writer.add_histogram("large", large, step)
signal.signal(signal.SIGALRM, signal.SIG_IGN)  # a handler that comes now would set the timer again
writer.close()
print(step, handled)
"""


@QUEUES
def test_handlers_that_log_and_flush(tmp_path, logdir, seed, queue):
    """Nobody waits for himself; nothing is lost and nothing written twice, and each tag keeps its order."""
    steps, handled = map(int, run_script(tmp_path, LOGGING, logdir, seed, queue, timeout=600).split())
    run = summaries.read_run(logdir)
    assert run.faults == ()
    assert run.scalars["main"].step.tolist() == list(range(steps + 1))
    assert run.scalars["handler"].step.tolist() == list(range(handled))
    assert run.scalars["summary"].step.tolist() == list(range(1, handled))
    assert run.histograms["histogram"].step.tolist() == list(range(3, handled, 3))
    assert run.histograms["large"].step.tolist() == list(range(5000, steps + 1, 5000))
    assert all(histogram[:, 2].sum() == 40_000 for histogram in run.histograms["large"])


LEAVING = """
import os, random, signal, sys
from summaries import SummaryWriter

rng = random.Random(int(sys.argv[2]))
writer = SummaryWriter(sys.argv[1], flush_secs=0.005, max_queue=int(sys.argv[3]))
step = 0


def handler(*_):
    writer.add_scalar("handler", 1, step)
    writer.close()
    os.write(1, str(step).encode())
    os._exit(0)


writer.add_scalar("handler", 0, 0)
writer.add_scalar("main", step, step)
step += 1
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.05, 0.2))
while True:
    writer.add_scalar("main", step, step)
    step += 1
"""


@QUEUES
def test_a_handler_that_closes_and_leaves(tmp_path, logdir, seed, queue):
    """As a job that is preempted does: all of it is in the file, though no other code of the process ran again."""
    last = int(run_script(tmp_path, LEAVING, logdir, seed, queue, timeout=600))
    run = summaries.read_run(logdir)
    assert run.faults == ()
    assert len(run.scalars["main"]) - last in (0, 1)  # the call that was interrupted may have logged already
    assert run.scalars["handler"].step.tolist() == [0, last]


def test_a_flush_inside_of_a_flush_says_that_it_cannot(logdir, monkeypatch):
    """One that interrupts a write of its own thread cannot wait for it; what it was to write comes behind."""
    writer = summaries.EventFileWriter(logdir, flush_secs=float("inf"))
    writer.add_scalar("loss", 1.0, 1)
    append = type(writer._run_file._current.file).append

    def interrupted(file, data, start):
        monkeypatch.undo()
        writer.add_scalar("loss", 2.0, 2)
        with pytest.warns(RuntimeWarning, match="^a flush of .* interrupted another of the same thread"):
            writer.close()
        assert not writer.closed
        writer.reopen()  # does nothing, but for a writer that is closed or cannot write
        writer._run_file._write_failed = True
        with pytest.raises(RuntimeError, match=r"^reopen\(\) of .* interrupted a flush of the same thread"):
            writer.reopen()
        append(file, data, start)

    monkeypatch.setattr(type(writer._run_file._current.file), "append", interrupted)
    writer.flush()
    writer.close()
    assert summaries.read_run(logdir).scalars["loss"].value.tolist() == [1.0, 2.0]


LOGGING_NEW = {
    "add_scalar": lambda writer: writer.add_scalar("new", 2.0, 2),
    "add_summary": lambda writer: writer.add_summary(summaries.scalar("new", 2.0), 2),
}


@pytest.mark.parametrize("log", LOGGING_NEW.values(), ids=LOGGING_NEW)
def test_a_call_that_close_overtakes(logdir, monkeypatch, log):
    """It has found the writer open, and appends when close() is done: in a new file, which the next flush writes."""
    writer = summaries.EventFileWriter(logdir, flush_secs=float("inf"))
    writer.add_scalar("loss", 1.0, 1)
    as_step = event_file_writer.as_step

    def overtaken(step):
        if not writer.closed:
            writer.close()
        writer._run_file.queue.limit = 1 << 30  # as it was when the call looked
        return as_step(step)

    monkeypatch.setattr(event_file_writer, "as_step", overtaken)
    log(writer)
    monkeypatch.undo()
    writer.flush()
    assert summaries.read_run(logdir).scalars["loss"].value.tolist() == [1.0]
    assert summaries.read_run(logdir).scalars["new"].value.tolist() == [2.0]


GOING_ON = """
import random, signal, sys
import numpy as np
import summaries

rng = random.Random(int(sys.argv[2]))
writer = summaries.SummaryWriter(sys.argv[1], flush_secs=0.003, max_queue=int(sys.argv[3]))
large = np.linspace(-1, 1, 40_000, dtype=np.float32)
handled = 0


def handler(*_):
    global handled
    try:
        writer.add_scalar("handler", handled, handled)
        handled += 1
    except RuntimeError:  # it interrupted the end of a close() or a reopen()
        pass
    writer.close()
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 2e-3))


writer.add_scalar("handler", handled, handled)
handled += 1
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001)
step = 0
while handled < 200 or step < 100:
    writer.add_scalar("main", step, step)
    step += 1
    if step % 100 == 0:
        writer.add_histogram("large", large, step)
signal.signal(signal.SIGALRM, signal.SIG_IGN)  # a handler that comes now would set the timer again
writer.close()
print(step, handled)
"""


@QUEUES
@pytest.mark.filterwarnings("default")
def test_handlers_that_log_and_close(tmp_path, logdir, seed, queue):
    """Wherever they come, nobody waits for himself, and all is there, over many files."""
    steps, handled = map(int, run_script(tmp_path, GOING_ON, logdir, seed, queue, timeout=600).split())
    run = summaries.read_run(logdir)
    assert run.faults == ()
    assert run.scalars["main"].step.tolist() == list(range(steps))
    assert run.scalars["handler"].step.tolist() == list(range(handled))
    assert run.histograms["large"].step.tolist() == list(range(100, steps + 1, 100))


def test_threads_that_log_while_another_closes(logdir):
    """No event that a call accepted is lost, and each thread's come in order."""
    writer = summaries.EventFileWriter(logdir, flush_secs=0.002, max_queue=64)
    done = threading.Event()
    counts = [0] * 4

    def log(number):
        while not (done.is_set() and counts[number]):
            writer.add_scalar(f"thread/{number}", counts[number], counts[number])
            counts[number] += 1

    threads = [threading.Thread(target=log, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        writer.close()
    done.set()
    for thread in threads:
        thread.join()
    writer.close()
    run = summaries.read_run(logdir)
    assert run.faults == ()
    assert [run.scalars[f"thread/{number}"].step.tolist() for number in range(4)] == [list(range(n)) for n in counts]


@pytest.mark.parametrize("log", LOGGING_NEW.values(), ids=LOGGING_NEW)
def test_a_call_that_interrupts_the_creation_of_a_file(logdir, monkeypatch, log):
    """A handler cannot wait for its own thread: it is told to log again."""
    writer = summaries.EventFileWriter(logdir, flush_secs=float("inf"))
    writer.add_scalar("loss", 1.0, 1)
    writer.close()
    begin, closed = Destination.begin_file, writer.path

    def interrupted(*arguments):
        monkeypatch.undo()
        text = f"^this call interrupted the end of {re.escape(closed)} in the same thread: log it again$"
        with pytest.raises(RuntimeError, match=text):
            log(writer)
        return begin(*arguments)

    monkeypatch.setattr(Destination, "begin_file", interrupted)
    writer.add_scalar("loss", 3.0, 3)
    writer.close()
    assert summaries.read_run(logdir).scalars["loss"].step.tolist() == [1, 3]


def test_a_sealed_buffer_takes_no_row():
    """What Python promises of a bytearray whose memory an array shares."""
    queue = EventQueue(1, 1)
    assert queue.add_row(b"row")
    assert not queue.seal()
    assert queue.add_row(b"row")
    queue.rows.clear()
    assert queue.seal()
    assert not queue.add_row(b"row")
    queue.unseal()
    assert queue.add_row(b"row")
    assert bytes(queue.rows) == b"row"


def test_a_handler_just_after_the_queue_is_sealed(logdir):
    """It finds the queue sealed, and begins a new file, which the close() that it interrupted does not close."""
    writer = summaries.EventFileWriter(logdir, flush_secs=float("inf"))
    writer.add_scalar("loss", 1.0, 1)
    closed = writer.path

    def interrupt(frame, event, function):
        if event == "c_return" and frame.f_code is EventQueue.seal.__code__:
            sys.setprofile(None)
            writer.add_scalar("loss", 2.0, 2)

    sys.setprofile(interrupt)
    writer.close()
    assert sys.getprofile() is None
    assert writer.path != closed
    assert not writer.closed
    writer.close()
    assert summaries.read_run(logdir).scalars["loss"].step.tolist() == [1, 2]
