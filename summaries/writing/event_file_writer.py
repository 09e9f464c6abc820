"""EventFileWriter: writes events to one file.

Division of work. A call checks its arguments and appends one row of 24 bytes to a buffer. Every `max_queue` rows, a
call encodes them in bulk, which takes a millisecond and does not touch the disk. A background thread writes the encoded
bytes, every `flush_secs` or when a few megabytes are waiting. flush() does both in the caller's own thread, and returns
when the operating system has the bytes.

Bounds. When `max_pending_bytes` are waiting, because the disk is slower than the caller, the next call writes them
itself, and takes as long as the disk does.

Guarantees. The file is always a prefix of what was logged, in order. Bytes that could not be written are kept, and
written first when there is room again. An error of the background thread is raised by the next call, which then logs
nothing; the call after that is accepted as long as memory lasts. A call that writes at once, and cannot, logs nothing.
After close(), the next event begins a new file; so does one whose file was taken away, cut short or replaced by others.

Appending a row takes no lock: a bytearray's +=, slice and del are each atomic. A call that finds the queue longer than
its limit looks closer. That one comparison tells a call of everything unusual: rows are due to be encoded, there was an
error, the writer was closed, the process was forked. A call that has compared already when another thread closes the
writer finds the queue sealed: it refuses the row, and the call looks closer, too.
"""

from __future__ import annotations

import copy
import math
import os
import struct
import time
import warnings
from typing import TYPE_CHECKING, Any

from summaries import kinds, wire
from summaries.kinds.metadata import METADATA_KEY
from summaries.lazy import load
from summaries.storage.names import checked_suffix, is_remote
from summaries.values import as_count, as_float, as_step, as_tag
from summaries.wire.protobuf import OurBytes, message_bytes
from summaries.wire.records import frame
from summaries.wire.scalars import as_float32, encode_summary_event
from summaries.writing.current_file import Destination
from summaries.writing.event_queue import pack_row
from summaries.writing.flusher import Flusher, flusher_for
from summaries.writing.run_file import RunFile
from summaries.writing.shadowed import computed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

__all__ = ["EventFileWriter", "NonFiniteWarning", "NonFiniteWarnings"]


