"""SummaryWriter: the writer's public interface, as in TF1 and torch."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from summaries.writing.event_file_writer import EventFileWriter, new_flusher
from summaries.writing.graph_methods import GraphMethods
from summaries.writing.kind_methods import KindMethods
from summaries.writing.large_histograms import LargeHistograms
from summaries.writing.run_writer import RunWriter

__all__ = ["SummaryWriter"]

_MAX_QUEUE = 1 << 13


class SummaryWriter(KindMethods, GraphMethods, RunWriter):
    """Writes a run: events go to a file in `logdir`, in the background.

    It has the methods of TF1's FileWriter and of torch.utils.tensorboard's SummaryWriter, with the same arguments.

    Args:
        logdir: the run's directory; created if missing. An address with a scheme, such as `s3://bucket/run`, goes to
            fsspec. If None, `runs/<date>_<host><comment>`.
        graph: a graph to log, as in `add_graph`; of TensorFlow's own, the MetaGraphDef too, as TF1 does. A string is
            taken as torch's second argument, `comment`.
        max_queue: the number of scalars after which a call encodes them; a few thousand is fastest.
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much. If None, 2,
            or 60 if the directory is remote.
        graph_def: a GraphDef to log; TF1's older name for `graph`.
        filename_suffix: appended to the file's name.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        comment: the end of the default directory's name.
        log_dir: torch's name for `logdir`.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
        fsync: flush() and close() return only when the bytes are on the disk.

    Raises:
        TypeError: both `logdir` and `log_dir` are given.
        ValueError: a bound is not positive.
        OSError: the file cannot be created.

    >>> import tempfile
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        graph: Any = None,
        max_queue: int = _MAX_QUEUE,
        flush_secs: float | None = None,
        graph_def: Any = None,
        *,
        filename_suffix: str | None = "",
        purge_step: int | None = None,
        comment: str = "",
        log_dir: str | os.PathLike[str] | None = None,
        max_pending_bytes: int = 64 << 20,
        fsync: bool = False,
    ) -> None:
        if logdir is not None and log_dir is not None:
            raise TypeError("logdir and log_dir are two names for one argument, got both")
        if isinstance(graph, str):
            if max_queue != _MAX_QUEUE:  # torch's third argument is purge_step
                raise TypeError(
                    "arguments after comment must be passed by name (max_queue=, purge_step=), "
                    f"got {graph!r}, {max_queue!r}"
                )
            graph, comment = None, graph
        if not isinstance(comment, str):
            raise TypeError(f"comment must be a string, got {type(comment).__name__}: {comment!r}")
        self._options: dict[str, Any] = {
            "filename_suffix": "" if filename_suffix is None else filename_suffix,
            "max_pending_bytes": max_pending_bytes,
            "fsync": fsync,
            "purge_step": purge_step,
        }
        self._children = {}
        self._run_metadata_tags = set()
        self._projector = None
        given = logdir if logdir is not None else log_dir
        directory = os.fsdecode(given) if given else _default_logdir(comment)
        self._options["flusher"] = new_flusher(directory, flush_secs)
        super().__init__(directory, max_queue, **self._options)
        self._large = LargeHistograms(self._max_pending_bytes // 4)
        if graph is not None or graph_def is not None:
            self._add_first_graph(graph, graph_def)

    @property
    def log_dir(self) -> str:
        """The run's directory, under torch's name."""
        return self.get_logdir()

    def _get_file_writer(self) -> EventFileWriter:
        # Lightning's logger calls this on torch's writer, to call add_summary on the result.
        return self


def _default_logdir(comment: str) -> str:
    return os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
