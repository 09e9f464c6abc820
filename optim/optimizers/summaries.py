"""A wrapper that logs an optimizer's steps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from optim.optimizers.wrappers import Transformation, wrapped
from optim.telemetry.logger import Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from optim.optimizers.driver import Optimizer
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport
    from optim.variable import Variable
    from summaries import EventFileWriter

__all__ = ["with_summaries"]


def with_summaries(
    optimizer: Optimizer,
    writer: EventFileWriter,
    every_n_steps: int = 1,
    histograms_every_n_steps: int | None = None,
    variables: Iterable[Variable | str] | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    layout: bool = True,
    diagnostics: bool = False,
) -> Optimizer:
    """Wrap an optimizer to log its steps: one Summary at each due step, and once a layout of custom scalars.

    It may be outside or inside the other wrappers; the norm logged as `gradients/global_norm` is always the one before
    any clipping. Statistics of each variable are measured in the pass that updates it; steps that are not due are not
    measured. `gradients/nonfinite` covers all steps since the last write whose norm is known: every step, if norms are
    clipped or non-finite steps skipped. `gradients/clipped_fraction` covers these, or the last 100 steps if that is
    more. A skipped step is not written.

    | tag | value |
    |---|---|
    | `train/learning_rate`, `train/global_step_per_sec` | in force; since the last write |
    | `train/loss` | before the update, if `minimize` computed it |
    | `gradients/global_norm`, `gradients/clipped_global_norm` | before clipping; after |
    | `gradients/clip_norm`, `gradients/clipped` | the bound; 1 if this step's norm was above it |
    | `gradients/clipped_fraction`, `gradients/nonfinite` | share of steps; elements that are NaN or infinite |
    | `gradients/norm/<var>`, `gradients/zero_fraction/<var>` | before clipping; share of elements that are 0 |
    | `weights/norm/<var>`, `updates/norm/<var>` | after the step; of the step's change |
    | `updates/ratio/<var>` | the update's norm over the weights' |
    | `slots/<slot>/<mean, norm, max>/<var>` | after the step |
    | `clipping/<what>` | of an adaptive clipping, as its wrapper says |
    | `optimizer/<what>/<var>` | what the optimizer's own theory says of the step, with `diagnostics` |
    | `histograms/gradients/<var>`, `histograms/weights/<var>` | before clipping; after the step |

    An IndexedSlices gradient counts as the dense array that it represents: 0 in rows that it does not name, and with
    rows of the same index summed; but in the global norm each row counts separately, as in TF1. Its histogram is of its
    rows.

    Args:
        optimizer: makes the update.
        writer: where to log; must be a SummaryWriter for histograms. Two optimizers need two writers, because they use
            the same tags.
        every_n_steps: write at global steps that are multiples of this.
        histograms_every_n_steps: log histograms of gradients and weights at global steps that are multiples of this;
            None for none.
        variables: the Variables, or their names, to log separately; None for all.
        clock: returns seconds since any fixed time, for `train/global_step_per_sec`.
        layout: whether to log a layout of custom scalars; pass False if the run has its own, since TensorBoard shows
            one per run.
        diagnostics: whether to log what the optimizer's own theory says; see "What a report says of an optimizer".

    Raises:
        TypeError: a number of steps is not an integer; `variables` is not a list of Variables and names; histograms are
            requested from a writer that is not a SummaryWriter.
        ValueError: a number of steps is not positive; the optimizer already logs to this writer.

    >>> import tempfile
    >>> from optim import GradientDescentOptimizer, Variable, clip_gradients_by_norm
    >>> from summaries import SummaryWriter, read_run
    >>> w = Variable([0.0, 0.0], name="w")
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0), writer)
    ...     report = optimizer.apply_gradients([(np.float32([3.0, 4.0]), w)])
    >>> for tag, series in read_run(writer.path).scalars.items():
    ...     print(tag, *series.value)
    train/learning_rate 1.0
    gradients/global_norm 5.0
    gradients/nonfinite 0.0
    gradients/clipped_global_norm 1.0
    gradients/clip_norm 1.0
    gradients/clipped 1.0
    gradients/clipped_fraction 1.0
    gradients/norm/w 5.0
    weights/norm/w 1.0
    updates/norm/w 1.0
    gradients/zero_fraction/w 0.0
    updates/ratio/w 1.0
    """
    if writer is None:  # a rank of GradientMonitor may have none
        raise TypeError("writer must be a SummaryWriter or an EventFileWriter, got NoneType")
    telemetry = Telemetry(writer, every_n_steps, histograms_every_n_steps, variables, clock, layout=layout)
    logged = wrapped(optimizer, _Summaries, telemetry, diagnostics=diagnostics)
    if any(isinstance(inside, _Summaries) and inside.writer is writer for inside in optimizer.transformations):
        raise ValueError(f"this optimizer already logs to {writer.path}: use another writer")
    return logged


class _Summaries(Transformation):
    def __init__(self, telemetry: Telemetry, *, diagnostics: bool) -> None:
        self._telemetry = telemetry
        self._diagnostics = diagnostics

    @property
    def writer(self) -> EventFileWriter | None:
        """Where the steps are logged."""
        return self._telemetry.writer

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        telemetry = self._telemetry
        names: tuple[str, ...] = ()
        due, histograms_due = telemetry.is_due(step.number), telemetry.histograms_are_due(step.number)
        if due or histograms_due:
            names = telemetry.names_of(step.variables)
            step.measured |= due
            step.detailed |= due and telemetry.looks_at_variables
            step.diagnosed |= step.detailed and self._diagnostics
        given = step.variables
        report = onward(step)
        if step.variables is not given:  # a wrapper inside has left some out
            names = telemetry.names_of(step.variables) if names else ()
        telemetry.observe(report, names)
        if histograms_due and not report.skipped:
            values = [variable.value for variable in step.variables]
            for kind, arrays in (("gradients", step.arrays), ("weights", values)):
                telemetry.add_histograms(step.number, kind, dict(zip(names, arrays, strict=True)))
        return report

    def left_out(self, report: StepReport) -> None:
        self._telemetry.observe(report)
