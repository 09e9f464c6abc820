"""How much memory the processes of a command take, and how long."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

_MEASURE = """
import json, resource, subprocess, sys, time
begun, status, said = time.perf_counter(), None, b""
secs, *command = json.loads(sys.stdin.read())
try:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=secs
    )
    status, said = done.returncode, done.stderr
except subprocess.TimeoutExpired:
    pass
secs, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
said = said[-1000:].decode(errors="replace").strip()
print(json.dumps([status, used.ru_maxrss / 1024, secs, used.ru_utime + used.ru_stime, said]))
"""


class Measured(NamedTuple):
    """What a command took.

    Attributes:
        status: its exit status; None if it took too long, and was killed.
        mib: the most MiB that one of its processes had in memory.
        secs: how long it took, in seconds.
        cpu_secs: how long its processes used a processor, in seconds.
        said: the end of what it wrote on standard error.
    """

    status: int | None
    mib: float
    secs: float
    cpu_secs: float
    said: str


def measured(command: list[str], secs: float | None = None) -> Measured:
    """Run a command, for so many seconds at most.

    A small process starts it, since what a process has at most includes what its parent had when it was forked.
    """
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE], input=json.dumps([secs, *command]), capture_output=True, text=True, check=True
    )
    return Measured(*json.loads(done.stdout))


def peak(command: list[str], statuses: tuple[int, ...] = (0,)) -> float:
    """The most MiB that one of its processes had in memory.

    Raises:
        RuntimeError: its exit status is none of these.
    """
    done = measured(command)
    if done.status not in statuses:
        raise RuntimeError(f"{command} ended with exit status {done.status}: {done.said}")
    return done.mib
