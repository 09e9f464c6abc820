"""A watch in a thread, which looks only when a test asks it to, so that nothing changes while it looks."""

import threading

from summaries import Finding
from summaries.auditing.config import Config
from summaries.auditing.watch import watch


class Watch:
    """A watch of a path; what it tells is (run, code) of a finding, and (run, reason) of what cannot be read."""

    def __init__(self, path, config=None):
        self.stop, self.told = _Steps(), []
        self.thread = threading.Thread(target=self._follow, args=(str(path), config or Config()), daemon=True)
        self.thread.start()
        self.stop.settle()  # else the first look might see half of what is then written

    def _follow(self, path, config):
        for new in watch(path, config, poll_secs=0, stop=self.stop):
            self.told += [(one.run, one.code if isinstance(one, Finding) else one.reason) for one in new]

    def look(self):
        """Let it look once more; what it tells."""
        self.stop.go()
        told, self.told[:] = sorted(self.told), []
        return told

    def end(self):
        self.stop.set()
        self.stop.release()
        self.thread.join()


class _Steps(threading.Event):
    """Stops the watch after each look, until the next one is asked for."""

    def __init__(self):
        super().__init__()
        self._asked, self._done = threading.Semaphore(0), threading.Semaphore(0)

    def wait(self, timeout=None):
        self._done.release()
        self._asked.acquire()
        return self.is_set()

    def settle(self):
        """Wait until the look that goes on has ended."""
        assert self._done.acquire(timeout=300)
        self._done.release()

    def go(self):
        """Let the next look begin, and wait for its end."""
        assert self._done.acquire(timeout=300)
        self._asked.release()
        self.settle()

    def release(self):
        self._asked.release()