class EventFileWriter:
    """Writes events to a new file in a directory, in the background.

    Args:
        logdir: the directory; created if missing. An address with a scheme, such as `s3://bucket/run`, goes to fsspec.
        max_queue: the number of scalars after which a call encodes them; a few thousand is fastest. With 0, each call
            writes what it logs before it returns.
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much, and what was
            logged while foreign code kept the interpreter's lock. The first events are written sooner; with infinity,
            only flush() and close() write, and a full buffer. With 0, each call writes what it logs before it returns.
            If None, 2, or 60 if the directory is remote, since each write creates an object there.
        filename_suffix: appended to the file's name.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
        fsync: flush() and close() return only when the bytes are on the disk, and so are the names of the file and of
            the directories that were made for it. Without, a loss of power may lose what the system has not written.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        write_to_disk: if False, nothing is written anywhere.
        flusher: a background thread to share with other writers; its own if None.
        run_file: another writer's, to share; its own if None.
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
        write_to_disk: bool = True,
        flusher: Flusher | None = None,
        run_file: RunFile | None = None,
        clock: Callable[[], float] | None = None,
        storage_options: Mapping[str, object] | None = None,
    ) -> None:
        load(wire)  # now: the handler of a signal may log while a call that it interrupted imports the same module
        load(kinds)
        self._given_logdir = os.fsdecode(logdir)
        # The working directory may change while the writer writes.
        directory = self._given_logdir if is_remote(self._given_logdir) else os.path.abspath(self._given_logdir)
        self._wall_clock = clock or time.time
        self._default_step = 0  # of calls that give none
        self._nonfinite_warnings = NonFiniteWarnings()
        self._run_file = run_file or RunFile(
            Destination(directory, checked_suffix(filename_suffix), storage_options, write_to_disk),
            flusher or flusher_for(directory, flush_secs),
            max_queue=max(as_step(max_queue, "max_queue"), 0),
            max_bytes=as_count(max_pending_bytes, "max_pending_bytes"),
            purge_step=None if purge_step is None else as_step(purge_step, "purge_step"),
            fsync=fsync,
            clock=self._wall_clock,
        )
        self._event_queue = self._run_file.queue  # for add_scalar, which has no time to look twice

    @computed
    def path(self) -> str:
        """The file being written.

        In a store, each flush creates an object, whose name has a number more: `paths` are the objects. Whatever reads
        a file takes this name, too, and reads all of its objects in order.
        """
        return self._run_file.path

    @computed
    def closed(self) -> bool:
        """Whether close() was called, and nothing was logged since."""
        return self._run_file.closed

    @computed
    def paths(self) -> list[str]:
        """Every file so far."""
        return self._run_file.paths

    def get_logdir(self) -> str:
        """The directory that the file is in."""
        return self._given_logdir

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again; what an fsync failed for, in a new file.
        """
        self._run_file.flush()

    def close(self) -> None:
        """Write everything. Closing again does nothing; logging again begins a new file in the same directory.

        Raises:
            OSError: it could not be written. The writer stays open.
        """
        self._run_file.close()
        self._run_file.flusher.join()

    def reopen(self) -> None:
        """Continue in a new file, if the writer is closed or its file could not be written; else do nothing."""
        self._run_file.reopen()

    def __getstate__(self) -> dict[str, Any]:
        """What a copy of a closed writer gets."""
        if not self._run_file.closed:
            raise TypeError(
                "an open writer cannot be copied or sent to another process: make another "
                f"{type(self).__name__}({self._given_logdir!r}) in that process; each writes a file of its own"
            )
        state = self.__dict__ | {"_run_file": copy.copy(self._run_file)}
        del state["_event_queue"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._event_queue = self._run_file.queue

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

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
        queue = self._event_queue
        rows = queue.rows
        if len(rows) > queue.limit:
            self._run_file.look_closer()
        if scalar_value.__class__ is not float:
            scalar_value = as_float(scalar_value)
        try:
            rows += pack_row(
                queue.tags[tag],
                self._default_step if global_step is None else global_step,
                self._wall_clock() if walltime is None else walltime,
                scalar_value,
            )
        except (KeyError, TypeError, OverflowError, BufferError, struct.error):
            # A new tag, a step of another type, a huge value, a sealed queue.
            step, now = self._event_step(global_step), self._event_time(walltime)
            self._run_file.add_scalar(as_tag(tag), step, now, as_float32(scalar_value))
            self._nonfinite_warnings.check(tag, scalar_value, global_step)
        if scalar_value - scalar_value:  # not 0.0: NaN or infinite
            self._nonfinite_warnings.check(tag, scalar_value, global_step)

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
        data = message_bytes(summary, wire.pb.Summary, "summary")
        new_metadata: dict[str, bytes] = {}
        if data.__class__ is not OurBytes and METADATA_KEY in data:  # ours are scalars, without metadata
            data, new_metadata = self._run_file.metadata.without_written(data)
        record = encode_summary_event(data, self._event_step(global_step), self._event_time(walltime))
        self._run_file.add_record(record, len(record))
        if new_metadata:
            self._run_file.metadata.note(new_metadata)

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
            message = wire.pb.Event.FromString(data)
            if step is not None:
                message.step = as_step(step)
            if walltime is not None or not message.wall_time:
                message.wall_time = self._event_time(walltime)
            data = message.SerializeToString()
        record = frame(data)
        self._run_file.add_record(record, len(record))

    def _event_step(self, global_step: Any) -> int:
        """A call's step: a method may have set another than 0 for calls that give none."""
        return as_step(self._default_step if global_step is None else global_step)

    def _event_time(self, walltime: Any) -> float:
        """A call's time, in seconds since the epoch."""
        return self._wall_clock() if walltime is None else as_float(walltime, "walltime")


class NonFiniteWarning(UserWarning):
    """A value was logged that float32 cannot hold: it is written as NaN or infinity."""


class NonFiniteWarnings:
    """Warns of values that float32 cannot hold, once per tag; they are written all the same."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def check(self, tag: str, value: float, step: Any, *, double_precision: bool = False) -> None:
        """Warn if `value` is not finite as written; the warning names the line that called the calling method."""
        written = value if double_precision else as_float32(value)
        if not math.isfinite(written):
            self.warn(tag, value, step, written, stacklevel=4)

    def warn(self, tag: str, value: Any, step: Any, written: Any, stacklevel: int = 3) -> None:
        """Warn, if this is the first time for the tag."""
        if tag not in self._warned:
            self._warned.add(tag)
            message = f"tag {tag!r} got {value} at step {as_step(step)}: written as {written}; warned once per tag"
            warnings.warn(message, NonFiniteWarning, stacklevel=stacklevel)
