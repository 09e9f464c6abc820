"""Optimizers around optimizers: each does one thing to a step, and hands it on. They compose in any order.

The outermost sees the gradients first. So `clip_gradients_by_norm(clip_gradients_by_value(optimizer, …), 1.0)` keeps
the norm within 1, and then each element within its bounds.
"""

from __future__ import annotations

import math
import time
from bisect import insort
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.state import Entry
from optim.clip import clip_scale
from optim.optimizers.driver import Optimizer, Step
from optim.telemetry.logger import Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.optimizers.driver import Hyperparameter
    from optim.telemetry.report import StepReport
    from optim.variable import Variable
    from summaries import EventFileWriter

__all__ = [
    "clip_gradients_by_norm",
    "clip_gradients_by_percentile",
    "clip_gradients_by_value",
    "skip_nonfinite_steps",
    "with_summaries",
]


class _Wrapper(Optimizer):
    """Hands a step on to the optimizer inside, and questions too."""

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"optimizer must be an Optimizer, got {type(optimizer).__name__}: {optimizer!r}")
        self._inner = optimizer
        self.rule = optimizer.rule
        self._lock = optimizer._lock  # noqa: SLF001 - wrapper and wrapped are one family

    def get_name(self) -> str:
        """The name of the optimizer inside."""
        return self._inner.get_name()

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot of the optimizer inside."""
        return self._inner.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The slot names of the optimizer inside."""
        return self._inner.get_slot_names()

    def variables(self) -> list[Variable]:
        """All that the optimizer inside remembers."""
        return self._inner.variables()

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[Entry]:
        """What a Saver saves or restores of the optimizer inside, and what subclasses add."""
        return self._inner.state(variables, stored)

    @property
    def _steps(self) -> int:
        # One count, whichever of the wrappers is called.
        return self._inner._steps  # noqa: SLF001

    @_steps.setter
    def _steps(self, steps: int) -> None:
        self._inner._steps = steps  # noqa: SLF001

    def _take(self, step: Step) -> StepReport:
        return self._inner._take(step)  # noqa: SLF001 - wrapper and wrapped are one family

    def _leave_out(self, report: StepReport) -> None:
        self._inner._leave_out(report)  # noqa: SLF001

    def _rate(self) -> float:
        return self._inner._rate()  # noqa: SLF001


class _ClipByGlobalNorm(_Wrapper):
    def __init__(self, optimizer: Optimizer, clip_norm: Hyperparameter) -> None:
        super().__init__(optimizer)
        self._clip_norm = clip_norm
        if not callable(clip_norm):
            self._bound_now()

    def _bound_now(self) -> float:
        return checks.number("clip_norm", self._clip_norm, checks.positive_or_infinite)

    def _take(self, step: Step) -> StepReport:
        _keep_norm_within(step, self._bound_now())
        return super()._take(step)


def _keep_norm_within(step: Step, bound: float) -> float:
    """The norm that it had."""
    norm = step.norm_so_far
    step.measured = True
    step.clip = step.clip.scaled(clip_scale(norm, bound))
    step.clip_norm = bound if step.clip_norm is None else min(step.clip_norm, bound)
    step.clipped |= norm > bound
    return norm


class _ClipByValue(_Wrapper):
    def __init__(self, optimizer: Optimizer, low: float, high: float) -> None:
        super().__init__(optimizer)
        self._bounds = checks.constant("clip_value_min", low, _bound), checks.constant("clip_value_max", high, _bound)
        if low > high:
            raise ValueError(f"clip_value_min must be at most clip_value_max, got {low} and {high}")

    def _take(self, step: Step) -> StepReport:
        step.clip = step.clip.kept_within(*self._bounds)
        return super()._take(step)


class _ClipByPercentile(_Wrapper):
    def __init__(self, optimizer: Optimizer, percentile: float) -> None:
        super().__init__(optimizer)
        self._percentile = checks.constant("percentile", percentile, _percentage)
        self._sorted: list[float] = []

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[Entry]:
        yield from super().state(variables, stored)
        yield Entry(f"{self.get_name()}/norms", np.array(self._sorted), self._restore_norms, grows=True)

    def _restore_norms(self, norms: NDArray[Any]) -> None:
        self._sorted = norms.tolist()

    def _take(self, step: Step) -> StepReport:
        norm = step.norm_so_far
        norms = self._sorted.copy()
        if 0 < norm < math.inf:
            insort(norms, norm)
        bound = _percentile(norms, self._percentile)
        if bound > 0:
            _keep_norm_within(step, bound)
        elif not math.isfinite(norm):
            step.clip = step.clip.scaled(math.nan)
        report = super()._take(step)
        if not report.skipped:
            self._sorted = norms
        return report


_bound = checks.Bound("a number", lambda x: not math.isnan(x))
_percentage = checks.Bound("from 0 to 100", lambda x: 0 <= x <= 100)  # noqa: PLR2004 - per cent


