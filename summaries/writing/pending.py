"""Pending: events that were logged and are not in the file yet. They wait as rows, then as encoded batches.

A scalar is a row of 24 bytes in one buffer: tag number, step, wall time, value. Anything else is a whole record, and a
row that refers to it keeps its place among the scalars. Rows are encoded in bulk, and the batches written in order.

A signal handler may run between any two calls, raise (Ctrl-C does), or log and flush itself. So data moves to the next
stage only when it is ready, in a few instructions without a call, which Python does not interrupt. Code that was
interrupted before that checks, when it resumes, whether the handler has done its work already. And no thread waits for
one lock while holding another: the encode lock is never taken while the writer's disk lock is held.
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
"""(tag number, step, wall time, value) → a row's bytes; raises struct.error, TypeError or OverflowError if unfit."""

_ROW = np.dtype([("tag", "<i4"), ("step", "<i8"), ("wall_time", "<f8"), ("value", "<f4")])
ROW_BYTES = _ROW.itemsize
_RECORD = -1  # instead of a tag number: the step is then the number of a record
_BATCH_ROWS = 1 << 13  # encoded at once: few enough to stay in cache


class Pending:
    """All waiting events, in the order in which they were logged.

    Attributes:
        rows: the buffer. Appending a row is one atomic +=, and needs no lock.
        tags: tag → number, of every tag that `number_of` has seen.
        record_bytes: the memory taken by records whose rows are not encoded yet.
        most_record_bytes: the encoded size of a scalar with the longest tag.
    """

    def __init__(self) -> None:
        self.rows = bytearray()
        self.tags: dict[str, int] = {}
        self._seal: NDArray[Any] | None = None
        self.clear()

    def clear(self) -> None:
        """Forget everything, locks included: a parent may have forked half-way through a change."""
        if not self.sealed:
            self.rows.clear()
        self.tags.clear()
        self.record_bytes = 0
        self.most_record_bytes = SCALAR_BYTES
        self._taken = 0  # bytes of all rows encoded so far
        self._encoder = ScalarEncoder()
        self._records: dict[int, tuple[bytes | Deferred, int]] = {}
        self._record_numbers = itertools.count()
        self._batches: list[_Batch] = []
        # A signal handler or finalizer may log while its own thread holds one of these: it must not wait for itself.
        self._encode_lock = threading.RLock()  # rows become batches
        self._tags_lock = threading.RLock()

    def number_of(self, tag: str) -> int:
        """The number of a tag; a new tag is registered."""
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

    def add_row(self, row: bytes) -> bool:
        """Append a row; return False if the buffer is sealed."""
        try:
            self.rows += row
        except BufferError:
            return False
        return True

    def add_record(self, record: bytes | Deferred, size: int) -> bool:
        """Append a record, which takes `size` bytes until it is encoded; return False if the buffer is sealed."""
        number = next(self._record_numbers)
        self._records[number] = (record, size)
        self.record_bytes += size  # two threads at once may lose one of the additions: encode() counts afresh
        if self.add_row(pack_row(_RECORD, number, 0.0, 0.0)):
            return True
        del self._records[number]
        return False

    @property
    def sealed(self) -> bool:
        """Whether the buffer refuses rows: no call can append one unnoticed."""
        return self._seal is not None

    def seal(self) -> bool:
        """Let no more rows into the buffer, if it is empty; return whether it is sealed.

        Python refuses to resize a bytearray while an array shares its memory: appending raises BufferError.
        """
        if self._seal is None:
            try:
                self._seal = _shared_if_empty(self.rows)
            except ValueError:
                return False
        return True

    def unseal(self) -> None:
        """Let rows into the buffer again."""
        self._seal = None

    def encoding_here(self) -> bool:
        """Whether this thread is encoding: then this call is a signal handler's or a finalizer's."""
        return held_by_this_thread(self._encode_lock)

    def begin_file(self) -> None:
        """Send the waiting batches to a new file. The caller holds the writer's disk lock."""
        for batch in self._batches:
            batch.start = None

    def encoded_bytes(self) -> int:
        """The number of bytes that are encoded but not in the file yet."""
        return sum(len(batch.data) for batch in self._batches)

    def count(self) -> int:
        """The number of events that wait, including those of a batch of which a part is in the file already."""
        return sum(batch.events for batch in self._batches) + len(self.rows) // ROW_BYTES

    def resolve(self) -> None:
        """Compute deferred records, without holding a lock that a call could wait for."""
        for record, _ in list(self._records.values()):
            resolved(record)

    def encode(self) -> None:
        """Turn all rows now in the buffer into batches."""
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
            return  # a signal handler has encoded these rows
        made = [_Batch(self._encoded(rows, places, records), len(rows))]
        taken, buffer, batches = rows.nbytes, self.rows, self._batches
        if self._taken == before:  # no call up to the end of this block: see the module's docstring
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
        # The number of scalars before the i-th record is the number of rows before it, less i records.
        cuts = offsets[places - np.arange(len(places))].tolist()
        pieces: list[bytes | memoryview] = []
        for record, start, stop in zip(records, [0, *cuts], cuts, strict=False):
            pieces += data[start:stop], record
        return b"".join((*pieces, data[cuts[-1] :]))

    def write(self, file: EventFile) -> None:
        """Append the current batches: the one begun earlier first, then all others at once.

        One thread at a time: the caller holds the writer's disk lock. Batches that cannot be written stay.
        """
        for _ in range(2):
            waiting = self._batches[:]
            if not waiting:
                return
            first = waiting[0]
            if first.start is None:
                if len(waiting) > 1:
                    events = sum(batch.events for batch in waiting)
                    first = _Batch(b"".join(batch.data for batch in waiting), events)
                    self._batches[: len(waiting)] = [first]
                first.start = file.size()
            file.append(first.data, first.start)
            del self._batches[0]


def _shared_if_empty(buffer: bytearray) -> NDArray[Any]:
    """An array of the buffer's memory; raises ValueError if the buffer is not empty.

    It is one call of C functions only: no signal handler finds a buffer that is shared and not empty.
    """
    return next(map(np.ndarray.reshape, map(np.asarray, (buffer,)), (0,)))


def held_by_this_thread(lock: Any) -> bool:
    """Whether this thread holds the RLock already."""
    return bool(lock._is_owned())  # noqa: SLF001 - as threading.Condition asks it


class _Batch:
    """Encoded events, and their offset in the file; None before the first attempt to write them."""

    __slots__ = ("data", "events", "start")

    def __init__(self, data: bytes | memoryview, events: int) -> None:
        self.data = data
        self.events = events
        self.start: int | None = None
