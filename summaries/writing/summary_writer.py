"""SummaryWriter: the writer's public interface, as in TF1 and torch."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from summaries.storage.names import host_name
from summaries.values import warn
from summaries.writing.arguments import by_position
from summaries.writing.graph_methods import GraphMethods
from summaries.writing.kind_methods import KindMethods
from summaries.writing.large_histograms import LargeHistograms
from summaries.writing.lifecycle import new_flusher
from summaries.writing.run_writer import RunWriter
from summaries.writing.shadowed import computed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SummaryWriter"]

_MAX_QUEUE = 1 << 13


class SummaryWriter(KindMethods, GraphMethods, RunWriter):
    """Writes a run: events go to a file in `logdir`, in the background.

    It has the methods of TF1's FileWriter and of torch.utils.tensorboard's SummaryWriter, with the same arguments.

    After the second argument, TF1 and torch order theirs differently: pass them by name. By position, a string as the
    second argument means torch's and tensorboardX's order, a graph TF1's. If the second is None, a fifth that is a
    number means torch's; if nothing tells, the order is TF1's, with a warning.

    Args:
        logdir: the run's directory; created if missing. An address with a scheme, such as `s3://bucket/run`, goes to
            fsspec. If None, `runs/<date>_<host><comment>`.
        graph: a graph to log, as in `add_graph`; a string is taken as torch's second argument, `comment`.
        positional: further arguments in TF1's or torch's order.
        max_queue: the number of scalars after which a call encodes them; a few thousand is fastest. With 0, each call
            writes what it logs before it returns.
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much. The first
            events are written sooner; with infinity, only flush() and close() write, and a full buffer. With 0, each
            call writes what it logs before it returns. If None, 2, or 60 if the directory is remote.
        graph_def: a GraphDef to log; TF1's older name for `graph`.
        filename_suffix: appended to the file's name.
        session: accepted for TF1's sake; unused.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        comment: the end of the default directory's name.
        log_dir: torch's name for `logdir`.
        write_to_disk: if False, no event file is written; tensorboardX's.
        comet_config: accepted for tensorboardX's sake; nothing is sent to Comet.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
        fsync: flush() and close() return only when the bytes are on the disk.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Raises:
        TypeError: an argument is given twice, or has the wrong type.
        ValueError: `max_pending_bytes` is not positive, or the suffix names a directory.
        OSError: the file cannot be created.

    Warns:
        UserWarning: the third argument is an integer that could be TF1's max_queue or torch's purge_step; `logdir` and
            `log_dir` differ, and `logdir` is used.

    >>> import tempfile
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        graph: Any = None,
        *positional: Any,
        max_queue: int | None = None,
        flush_secs: float | None = None,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
        purge_step: int | None = None,
        comment: str | None = None,
        log_dir: str | os.PathLike[str] | None = None,
        write_to_disk: bool | None = None,
        comet_config: Mapping[str, Any] | None = None,
        max_pending_bytes: int = 64 << 20,
        fsync: bool = False,
        storage_options: Mapping[str, object] | None = None,
    ) -> None:
        given = {
            "max_queue": max_queue,
            "flush_secs": flush_secs,
            "graph_def": graph_def,
            "filename_suffix": filename_suffix,
            "session": session,
            "purge_step": purge_step,
            "log_dir": log_dir,
            "write_to_disk": write_to_disk,
            "comet_config": comet_config,
        }
        for name, value in by_position(graph, positional).items():
            if given[name] is not None:
                raise TypeError(f"SummaryWriter got {name} by position and by name: {value!r} and {given[name]!r}")
            given[name] = value
        if isinstance(graph, str):
            graph, comment = None, graph
        directory = _directory(logdir, given["log_dir"], comment)
        self.purge_step = given["purge_step"]
        self._child_options = {
            "filename_suffix": given["filename_suffix"] or "",
            "max_pending_bytes": max_pending_bytes,
            "fsync": fsync,
            "purge_step": self.purge_step,
            "write_to_disk": given["write_to_disk"] is not False,
            "flusher": new_flusher(directory, given["flush_secs"]),
            "storage_options": storage_options,
        }
        self._child_writers, self._curve_directories = {}, {}
        self._run_metadata_tags = set()
        self._projector_files = None
        max_queue = _MAX_QUEUE if given["max_queue"] is None else given["max_queue"]
        super().__init__(directory, max_queue, **self._child_options)
        self._large_histograms = LargeHistograms(self._max_pending_bytes // 4)
        if graph is not None or given["graph_def"] is not None:
            self._add_first_graph(graph, given["graph_def"])

    @computed
    def log_dir(self) -> str:
        """The run's directory, under torch's name."""
        return self._given_logdir

    @computed
    def logdir(self) -> str:
        """The run's directory, under tensorboardX's name."""
        return self._given_logdir

    @computed
    def max_queue(self) -> int:
        """The number of scalars after which a call encodes them."""
        return self._max_queue

    @computed
    def flush_secs(self) -> float:
        """The longest that an event waits, in seconds."""
        return self._event_flusher.flush_secs

    @computed
    def filename_suffix(self) -> str:
        """The end of the file's name."""
        return self._file_suffix

    @computed
    def file_writer(self) -> SummaryWriter | None:
        """The writer of the run's own file, as in torch: this writer itself. None if it is closed."""
        return None if self._is_closed else self

    def _get_file_writer(self) -> SummaryWriter:
        # Lightning, MONAI and others call this on torch's writer, to call add_summary on the result.
        self.reopen()
        return self

    @computed
    def event_writer(self) -> SummaryWriter:
        """This writer itself: torch has an EventFileWriter here."""
        return self

    @property
    def _file_name(self) -> str:
        # Programs that upload or remove torch's event file find it as `writer.file_writer.event_writer._file_name`.
        return self._event_file.path

    _ev_writer = event_writer  # and tensorboardX's as `writer.file_writer.event_writer._ev_writer._file_name`


def _directory(logdir: Any, log_dir: Any, comment: str | None) -> str:
    if logdir and log_dir and os.fsdecode(logdir) != os.fsdecode(log_dir):
        warn(f"logdir and log_dir are two names for one argument: {logdir!r} is used, not {log_dir!r}")
    given = logdir or log_dir
    return os.fsdecode(given) if given else _default_logdir(comment or "")


def _default_logdir(comment: str) -> str:
    if not isinstance(comment, str):
        raise TypeError(f"comment must be a string, got {type(comment).__name__}: {comment!r}")
    return os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{host_name()}{comment}")
