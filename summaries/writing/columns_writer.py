"""ColumnsWriter: writes columns of scalars that exist already to a new event file, without a thread or a buffer."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.scalars import ScalarEncoder, encode_summary_event
from summaries.writing.current_file import Destination

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from summaries.storage.files import EventFile
    from summaries.wire.pb import Summary

__all__ = ["ColumnsWriter"]

_ROWS = 1 << 15  # encoded and written at once: about 2 MB
_LATEST = 10**10  # seconds since the epoch that the name of an event file has room for


class ColumnsWriter:
    """Writes a run whose points are at hand, each column at once: a million of them in less than a second.

    The file begins with the first event; its name and first record have the time of that event.

    Args:
        directory: the run's directory on a local disk; created if missing.
        double: store values as float64, which TensorBoard shows with --load_fast=false only; else as float32.

    Attributes:
        points: the number of scalars written.
        rounded: the number of these whose values float32 cannot hold, and so are others now.
        overflowed: the number of these that are finite, but beyond float32, and so became infinite.

    Raises:
        OSError: by each method: the file cannot be created or written.

    >>> import tempfile
    >>> from summaries import read_run
    >>> directory = tempfile.mkdtemp()
    >>> with ColumnsWriter(directory) as writer:
    ...     loss = writer.number_of("loss")
    ...     writer.add_scalars(np.array([loss, loss]), np.array([1, 2]), np.array([5.0, 6.0]), np.array([0.5, 0.25]))
    >>> read_run(directory).scalars["loss"].value
    array([0.5 , 0.25])
    """

    def __init__(self, directory: str | os.PathLike[str], *, double: bool = False) -> None:
        self._destination = Destination(os.fspath(directory))
        self._double = double
        self._encoder = ScalarEncoder(double=double)
        self._numbers: dict[str, int] = {}
        self._file: EventFile | None = None
        self._size = 0
        self.points: int = 0
        self.rounded: int = 0
        self.overflowed: int = 0

    def number_of(self, tag: str) -> int:
        """The number of a tag, by which columns refer to it. What of the tag is not Unicode text is escaped."""
        number = self._numbers.get(tag)
        if number is None:
            text = tag.encode(errors="backslashreplace").decode()
            number = self._numbers[tag] = self._encoder.register(text)
        return number

    def add_scalars(
        self,
        tags: NDArray[np.integer],
        steps: NDArray[np.int64],
        wall_times: NDArray[np.float64],
        values: NDArray[np.float64],
    ) -> None:
        """Write n scalars, in this order.

        Args:
            tags: integers[n], as `number_of` gave them.
            steps: int64[n].
            wall_times: float64[n], seconds since the epoch.
            values: float64[n]; stored as float32, or as they are if `double`.
        """
        self.points += len(steps)
        if not self._double:
            self._count(values)
        for first in range(0, len(steps), _ROWS):
            rows = slice(first, first + _ROWS)
            records, _ = self._encoder.encode(tags[rows], steps[rows], wall_times[rows], values[rows])
            self._append(records, float(wall_times[first]))

    def _count(self, values: NDArray[np.float64]) -> None:
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        lost = (narrow != values) & ~np.isnan(values)
        beyond = int(np.count_nonzero(np.isinf(narrow) & lost))
        self.overflowed += beyond
        self.rounded += int(np.count_nonzero(lost)) - beyond

    def add_summary(self, summary: Summary, step: int, wall_time: float) -> None:
        """Write an event with a Summary.

        Args:
            summary: the Summary.
            step: its step.
            wall_time: seconds since the epoch.
        """
        self._append(encode_summary_event(summary.SerializeToString(), step, wall_time), wall_time)

    def close(self) -> None:
        """Create the file if nothing was written, so that there is a run."""
        self._append(b"", time.time())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()

    def _append(self, data: bytes | memoryview, wall_time: float) -> None:
        if self._file is None:
            begin = wall_time if 0 <= wall_time < _LATEST else time.time()
            self._file = self._destination.begin_file(begin)
            self._size = self._file.size()
        self._file.append(data, self._size)
        self._size += len(data)