def _percentile(values: list[float], percentile: float) -> float:
    """Between the two nearest, in proportion, as NumPy's; 0.0 of nothing. The values are sorted."""
    if not values:
        return 0.0
    place = (len(values) - 1) * percentile / 100
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


class _SkipNonfinite(_Wrapper):
    def __init__(self, optimizer: Optimizer, max_in_a_row: int) -> None:
        super().__init__(optimizer)
        if not isinstance(max_in_a_row, int | np.integer):
            raise TypeError(f"max_in_a_row must be an integer, got {max_in_a_row!r}")
        if max_in_a_row < 1:
            raise ValueError(f"max_in_a_row must be positive, got {max_in_a_row}")
        self._most = max_in_a_row
        self.skipped_in_a_row = 0
        self.skipped_steps = 0

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[Entry]:
        yield from super().state(variables, stored)
        for count in ("skipped_in_a_row", "skipped_steps"):
            yield Entry.of_count(f"{self.get_name()}/{count}", getattr(self, count), partial(setattr, self, count))

    def _take(self, step: Step) -> StepReport:
        if math.isfinite(step.global_norm) or not step.nonfinite:
            report = super()._take(step)
            self.skipped_in_a_row = 0
            return report
        rate = self._rate()  # may be refused; then nothing is counted
        self.skipped_in_a_row += 1
        self.skipped_steps += 1
        if self.skipped_in_a_row >= self._most:
            names = [variable.name for variable in step.nonfinite_variables]
            raise FloatingPointError(
                f"gradients were not finite in {self.skipped_in_a_row} steps in a row;"
                f" at step {step.number}, {step.nonfinite} of their elements were not, in {names}"
            )
        report = step.report(rate, skipped=True)
        self._inner._leave_out(report)  # noqa: SLF001
        return report


class _WithSummaries(_Wrapper):
    def __init__(self, optimizer: Optimizer, telemetry: Telemetry) -> None:
        super().__init__(optimizer)
        self._telemetry = telemetry
        inside = optimizer
        while isinstance(inside, _Wrapper):
            if isinstance(inside, _WithSummaries) and inside._telemetry.writer is telemetry.writer:  # noqa: SLF001
                raise ValueError(f"this optimizer logs to {telemetry.writer.path} already: log to another writer")
            inside = inside._inner  # noqa: SLF001

    def _take(self, step: Step) -> StepReport:
        telemetry = self._telemetry
        names: tuple[str, ...] = ()
        due, histograms_due = telemetry.is_due(step.number), telemetry.histograms_are_due(step.number)
        if due or histograms_due:
            telemetry.check_open()
            names = telemetry.names_of(step.variables)
            step.measured |= due
            step.detailed |= due and telemetry.looks_at_variables
        report = super()._take(step)
        telemetry.observe(report, names)
        if histograms_due and not report.skipped:
            values = [variable.value for variable in step.variables]
            for kind, arrays in (("gradients", step.arrays), ("weights", values)):
                telemetry.add_histograms(step.number, kind, dict(zip(names, arrays, strict=True)))
        return report

    def _leave_out(self, report: StepReport) -> None:
        self._telemetry.observe(report)
        super()._leave_out(report)


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: Hyperparameter) -> Optimizer:
    """An optimizer that clips all gradients together by their global norm, as TF1's contrib wrapper of that name does.

    The scale is folded into the update, so that no clipped copy of a gradient is made.

    Args:
        optimizer: makes the update.
        clip_norm: the bound on the gradients' global norm; positive; a number, a Variable, or a callable of no
            arguments, which is read at each step.

    Raises:
        TypeError: `optimizer` is no Optimizer, as with all wrappers; `clip_norm` is no number.
        ValueError: `clip_norm` is not positive.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0)
    >>> report = optimizer.apply_gradients([(np.float32([3.0, 4.0]), w)])
    >>> w.value, report.global_norm, report.clipped
    (array([-0.6, -0.8], dtype=float32), 5.0, True)

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063
    """
    return _ClipByGlobalNorm(optimizer, clip_norm)


def clip_gradients_by_value(optimizer: Optimizer, clip_value_min: float, clip_value_max: float) -> Optimizer:
    """An optimizer that keeps every element of a gradient within bounds; NaN stays NaN.

    The update clips as it reads, without a copy. Only where a clipping by norm stands inside, which needs the norm of
    what is kept, one gradient at a time is copied to measure it.

    Args:
        optimizer: makes the update.
        clip_value_min: the least, in the units of the gradients.
        clip_value_max: the most.

    Raises:
        ValueError: the least is more than the most.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = clip_gradients_by_value(GradientDescentOptimizer(1.0), -1.0, 2.0)
    >>> report = optimizer.apply_gradients([(np.float32([-3.0, 4.0]), w)])
    >>> w.value
    array([ 1., -2.], dtype=float32)
    """
    return _ClipByValue(optimizer, clip_value_min, clip_value_max)


