"""EventFileWriter: writes events to one file.

Division of work. A call checks its arguments and appends one row of 24 bytes to a buffer. Every `max_queue` rows, a
call encodes them in bulk, which takes a millisecond and does not touch the disk. A background thread writes the encoded
bytes, every `flush_secs` or when a few megabytes are waiting. flush() does both in the caller's own thread, and returns
when the operating system has the bytes.

Bounds. When `max_pending_bytes` are waiting, because the disk is slower than the caller, the next call writes them
itself, and takes as long as the disk does.

Guarantees. The file is always a prefix of what was logged, in order. Bytes that could not be written are kept, and
written first when there is room again. An error of the background thread is raised by the next call, which then logs
nothing; the call after that is accepted as long as memory lasts. After close(), the next event begins a new file.

Appending a row takes no lock: a bytearray's +=, slice and del are each atomic. A call that finds the buffer longer than
`_rows_limit` looks closer. That one comparison tells a call of everything unusual: rows are due to be encoded, there
was an error, the writer was closed, the process was forked. A call that has compared already when another thread closes
the writer finds the buffer sealed: it refuses the row, and the call looks closer, too.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

from summaries import kinds, wire
from summaries.kinds.metadata import METADATA_KEY
from summaries.values import FLOAT32_MAX, as_float, as_step, as_tag
from summaries.wire.protobuf import OurBytes, message_bytes
from summaries.wire.records import frame
from summaries.wire.scalars import as_float32, encode_summary_event
from summaries.writing.lifecycle import NEVER, Lifecycle
from summaries.writing.nonfinite import NonFiniteWarning
from summaries.writing.pending import pack_row

if TYPE_CHECKING:
    from summaries.writing.deferred import Deferred

__all__ = ["EventFileWriter", "NonFiniteWarning"]

_WAKE_BYTES = 4 << 20  # enough to wake the background thread early


class EventFileWriter(Lifecycle):
    """Writes events to a new file in a directory, in the background.

    Args:
        logdir: the directory; created if missing. An address with a scheme, such as `s3://bucket/run`, goes to fsspec.
        max_queue: the number of scalars after which a call encodes them; a few thousand is fastest. With 0, each call
            writes what it logs before it returns.
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much. The first
            events are written sooner; with infinity, only flush() and close() write, and a full buffer. With 0, each
            call writes what it logs before it returns. If None, 2, or 60 if the directory is remote, since each write
            creates an object there.
        filename_suffix: appended to the file's name.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
        fsync: flush() and close() return only when the bytes are on the disk.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        write_to_disk: if False, nothing is written anywhere.
        flusher: a background thread to share with other writers; its own if None.
        clock: returns the seconds since the epoch; time.time if None.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `max_pending_bytes` is not positive, or the suffix names a directory.
        OSError: the file cannot be created.

    >>> import tempfile
    >>> with EventFileWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, global_step=1)
    """

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
                warning says so once per tag. Without `new_style`, it is ignored, as torch does.
            display_name: shown instead of the tag.
            summary_description: Markdown, shown next to the chart.

        Raises:
            TypeError: the tag is not a string, or the value or the step is not a number.
            ValueError: the tag is not Unicode text, the value has several elements, or the step is too large.
            OSError: earlier events could not be written; this one was not logged.

        Warns:
            NonFiniteWarning: once per tag.
            UserWarning: an argument is not what it should be, such as a step of 2.7, but can be converted.

        >>> import tempfile
        >>> with EventFileWriter(tempfile.mkdtemp()) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("train/loss", 1 / (1 + step), step)
        """
        if new_style or double_precision or display_name or summary_description:
            if isinstance(new_style, str) or isinstance(double_precision, str):
                display_name, new_style = display_name or new_style or "", False
                summary_description, double_precision = summary_description or double_precision or "", False
            scalar_value = as_float(scalar_value)  # once: a tensor on another device has to be waited for
            double_precision = new_style and double_precision
            summary = kinds.scalar.scalar(
                tag,
                scalar_value,
                new_style=new_style,
                double_precision=double_precision,
                display_name=display_name,
                summary_description=summary_description,
            )
            self.add_summary(summary, global_step, walltime)
            self._nonfinite_warnings.check(tag, scalar_value, global_step, double_precision=double_precision)
            return
        rows = self._scalar_rows
        if len(rows) > self._rows_limit:
            self._look_closer()
        if scalar_value.__class__ is not float:
            scalar_value = as_float(scalar_value)
        try:
            rows += pack_row(
                self._tag_numbers[tag],
                self._default_step if global_step is None else global_step,
                self._wall_clock() if walltime is None else walltime,
                scalar_value,
            )
        except (KeyError, TypeError, OverflowError, BufferError, struct.error):
            self._log_carefully(tag, scalar_value, global_step, walltime)
            if FLOAT32_MAX < abs(scalar_value) < math.inf:
                self._nonfinite_warnings.warn(tag, scalar_value, global_step, as_float32(scalar_value))
        if scalar_value - scalar_value:  # not 0.0: NaN or infinite
            self._nonfinite_warnings.warn(tag, scalar_value, global_step, as_float32(scalar_value))

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log a Summary.

        Args:
            summary: our Summary, any other with the same wire format (TensorFlow's, tensorboard's, tensorboardX's),
                or its bytes.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: `summary` is neither a Summary nor bytes, or the step is not a number.
            ValueError: the bytes do not parse as a Summary, or the step is too large.
            OSError: earlier events could not be written; this one was not logged.

        >>> import tempfile
        >>> from summaries import histogram, merge, scalar
        >>> with EventFileWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_summary(merge([scalar("loss", 0.5), histogram("weights", [1.0, 2.0, 3.0])]), 7)
        """
        data, metadata = message_bytes(summary, wire.pb.Summary, "summary"), None
        if data.__class__ is not OurBytes and METADATA_KEY in data:  # ours are scalars, without metadata
            data, metadata = self._metadata_once.without_written(data)
        now = self._wall_clock() if walltime is None else as_float(walltime, "walltime")
        record = encode_summary_event(data, self._event_step(global_step), now)
        self._add_record(record, len(record))
        if metadata:
            self._metadata_once.note(metadata)

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Log a whole Event: a message or its bytes. Raises as `add_summary` does.

        Args:
            event: the Event; one without a time gets the current time.
            step: replaces its step, unless None.
            walltime: replaces its time, in seconds since the epoch, unless None.

        >>> import tempfile
        >>> from summaries import Event, scalar
        >>> with EventFileWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_event(Event(step=7, summary=scalar("loss", 0.5)))
        """
        data = message_bytes(event, wire.pb.Event, "event")
        if step is not None or walltime is not None or not getattr(event, "wall_time", True):
            whole = wire.pb.Event.FromString(data)
            whole.step = whole.step if step is None else as_step(step)
            now = whole.wall_time or self._wall_clock()
            whole.wall_time = now if walltime is None else as_float(walltime, "walltime")
            data = whole.SerializeToString()
        record = frame(data)
        self._add_record(record, len(record))

    def _add_deferred(self, record: Deferred, size: int) -> None:
        """Log a record that the background thread computes; `size` is the memory that it holds until then."""
        self._add_record(record, size)
        self._event_flusher.wake()

    def _look_closer(self) -> None:
        """Handle whatever is due: called when the buffer is longer than its limit."""
        if self._is_closed:
            self._go_on()
        if self._is_forked:
            self._open_in_child()
        self._raise_error()
        if self._nothing_logged:
            self._nothing_logged = False
            self._event_flusher.begin()
            self._let_calls_pass()
        self._pending_events.encode()
        waiting = self._pending_events.encoded_bytes()
        if waiting >= self._max_pending_bytes:
            self._rows_limit = NEVER  # if this fails, the next call tries again before it logs anything
            self._write_pending()
        elif waiting >= _WAKE_BYTES:
            self._event_flusher.wake()

    def _log_carefully(self, tag: Any, value: float, global_step: Any, walltime: Any) -> None:
        """Log a scalar if the fast way failed: a new tag, a step of another type, a huge value, a sealed buffer."""
        tag, step = as_tag(tag), self._event_step(global_step)
        now = self._wall_clock() if walltime is None else as_float(walltime, "walltime")
        number = self._pending_events.number_of(tag)
        self._let_calls_pass()  # fewer of them, if this is the longest tag so far
        row = pack_row(number, step, now, as_float32(value))
        while not self._pending_events.add_row(row):
            self._go_on()
        if self._at_once:
            self._write_pending()

    def _add_record(self, record: bytes | Deferred, size: int) -> None:
        """Log a whole record, deferred or not; `size` is the memory that it takes until it is encoded."""
        waiting = self._pending_events.record_bytes
        if len(self._scalar_rows) > self._rows_limit or waiting > self._max_pending_bytes // 2:
            self._look_closer()
        elif waiting > _WAKE_BYTES:
            self._event_flusher.wake()
        while not self._pending_events.add_record(record, size):
            self._go_on()
        if self._at_once:
            self._write_pending()

    def _event_step(self, global_step: Any) -> int:
        """A call's step: a method may have set another than 0 for calls that give none."""
        return as_step(self._default_step if global_step is None else global_step)
