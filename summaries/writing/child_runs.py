"""The runs below a run: curves of add_scalars, trials of add_hparams."""

from __future__ import annotations

import copy
import json
import math
import os
import threading
from typing import TYPE_CHECKING, Any

from summaries import kinds, wire
from summaries.storage.files import read_file, write_file
from summaries.storage.names import join
from summaries.values import as_float, as_tag, check_mapping
from summaries.wire.records import Batch, RecordParser
from summaries.writing.event_file_writer import EventFileWriter
from summaries.writing.process_hooks import notify_of_forks
from summaries.writing.shadowed import computed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["ChildRunMethods", "ChildRuns"]


class ChildRuns:
    """The writers of the runs below a run.

    Args:
        options: of each writer, as EventFileWriter takes them.

    Attributes:
        writers: directory → writer.
        curves: those of the directories that have curves of add_scalars.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.writers: dict[str, EventFileWriter] = {}
        self.curves: dict[str, EventFileWriter] = {}
        self._options = dict(options)
        self._renew_lock()

    def writer(self, directory: str) -> EventFileWriter:
        """The writer of a directory, created on first use; reopened if it was closed."""
        with self._lock:
            writer = self.writers.get(directory)
            if writer is None:
                writer = self.writers[directory] = EventFileWriter(directory, **self._options)
            elif writer.closed:
                writer.reopen()
        return writer

    def after_fork_in_child(self) -> None:
        """Let the child purge nothing: the parent's START supersedes earlier files, and must not its own events."""
        self._options["purge_step"] = None
        self._renew_lock()

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()
        notify_of_forks(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"writers": dict(self.writers), "curves": dict(self.curves), "_options": dict(self._options)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.after_fork_in_child()  # a copy is to its original as a forked child to its parent


class ChildRunMethods(EventFileWriter):
    """Methods that log to the runs below, and those that treat all files of the run together."""

    def __init__(self, logdir: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(logdir, **options)
        self._child_runs = ChildRuns(options | {"flusher": self._run_file.flusher, "run_file": None})
        self._has_hparams = False

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Log several numbers to be drawn in one chart.

        Each goes to a run of its own under `main_tag`: the directory `<logdir>/<main_tag>_<name>`.

        Args:
            main_tag: the tag.
            tag_scalar_dict: name → number.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: `tag_scalar_dict` is not a mapping, or a value or the step is not a number.
            ValueError: the tag is not Unicode text, or a value has several elements.
            OSError: a file cannot be created, or earlier events could not be written.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalars("loss", {"train": 0.5, "val": 0.6}, 0)  # the runs loss_train and loss_val
        """
        main_tag = as_tag(main_tag)
        check_mapping(tag_scalar_dict, "tag_scalar_dict")
        step, now = self._event_step(global_step), self._event_time(walltime)
        values = {name: as_float(value, f"tag_scalar_dict[{name!r}]") for name, value in tag_scalar_dict.items()}
        for name, value in values.items():
            child = self._child_writer(f"{main_tag.replace('/', '_')}_{name}")
            self._child_runs.curves[child.get_logdir()] = child
            child.add_scalar(main_tag, value, step, now)

    def export_scalars_to_json(self, path: str | os.PathLike[str]) -> None:
        """Write what this writer logged with `add_scalars`, as tensorboardX does.

        The format is ``{directory: [[wall time, step, value], ...], ...}``. Values are those of the event files,
        rounded to float32; they stay in the files, so that each export is complete.

        Args:
            path: the JSON file; an address is written to with the options of this writer.

        Raises:
            OSError: a file cannot be written or read.
        """
        self.flush()
        options = self._run_file.destination.storage_options
        curves = {
            directory: [point for file in child.paths for point in _points(file, options)]
            for directory, child in self._child_runs.curves.items()
        }
        write_file(os.fspath(path), json.dumps(curves).encode(), options)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | str | None = None,
        run_name: str | int | None = None,
        global_step: Any = None,
        *,
        name: str | None = None,
    ) -> None:
        """Log hyperparameters, and the metrics to compare runs by.

        Each call makes a row of TensorBoard's table. The first goes to this run itself, whose curves then belong to
        the row; each further one goes to a run of its own below this one, named after the time.

        Args:
            hparam_dict: name → bool, number or string. None is left out. Anything else but a list is stored as text.
            metric_dict: tag → number, each also logged as a scalar.
            hparam_domain_discrete: name → every value that it can take, of the same type as its value. A string is
                taken as tensorboardX's argument, `name`, and the argument after it as the step.
            run_name: a directory below this run, to which the row goes instead.
            global_step: as in `add_scalar`.
            name: tensorboardX's name for `run_name`.

        Raises:
            TypeError: an argument is of another type, or a domain's values differ in type from the hyperparameter.
            ValueError: a hyperparameter is a list or a tuple.

        Warns:
            UserWarning: a value is stored as text, or a domain does not contain the value.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_hparams({"lr": 0.1, "nesterov": True}, {"accuracy": 0.9})
        """
        if isinstance(hparam_domain_discrete, str):
            hparam_domain_discrete, name = None, hparam_domain_discrete
            if run_name is not None and not isinstance(run_name, str):
                run_name, global_step = None, run_name
        run_name = name if run_name is None else run_name
        if run_name is not None and not isinstance(run_name, str):
            raise TypeError(f"run_name must be a string, got {type(run_name).__name__}: {run_name!r}")
        check_mapping(metric_dict, "metric_dict")
        metrics = {tag: as_float(metric, f"metric_dict[{tag!r}]") for tag, metric in metric_dict.items()}
        summary = kinds.hparams.hparams(hparam_dict, metrics, hparam_domain_discrete)
        self._row_writer(run_name).add_summary(summary, self._event_step(global_step))
        for tag, metric in metrics.items():
            self._nonfinite_warnings.check(tag, metric, global_step)

    def _row_writer(self, run_name: str | None) -> EventFileWriter:
        """The writer of the run that a row of hyperparameters goes to."""
        if run_name:
            return self._child_writer(run_name)
        if not self._has_hparams:
            self._has_hparams = True
            return self
        now = self._wall_clock()
        while self._directory_below(str(now)) in self._child_runs.writers:
            now = math.nextafter(now, math.inf)
        return self._child_writer(str(now))

    def _child_writer(self, name: str) -> EventFileWriter:
        """The writer of a run below this one, which goes on if it was closed."""
        if self._run_file.closed:
            self._run_file.resume()
        return self._child_runs.writer(self._directory_below(name))

    def _directory_below(self, name: str) -> str:
        return join(self._run_file.destination.directory, name)

    # All files of the run together:

    @computed
    def all_writers(self) -> dict[str, EventFileWriter] | None:
        """Directory → the writer of its file: this run, and the runs below it. None if the writer is closed."""
        return None if self._run_file.closed else {self._given_logdir: self, **self._child_runs.writers}

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again; what an fsync failed for, in a new file.
        """
        _call_all([super().flush, *(child.flush for child in self._child_writers())])

    def close(self) -> None:
        """Write everything. Closing again does nothing; logging again begins new files in the same directories.

        Raises:
            OSError: a file could not be written. Its writer stays open.
        """
        _call_all([super().close, *(child.close for child in self._child_writers())])

    def reopen(self) -> None:
        """Continue in new files, where files are closed or could not be written; else do nothing."""
        super().reopen()
        for child in self._child_writers():
            if not child.closed:
                child.reopen()

    def _child_writers(self) -> list[EventFileWriter]:
        return list(self._child_runs.writers.values())

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_child_runs": copy.copy(self._child_runs)}


def _call_all(actions: Iterable[Callable[[], None]]) -> None:
    """Call each; then raise the first error, if any."""
    errors = []
    for action in actions:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)
    if errors:
        raise errors[0]


def _points(path: str, storage_options: Mapping[str, object] | None) -> Iterator[tuple[float, int, float]]:
    """Wall time, step and value of each scalar of a file."""
    parser = RecordParser()
    parser.feed(read_file(path, storage_options) or b"")
    for item in parser.items():
        for data in item.data if isinstance(item, Batch) else ():
            event = wire.pb.Event.FromString(data)
            yield from ((event.wall_time, event.step, value.simple_value) for value in event.summary.value)
