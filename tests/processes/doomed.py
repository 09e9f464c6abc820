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
