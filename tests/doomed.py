"""Tasks for worker processes that kill these, in a module of its own, so that the processes can import it."""

import os
import signal

from summaries.auditing.engine import Task


class DoomedTask(Task):
    """Audits, and kills the process that it is in when it comes to the run called healthy."""

    def __call__(self, run):
        if run.name == "healthy":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return super().__call__(run)


def squared(number):
    """The square; the process is killed by 3, ends with 7, and raises at 5."""
    if number == 3:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    if number == 7:
        os._exit(4)
    if number == 5:
        raise ValueError(number)
    return number**2


class Unborn:
    """A task that cannot be unpickled, so that no process starts."""

    def __call__(self, number):
        return number

    def __setstate__(self, state):
        raise SystemExit(5)

    def __getstate__(self):
        return {"a": 1}
