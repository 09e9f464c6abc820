"""What a wrapper is: a Transformation of each step, around an optimizer or around other wrappers.

The outermost sees the gradients first. So `clip_gradients_by_norm(clip_gradients_by_value(optimizer, …), 1.0)` keeps
the norm within 1, and then each element within its bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec

from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from optim.checkpoints.state import Entry
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport

__all__ = ["Transformation", "wrapped"]

_Arguments = ParamSpec("_Arguments")


class Transformation:
    """Does one thing to each step of an optimizer. Subclasses override what they need.

    Attributes:
        skipped_steps: how many steps it has skipped.
        skipped_in_a_row: how many of the last steps, in a row.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> class Halved(Transformation):
    ...     def take(self, step, onward):
    ...         step.clip = step.clip.scaled(0.5)
    ...         return onward(step)
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = wrapped(GradientDescentOptimizer(1.0), Halved)
    >>> report = optimizer.apply_gradients([(np.float32([-2.0, -4.0]), w)])
    >>> w.value
    array([1., 2.], dtype=float32)
    """

    skipped_steps = 0
    skipped_in_a_row = 0

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        """Take part in a step.

        Args:
            step: says how the gradients are to be clipped, what is to be measured, and whether to skip the step; may be
                changed. The variables and slots are still as they were before the step.
            onward: has the step made by what is inside, or skipped where `step.skipped` is set; to be called once. When
                it returns, the variables have been updated.

        Returns:
            What `onward` returned.
        """
        return onward(step)

    def left_out(self, report: StepReport) -> None:
        """Take note of a step that never came here, because a transformation outside skipped it."""

    def state(self, name: str) -> Iterable[Entry]:
        """What a Saver saves or restores, under names that begin with the optimizer's name."""
        return ()


def wrapped(
    optimizer: Optimizer,
    kind: Callable[_Arguments, Transformation],
    *args: _Arguments.args,
    **kwargs: _Arguments.kwargs,
) -> Optimizer:
    """The optimizer with one more transformation around it, which sees each step first.

    Args:
        optimizer: makes the update.
        kind: the transformation's class.
        args: what the class takes.
        kwargs: likewise, by name.

    Raises:
        TypeError: `optimizer` is not an Optimizer.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer must be an Optimizer, got {type(optimizer).__name__}: {optimizer!r}")
    return Optimizer(optimizer.update, (kind(*args, **kwargs), *optimizer.transformations))
