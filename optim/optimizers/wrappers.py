"""Wrappers: a Transformation of each step, around an optimizer or around other wrappers.

The outermost sees the gradients first. So `clip_gradients_by_norm(clip_gradients_by_value(optimizer, …), 1.0)` first
clips the norm to 1, and then each element to its bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec

from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from optim.checkpoints.state import CheckpointArray
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport
    from optim.variable import Variable

__all__ = ["Transformation", "wrapped"]

_Arguments = ParamSpec("_Arguments")


class Transformation:
    """Transforms each step of an optimizer. Subclasses override what they need.

    Attributes:
        skipped_steps: the number of steps it has skipped.
        skipped_in_a_row: the number of consecutive skipped steps, up to the last one.

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
        """Process a step.

        Args:
            step: how to clip the gradients, what to measure, and whether to skip the step; may be changed. The
                variables and slots have not changed yet.
            onward: passes the step on to what is inside, or skips it if `step.skipped` is set; call it exactly once.
                When it returns, the variables have been updated.

        Returns:
            The return value of `onward`.
        """
        return onward(step)

    def left_out(self, report: StepReport) -> None:
        """Called instead of `take` for a step that a transformation outside skipped."""

    def state(self, name: str) -> Iterable[CheckpointArray]:
        """What a Saver saves or restores, under names that begin with the optimizer's name."""
        return ()

    def state_of(
        self, name: str, variables: Sequence[Variable], stored: Collection[str] | None
    ) -> Iterable[CheckpointArray]:
        """As `state`, if it depends on the variables; the arguments are those of `Stateful.state`."""
        return self.state(name)


def wrapped(
    optimizer: Optimizer,
    kind: Callable[_Arguments, Transformation],
    *args: _Arguments.args,
    **kwargs: _Arguments.kwargs,
) -> Optimizer:
    """Return the optimizer with one more transformation around it, which sees each step first.

    Args:
        optimizer: makes the update.
        kind: the transformation's class.
        args: positional arguments for the class.
        kwargs: keyword arguments for the class.

    Raises:
        TypeError: `optimizer` is not an Optimizer.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer must be an Optimizer, got {type(optimizer).__name__}: {optimizer!r}")
    return Optimizer(optimizer.update, (kind(*args, **kwargs), *optimizer.transformations))
