"""RunWriter: writes a run's own file and those of the runs below it: curves of add_scalars, trials of add_hparams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries import kinds
from summaries.storage.names import join
from summaries.values import as_float, check_mapping, check_tag
from summaries.writing.event_file_writer import EventFileWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from summaries.writing.large_histograms import LargeHistograms

__all__ = ["RunWriter"]


class RunWriter(EventFileWriter):
    """A part of SummaryWriter, which sets the attributes."""

    _children: dict[str, EventFileWriter]  # by directory
    _options: dict[str, Any]  # of every child
    _large: LargeHistograms

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
        """
        check_tag(main_tag)
        check_mapping(tag_scalar_dict, "tag_scalar_dict")
        now = self._clock() if walltime is None else walltime
        step = self._step(global_step)
        values = {name: as_float(value, f"tag_scalar_dict[{name!r}]") for name, value in tag_scalar_dict.items()}
        for name, value in values.items():
            child = self._child(f"{main_tag.replace('/', '_')}_{name}")
            child.add_scalar(main_tag, value, step, now)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Log hyperparameters, and the metrics to compare runs by: see `summaries.hparams`.

        They go to this run, unless `run_name` names a directory below it.
        """
        summary = kinds.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        if run_name is not None and not isinstance(run_name, str):
            raise TypeError(f"run_name must be a string, got {type(run_name).__name__}: {run_name!r}")
        (self if run_name is None else self._child(run_name)).add_summary(summary, global_step)
        for tag, metric in metric_dict.items():
            self._nonfinite.check(tag, as_float(metric), global_step)

    # All files of the run together:

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        self._for_each_file(EventFileWriter._flush_file)  # noqa: SLF001 - a part of the class

    def close(self) -> None:
        """Flush, and accept no more events. Closing again does nothing. If the flush fails, the writer stays open."""
        self._for_each_file(EventFileWriter.close)
        self._large.clear()

    def reopen(self) -> None:
        """Close all files, and continue in new ones in the same directories."""
        super().reopen()
        for child in list(self._children.values()):
            if not child.closed:  # its file cannot be written: waiting events go to a new one
                child.reopen()

    def after_fork_in_child(self) -> None:
        """Leave waiting events to the parent; the child's own events go to new files."""
        super().after_fork_in_child()
        self._options["purge_step"] = None  # the parent writes it, and the parent's later events must not be hidden

    def _for_each_file(self, act: Callable[[EventFileWriter], None]) -> None:
        """Apply `act` to the run's own writer and those below it; then raise the first error, if any."""
        errors = []
        for writer in (self, *self._children.values()):
            try:
                act(writer)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _child(self, name: str) -> EventFileWriter:
        """The writer of a run below this one, created on first use; reopened if it was closed."""
        if self._closed:
            self._look_closer()  # raises
        directory = join(self._directory, name)
        with self._open_lock:
            child = self._children.get(directory)
            if child is None:
                child = self._children[directory] = EventFileWriter(directory, self._max_queue, **self._options)
            elif child.closed:
                child.reopen()
        return child
