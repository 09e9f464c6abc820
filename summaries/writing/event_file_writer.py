"""EventFileWriter: writes events to one file.

Division of work. A call checks its arguments and appends one row of 24 bytes to a buffer. Every `max_queue` rows, a
call encodes them in bulk, which takes a millisecond and does not touch the disk. A background thread writes the encoded
bytes, every `flush_secs` or when a few megabytes are waiting. flush() does both in the caller's own thread, and returns
when the operating system has the bytes.

Bounds. When `max_pending_bytes` are waiting, because the disk is slower than the caller, the next call writes them
itself, and takes as long as the disk does.

Guarantees. The file is always a prefix of what was logged, in order. Bytes that could not be written are kept, and
written first when there is room again. An error of the background thread is raised by the next call, which then logs
nothing; the call after that is accepted as long as memory lasts.

Appending a row takes no lock: a bytearray's +=, slice and del are each atomic. A call that finds the buffer longer than
`_limit` looks closer. That one comparison tells a call of everything unusual: rows are due to be encoded, there was an
error, the writer was closed, the process was forked.
"""

from __future__ import annotations

import contextlib
import math
import os
import struct
import threading
import time
import warnings
from collections import deque
from typing import TYPE_CHECKING, Any

from summaries.kinds.metadata import MetadataOnce
from summaries.kinds.scalar import scalar
from summaries.storage.files import create_event_file
from summaries.storage.names import checked_suffix, is_remote
from summaries.values import FLOAT32_MAX, as_count, as_float, as_step, check_tag
from summaries.wire.pb import Event, SessionLog, SourceMetadata, Summary
from summaries.wire.protobuf import message_bytes
from summaries.wire.records import frame
from summaries.wire.scalars import as_float32, encode_summary_event
from summaries.writing.flusher import Flusher
from summaries.writing.lifetime import close_at_last, look_after
from summaries.writing.nonfinite import NonFiniteWarning, NonFiniteWarnings
from summaries.writing.pending import ROW_BYTES, Pending, held_by_this_thread, pack_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, Self

    from summaries.writing.deferred import Deferred

__all__ = ["EventFileWriter", "NonFiniteWarning"]

_WAKE_BYTES = 4 << 20  # enough to wake the background thread early
_FLUSH_SECS, _REMOTE_FLUSH_SECS = 2.0, 60.0
_NEVER = -1  # a limit that every buffer exceeds


def new_flusher(logdir: str, flush_secs: float | None) -> Flusher:
    """A flusher for a directory. Each write to a remote one creates an object, so it writes less often there."""
    usual = _REMOTE_FLUSH_SECS if is_remote(logdir) else _FLUSH_SECS
    return Flusher(usual if flush_secs is None else flush_secs)


