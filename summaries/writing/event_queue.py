"""EventQueue: events that were logged and are not in the file yet. They wait as rows, then as encoded batches.

A scalar is a row of 24 bytes in one buffer: tag number, step, wall time, value. Anything else is a whole record, and a
row that refers to it keeps its position among the scalars. Rows are encoded in bulk, and the batches written in order.

A signal handler may run between any two instructions, raise (Ctrl-C does), or log and flush itself. So data moves to
the next stage only when it is ready, in a single call of C functions, in which no handler runs. The first of them fails
if a handler has done the work meanwhile. And no thread waits for one lock while holding another: the encode lock is
never taken while the run file's disk lock is held.
"""

from __future__ import annotations

import itertools
import operator
import struct
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.wire.scalars import SCALAR_BYTES, ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from summaries.storage.files import EventFile

__all__ = ["NEVER", "Deferred", "EventQueue", "held_by_this_thread", "pack_row"]

pack_row: Callable[..., bytes] = struct.Struct("<iqdf").pack
"""(tag number, step, wall time, value) → a row's bytes; raises struct.error, TypeError or OverflowError if unfit."""
NEVER = -1
"""A limit that every buffer exceeds."""

_ROW = np.dtype([("tag", "<i4"), ("step", "<i8"), ("wall_time", "<f8"), ("value", "<f4")])
# NumPy imports some of its functions when they are first called; at the end of the interpreter nothing can be imported.
_first = ScalarEncoder()
_first.register("")
_first.encode(*(np.zeros(1, _ROW)[column] for column in ("tag", "step", "wall_time", "value")))
del _first
_RECORD = -1  # instead of a tag number: the step is then the number of a record
_BATCH_BYTES = _ROW.itemsize << 13  # rows encoded at once: few enough to stay in cache


