"""Pending: what was logged and is not in the file yet. First rows, then encoded batches.

A scalar is a row of 24 bytes in one buffer: tag number, step, wall time, value. Whatever else is logged comes as a
whole record, and a row that names it keeps its place among the scalars. Rows are encoded in bulk, and the batches
written in order.

A signal handler may come between any two calls, raise (Ctrl-C does), or log and flush itself. So nothing is moved on
before it is ready, and moving it on is a few instructions without a call among them, which Python does not interrupt.
Whoever is interrupted before that looks, when it goes on, whether the handler has done its work already. And nobody
waits for one lock while holding another: the encode lock is never taken by who holds the writer's disk lock.
"""

from __future__ import annotations

import itertools
import struct
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.wire.scalars import SCALAR_BYTES, ScalarEncoder
from summaries.writing.deferred import Deferred, resolved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.storage.files import EventFile

__all__ = ["ROW_BYTES", "Pending", "held_by_this_thread", "pack_row"]

pack_row = struct.Struct("<iqdf").pack
"""(tag number, step, wall time, value) → the bytes of a row; struct.error, TypeError or OverflowError if it is none."""

_ROW = np.dtype([("tag", "<i4"), ("step", "<i8"), ("wall_time", "<f8"), ("value", "<f4")])
ROW_BYTES = _ROW.itemsize
_RECORD = -1  # instead of a tag number: the step is then the number of a record
_BATCH_ROWS = 1 << 13  # encoded at once: few enough to stay in the cache


class Pending:
    """Everything that waits, in the order in which it was logged.

    Attributes:
        rows: the buffer. Appending a row is one atomic +=, and needs no lock.
        tags: tag → number, of every tag that `number_of` has seen.
        record_bytes: the memory that records take which are still named by rows.
        most_record_bytes: what the scalar of the longest tag takes when it is encoded.
    """

    def __init__(self) -> None:
        self.rows = bytearray()
        self.tags: dict[str, int] = {}
        self.clear()

    def clear(self) -> None:
        """Forget everything, locks too: a forked child's parent may have been half-way through a change."""
        self.rows.clear()
        self.tags.clear()
        self.record_bytes = 0
        self.most_record_bytes = SCALAR_BYTES
        self._taken = 0  # the bytes of rows that were ever encoded
        self._encoder = ScalarEncoder()
        self._records: dict[int, tuple[bytes | Deferred, int]] = {}
        self._record_numbers = itertools.count()
        self._batches: list[_Batch] = []
        # A signal handler or a finalizer may log while its own thread holds one of them: it must not wait for itself.
        self._encode_lock = threading.RLock()  # rows become batches
        self._tags_lock = threading.RLock()

    def number_of(self, tag: str) -> int:
        """The number of a tag, which may be new."""
        if held_by_this_thread(self._tags_lock):
            raise RuntimeError(
                f"the tag {tag!r} is new, and this call interrupted the registration of another: log it again"
            )
        with self._tags_lock:
            number = self.tags.get(tag)
            if number is None:
                number = self._encoder.register(tag)
                self.most_record_bytes = max(self.most_record_bytes, SCALAR_BYTES + len(tag.encode()))
                self.tags[tag] = number
        return number

    def add_record(self, record: bytes | Deferred, size: int) -> None:
        """Append a record, which takes `size` bytes of memory until it is encoded."""
        number = next(self._record_numbers)
        self._records[number] = (record, size)
        self.record_bytes += size  # two threads at once may lose one of theirs: encode() counts anew
        self.rows += pack_row(_RECORD, number, 0.0, 0.0)

    def begin_file(self) -> None:
        """What waits goes to another file than before. The writer's disk lock is held."""
        for batch in self._batches:
            batch.start = None

    def encoded_bytes(self) -> int:
        """How much is encoded, and not in the file yet."""
        return sum(len(batch.data) for batch in self._batches)

    def resolve(self) -> None:
        """Do the work of deferred records, without a lock for which a call could be waiting."""
        for record, _ in list(self._records.values()):
            resolved(record)

    def encode(self) -> None:
        """Turn every row that is in the buffer now into batches."""
        with self._encode_lock:
            for _ in range(0, len(self.rows), _BATCH_ROWS * ROW_BYTES):
                self._encode_some()
            self.record_bytes = sum(size for _, size in list(self._records.values()))

    def _encode_some(self) -> None:
        """Turn the first rows into a batch."""
        before = self._taken
        rows = np.frombuffer(self.rows[: _BATCH_ROWS * ROW_BYTES], _ROW)
        places = np.flatnonzero(rows["tag"] == _RECORD)
        numbers = rows["step"][places].tolist()
        named = [self._records.get(number) for number in numbers]
        records = [resolved(found[0]) for found in named if found]
        if len(records) < len(numbers) or not len(rows):
            return  # a handler has encoded these rows
        made = [_Batch(self._encoded(rows, places, records))]
        taken, buffer, batches = rows.nbytes, self.rows, self._batches
        if self._taken == before:  # without a call up to the end of this block: see above
            batches += made
            del buffer[:taken]
            self._taken = before + taken
        for number in numbers:
            self._records.pop(number, None)

    def _encoded(self, rows: NDArray[Any], places: NDArray[np.intp], records: list[bytes]) -> bytes | memoryview:
        """The bytes of the rows, of which those at `places` stand for `records`."""
        if len(records) == len(rows):
            return b"".join(records)
        scalars = np.delete(rows, places) if records else rows
        data, offsets = self._encoder.encode(*(scalars[column] for column in ("tag", "step", "wall_time", "value")))
        if not records:
            return data
        # Before the i-th record stand as many scalars as rows, less the i records among them.
        cuts = offsets[places - np.arange(len(places))].tolist()
        pieces: list[bytes | memoryview] = []
        for record, start, stop in zip(records, [0, *cuts], cuts, strict=False):
            pieces += data[start:stop], record
        return b"".join((*pieces, data[cuts[-1] :]))

    def write(self, file: EventFile) -> None:
        """Append the batches that there are now: the one that was begun before, then all others at once.

        One thread at a time may do this: the writer's disk lock is held. What cannot be written stays.
        """
        for _ in range(2):
            waiting = self._batches[:]
            if not waiting:
                return
            first = waiting[0]
            if first.start is None:
                if len(waiting) > 1:
                    first = _Batch(b"".join(batch.data for batch in waiting))
                    self._batches[: len(waiting)] = [first]
                first.start = file.size()
            file.append(first.data, first.start)
            del self._batches[0]


def held_by_this_thread(lock: Any) -> bool:
    """Whether this thread holds the RLock already."""
    return bool(lock._is_owned())  # noqa: SLF001 - as threading.Condition asks it


class _Batch:
    """Encoded records, and where in the file they begin; None before the first attempt to write them."""

    __slots__ = ("data", "start")

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data
        self.start: int | None = None