class EventFileWriter:
    """Writes events to a new file in a directory, in the background.

    Args:
        logdir: the directory; created if missing. An address with a scheme, such as `s3://bucket/run`, goes to fsspec.
        max_queue: the number of scalars after which a call encodes them; a few thousand is fastest.
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much. If None, 2,
            or 60 if the directory is remote, since each write creates an object there.
        filename_suffix: appended to the file's name.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
        fsync: flush() and close() return only when the bytes are on the disk.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        flusher: a background thread to share with other writers; its own if None.
        clock: returns the seconds since the epoch; time.time if None.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a bound is not positive, or the suffix names a directory.
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
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._logdir = os.fsdecode(logdir)
        # The working directory may change while the writer writes.
        self._directory = self._logdir if is_remote(self._logdir) else os.path.abspath(self._logdir)
        self._suffix = checked_suffix(filename_suffix)
        self._max_queue = as_count(max_queue, "max_queue")
        self._max_pending_bytes = as_count(max_pending_bytes, "max_pending_bytes")
        self._fsync = fsync
        self._purge_step = None if purge_step is None else as_step(purge_step, "purge_step")
        self._flusher = flusher or new_flusher(self._logdir, flush_secs)
        self._clock = clock or time.time

        self._pending = Pending()
        self._rows = self._pending.rows  # both for add_scalar, which has no time to look twice
        self._tags = self._pending.tags
        self._limit = _NEVER  # bytes that the buffer may hold before a call looks closer
        self._nonfinite = NonFiniteWarnings()
        self._metadata = MetadataOnce()
        self._default_step = 0  # of calls that give none
        self._errors: deque[Exception] = deque(maxlen=1)  # of the background thread
        self._closed = False
        self._forked = False
        self._renew_locks()
        self._open()

    @property
    def path(self) -> str:
        """The file being written."""
        return self._file.path

    @property
    def closed(self) -> bool:
        """Whether close() was called, without a reopen() since."""
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
                stored as float32; values beyond its range are written as NaN or infinity, with a warning.
            global_step: the step, an integer of at most 64 bits; None means 0.
            walltime: seconds since the epoch; now if None.
            new_style: store a rank-0 tensor instead of a simple_value. A string is taken as `display_name`, which
                tensorboardX has here, and the next argument then as `summary_description`.
            double_precision: with `new_style`, store it as float64. TensorBoard's fast loader does not show these: a
                warning says so once a tag. Without `new_style`, it is ignored, as torch does.
            display_name: shown instead of the tag.
            summary_description: Markdown, shown next to the chart.

        Raises:
            TypeError: the tag is not a string, the value not a number, or the step not an integer.
            ValueError: the tag is empty, the value has several elements, the step is too large, or the writer is
                closed.
            OSError: earlier events could not be written; this one was not logged.

        Warns:
            NonFiniteWarning: once for each tag.
        """
        if new_style or double_precision or display_name or summary_description:
            if isinstance(new_style, str) or isinstance(double_precision, str):
                display_name, new_style = display_name or new_style or "", False
                summary_description, double_precision = summary_description or double_precision or "", False
            scalar_value = as_float(scalar_value)  # once: a tensor on another device has to be waited for
            double_precision = new_style and double_precision
            summary = scalar(
                tag,
                scalar_value,
                new_style=new_style,
                double_precision=double_precision,
                display_name=display_name,
                summary_description=summary_description,
            )
            self.add_summary(summary, global_step, walltime)
            self._nonfinite.check(tag, scalar_value, global_step, double_precision=double_precision)
            return
        rows = self._rows
        if len(rows) > self._limit:
            self._look_closer()
        if scalar_value.__class__ is not float:
            scalar_value = as_float(scalar_value)
        try:
            rows += pack_row(
                self._tags[tag],
                self._default_step if global_step is None else global_step,
                self._clock() if walltime is None else walltime,
                scalar_value,
            )
        except (KeyError, TypeError, OverflowError, struct.error):
            rows += self._careful_row(tag, scalar_value, global_step, walltime)
            if FLOAT32_MAX < abs(scalar_value) < math.inf:
                self._nonfinite.warn(tag, scalar_value, global_step, as_float32(scalar_value))
        if scalar_value - scalar_value:  # not 0.0: NaN or infinite
            self._nonfinite.warn(tag, scalar_value, global_step, as_float32(scalar_value))

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log a Summary.

        Args:
            summary: our Summary, any other with the same wire format (TensorFlow's, tensorboard's, tensorboardX's),
                or its bytes.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: `summary` is neither a Summary nor bytes, or the step is not an integer.
            ValueError: the bytes do not parse as a Summary, the step is too large, or the writer is closed.
            OSError: earlier events could not be written; this one was not logged.
        """
        data, metadata = self._metadata.without_written(message_bytes(summary, Summary, "summary"))
        now = self._clock() if walltime is None else as_float(walltime, "walltime")
        record = encode_summary_event(data, self._step(global_step), now)
        self._add_record(record, len(record))
        self._metadata.note(metadata)

    def add_event(self, event: Any) -> None:
        """Log a whole Event with its own time and step: a message or its bytes. Raises as `add_summary` does."""
        record = frame(message_bytes(event, Event, "event"))
        self._add_record(record, len(record))

    def _add_deferred(self, record: Deferred, size: int) -> None:
        """Log a record that the background thread computes; `size` is the memory that it holds until then."""
        self._add_record(record, size)
        self._flusher.wake()

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        self._flush_file()

    def _flush_file(self) -> None:
        """flush() this writer's own file only."""
        if not self._forked:
            if not self._write_pending(fsync=self._fsync):
                message = (
                    f"a flush of {self.path} interrupted another of the same thread: the first flush resumes afterwards"
                )
                warnings.warn(message, RuntimeWarning, stacklevel=3)
            self._raise_error()

    def close(self) -> None:
        """Flush, and accept no more events. Closing again does nothing. If the flush fails, the writer stays open."""
        if self._closed and not self._rows:  # rows remain if close() came in the middle of another thread's call
            return
        self._flush_file()
        if held_by_this_thread(self._disk_lock):
            return  # in a signal handler during a flush, which has warned: close() can be called again afterwards
        self._closed = True
        self._limit = _NEVER
        try:
            self._flush_file()  # events that other threads logged before they could see `_closed`
        except OSError:
            self._closed = False
            raise
        self._flusher.remove(self)

    def reopen(self) -> None:
        """Close the file, and continue in a new one in the same directory."""
        if held_by_this_thread(self._disk_lock):
            raise RuntimeError(f"reopen() of {self.path} interrupted a flush of the same thread: call it afterwards")
        with contextlib.suppress(OSError):  # the old file is gone or cannot grow: waiting events go to the new one
            self.close()
        self._open()
        self._closed = False
        self._let_calls_pass()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a writer cannot be copied or sent to another process: make one there, for {self._logdir!r} too, and each "
            "writes a file of its own"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "_file" in self.__dict__:  # absent if __init__ failed
            close_at_last(self)

    # Called by the background thread, after a fork and at the end of the process.

    def write_in_background(self) -> None:
        """Write the waiting events; an error is kept for the next call."""
        try:
            self._pending.resolve()
            self._write_pending()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next call raises it
            self._errors.append(error)
            self._limit = _NEVER

    def after_fork_in_child(self) -> None:
        """Leave waiting events to the parent; the child's own events go to a new file."""
        self._pending.clear()
        self._metadata.begin_file()
        self._errors.clear()
        self._limit = _NEVER
        self._forked = not self._closed
        self._renew_locks()
        self._flusher.forget_thread()

    def _renew_locks(self) -> None:
        # Held during disk writes; no call waits for it before `max_pending_bytes` are waiting.
        self._disk_lock = threading.RLock()
        self._open_lock = threading.RLock()  # one thread at a time creates a file

    def _open(self) -> None:
        """Begin a new file, and register with the background thread."""
        now = self._clock()
        source = SourceMetadata(writer="gradledger")
        version = Event(wall_time=now, file_version="brain.Event:2", source_metadata=source)
        first = frame(version.SerializeToString())
        with self._disk_lock:
            file = create_event_file(self._directory, now, self._suffix, first)
            if self._purge_step is not None:
                start = Event(wall_time=now, step=self._purge_step, session_log=SessionLog(status=SessionLog.START))
                first += 2 * frame(start.SerializeToString())  # TensorBoard's Python loader ignores a run's first START
            try:
                file.append(first, 0)
            except OSError:
                file.discard()  # otherwise each retry would leave a file behind
                raise
            self._file = file
            self._purge_step = None  # only the first file purges; later ones continue it
            self._pending.begin_file()
            self._metadata.begin_file()
        self._write_pending()
        self._flusher.add(self)
        look_after(self)

    # The caller's side.

    def _look_closer(self) -> None:
        """Handle whatever is due: called when the buffer is longer than its limit."""
        if self._closed:
            raise ValueError(f"the writer of {self.path} is closed; reopen() continues in a new file")
        if self._forked:
            self._open_in_child()
        self._raise_error()
        self._pending.encode()
        waiting = self._pending.encoded_bytes()
        if waiting >= self._max_pending_bytes:
            self._limit = _NEVER  # if this fails, the next call tries again before it logs anything
            self._write_pending()
        elif waiting >= _WAKE_BYTES:
            self._flusher.wake()

    def _open_in_child(self) -> None:
        """Create a forked child's own file when it logs its first event."""
        with self._open_lock:
            if self._forked:
                self._open()
                self._forked = False

    def _raise_error(self) -> None:
        """Raise the background thread's error, if there is one, once."""
        try:
            error = self._errors.popleft()
        except IndexError:
            return
        self._let_calls_pass()
        raise error

    def _let_calls_pass(self) -> None:
        """Let calls append rows without looking closer, unless there is a reason to look.

        Code that adds a reason sets the limit only afterwards, so one of the two always sees the other.
        """
        rows = self._max_pending_bytes // self._pending.most_record_bytes
        self._limit = ROW_BYTES * min(self._max_queue, max(1, rows))
        if self._closed or self._forked or self._errors:
            self._limit = _NEVER

    def _careful_row(self, tag: str, value: float, global_step: Any, walltime: Any) -> bytes:
        """The row, if fast packing failed: for a new tag, a step or time of another type, or a huge value."""
        check_tag(tag)
        step = self._step(global_step)
        now = self._clock() if walltime is None else as_float(walltime, "walltime")
        number = self._pending.number_of(tag)
        self._let_calls_pass()  # fewer of them, if this is the longest tag so far
        return pack_row(number, step, now, as_float32(value))

    def _step(self, global_step: Any) -> int:
        """A call's step: a method may have set another than 0 for calls that give none."""
        return as_step(self._default_step if global_step is None else global_step)

    def _add_record(self, record: bytes | Deferred, size: int) -> None:
        """Log a whole record, deferred or not; `size` is the memory that it takes until it is encoded."""
        waiting = self._pending.record_bytes
        if len(self._rows) > self._limit or waiting > self._max_pending_bytes // 2:
            self._look_closer()
        elif waiting > _WAKE_BYTES:
            self._flusher.wake()
        self._pending.add_record(record, size)

    def _write_pending(self, *, fsync: bool = False) -> bool:
        """Write everything logged so far. Events that cannot be written stay pending.

        Returns:
            False in a signal handler that interrupted this very function, else True.
        """
        self._pending.encode()
        if held_by_this_thread(self._disk_lock):
            return False
        with self._disk_lock:
            self._pending.write(self._file)
            if fsync:
                self._file.sync()
        if self._errors and isinstance(self._errors[0], OSError):
            self._errors.clear()  # it concerned events that are now written
        self._let_calls_pass()
        return True
