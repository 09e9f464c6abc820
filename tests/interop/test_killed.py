"""Fifty processes, killed by signal 9 at random moments, and a disk that really is full."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from helpers import run_script

from summaries import SummaryWriter, read_events
from summaries.errors import FaultKind

PROCESSES, AT_ONCE = 50, 5

# Logs as fast as it can, and says on its standard output what it has flushed.
LOGGER = """
import itertools, sys
import numpy as np
from summaries import SummaryWriter, scalar
writer = SummaryWriter(sys.argv[1], flush_secs=0.02)
print(flush=True)
for step in itertools.count():
    writer.add_scalar("a" * (1 + step % 40), step, step)
    if step % 100 == 0:
        writer.add_summary(scalar("summary", step), step)
        writer.add_histogram("h", np.full(50_000, step), step)
    if step % 1000 == 999:
        writer.flush()
        print(step, flush=True)
"""


def scalars(path, on_fault):
    return [
        int(value.simple_value)
        for event in read_events(path, on_fault=on_fault)
        for value in event.summary.value
        if value.tag.startswith("a")
    ]


@pytest.mark.parametrize("batch", range(PROCESSES // AT_ONCE))
def test_what_was_flushed_is_there_and_the_file_is_whole(tmp_path, batch):
    processes = []
    for i in range(AT_ONCE):
        command = [sys.executable, "-c", LOGGER, str(tmp_path / str(i))]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}))
    moments = random.Random(batch)
    for process in processes:
        process.stdout.readline()  # it is logging
    for i, process in enumerate(processes):
        time.sleep(moments.uniform(0, 0.06))
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0].split()
        flushed = int(said[-1]) if said else -1
        (path,) = (tmp_path / str(i)).iterdir()
        faults = []
        steps = scalars(path, faults.append)
        assert steps == list(range(len(steps))), "a prefix of what was logged, in order"
        assert len(steps) > flushed
        assert all(fault.kind is FaultKind.UNFINISHED_TAIL for fault in faults)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KiB."""
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"needs the right to mount a small file system: {mounted.stderr.decode().strip()}")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_full_disk(small_disk):
    """Errors name the file, what is written stays whole, and with room again everything accepted is there."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(100 * 1024))
    writer = SummaryWriter(small_disk / "run", flush_secs=0.01, max_pending_bytes=1 << 20)
    accepted, errors = [], []
    for step in range(20_000):
        try:
            writer.add_scalar("a", step, step)
            accepted.append(step)
            if step % 500 == 0:
                writer.flush()
        except OSError as error:
            errors.append(error)
    assert errors
    assert {(error.errno, error.filename) for error in errors} == {(28, writer.path)}
    faults = []
    before = scalars(writer.path, faults.append)
    assert before == accepted[: len(before)]
    assert all(fault.kind is FaultKind.UNFINISHED_TAIL for fault in faults)

    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    with contextlib.suppress(OSError):
        writer.add_scalar("a", 20_000, 20_000)  # may still be told of the last failure
        accepted.append(20_000)
    writer.close()
    assert scalars(writer.path, "raise") == accepted


INTERRUPTED = """
import os, random, signal, sys, threading, time
from summaries import SummaryWriter
writer = SummaryWriter(sys.argv[1], max_queue=50, flush_secs=0.01)
begun, over = threading.Event(), threading.Event()
interruptible = False
def interrupt(*_):  # as usual, but one that comes before the last was caught would end the program
    global interruptible
    if interruptible:
        interruptible = False
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
def storm():
    begun.wait()
    for _ in range(500):
        time.sleep(random.random() * 0.002)
        os.kill(os.getpid(), signal.SIGINT)
    over.set()
step = 0
threading.Thread(target=storm).start()
while not over.is_set():
    try:
        interruptible = True
        begun.set()
        while not over.is_set():
            writer.add_scalar("a" * (1 + step % 7), step, step)
            step += 1
            if step % 100 == 0:
                writer.add_text("text", str(step), step)
            if step % 500 == 0:
                writer.flush()
        interruptible = False
    except KeyboardInterrupt:
        step += 1  # this call may have logged, or not
writer.close()
print(step)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals that a process can send to itself")
def test_five_hundred_interrupts(logdir, tmp_path):
    """Ctrl-C between any two instructions: nothing but the interrupted calls is missing, and nothing is spoilt."""
    logged = int(run_script(tmp_path, INTERRUPTED, logdir).split()[-1])
    (path,) = logdir.iterdir()
    steps = list(dict.fromkeys(scalars(path, "raise")))  # an interrupt at the worst instruction may write rows twice
    assert steps == sorted(steps)
    assert len(steps) >= logged - 501
