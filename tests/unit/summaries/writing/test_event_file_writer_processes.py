"""Writers and the ends of processes, threads and objects: nothing is lost, and nothing is written twice."""

import gc
import math
import os
import signal
import threading

import pytest
from helpers import event_files, run_script, scalars

from summaries import EventFileWriter, UnfinishedTailWarning

NEVER = math.inf
HEAD = """
import os, signal, sys, threading
from summaries import EventFileWriter

writer = EventFileWriter(sys.argv[1], flush_secs=float("inf"))
"""
needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no signal 9")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def test_exit_without_close(tmp_path, logdir):
    run_script(tmp_path, HEAD + "writer.add_scalar('loss', 0.5, 1)", logdir)
    (path,) = event_files(logdir)
    assert scalars(path) == [(1, "loss", 0.5)]


def test_exit_by_an_error(tmp_path, logdir):
    run_script(tmp_path, HEAD + "writer.add_scalar('loss', 0.5, 1); 1 / 0", logdir, status=1)
    (path,) = event_files(logdir)
    assert scalars(path) == [(1, "loss", 0.5)]


def test_exit_of_a_writer_in_a_reference_cycle(tmp_path, logdir):
    program = HEAD + "writer.add_scalar('loss', 0.5, 1); writer.me = writer; del writer"
    run_script(tmp_path, program, logdir)
    (path,) = event_files(logdir)
    assert scalars(path) == [(1, "loss", 0.5)]


@needs_kill
@pytest.mark.filterwarnings("ignore", category=UnfinishedTailWarning)
def test_killed(tmp_path, logdir):
    """What was flushed is there; what came later is whole or not there."""
    program = """
for i in range(20_000):
    writer.add_scalar("loss", i, i)
writer.flush()
for i in range(20_000, 30_000):
    writer.add_scalar("loss", i, i)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run_script(tmp_path, HEAD + program, logdir, status=-signal.SIGKILL)
    (path,) = event_files(logdir)
    points = scalars(path)
    assert len(points) >= 20_000
    assert points == [(i, "loss", float(i)) for i in range(len(points))]


@needs_kill
@pytest.mark.filterwarnings("ignore", category=UnfinishedTailWarning)
def test_killed_in_the_middle_of_a_write(tmp_path, logdir):
    program = """
