"""Telemetry: writes step reports, as one Summary per step.

A step may cost only microseconds here, so the tags are serialized once, and a step writes only their values. The tags
may change from step to step: each set of tags that occurs has a template.
"""

from __future__ import annotations

import math
import re
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import summaries  # its messages take long to import: they are imported when they are first used
from optim import checks
from optim.telemetry.report import VariableReports
from summaries import EventFileWriter, SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from optim.telemetry.report import StepReport
    from summaries import ScalarsTemplate

__all__ = ["Telemetry", "log_checkpoint"]

# In the order of the rows of `VariableReports.values`.
_OF_A_VARIABLE = ("gradients/norm", "weights/norm", "updates/norm", "gradients/zero_fraction", "updates/ratio")
_WEIGHT_NORM, _RATIO = 1, 4  # of these rows
_OF_A_SLOT = ("mean", "norm", "max")
_NO_VARIABLES = VariableReports((), (), (), np.empty((0, len(_OF_A_VARIABLE))))
_STEPS_OF_A_SHARE = 100  # the share of one step would repeat `gradients/clipped`
_MOST_TEMPLATES = 64  # for a run that keeps training different variables


class Telemetry:
    """Writes the reports of due steps, and accumulates counts from the others.

    Args:
        writer: where to log; None on a rank that only takes part in measuring.
        every_n_steps: a step is due if this divides it.
        histograms_every_n_steps: a step is due for histograms if this divides it; None for no histograms.
        variables: the Variables that get tags of their own, or their names; None for all.
        clock: returns seconds, from any start.
        layout: whether to log a layout of custom scalars; False if the run has its own, since TensorBoard shows one
            per run.

    Raises:
        TypeError: `writer` is not a writer; a number of steps is not an integer; `variables` is not a list of Variables
            and names; histograms are requested, but the writer is not a SummaryWriter.
        ValueError: a number of steps is not positive.
    """

    def __init__(
        self,
        writer: EventFileWriter | None,
        every_n_steps: int = 1,
        histograms_every_n_steps: int | None = None,
        variables: Iterable[Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        layout: bool = True,
    ) -> None:
        if not isinstance(writer, EventFileWriter | None):
            raise TypeError(f"writer must be a SummaryWriter or an EventFileWriter, got {type(writer).__name__}")
        self.writer = writer
        self.loss_tag: str = "train/loss"
        self._every = checks.positive_integer("every_n_steps", every_n_steps)
        self._histograms_every = 0
        if histograms_every_n_steps is not None:
            self._histograms_every = checks.positive_integer("histograms_every_n_steps", histograms_every_n_steps)
            if not isinstance(writer, SummaryWriter | None):
                raise TypeError(f"histograms need a SummaryWriter, got {type(writer).__name__}")
        self._chosen = None if variables is None else _chosen(variables)
        self._clock = clock
        self._names: dict[Any, str] = {}  # by Variable
        self._taken: dict[str, int] = {}  # these names, each with the last number that was appended to it
        self._has_layout = not layout
        self._templates: dict[tuple[Any, ...], _Template] = {}
        self._nonfinite = 0  # since the last write
        self._clipped = _ClippedShare()
        self._written: tuple[int, float] | None = None  # the step and the time, in seconds, of the last write

    @property
    def looks_at_variables(self) -> bool:
        """Whether any variable gets tags of its own."""
        return self._chosen is None or bool(self._chosen)

    def is_due(self, step: int) -> bool:
        """Whether this step is written."""
        return step % self._every == 0

    def histograms_are_due(self, step: int) -> bool:
        """Whether this step's histograms are written."""
        return self._histograms_every > 0 and step % self._histograms_every == 0

    def names_of(self, variables: Iterable[Any]) -> tuple[str, ...]:
        """The variables' names in tags; if several share a name, the second is name_1, and so on."""
        return tuple([self._names.get(variable) or self._new_name(variable) for variable in variables])

    def shows(self, name: str) -> bool:
        """Whether the variable of this name gets tags of its own."""
        return self._chosen is None or name in self._chosen

    def observe(self, report: StepReport, names: tuple[str, ...] = (), wall_time: float | None = None) -> None:
        """Record a step, and write it if it is due; of a skipped step, only the non-finite elements are counted.

        Args:
            report: the step's report.
            names: its variables' names in tags.
            wall_time: seconds since the epoch; now if None.
        """
        self._nonfinite += report.nonfinite or 0
        if report.skipped:
            return
        self._clipped.add(clipped=report.clipped)
        if self.is_due(report.step):
            now = self._clock()
            if self.writer is not None:
                self._write(self.writer, report, names, now, wall_time)
            self._nonfinite = 0
            self._clipped.written()
            self._written = report.step, now

    def pass_over(self, steps: int) -> None:
        """So many steps were neither due nor clipped."""
        self._clipped.add_unclipped(steps)

    def add_loss(self, report: StepReport) -> None:
        """Log the loss of a skipped step, if it is due."""
        if report.loss is not None and self.writer is not None and self.is_due(report.step):
            self.writer.add_summary(summaries.scalar(self.loss_tag, report.loss), report.step)

    def add_histograms(self, step: int, kind: str, arrays: Mapping[str, Any]) -> None:
        """Log a histogram of each variable's array; `kind` is "gradients" or "weights"."""
        for name, array in arrays.items():
            if array.size and self.shows(name) and isinstance(self.writer, SummaryWriter):
                self.writer.add_histogram(f"histograms/{kind}/{name}", array, step)

    def _write(
        self, writer: EventFileWriter, report: StepReport, names: tuple[str, ...], now: float, wall_time: float | None
    ) -> None:
        tags = self._of_the_step(report, now)
        measured = report.variables if isinstance(report.variables, VariableReports) else _NO_VARIABLES
        template = self._template(tuple(tags), names, measured)
        if not self._has_layout:
            writer.add_summary(summaries.custom_scalars(_layout(measured.slots)), 0, wall_time)
            self._has_layout = True
        summary = template.scalars.filled(np.concatenate(([*tags.values()], measured.values.take(template.indices))))
        writer.add_summary(summary, report.step, wall_time)

    def _of_the_step(self, report: StepReport, now: float) -> dict[str, float]:
        """The values of the whole step, by tag."""
        tags: dict[str, float] = {}
        if report.loss is not None:
            tags[self.loss_tag] = report.loss
        if not math.isnan(report.learning_rate):
            tags["train/learning_rate"] = report.learning_rate
        if self._written is not None:
            steps, seconds = report.step - self._written[0], now - self._written[1]
            if steps > 0 and seconds > 0:  # not if a checkpoint was restored, or the clock is coarse
                tags["train/global_step_per_sec"] = steps / seconds
        if report.global_norm is not None:
            tags["gradients/global_norm"] = report.global_norm
            tags["gradients/nonfinite"] = self._nonfinite
        if report.clip_norm is not None and report.clipped_global_norm is not None:
            tags["gradients/clipped_global_norm"] = report.clipped_global_norm
            tags["gradients/clip_norm"] = report.clip_norm
            tags["gradients/clipped"] = report.clipped
            tags["gradients/clipped_fraction"] = self._clipped.share
        tags |= {f"clipping/{name}": value for name, value in report.clipping.items()}
        return tags

    def _template(self, tags: tuple[str, ...], names: tuple[str, ...], measured: VariableReports) -> _Template:
        """The template for these tags, and for the measured values of the variables with these names."""
        seen = {name: ~np.isnan(values) for name, values in measured.seen.items()}
        # Weights that are 0 have no ratio, as biases before their first step: a NaN would look like a fault.
        has_ratio = measured.values[_WEIGHT_NORM, : len(names) if measured.measured[_RATIO] else 0] != 0
        key = (
            tags,
            names,
            measured.slots,
            measured.measured,
            has_ratio.tobytes(),
            *((name, there.tobytes()) for name, there in seen.items()),
        )
        if key not in self._templates:
            if len(self._templates) >= _MOST_TEMPLATES:
                self._templates.clear()
            heads = [*_OF_A_VARIABLE, *(f"slots/{slot}/{stat}" for slot in measured.slots for stat in _OF_A_SLOT)]
            heads += [f"optimizer/{what}" for what in seen]
            chosen = np.array([self._chosen is None or name in self._chosen for name in names], bool)
            rows = [*measured.measured, *[True] * len(_OF_A_SLOT) * len(measured.slots)]
            there = np.vstack([np.outer(rows, chosen), *(chosen & known for known in seen.values())])
            there[_RATIO, : len(has_ratio)] &= has_ratio
            of_variables = [f"{heads[row]}/{names[i]}" for row, i in np.argwhere(there).tolist()]
            self._templates[key] = _Template(summaries.ScalarsTemplate([*tags, *of_variables]), np.flatnonzero(there))
        return self._templates[key]

    def _new_name(self, variable: Any) -> str:
        name: str = variable.name
        while name in self._taken:
            self._taken[variable.name] += 1
            name = f"{variable.name}_{self._taken[variable.name]}"
        summaries.ScalarsTemplate([name])  # refuses a name that cannot be a tag
        if self._chosen is not None and variable in self._chosen:
            self._chosen.add(name)
        self._names[variable], self._taken[name] = name, 0
        return name


class _ClippedShare:
    """The share of steps that were clipped: of the last hundred, or of all since the last write if those are more."""

    def __init__(self) -> None:
        self._last: deque[bool] = deque(maxlen=_STEPS_OF_A_SHARE)
        self._steps = self._clipped = 0  # since the last write

    def add(self, *, clipped: bool) -> None:
        self._last.append(clipped)
        self._steps += 1
        self._clipped += clipped

    def add_unclipped(self, steps: int) -> None:
        self._last.extend([False] * min(steps, _STEPS_OF_A_SHARE))
        self._steps += steps

    def written(self) -> None:
        self._steps = self._clipped = 0

    @property
    def share(self) -> float:
        if self._steps > len(self._last):
            return self._clipped / self._steps
        return sum(self._last) / len(self._last)


class _Template(NamedTuple):
    """The tags of a step, and the indices in `VariableReports.values` of the values that follow the step's own."""

    scalars: ScalarsTemplate
    indices: NDArray[np.intp]  # in the flattened array


def _layout(slots: Sequence[str]) -> dict[str, dict[str, list[Any]]]:
    """The charts of the custom-scalars dashboard; their tags are regular expressions."""

    def lines(*patterns: str) -> list[Any]:
        return ["Multiline", [f"{pattern}$" for pattern in patterns]]

    charts = {
        "clipping": {
            "norm against bound": lines(
                *(f"gradients/{name}" for name in ("global_norm", "clipped_global_norm", "clip_norm"))
            ),
            "clipped fraction": lines("gradients/clipped_fraction"),
            "elements that are not finite": lines("gradients/nonfinite"),
        },
        "layers": {
            "gradient norms": lines("gradients/norm/.*"),
            "weight norms": lines("weights/norm/.*"),
            "update norms": lines("updates/norm/.*"),
            "update over weight norms": lines("updates/ratio/.*"),
        },
    }
    if slots:
        charts["slots"] = {
            f"{slot}, {stat}": lines(f"slots/{re.escape(slot)}/{stat}/.*") for slot in slots for stat in _OF_A_SLOT
        }
    return charts


def _chosen(variables: Iterable[Any]) -> set[Any]:
    """The variables that get tags of their own; the names of Variables are added when they are first seen."""
    if _is_or_has_name(variables) or not hasattr(variables, "__iter__"):
        raise TypeError(f"variables must be a list of Variables or of names, got {variables!r}")
    chosen = set(variables)
    for variable in chosen:
        if not _is_or_has_name(variable):
            raise TypeError(f"variables must be Variables or names, got {type(variable).__name__}: {variable!r}")
    return chosen


def _is_or_has_name(variable: Any) -> bool:
    return isinstance(variable, str) or isinstance(getattr(variable, "name", None), str)


def log_checkpoint(writer: EventFileWriter, path: str, step: int | None) -> None:
    """Log that a checkpoint has been written."""
    log = summaries.SessionLog(status=summaries.SessionLog.CHECKPOINT, checkpoint_path=path)
    writer.add_event(summaries.Event(wall_time=time.time(), step=step or 0, session_log=log))
