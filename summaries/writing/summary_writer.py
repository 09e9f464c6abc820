"""SummaryWriter: the writer's public interface, as in TF1 and torch; GlobalSummaryWriter, as in tensorboardX.

TF1's FileWriter, torch's and tensorboardX's writers order their arguments differently:

TF1:          logdir, graph,   max_queue,  flush_secs, graph_def,  filename_suffix, session
torch:        logdir, comment, purge_step, max_queue,  flush_secs, filename_suffix
tensorboardX: the same,                                                             write_to_disk, log_dir, comet_config
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from summaries.storage.names import host_name
from summaries.values import as_float, warn
from summaries.writing.child_runs import ChildRunMethods
from summaries.writing.graphs import GraphMethods
from summaries.writing.histograms import HistogramMethods
from summaries.writing.kind_methods import KindMethods
from summaries.writing.media_methods import MediaMethods
from summaries.writing.shadowed import ShadowedNames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping
    from typing import Self

    from summaries.writing.run_file import RunFile

__all__ = ["GlobalSummaryWriter", "SummaryWriter", "by_position"]

_MAX_QUEUE = 1 << 13
_of_sessions: WeakKeyDictionary[Any, dict[str, RunFile]] = WeakKeyDictionary()  # by directory

_TF1 = ("max_queue", "flush_secs", "graph_def", "filename_suffix", "session")
_TORCH = ("purge_step", "max_queue", "flush_secs", "filename_suffix", "write_to_disk", "log_dir", "comet_config")


class SummaryWriter(ChildRunMethods, HistogramMethods, KindMethods, MediaMethods, GraphMethods, ShadowedNames):
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
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much, and what was
            logged while foreign code kept the interpreter's lock. The first events are written sooner; with infinity,
            only flush() and close() write, and a full buffer. With 0, each call writes what it logs before it returns.
            If None, 2, or 60 if the directory is remote.
        graph_def: a GraphDef to log; TF1's older name for `graph`.
        filename_suffix: appended to the file's name.
        session: writers that are given the same object for the same directory share one file, as those of a TF1 session
            do.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        comment: the end of the default directory's name.
        log_dir: torch's name for `logdir`.
        write_to_disk: if False, no event file is written; tensorboardX's.
        comet_config: accepted for tensorboardX's sake; nothing is sent to Comet.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
        fsync: flush() and close() return only when the bytes are on the disk, and so are the names of the file and of
            the directories that were made for it. Without, a loss of power may lose what the system has not written.
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
        options = {
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
            if options[name] is not None:
                raise TypeError(f"SummaryWriter got {name} by position and by name: {value!r} and {options[name]!r}")
            options[name] = value
        if isinstance(graph, str):
            graph, comment = None, graph
        self.purge_step: Any = options["purge_step"]
        directory = _directory(logdir, options["log_dir"], comment)
        shared = _run_files_of(options["session"])
        super().__init__(
            directory,
            run_file=shared.get(os.fspath(directory)),
            max_queue=_MAX_QUEUE if options["max_queue"] is None else options["max_queue"],
            flush_secs=options["flush_secs"],
            filename_suffix=options["filename_suffix"] or "",
            max_pending_bytes=max_pending_bytes,
            fsync=fsync,
            purge_step=self.purge_step,
            write_to_disk=options["write_to_disk"] is not False,
            storage_options=storage_options,
        )
        shared[os.fspath(directory)] = self._run_file
        if graph is not None or options["graph_def"] is not None:
            self._add_first_graph(graph, options["graph_def"])

    @contextmanager
    def use_metadata(self, *, global_step: Any = None, walltime: float | None = None) -> Iterator[Self]:
        """Within a `with` block, give every call that has none this step and this wall time, as tensorboardX does.

        Args:
            global_step: as in `add_scalar`; None leaves it as it is.
            walltime: seconds since the epoch; None leaves it as it is.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer, writer.use_metadata(global_step=10):
        ...     writer.add_scalar("loss", 0.5)
        """
        before = self._default_step, self._wall_clock
        self._default_step = self._event_step(global_step)
        if walltime is not None:
            seconds = as_float(walltime, "walltime")
            self._wall_clock = lambda: seconds
        try:
            yield self
        finally:
            self._default_step, self._wall_clock = before


def _directory(logdir: Any, log_dir: Any, comment: str | None) -> str:
    if logdir and log_dir and os.fsdecode(logdir) != os.fsdecode(log_dir):
        warn(f"logdir and log_dir are two names for one argument: {logdir!r} is used, not {log_dir!r}")
    if logdir or log_dir:
        return os.fsdecode(logdir or log_dir)
    comment = comment or ""
    if not isinstance(comment, str):
        raise TypeError(f"comment must be a string, got {type(comment).__name__}: {comment!r}")
    return os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{host_name()}{comment}")


def by_position(second: Any, others: tuple[Any, ...]) -> dict[str, Any]:
    """Name the arguments that follow the second one.

    The second argument decides: a comment is torch's, a graph TF1's. If it is None, the fifth decides (a number is
    torch's flush_secs, a graph is TF1's) or the seventh (a bool is tensorboardX's write_to_disk). If nothing decides,
    the order is TF1's: a purge_step that is taken as max_queue hides no data.

    Args:
        second: the second argument.
        others: the third and later arguments.

    Raises:
        TypeError: there are too many.

    Warns:
        UserWarning: the third argument could be either.

    >>> from summaries import GraphDef
    >>> by_position("_lr0.1", (500,)), by_position(GraphDef(), (10, 120))
    ({'purge_step': 500}, {'max_queue': 10, 'flush_secs': 120})
    """
    if not others:
        return {}
    fifth, seventh = (*others, *[None] * 5)[2:5:2]
    has_torch_values = others[0] is None or isinstance(fifth, Real) or isinstance(seventh, bool)
    is_torch = isinstance(second, str) or (second is None and has_torch_values)
    names = _TORCH if is_torch else _TF1
    if len(others) > len(names):
        raise TypeError(f"SummaryWriter takes at most {2 + len(names)} arguments by position, got {2 + len(others)}")
    if second is None and fifth is None and not is_torch:
        warn(
            f"the third argument is taken as TF1's max_queue, got {others[0]!r}: if it is torch's purge_step, "
            "pass it by name"
        )
    return dict(zip(names, others, strict=False))


def _run_files_of(session: Any) -> dict[str, RunFile]:
    """The files of writers that were given this session, by directory; of no session none."""
    try:
        return {} if session is None else _of_sessions.setdefault(session, {})
    except TypeError:  # what cannot be referred to weakly is no session
        return {}


class GlobalSummaryWriter:
    """tensorboardX's writer of the same name: a call has no step, since each tag's calls are counted.

    Processes that are forked share the counts. Each writes to a file of its own in the same directory.

    Args:
        args: as for `SummaryWriter`.
        coalesce_process: accepted for tensorboardX's sake; unused.
        kwargs: as for `SummaryWriter`.

    Attributes:
        smw: the SummaryWriter.

    >>> import tempfile
    >>> writer = GlobalSummaryWriter(tempfile.mkdtemp())
    >>> for loss in (0.5, 0.25):  # steps 0 and 1
    ...     writer.add_scalar("loss", loss)
    >>> writer.close()
    """

    _global: ClassVar[GlobalSummaryWriter | None] = None

    def __init__(self, *args: Any, coalesce_process: bool = True, **kwargs: Any) -> None:
        import multiprocessing  # noqa: PLC0415 - takes a while, and few programs need it

        self.smw: SummaryWriter = SummaryWriter(*args, **kwargs)
        self._lock = multiprocessing.Lock()
        # Manager starts a process that holds the counts for all others.
        self._manager = multiprocessing.Manager()
        self._counts: MutableMapping[tuple[str, str], int] = self._manager.dict()

    def add_scalar(self, tag: str, scalar_value: Any, walltime: float | None = None) -> None:
        """Log one number at the tag's next step: 0, 1, 2, ….

        Args:
            tag: the tag.
            scalar_value: a number, or an array or tensor of one element; stored as float32.
            walltime: seconds since the epoch; now if None.

        Raises:
            TypeError, ValueError, OSError: as `SummaryWriter.add_scalar` does.
        """
        self._count(self.smw.add_scalar, tag, scalar_value, walltime=walltime)

    def add_image(self, tag: str, img_tensor: Any, walltime: float | None = None, dataformats: str = "CHW") -> None:
        """Log a picture at the tag's next step, as a PNG. It needs Pillow.

        Args:
            tag: the tag.
            img_tensor: array [C, H, W]: 1 to 4 channels; integers from 0 to 255, or floating values from 0 to 1.
            walltime: seconds since the epoch; now if None.
            dataformats: the order of the axes: "CHW", "HWC" or "HW".

        Raises:
            TypeError, ValueError, ImportError: as `SummaryWriter.add_image` does.
        """
        self._count(self.smw.add_image, tag, img_tensor, walltime=walltime, dataformats=dataformats)

    def add_text(self, tag: str, text_string: str, walltime: float | None = None) -> None:
        """Log a text at the tag's next step.

        Args:
            tag: the tag, to which `/text_summary` is appended.
            text_string: Markdown.
            walltime: seconds since the epoch; now if None.

        Raises:
            TypeError, ValueError: as `SummaryWriter.add_text` does.
        """
        self._count(self.smw.add_text, tag, text_string, walltime=walltime)

    @staticmethod
    def getSummaryWriter() -> GlobalSummaryWriter:  # noqa: N802 - tensorboardX's name
        """The writer of this process, created on first use."""
        if GlobalSummaryWriter._global is None:
            GlobalSummaryWriter._global = GlobalSummaryWriter()
        return GlobalSummaryWriter._global

    @property
    def file_writer(self) -> SummaryWriter | None:
        """The writer of the run's own file: see `SummaryWriter.file_writer`."""
        return self.smw.file_writer

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; raises as `SummaryWriter.flush` does."""
        self.smw.flush()

    def close(self) -> None:
        """Write everything; raises as `SummaryWriter.close` does."""
        self.smw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _count(self, add: Callable[..., None], tag: str, value: Any, **options: Any) -> None:
        """Log a value at the tag's next step. Each kind of summary has its own count, as in tensorboardX."""
        key = add.__name__, tag
        with self._lock:
            step = self._counts.get(key, 0)
            add(tag, value, global_step=step, **options)
            self._counts[key] = step + 1
