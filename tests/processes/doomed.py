"""Tasks that kill their worker process, in a module of their own so that the process can import them."""

import os
import signal
import time
from pathlib import Path

from summaries.auditing.engine import Task


class DoomedTask(Task):
    """Audits, but kills its process at the run of this name."""

    doomed = "healthy"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.doomed = self.doomed  # which another process is sent

    def each(self, runs):
        if self.doomed in [run.name for run in runs]:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return super().each(runs)


class GreedyTask(Task):
    """Audits, but takes all memory at the run that the file `marker` names, once: it removes the file."""

    marker = Path()

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.marker = self.marker  # which another process is sent

    def each(self, runs):
        try:
            marked = self.marker.read_text()
        except OSError:  # there is none, or another worker has removed it
            marked = ""
        if marked in [run.name for run in runs]:
            self.marker.unlink()
            taken = []
            while True:  # until the process is killed
                if len(taken) < 60:
                    taken.append(bytes(os.urandom(1)) * (10 << 20))
                time.sleep(0.005)
        return super().each(runs)


def squared(number):
    """The square; 3 kills the process, 7 ends it, and 5 raises."""
    if number == 3:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    if number == 7:
        os._exit(4)
    if number == 5:
        raise ValueError(number)
    return number**2


def cubed(number):
    """The third power."""
    return number**3


def dies_at_7(number):
    """The number; 7 ends the process."""
    if number == 7:
        os._exit(4)
    return number


class Counting:
    """A task that counts its calls, as far as it knows."""

    def __init__(self):
        self._count = 0

    def __call__(self, _):
        self._count += 1
        return self._count


def endless(_):
    """Never returns."""
    while True:
        time.sleep(1)


class Unborn:
    """A task that raises this when it is unpickled."""

    def __init__(self, error):
        self._error = error

    def __call__(self, number):
        return number

    def __setstate__(self, state):
        raise state

    def __getstate__(self):
        return self._error
