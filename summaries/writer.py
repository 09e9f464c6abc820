"""EventFileWriter: events into one file.

Who does what. A call checks its arguments and appends one row of 24 bytes to a buffer. Every `max_queue` rows, the call
that finds so many encodes them in bulk, which takes a millisecond and touches no disk. A thread in the background
writes what is encoded, every `flush_secs` or when a megabyte waits. flush() does both in the caller's own thread, and
returns when the operating system has the bytes.

What is bounded. When `max_pending_bytes` are waiting, because the disk is slower than the caller, the next call does
the writing itself, and so takes as long as the disk does.

What is promised. The file is always a prefix of what was logged, in order. Bytes that could not be written are kept,
and written first when there is room again. An error of the background thread is raised by the next call, which then
has logged nothing; the call after that is accepted, while there is memory for it.

No lock is taken to append a row: a bytearray's +=, slice and del are each atomic. A call that finds the buffer longer
than `_limit` looks closer. That one comparison is how a call learns of everything unusual: enough is waiting to be
encoded, there was an error, the writer was closed, the process was forked.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import struct
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.build.scalar import scalar
from summaries.deferred import Deferred, resolved
from summaries.files import create_event_file, is_remote
from summaries.flusher import Flusher
from summaries.values import FLOAT32_MAX, as_float, as_step, check_tag, serialized
from summaries.wire.pb import Event, SessionLog, SourceMetadata
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder, as_float32, encode_summary_event

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray

__all__ = ["EventFileWriter", "NonFiniteWarning"]

_pack_row = struct.Struct("<iqdf").pack
_ROW = np.dtype([("tag", "<i4"), ("step", "<i8"), ("wall_time", "<f8"), ("value", "<f4")])
_ROW_BYTES = _ROW.itemsize
_RECORD = -1  # instead of a tag number: the next of the records; the step is then its size in bytes
_BATCH_ROWS = 1 << 13  # encoded at once: few enough to stay in the cache
_WAKE_BYTES = 1 << 20  # enough for the background thread to begin
_FLUSH_SECS, _REMOTE_FLUSH_SECS = 2.0, 60.0
_NEVER = -1  # a limit that every buffer is longer than


class NonFiniteWarning(UserWarning):
    """A value was logged that float32 cannot hold: it is written as NaN or infinity."""


def new_flusher(logdir: str, flush_secs: float | None) -> Flusher:
    """A flusher for a directory; each write to a remote one makes an object there, so that fewer are better."""
    usual = _REMOTE_FLUSH_SECS if is_remote(logdir) else _FLUSH_SECS
    return Flusher(usual if flush_secs is None else flush_secs)


class EventFileWriter:
    """Writes events to a new file in a directory, in the background.

    Args:
        logdir: the directory; made where it is missing. An address with a scheme, such as `s3://bucket/run`, goes to
            fsspec.
        max_queue: so many scalars wait as numbers, before a call encodes them; a few thousand is fastest.
        flush_secs: the longest that an event waits, in seconds; what a process that is killed loses at most. Where
            None, 2, or 60 if the directory is remote, since each write makes an object there.
        filename_suffix: appended to the file's name.
        max_pending_bytes: the memory that waiting events may take, about; the call that finds it used up writes.
        fsync: flush() and close() return only when the bytes are on the disk.
        purge_step: what earlier files of the run hold at this step and later is superseded: TensorBoard hides it.
        flusher: a background thread to share with other writers; its own where None.
        clock: gives the seconds since the epoch.

    Raises:
        ValueError: a bound is not positive.
        OSError: the file cannot be created.

    >>> import tempfile
    >>> with EventFileWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, global_step=1)
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        max_queue: int = 1 << 13,
        flush_secs: float | None = None,
        filename_suffix: str = "",
        *,
        max_pending_bytes: int = 64 << 20,
        fsync: bool = False,
        purge_step: int | None = None,
        flusher: Flusher | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        for name, bound in (("max_queue", max_queue), ("max_pending_bytes", max_pending_bytes)):
            if bound <= 0:
                raise ValueError(f"{name} must be positive, got {bound}")
        self._logdir = os.fspath(logdir)
        self._suffix = filename_suffix
        self._max_queue = max_queue
        self._max_pending_bytes = max_pending_bytes
        self._fsync = fsync
        self._purge_step = None if purge_step is None else as_step(purge_step, "purge_step")
        self._flusher = flusher or new_flusher(self._logdir, flush_secs)
        self._clock = clock

        self._rows = bytearray()  # rows of _ROW
        self._limit = _NEVER  # how long the buffer may get before a call looks closer
        self._records: deque[bytes | Deferred] = deque()  # the records of the rows that are _RECORD
        self._record_bytes = 0
        self._batches: tuple[_Batch, ...] = ()  # encoded, not yet in the file; changed under the encode lock
        self._tags: dict[str, int] = {}
        self._encoder = ScalarEncoder()
        self._warned: set[str] = set()
        self._error: Exception | None = None
        self._closed = False
        self._forked = False
        self._renew_locks()
        self._open()
        _live.add(self)

    @property
    def path(self) -> str:
        """The file being written."""
        return self._file.path

    @property
    def closed(self) -> bool:
        """Whether close() was called, and reopen() not since."""
        return self._closed

    def get_logdir(self) -> str:
        """The directory that the file is in."""
        return self._logdir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
        display_name: str = "",
        summary_description: str = "",
    ) -> None:
        """Log one number.

        Args:
            tag: the tag; "group/name" makes groups in TensorBoard.
            scalar_value: a Python or NumPy number, or an array or tensor of one element, on any device. It is
                stored as float32; what that cannot hold is written as NaN or infinity, with a warning.
            global_step: the step, an integer of at most 64 bits; None is 0.
            walltime: seconds since the epoch; now, where None.
            new_style: store a rank-0 tensor instead of a simple_value.
            double_precision: store it as float64; new style. TensorBoard's fast loader does not show these.
            display_name: shown instead of the tag.
            summary_description: Markdown, shown beside the chart.

        Raises:
            TypeError: the tag is no string, the value no number, the step no integer.
            ValueError: the tag is empty, the value has several elements, the step is too large, the writer is closed.
            OSError: earlier events could not be written; this one was not taken.

        Warns:
            NonFiniteWarning: once for each tag.
        """
        if new_style or double_precision or display_name or summary_description:
            summary = scalar(
                tag,
                scalar_value,
                new_style=new_style,
                double_precision=double_precision,
                display_name=display_name,
                summary_description=summary_description,
            )
            self.add_summary(summary, global_step, walltime)
            return
        rows = self._rows
        if len(rows) > self._limit:
            self._look_closer()
        if scalar_value.__class__ is not float:
            scalar_value = as_float(scalar_value)
        try:
            rows += _pack_row(
                self._tags[tag],
                0 if global_step is None else global_step,
                self._clock() if walltime is None else walltime,
                scalar_value,
            )
        except (KeyError, TypeError, OverflowError, struct.error):
            rows += self._careful_row(tag, scalar_value, global_step, walltime)
            if FLOAT32_MAX < abs(scalar_value) < math.inf:
                self._warn_once(tag, scalar_value, global_step, as_float32(scalar_value))
        if scalar_value - scalar_value:  # not 0.0: NaN or infinite
            self._warn_once(tag, scalar_value, global_step, as_float32(scalar_value))

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log a Summary.

        Args:
            summary: our Summary, or anybody's with the same wire format (TensorFlow's, tensorboard's,
                tensorboardX's), or its bytes.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: it is neither a message nor bytes, or the step no integer.
            ValueError: the step is too large, or the writer is closed.
            OSError: earlier events could not be written; this one was not taken.
        """
        data = serialized(summary, "summary")
        now = self._clock() if walltime is None else as_float(walltime, "walltime")
        record = encode_summary_event(data, as_step(global_step), now)
        self._add_record(record, len(record))

    def add_event(self, event: Any) -> None:
        """Log a whole Event, with its own time and step: a message as in `add_summary`, or its bytes. Same errors."""
        record = frame(serialized(event, "event"))
        self._add_record(record, len(record))

    def _add_deferred(self, make: Callable[[], bytes], size: int) -> None:
        """Log a Summary record that the background thread makes; `size` is the memory that it holds until then."""
        self._add_record(Deferred(make), size)
        self._flusher.wake()

    def flush(self) -> None:
        """Return when all that was logged before is in the operating system's hands; on the disk, with `fsync`.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        if not self._forked:
            self._write_pending(fsync=self._fsync)

    def close(self) -> None:
        """Flush, and take no more events. Closing again does nothing. Where flush() fails, the writer stays open."""
        if self._closed:
            return
        self.flush()
        with self._state_lock:
            self._closed = True
            self._limit = _NEVER
        self._flusher.remove(self)
        self.flush()  # what other threads logged before they could see the end

    def reopen(self) -> None:
        """Go on in a new file in the same directory. What is open is closed first."""
        self.close()
        self._closed = False
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "_file" in self.__dict__:  # not where __init__ failed
            _close_at_last(self)

    # What the background thread, a fork and the end of the process do.

    def write_in_background(self) -> None:
        """Write what waits; an error is kept for the next call."""
        try:
            for record in list(self._records):
                resolved(record)  # in front of the encode lock, for which a call may be waiting
            self._write_pending()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next call raises it
            with self._state_lock:
                self._error = error
                self._limit = _NEVER

    def after_fork_in_child(self) -> None:
        """Leave what waits to the parent, and go on, when something is logged, in a file of the child's own."""
        self._rows.clear()
        self._records.clear()
        self._record_bytes = 0
        self._batches = ()
        self._tags.clear()
        self._encoder = ScalarEncoder()  # the parent's may have been half-way through a change
        self._error = None
        self._limit = _NEVER
        self._forked = not self._closed
        self._renew_locks()
        self._flusher.forget_thread()

    def _renew_locks(self) -> None:
        # Always taken in this order; only the first is held while the disk works, and no call waits for it before
        # `max_pending_bytes` are waiting.
        self._disk_lock = threading.Lock()  # batches become bytes in the file
        self._encode_lock = threading.Lock()  # rows become batches
        self._state_lock = threading.Lock()  # tags, records, errors; held for a moment
        self._fork_lock = threading.Lock()  # a child's threads make one file between them

    def _open(self) -> None:
        """Begin a new file, and have the background thread look after it."""
        now = self._clock()
        source = SourceMetadata(writer="gradledger")
        version = Event(wall_time=now, file_version="brain.Event:2", source_metadata=source)
        first = frame(version.SerializeToString())
        self._file = create_event_file(self._logdir, now, self._suffix, first)
        if self._purge_step is not None:
            start = Event(wall_time=now, step=self._purge_step, session_log=SessionLog(status=SessionLog.START))
            first += frame(start.SerializeToString())
            self._purge_step = None  # the files after this one follow it
        with self._encode_lock:
            self._batches = (_Batch(first), *self._batches)
        self._write_pending()
        self._flusher.add(self)
        _close_with_child_process(self)

    # The caller's side.

    def _look_closer(self) -> None:
        """What a call does that found the list longer than its limit."""
        if self._closed:
            raise ValueError(f"the writer of {self.path} is closed; reopen() goes on in a new file")
        with self._state_lock:
            error, self._error = self._error, None
        if self._forked:
            self._open_in_child()
        if error is not None:
            self._limit = self._usual_limit()
            raise error
        self._encode_pending()
        waiting = sum(len(batch.data) for batch in self._batches)
        if waiting >= self._max_pending_bytes:
            self._limit = _NEVER  # where this fails, the next call tries again before it takes anything
            self._write_pending()
        elif waiting >= _WAKE_BYTES:
            self._flusher.wake()

    def _open_in_child(self) -> None:
        """A forked child's first event goes to a new file; until there is one, to none."""
        with self._fork_lock:
            if self._forked:
                self._open()
                self._forked = False

    def _usual_limit(self) -> int:
        return _ROW_BYTES * min(self._max_queue, max(1, self._max_pending_bytes // _ROW_BYTES))

    def _careful_row(self, tag: str, value: float, global_step: Any, walltime: Any) -> bytes:
        """The row, where packing it refused something: a new tag, a step or time of another type, a huge value."""
        number = self._tags.get(tag) if isinstance(tag, str) else None
        if number is None:
            number = self._new_tag(tag)
        step = as_step(global_step)
        now = self._clock() if walltime is None else as_float(walltime, "walltime")
        return _pack_row(number, step, now, as_float32(value))

    def _new_tag(self, tag: str) -> int:
        check_tag(tag)
        with self._state_lock:
            number = self._tags.get(tag)
            if number is None:
                number = self._tags[tag] = self._encoder.register(tag)
        return number

    def _warn_once(self, tag: str, got: Any, step: Any, written: Any) -> None:
        if tag not in self._warned:
            self._warned.add(tag)
            message = f"tag {tag!r} got {got} at step {as_step(step)}: written as {written}; said once for a tag"
            warnings.warn(message, NonFiniteWarning, stacklevel=3)

    def _add_record(self, record: bytes | Deferred, size: int) -> None:
        """Take a record that comes whole, or will; `size` is what it takes in memory until it is encoded."""
        if len(self._rows) > self._limit or self._record_bytes > self._max_pending_bytes // 2:
            self._look_closer()
        elif self._record_bytes > _WAKE_BYTES:
            self._flusher.wake()
        with self._state_lock:
            self._records.append(record)
            self._record_bytes += size
            self._rows += _pack_row(_RECORD, size, 0.0, 0.0)

    # From rows to the file.

    def _encode_pending(self) -> None:
        """Turn every row that is in the buffer now into batches."""
        with self._encode_lock:
            for _ in range(0, len(self._rows), _BATCH_ROWS * _ROW_BYTES):
                rows = np.frombuffer(self._rows[: _BATCH_ROWS * _ROW_BYTES], _ROW)
                places = np.flatnonzero(rows["tag"] == _RECORD)
                records = [resolved(self._records[i]) for i in range(len(places))]
                # In this order an interrupt (Ctrl-C comes between any two instructions) never loses a row.
                self._batches += (_Batch(self._encode(rows, places, records)),)
                del self._rows[: rows.nbytes]
                with self._state_lock:
                    for place in places:
                        self._records.popleft()
                        self._record_bytes -= int(rows["step"][place])

    def _encode(self, rows: NDArray[Any], places: NDArray[np.intp], records: list[bytes]) -> memoryview:
        """The bytes of the rows, of which those at `places` stand for `records`."""
        if not records:
            return self._encoder.encode(rows["tag"], rows["step"], rows["wall_time"], rows["value"])[0]
        if len(records) == len(rows):
            return memoryview(b"".join(records))
        rows = np.delete(rows, places)
        scalars, offsets = self._encoder.encode(rows["tag"], rows["step"], rows["wall_time"], rows["value"])
        # Before the i-th record stand as many scalars as rows, less the i records among them.
        cuts = offsets[places - np.arange(len(places))].tolist()
        pieces: list[bytes | memoryview] = []
        for record, start, stop in zip(records, [0, *cuts], cuts, strict=False):
            pieces += scalars[start:stop], record
        return memoryview(b"".join((*pieces, scalars[cuts[-1] :])))

    def _write_pending(self, *, fsync: bool = False) -> None:
        """Write all that was logged before. What fails stays where it is."""
        with self._disk_lock:
            self._encode_pending()
            if self._batches:
                self._write_batches()
            if fsync:
                self._file.sync()
            with self._state_lock:
                self._error = None
                if not self._closed:
                    self._limit = self._usual_limit()

    def _write_batches(self) -> None:
        """Write the batches that there are now: first the one that was begun before, then all others at once."""
        while self._batches:
            with self._encode_lock:
                if self._batches[0].start is None:
                    if len(self._batches) > 1:
                        self._batches = (_Batch(b"".join(batch.data for batch in self._batches)),)
                    self._batches[0].start = self._file.size()
                first = self._batches[0]
                last = len(self._batches) == 1
            assert first.start is not None
            self._file.append(first.data, first.start)
            with self._encode_lock:
                self._batches = self._batches[1:]
            if last:
                return


class _Batch:
    """Encoded records, and where in the file they begin; None before the first attempt to write them."""

    __slots__ = ("data", "start")

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data
        self.start: int | None = None


_live: weakref.WeakSet[EventFileWriter] = weakref.WeakSet()


def _close_at_last(writer: EventFileWriter) -> None:
    """Close a writer that nobody closed; there is nobody to raise an error to either."""
    try:
        writer.close()
    except Exception as error:  # noqa: BLE001
        with contextlib.suppress(Exception):
            warnings.warn(f"events were lost, because {writer.path} could not be written: {error}", stacklevel=2)


@atexit.register
def _close_all() -> None:
    for writer in list(_live):
        _close_at_last(writer)


def _close_with_child_process(writer: EventFileWriter) -> None:
    """A process that multiprocessing started ends without atexit, but runs multiprocessing's own finalizers."""
    util = sys.modules.get("multiprocessing.util")
    parent = sys.modules.get("multiprocessing.process")
    if util is not None and parent is not None and parent.parent_process() is not None:
        util.Finalize(None, _close_referenced, (weakref.ref(writer),), exitpriority=0)


def _close_referenced(reference: weakref.ref[EventFileWriter]) -> None:
    writer = reference()
    if writer is not None:
        _close_at_last(writer)


def _after_fork_in_child() -> None:
    for writer in list(_live):
        writer.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
