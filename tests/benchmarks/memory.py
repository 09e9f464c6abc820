"""How much memory the processes of a command take."""

from __future__ import annotations

import subprocess
import sys

_MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def peak(command: list[str], statuses: tuple[int, ...] = (0,)) -> float:
    """The most MiB that one of its processes had in memory.

    A small process starts it, since what a process has at most includes what its parent had when it was forked.

    Raises:
        RuntimeError: its exit status is none of these.
    """
    done = subprocess.run([sys.executable, "-c", _MEASURE, *command], capture_output=True, text=True, check=True)
    status, most = done.stdout.split()
    if int(status) not in statuses:
        raise RuntimeError(f"{command} ended with exit status {status}")
    return float(most)
