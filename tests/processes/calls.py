"""Calls that kill their worker process or bring it to an error, in a module that a process imports in no time."""

import os
import signal
import time


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
