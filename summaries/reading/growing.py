"""A run that grows: what was added since the last look is read, and added to the columns.

The points so far are copied for each look, at the speed of memory, because columns with views on them cannot grow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.errors import is_damaged
from summaries.reading.collector import Collector
from summaries.reading.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.storage.protocols import StoredFile

__all__ = ["GrowingRun"]

_SEAM_BYTES = 256  # a file that was replaced has other bytes before the position where reading stopped


class GrowingRun:
    """A run whose files are read as they grow, or whose scalars come from a program.

    >>> run = GrowingRun()
    >>> run.add("loss", 0, 1.5e9, 2.0)
    >>> run.add("loss", 1, 1.5e9, 1.0)
    >>> run.columns().scalars["loss"].value
    array([2., 1.])
    """

    def __init__(self) -> None:
        self._start_over()

    def _start_over(self) -> None:
        self._collector = Collector()
        self._files: tuple[StoredFile, ...] = ()
        self._seam = b""
        self._columns: Run | None = None

    def add(self, tag: str, step: int, wall_time: float, value: float) -> None:
        """Add one point that comes from no file; `wall_time` in seconds since the epoch."""
        self._collector.add(tag, step, wall_time, value)
        self._columns = None

    def columns(self) -> Run:
        """The run so far. Its scalars stay as they are; the rest may change when the run grows."""
        if self._columns is None:
            self._columns = Run(self._collector, copy=True)
        return self._columns

    def read(self, files: Sequence[StoredFile]) -> Run:
        """Read what is new in the files of the run, and return the run so far.

        Only the last file is expected to grow, and new files to come after it. If another file has changed, or the
        last one is not the file that it was, or is damaged, everything is read again.

        Args:
            files: all files of the run as they are now, in reading order.

        Raises:
            OSError: a file cannot be read; then, as after an interrupt, the next call reads everything.
        """
        now = tuple(files)
        if now == self._files:
            return self.columns()
        self._columns = None
        try:
            read = len(self._files)
            if not read or now[: read - 1] != self._files[:-1] or not self._goes_on(now[read - 1 : read]):
                self._start_over()
                read = 0
            for file in now[read:]:
                self._collector.read(file)
            self._files = now
            self._seam = self._last_bytes(now[-1]) if now else b""
        except BaseException:  # also an interrupt: points were added that the next call would add again
            self._start_over()
            raise
        return self.columns()

    def _goes_on(self, last: Sequence[StoredFile]) -> bool:
        """Read what was added to the last file; False if that cannot be told from another file."""
        before, collector = self._files[-1], self._collector
        if not last or last[0].path != before.path or last[0].size < before.size or not self._seam:
            return False
        damaged = is_damaged(fault for fault in collector.faults if fault.path == before.path)
        if damaged or self._last_bytes(last[0]) != self._seam:
            return False
        if last[0] != before:
            collector.read_more(last[0], collector.settled)
        return True

    def _last_bytes(self, file: StoredFile) -> bytes:
        """The bytes before the position where reading stopped."""
        settled = self._collector.settled
        with file.open() as opened:
            return opened.read_range(max(settled - _SEAM_BYTES, 0), min(settled, _SEAM_BYTES))
