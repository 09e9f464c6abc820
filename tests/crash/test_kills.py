"""Two thousand kills by signal 9: what was promised of a killed process, counted to the call.

Each process is forked, logs, and writes into memory that it shares with this one when each call had returned.
"""

import mmap
import os
import random
import signal
import struct
import time

import pytest

from summaries import SummaryWriter, read_run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

KILLS, AT_ONCE = 1000, 50  # of each kind of writer
FLUSH_SECS, LATE_SECS = 0.3, 2.0  # so late may a process be that shares two processors with fifty
MOST, SECS = 1000, 1.0
KINDS = {
    "in the background": {"flush_secs": FLUSH_SECS},
    "at once": {"max_queue": 0},
}
_TIME = struct.Struct("<d")


def log(directory, shared, options):
    """Log until killed; say when the n-th call had returned at 8 n, and how many were flushed at the end."""
    writer = SummaryWriter(directory, **options)
    for step in range(MOST):
        writer.add_scalar("a" * (1 + step % 40), step, step)
        _TIME.pack_into(shared, 8 * step, time.monotonic())
        if step % 100 == 50:
            writer.flush()
            _TIME.pack_into(shared, 8 * MOST, step + 1)
        time.sleep(0.004)
    time.sleep(60)


def begin(directory, options):
    shared = mmap.mmap(-1, 8 * (MOST + 1))
    process = os.fork()
    if not process:
        try:
            log(directory, shared, options)
        finally:
            os._exit(1)
    return process, shared


def steps_of(directory):
    try:
        run = read_run(directory)
    except FileNotFoundError:
        return []
    assert not any(fault.kind.is_damage for fault in run.faults)
    assert all(series.step.tolist() == series.value.tolist() for series in run.scalars.values())
    return sorted(step for series in run.scalars.values() for step in series.step.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_kills(tmp_path, kind):
    moments = random.Random(kind)
    oldest, most = 0.0, 0
    for batch in range(KILLS // AT_ONCE):
        begun = []
        for i in range(AT_ONCE):
            directory = str(tmp_path / f"{batch}-{i}")
            begun.append((directory, *begin(directory, KINDS[kind])))
        due = sorted((time.monotonic() + moments.uniform(0, SECS), one) for one in begun)
        for moment, (directory, process, shared) in due:
            time.sleep(max(0.0, moment - time.monotonic()))
            os.kill(process, signal.SIGKILL)
            killed = time.monotonic()
            os.waitpid(process, 0)
            times = list(filter(None, (at for (at,) in _TIME.iter_unpack(shared[: 8 * MOST]))))
            (flushed,) = _TIME.unpack_from(shared, 8 * MOST)
            shared.close()
            steps = steps_of(directory)
            assert steps == list(range(len(steps))), "a prefix of what was logged, in order"
            lost = times[len(steps) :]
            assert len(steps) >= flushed, "what was flushed is there"
            assert kind != "at once" or not lost, "a call that writes at once had returned"
            age = killed - lost[0] if lost else 0.0
            oldest, most = max(oldest, age), max(most, len(lost))
            assert age < FLUSH_SECS + LATE_SECS, "what was logged before that is there"
    print(f"{kind}: {KILLS} kills, at most {most} points lost, the oldest logged {oldest:.2f} s before")