def clip_gradients_by_percentile(optimizer: Optimizer, percentile: float = 10.0) -> Optimizer:
    """AutoClip: an optimizer that clips by global norm, where the bound is a percentile of all norms so far.

    The norm of the step at hand is among them. Norms that are not finite are left out, and such a step's gradients
    become NaN, as with any clipping by norm. Norms of 0 are left out too, unlike in the paper: they say nothing of how
    large gradients are, and a bound of 0 would stop the training. So the first norm that is not 0 is never clipped.

    Args:
        optimizer: makes the update.
        percentile: from 0, the least norm so far, to 100, the largest.

    Raises:
        ValueError: it is not within 0 and 100.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0], name="w")
    >>> optimizer = clip_gradients_by_percentile(GradientDescentOptimizer(1.0), 50.0)
    >>> [optimizer.apply_gradients([(np.float32([g]), w)]).clip_norm for g in (1.0, 3.0, 9.0)]
    [1.0, 2.0, 3.0]

    References: Seetharaman et al. 2020, https://arxiv.org/abs/2007.14469
    """
    return _ClipByPercentile(optimizer, percentile)


def skip_nonfinite_steps(optimizer: Optimizer, max_in_a_row: int = 10) -> Optimizer:
    """An optimizer that leaves out steps whose gradients are not all finite.

    Such a step changes neither variables nor slots, nor the global step, as with TF1's LossScaleOptimizer. Its report
    says `skipped`. The optimizer counts them: `skipped_steps`, and `skipped_in_a_row`.

    Args:
        optimizer: makes the update.
        max_in_a_row: so many of them one after another are an error.

    Raises:
        ValueError: `max_in_a_row` is not positive.
        FloatingPointError: by apply_gradients: so many steps in a row had gradients that were not finite.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = skip_nonfinite_steps(GradientDescentOptimizer(1.0))
    >>> report = optimizer.apply_gradients([(np.float32([1.0, np.nan]), w)])
    >>> report.skipped, report.nonfinite, w.value
    (True, 1, array([0., 0.], dtype=float32))
    """
    return _SkipNonfinite(optimizer, max_in_a_row)


def with_summaries(
    optimizer: Optimizer,
    writer: EventFileWriter,
    every_n_steps: int = 1,
    histograms_every_n_steps: int | None = None,
    variables: Iterable[Variable | str] | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    layout: bool = True,
) -> Optimizer:
    """An optimizer that logs what its steps did: one Summary at each due step, and once a layout of custom scalars.

    It may stand outside of the other wrappers or inside; the norm logged as `gradients/global_norm` is always the one
    before any clipping. What is logged of each variable is measured in the pass that updates it; steps that are not due
    are not measured. `gradients/clipped_fraction` and `gradients/nonfinite` cover all steps since the last write whose
    norm is known: every one, where norms are clipped or non-finite steps skipped. A skipped step is not written.

    | tag | what it is |
    |---|---|
    | `train/learning_rate`, `train/global_step_per_sec` | in force; since the last write |
    | `train/loss` | before the update, where `minimize` computed it |
    | `gradients/global_norm`, `gradients/clipped_global_norm` | before clipping; after |
    | `gradients/clip_norm`, `gradients/clipped` | the bound; 1 where this step's norm was above it |
    | `gradients/clipped_fraction`, `gradients/nonfinite` | share of steps; elements that are NaN or infinite |
    | `gradients/norm/<var>`, `gradients/zero_fraction/<var>` | before clipping; share of elements that are 0 |
    | `weights/norm/<var>`, `updates/norm/<var>` | after the step; of what the step added |
    | `updates/ratio/<var>` | the update's norm over the weights' |
    | `slots/<slot>/<mean, norm, max>/<var>` | after the step |
    | `histograms/gradients/<var>`, `histograms/weights/<var>` | before clipping; after the step |

    An IndexedSlices gradient counts as the whole array that it stands for: 0 where it names no row, and with rows of
    the same index summed; but in the global norm each row counts for itself, as in TF1. Its histogram is of its rows.

    Args:
        optimizer: makes the update.
        writer: where to log; a SummaryWriter, where histograms are wanted. Two optimizers need two writers: their tags
            are the same.
        every_n_steps: write at global steps that this divides.
        histograms_every_n_steps: log histograms of gradients and weights at global steps that this divides; None for
            none.
        variables: the Variables that have tags of their own, or their names; None for all.
        clock: gives seconds, from any start, for `train/global_step_per_sec`.
        layout: whether to log a layout of custom scalars; False where the run has one of its own, since TensorBoard
            shows one a run.

    Raises:
        TypeError: a number of steps is no integer; `variables` is no list of Variables and names; histograms are wanted
            of a writer that is no SummaryWriter.
        ValueError: a number of steps is not positive; the optimizer logs to this writer already.

    >>> import tempfile
    >>> from optim import GradientDescentOptimizer, Variable
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
    telemetry = Telemetry(writer, every_n_steps, histograms_every_n_steps, variables, clock, layout=layout)
    return _WithSummaries(optimizer, telemetry)
