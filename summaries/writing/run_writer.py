"""RunWriter: writes a run's own file and those of the runs below it: curves of add_scalars, trials of add_hparams."""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Any

from summaries import kinds
from summaries.storage.files import write_file
from summaries.storage.names import join
from summaries.values import as_float, as_tag, check_mapping
from summaries.writing.event_file_writer import EventFileWriter
from summaries.writing.scalars_json import scalars_json
from summaries.writing.shadowed import computed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from summaries.writing.large_histograms import LargeHistograms

__all__ = ["RunWriter"]


class RunWriter(EventFileWriter):
    """A part of SummaryWriter, which sets the attributes."""

    _child_writers: dict[str, EventFileWriter]  # by directory
    _child_options: dict[str, Any]  # of every child
    _curve_directories: dict[str, None]  # directories of add_scalars
    _large_histograms: LargeHistograms
    _has_hparams = False
    _of_this_process = EventFileWriter._of_this_process | {"_children_lock"}  # noqa: SLF001 - a part of the class

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
        now = self._wall_clock() if walltime is None else walltime
        step = self._event_step(global_step)
        values = {name: as_float(value, f"tag_scalar_dict[{name!r}]") for name, value in tag_scalar_dict.items()}
        for name, value in values.items():
            child = self._child_writer(f"{main_tag.replace('/', '_')}_{name}")
            self._curve_directories[child.get_logdir()] = None
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
        curves = {directory: self._child_writers[directory].paths for directory in self._curve_directories}
        write_file(os.fspath(path), scalars_json(curves, self._storage_options).encode(), self._storage_options)

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
            hparam_dict: name → bool, number or string. None is left out. Anything else is stored as text.
            metric_dict: tag → number, each also logged as a scalar.
            hparam_domain_discrete: name → every value that it can take, of the same type as its value. A string is
                taken as tensorboardX's argument, `name`, and the argument after it as the step.
            run_name: a directory below this run, to which the row goes instead.
            global_step: as in `add_scalar`.
            name: tensorboardX's name for `run_name`.

        Raises:
            TypeError: an argument is of another type, or a domain's values differ in type from the hyperparameter.

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
        while join(self._event_directory, str(now)) in self._child_writers:
            now = math.nextafter(now, math.inf)
        return self._child_writer(str(now))

    # All files of the run together:

    @computed
    def all_writers(self) -> dict[str, EventFileWriter] | None:
        """Directory → the writer of its file: this run, and the runs below it. None if the writer is closed."""
        return None if self._is_closed else {self._given_logdir: self, **self._child_writers}

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        self._for_each_file(EventFileWriter._flush_file)  # noqa: SLF001 - a part of the class

    def close(self) -> None:
        """Write everything. Closing again does nothing; logging again begins new files in the same directories.

        Raises:
            OSError: a file could not be written. Its writer stays open.
        """
        self._for_each_file(EventFileWriter.close_own_file)
        self._large_histograms.clear()

    def reopen(self) -> None:
        """Continue in new files, where files are closed or could not be written; else do nothing."""
        super().reopen()
        for child in list(self._child_writers.values()):
            if not child.closed:
                child.reopen()

    def after_fork_in_child(self) -> None:
        """Leave waiting events to the parent; the child's own events go to new files."""
        super().after_fork_in_child()
        self._child_options["purge_step"] = (
            None  # the parent writes it, and the parent's later events must not be hidden
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._child_writers = dict(self._child_writers)
        self._child_options = {**self._child_options, "purge_step": None}  # as in a forked child

    def _for_each_file(self, act: Callable[[EventFileWriter], None]) -> None:
        """Apply `act` to the run's own writer and those below it; then raise the first error, if any."""
        errors = []
        for writer in (self, *self._child_writers.values()):
            try:
                act(writer)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _child_writer(self, name: str) -> EventFileWriter:
        """The writer of a run below this one, created on first use; reopened if it was closed."""
        if self._is_closed:
            self._go_on()
        directory = join(self._event_directory, name)
        with self._children_lock:
            child = self._child_writers.get(directory)
            if child is None:
                child = self._child_writers[directory] = EventFileWriter(
                    directory, self._max_queue, **self._child_options
                )
            elif child.closed:
                child.reopen()
        return child

    def _renew_locks(self) -> None:
        super()._renew_locks()
        self._children_lock = threading.RLock()