write = os.write
def half(fd, data):
    write(fd, data[:len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)

for i in range(100):
    writer.add_scalar("loss", i, i)
os.write = half
writer.flush()
"""
    run_script(tmp_path, HEAD + program, logdir, status=-signal.SIGKILL)
    (path,) = event_files(logdir)
    points = scalars(path)
    assert points == [(i, "loss", float(i)) for i in range(len(points))]
    assert len(points) >= 49


@needs_fork
def test_fork(tmp_path, logdir):
    """What waited is the parent's; the child goes on in a file of its own, when it has something to log."""
    program = """
writer.add_scalar("loss", 1.0, 1)
child = os.fork()
if child == 0:
    writer.add_scalar("child", 2.0, 2)
    writer.flush()
    writer.add_scalar("child", 3.0, 3)
    writer.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
writer.add_scalar("loss", 4.0, 4)
"""
    run_script(tmp_path, HEAD + program, logdir)
    parent, child = event_files(logdir)
    files = sorted([scalars(parent), scalars(child)])
    assert files == [[(1, "loss", 1.0), (4, "loss", 4.0)], [(2, "child", 2.0), (3, "child", 3.0)]]


@needs_fork
def test_a_forked_child_that_logs_nothing_has_no_file(tmp_path, logdir):
    program = """
writer.add_scalar("loss", 1.0, 1)
child = os.fork()
if child == 0:
    writer.flush()
    writer.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    run_script(tmp_path, HEAD + program, logdir)
    (path,) = event_files(logdir)
    assert scalars(path) == [(1, "loss", 1.0)]


@needs_fork
def test_fork_while_other_threads_log_and_flush(tmp_path, logdir):
    """Whatever lock is held when the fork comes, the child is not stuck with it."""
    program = """
import warnings
warnings.simplefilter("ignore")
done = threading.Event()

def log():
    while not done.is_set():
        for i in range(100):
            writer.add_scalar("noise", i, i)
        writer.flush()

threads = [threading.Thread(target=log) for _ in range(3)]
for thread in threads:
    thread.start()
for i in range(20):
    child = os.fork()
    if child == 0:
        writer.add_scalar("child", i, i)
        writer.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
done.set()
for thread in threads:
    thread.join()
"""
    run_script(tmp_path, HEAD + program, logdir)
    points = [scalars(path) for path in event_files(logdir)]
    assert sorted(run for run in points if len(run) == 1) == [[(i, "child", float(i))] for i in range(20)]


@needs_fork
def test_a_forked_child_whose_file_cannot_be_made(tmp_path, logdir):
    """It does not fall back to its parent's."""
    program = """
writer.flush()
child = os.fork()
if child == 0:
    from summaries.writing import current_file as module
    create = module.create_event_file
    def full(*arguments):
        raise OSError(28, "No space left on device")
    module.create_event_file = full
    try:
        writer.add_scalar("child", 1.0, 1)
    except OSError:
        module.create_event_file = create
        writer.add_scalar("child", 2.0, 2)
        writer.close()
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
writer.add_scalar("loss", 3.0, 3)
"""
    run_script(tmp_path, HEAD + program, logdir)
    files = sorted(scalars(path) for path in event_files(logdir))
    assert files == [[(2, "child", 2.0)], [(3, "loss", 3.0)]]


@needs_fork
def test_a_fork_while_the_writer_is_being_closed(tmp_path, logdir):
    """The child does not wait for the thread that was closing it, and does not write to its parent's file."""
    program = """
seal = writer._run_file.queue.seal
def fork_first():
    writer._run_file.queue.seal = seal
    child = os.fork()
    if child == 0:
        writer.add_scalar("child", 1.0, 1)
        writer.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return seal()
writer._run_file.queue.seal = fork_first
writer.close()
"""
    run_script(tmp_path, HEAD + program, logdir)
    assert sorted(scalars(path) for path in event_files(logdir)) == [[], [(1, "child", 1.0)]]


@pytest.mark.parametrize("method", [pytest.param("fork", marks=needs_fork), "spawn"])
def test_a_process_of_multiprocessing_that_does_not_close(tmp_path, logdir, method):
    program = """
import multiprocessing, sys
from summaries import EventFileWriter

def work(logdir, number):
    writer = EventFileWriter(logdir, flush_secs=float("inf"), filename_suffix=f".{number}")
    writer.add_scalar("child", number, number)
    sys.keep = writer

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    children = [context.Process(target=work, args=(sys.argv[1], number)) for number in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
"""
    run_script(tmp_path, program, logdir, method)
    files = sorted(scalars(path) for path in event_files(logdir))
    assert files == [[(0, "child", 0.0)], [(1, "child", 1.0)]]


def test_a_writer_that_nobody_uses_any_more(logdir):
    """What it holds is written, and its thread ends."""
    gc.collect()
    before = set(threading.enumerate())
    writer = EventFileWriter(logdir, flush_secs=NEVER)
    (thread,) = set(threading.enumerate()) - before
    path = writer.path
    writer.add_scalar("loss", 0.5, 1)
    del writer
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()
    assert scalars(path) == [(1, "loss", 0.5)]  # only now: if the thread looked at it just then, it has closed it


def test_a_closed_writer_s_thread_ends_with_it(logdir):
    gc.collect()
    before = set(threading.enumerate())
    writer = EventFileWriter(logdir, flush_secs=NEVER)
    (thread,) = set(threading.enumerate()) - before
    writer.close()
    del writer
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


def test_many_threads(logdir):
    """Every point is there, each thread's in its order, while others flush."""
    threads, points = 16, 2000
    with EventFileWriter(logdir, max_queue=100, flush_secs=0.001, max_pending_bytes=100_000) as writer:
        start = threading.Barrier(threads)

        def log(number):
            start.wait()
            for i in range(points):
                writer.add_scalar(f"thread {number}", i, i)
                if i % 500 == number:
                    writer.flush()

        workers = [threading.Thread(target=log, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    steps = {}
    for step, tag, value in scalars(writer.path):
        assert value == step
        steps.setdefault(tag, []).append(step)
    assert steps == {f"thread {number}": list(range(points)) for number in range(threads)}


def test_closing_while_others_log(logdir):
    """What a call took is in the file, or in the one that was begun after close()."""
    points = 20_000
    writer = EventFileWriter(logdir, flush_secs=NEVER)
    start = threading.Barrier(5)

    def log(number):
        start.wait()
        for i in range(points):
            writer.add_scalar(f"thread {number}", i, i)

    workers = [threading.Thread(target=log, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    start.wait()
    writer.close()
    for worker in workers:
        worker.join()
    writer.close()
    written = {}
    for path in event_files(logdir):
        for step, tag, _ in scalars(path):
            written.setdefault(tag, []).append(step)
    assert written == {f"thread {number}": list(range(points)) for number in range(4)}
