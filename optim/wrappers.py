"""Optimizers around optimizers: each does one thing to a step, and hands it on. They compose in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim.clip import clip_scale
from optim.optimizer import Optimizer, Step
from optim.telemetry import Telemetry

if TYPE_CHECKING:
    from optim.report import StepReport
    from summaries import EventFileWriter

__all__ = ["clip_gradients_by_norm", "with_summaries"]


class _Wrapper(Optimizer):
    """Hands a step on to the optimizer inside."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._inner = optimizer
        self._steps = 0

    def get_name(self) -> str:
        """The name of the optimizer inside."""
        return self._inner.get_name()

    def _take(self, step: Step) -> StepReport:
        return self._inner._take(step)  # noqa: SLF001 - wrapper and wrapped are one family


class _ClipByGlobalNorm(_Wrapper):
    def __init__(self, optimizer: Optimizer, clip_norm: float) -> None:
        clip_scale(0.0, clip_norm)  # refuses a bound that is not positive
        super().__init__(optimizer)
        self._clip_norm = float(clip_norm)

    def _take(self, step: Step) -> StepReport:
        norm = step.global_norm * step.scale
        step.scale *= clip_scale(norm, self._clip_norm)
        step.clip_norm = self._clip_norm if step.clip_norm is None else min(step.clip_norm, self._clip_norm)
        step.clipped |= norm > self._clip_norm
        return super()._take(step)


class _WithSummaries(_Wrapper):
    def __init__(self, optimizer: Optimizer, telemetry: Telemetry) -> None:
        super().__init__(optimizer)
        self._telemetry = telemetry

    def _take(self, step: Step) -> StepReport:
        step.measured |= self._telemetry.is_due(step.number)
        report = super()._take(step)
        self._telemetry.observe(report)
        return report


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: float) -> Optimizer:
    """An optimizer that clips all gradients together by their global norm, as TF1's contrib wrapper of that name does.

    The scale is folded into the update, so that no clipped copy of a gradient is made.

    Args:
        optimizer: makes the update.
        clip_norm: the bound on the gradients' global norm; positive.

    Raises:
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


def with_summaries(optimizer: Optimizer, writer: EventFileWriter, every_n_steps: int = 1) -> Optimizer:
    """An optimizer that logs what its steps did.

    It may stand outside of a clipping wrapper or inside; the norm logged as `gradients/global_norm` is always the one
    before any clipping.

    Args:
        optimizer: makes the update.
        writer: where to log.
        every_n_steps: write at steps that this divides. `gradients/clipped_fraction` covers all steps since the last
            write, not only those.

    Raises:
        ValueError: `every_n_steps` is not positive.

    >>> import tempfile
    >>> from optim import GradientDescentOptimizer, Variable
    >>> from summaries import SummaryWriter, summary_iterator
    >>> w = Variable([0.0, 0.0], name="w")
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0), writer)
    ...     report = optimizer.apply_gradients([(np.float32([3.0, 4.0]), w)])
    >>> for event in summary_iterator(writer.path):
    ...     for value in event.summary.value:
    ...         print(event.step, value.tag, value.simple_value)
    1 train/learning_rate 1.0
    1 gradients/global_norm 5.0
    1 gradients/nonfinite 0.0
    1 gradients/clipped_global_norm 1.0
    1 gradients/clip_norm 1.0
    1 gradients/clipped 1.0
    1 gradients/clipped_fraction 1.0
    """
    return _WithSummaries(optimizer, Telemetry(writer, every_n_steps))
