"""Tasks that kill their worker process, in a module of their own so that the process can import them."""

import os
import signal

from summaries.auditing.engine import Task


class DoomedTask(Task):
    """Audits, but kills its process at the run named healthy."""

    def __call__(self, run):
        if run.name == "healthy":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return super().__call__(run)


def squared(number):
    """The square; 3 kills the process, 7 ends it, and 5 raises."""
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