class EventQueue:
    """All waiting events, in the order in which they were logged.

    Args:
        max_rows: the number of rows after which a call encodes them.
        max_bytes: roughly the memory that waiting events may take.
        at_once: whether each event is written by the call that logs it.

    Attributes:
        rows: the buffer. Appending a row is one atomic +=, and needs no lock.
        limit: the bytes of `rows` beyond which a call looks closer.
        tags: tag → number, of every tag that a call may log by appending a row itself.
        record_bytes: the memory taken by records whose rows are not encoded yet.
    """

    def __init__(self, max_rows: int, max_bytes: int, *, at_once: bool = False) -> None:
        self._max_rows, self._max_bytes = max_rows, max_bytes
        self.rows: bytearray = bytearray()
        self.limit: int = NEVER
        self._numbers: dict[str, int] = {}
        self.tags: dict[str, int] = {} if at_once else self._numbers
        self._seals: list[NDArray[Any]] = []
        self.clear()

    def clear(self) -> None:
        """Forget everything, locks included: a parent may have forked half-way through a change."""
        if not self.sealed:
            self.rows.clear()
        self._numbers.clear()
        self.record_bytes: int = 0
        self._max_record_bytes = SCALAR_BYTES  # of a scalar with the longest tag
        self._position = [0]  # of the first row in the buffer, in bytes: so many were encoded before
        self._encoder = ScalarEncoder()
        self._records: dict[int, tuple[bytes | Deferred, int]] = {}
        self._record_numbers = itertools.count()
        self._batches: list[_Batch] = []
        self._unsynced: list[_Batch] = []  # written, but not on the disk yet; only if somebody asks for that
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
            number = self._numbers.get(tag)
            if number is None:
                number = self._encoder.register(tag)
                self._max_record_bytes = max(self._max_record_bytes, SCALAR_BYTES + len(tag.encode()))
                self._numbers[tag] = number
        return number

    def let_calls_pass(self) -> None:
        """Let calls append rows without looking closer, until so many wait that they should be encoded."""
        rows = max(1, self._max_bytes // self._max_record_bytes)
        self.limit = min(self._max_rows, rows) * _ROW.itemsize

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
        return bool(self._seals)

    def seal(self) -> bool:
        """Let no more rows into the buffer, if it is empty; return whether it is sealed.

        Python refuses to resize a bytearray while an array shares its memory: appending raises BufferError. The array
        is made and stored in one call of C functions only, so no signal handler finds a buffer that is sealed by half.
        """
        try:
            self._seals.extend(map(np.ndarray.reshape, map(np.asarray, (self.rows,)), (0,)))
        except ValueError:  # it is not empty
            return False
        return True

    def unseal(self) -> None:
        """Let rows into the buffer again."""
        self._seals.clear()

    def encoding_here(self) -> bool:
        """Whether this thread is encoding: then this call is a signal handler's or a finalizer's."""
        return held_by_this_thread(self._encode_lock)

    def begin_file(self) -> None:
        """Send what waits, and what was not synced, to a new file. The caller holds the disk lock."""
        _in_one_call(
            partial(operator.setitem, self._batches, slice(0, 0), self._unsynced[:]),
            self._unsynced.clear,
        )
        for batch in self._batches:
            batch.start = None

    def durable_size(self) -> int | None:
        """The size at which the file must end for what `begin_file` would write to be in none twice; None for its own.

        The caller holds the disk lock.
        """
        return next((batch.start for batch in (*self._unsynced, *self._batches[:1])), None)

    def encoded_bytes(self) -> int:
        """The number of bytes that are encoded but not in the file yet."""
        return sum(len(batch.data) for batch in list(self._batches))

    def is_waiting(self) -> bool:
        """Whether anything is not in the file yet, or not on the disk."""
        return bool(self.rows or self._batches or self._unsynced)

    def unsynced_bytes(self) -> int:
        """The number of bytes that are kept until they are on the disk."""
        return sum(len(batch.data) for batch in list(self._unsynced))

    def count(self) -> int:
        """The number of events that wait, including those of a batch of which a part is in the file already."""
        return sum(batch.events for batch in self._batches) + len(self.rows) // _ROW.itemsize

    def resolve(self) -> None:
        """Compute deferred records, without holding a lock that a call could wait for."""
        for record, _ in list(self._records.values()):
            _resolved(record)

    def encode(self) -> None:
        """Turn all rows now in the buffer into batches."""
        with self._encode_lock:
            for _ in range(0, len(self.rows), _BATCH_BYTES):
                self._encode_batch()
            self.record_bytes = sum(size for _, size in list(self._records.values()))

    def _encode_batch(self) -> None:
        """Turn the first rows into a batch."""
        position = self._position[0]
        rows = np.frombuffer(self.rows[:_BATCH_BYTES], _ROW)
        indices = np.flatnonzero(rows["tag"] == _RECORD)
        numbers = rows["step"][indices].tolist()
        entries = [self._records.get(number) for number in numbers]
        records = [_resolved(entry[0]) for entry in entries if entry is not None]
        if len(records) < len(numbers) or not len(rows):
            return  # a signal handler has encoded these rows
        batch = _Batch(self._encoded(rows, indices, records), len(rows))
        try:
            _in_one_call(
                partial(self._position.remove, position),  # ValueError: a signal handler has encoded these rows
                partial(self._batches.append, batch),
                partial(operator.delitem, self.rows, slice(0, rows.nbytes)),
                partial(self._position.append, position + rows.nbytes),
            )
        except ValueError:
            return
        for number in numbers:
            self._records.pop(number, None)

    def _encoded(self, rows: NDArray[Any], indices: NDArray[np.intp], records: list[bytes]) -> bytes | memoryview:
        """The bytes of the rows, of which those with these indices stand for `records`."""
        if len(records) == len(rows):
            return b"".join(records)
        scalars = np.delete(rows, indices) if records else rows
        data, offsets = self._encoder.encode(*(scalars[column] for column in ("tag", "step", "wall_time", "value")))
        if not records:
            return data
        # The number of scalars before the i-th record is the number of rows before it, less i records.
        cuts = offsets[indices - np.arange(len(indices))].tolist()
        pieces: list[bytes | memoryview] = []
        for record, start, stop in zip(records, [0, *cuts], cuts, strict=False):
            pieces += data[start:stop], record
        return b"".join((*pieces, data[cuts[-1] :]))

    def write(self, file: EventFile, *, keep: bool = False) -> None:
        """Append the current batches: the one begun earlier first, then all others at once.

        One thread at a time: the caller holds the disk lock. Batches that cannot be written stay; with `keep`, so do
        those that were, until `forget_synced`.
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
            if keep:
                _in_one_call(partial(self._unsynced.append, first), partial(operator.delitem, self._batches, 0))
            else:
                del self._batches[0]

    def forget_synced(self) -> None:
        """Forget what was written: it is on the disk. The caller holds the disk lock."""
        self._unsynced.clear()

    def waiting(self) -> bytes:
        """All that waits, encoded. The caller holds the disk lock."""
        return b"".join(batch.data for batch in self._batches)

    def withdraw(self, file: EventFile) -> None:
        """Forget the one event that waits, of which the file then has no part. The caller holds the disk lock."""
        if len(self._batches) == 1 and self._batches[0].events == 1:
            start = self._batches[0].start
            if start is None or file.cut(start):
                del self._batches[0]


def _in_one_call(*steps: Callable[[], object]) -> None:
    """Call C functions that return None one after the other; no signal handler runs in between."""
    any(map(operator.call, steps))


class _Batch:
    """Encoded events, and their offset in the file; None before the first attempt to write them."""

    __slots__ = ("data", "events", "start")

    def __init__(self, data: bytes | memoryview, events: int) -> None:
        self.data = data
        self.events = events
        self.start: int | None = None


class Deferred:
    """A record that the background thread computes instead of the caller.

    No lock is held during the work: a finalizer may run in the middle of it, and log and flush itself. If two threads
    want the bytes at once, both may compute them; the first to finish provides them.

    Args:
        make: returns the record's bytes.
    """

    def __init__(self, make: Callable[[], bytes]) -> None:
        self._make = make
        self._results: list[list[bytes]] = []  # the first counts

    def record(self) -> bytes:
        """The bytes, computed on the first call. Whatever make() raises is raised once; from then on, b""."""
        if not self._results:
            error = None
            try:
                result = [self._make()]
            except Exception as problem:  # noqa: BLE001 - raised below
                result, error = [b""], problem
            self._results.append(result)  # an interrupt up to here leaves the work to the next caller
            if error is not None and self._results[0] is result:
                raise error
        return self._results[0][0]


def _resolved(record: bytes | Deferred) -> bytes:
    """The bytes of a record, deferred or not."""
    return record if isinstance(record, bytes) else record.record()


def held_by_this_thread(lock: Any) -> bool:
    """Whether this thread holds the RLock already."""
    return bool(lock._is_owned())  # noqa: SLF001 - as threading.Condition asks it
