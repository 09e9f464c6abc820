"""A wrapper that skips steps whose gradients are not finite."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from optim import checks
from optim.checkpoints.state import CheckpointArray
from optim.optimizers.wrappers import Transformation, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from optim.optimizers.driver import Optimizer
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport

__all__ = ["skip_nonfinite_steps"]


def skip_nonfinite_steps(optimizer: Optimizer, max_in_a_row: int = 10) -> Optimizer:
    """Wrap an optimizer to skip steps whose gradients are not all finite.

    A skipped step does not change variables, slots or the global step, as with TF1's LossScaleOptimizer. Its report has
    `skipped` set. The returned optimizer, and every wrapper around it, counts such steps in `skipped_steps` and
    `skipped_in_a_row`.

    Args:
        optimizer: makes the update.
        max_in_a_row: this many consecutive skipped steps are an error.

    Raises:
        ValueError: `max_in_a_row` is not positive.
        FloatingPointError: raised by apply_gradients after `max_in_a_row` consecutive steps whose gradients were not
            finite.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = skip_nonfinite_steps(GradientDescentOptimizer(1.0))
    >>> report = optimizer.apply_gradients([(np.float32([1.0, np.nan]), w)])
    >>> report.skipped, report.nonfinite, w.value
    (True, 1, array([0., 0.], dtype=float32))
    >>> optimizer.skipped_steps, optimizer.skipped_in_a_row
    (1, 1)

    References: Micikevicius et al. 2018, https://arxiv.org/abs/1710.03740
    """
    return wrapped(optimizer, _SkipNonfinite, max_in_a_row)


class _SkipNonfinite(Transformation):
    def __init__(self, max_in_a_row: int) -> None:
        self._most = checks.positive_integer("max_in_a_row", max_in_a_row)
        self.skipped_in_a_row = 0
        self.skipped_steps = 0

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        if math.isfinite(step.global_norm) or not step.nonfinite:
            report = onward(step)
            self.skipped_in_a_row = 0
            return report
        self._count(step)
        step.skipped = True
        return onward(step)

    def state(self, name: str) -> Iterator[CheckpointArray]:
        for count in ("skipped_in_a_row", "skipped_steps"):
            yield CheckpointArray.of_count(f"{name}/{count}", getattr(self, count), partial(setattr, self, count))

    def _count(self, step: Step) -> None:
        self.skipped_in_a_row += 1
        self.skipped_steps += 1
        if self.skipped_in_a_row >= self._most:
            names = [variable.name for variable in step.nonfinite_variables]
            raise FloatingPointError(
                f"gradients were not finite in {self.skipped_in_a_row} steps in a row;"
                f" at step {step.number}, {step.nonfinite} of their elements were not, in {names}"
            )
