"""TF1's contrib wrappers: weights kept within a norm, averages of the weights, and losses that are at times absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.saver import Saver
from optim.clip import clip_by_norm
from optim.moving_average import ExponentialMovingAverage
from optim.optimizers.driver import Optimizer
from optim.optimizers.wrappers import Transformation
from optim.variable import IndexedSlices, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from optim.checkpoints.state import CheckpointArray
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport

__all__ = ["MovingAverageOptimizer", "MultitaskOptimizerWrapper", "VariableClippingOptimizer"]


def _inside(opt: Optimizer) -> Optimizer:
    if not isinstance(opt, Optimizer):
        raise TypeError(f"opt must be an Optimizer, got {type(opt).__name__}: {opt!r}")
    return opt


class VariableClippingOptimizer(Optimizer):
    """Wraps an optimizer to keep variables within a norm: after each step, they are clipped themselves.

    A sparse gradient has only its rows clipped, unless the norm is along the first axis, too. In a report, norms of
    weights and updates are those before.

    Args:
        opt: makes the update.
        vars_to_clip_dims: Variable → the axes along which its norm is taken, as in `clip_by_norm`.
        max_norm: the bound on each norm; positive.
        use_locking: accepted for compatibility with TF1; unused: the optimizer inside has it.
        colocate_clip_ops_with_vars: accepted for compatibility with TF1; unused.
        name: accepted for compatibility with TF1; unused.

    Raises:
        TypeError: `opt` is not an Optimizer, or a key is not a Variable.
        ValueError: `max_norm` is not positive.

    >>> from optim import GradientDescentOptimizer
    >>> w = Variable([[0.0, 0.0], [0.1, 0.0]], name="w")
    >>> optimizer = VariableClippingOptimizer(GradientDescentOptimizer(1.0), {w: [1]}, 1.0)
    >>> report = optimizer.apply_gradients([(np.float32([[-3.0, -4.0], [0.0, 0.0]]), w)])
    >>> w.value
    array([[0.6, 0.8],
           [0.1, 0. ]], dtype=float32)

    References: Hinton et al. 2012, https://arxiv.org/abs/1207.0580
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Mapping[Variable, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        for variable in vars_to_clip_dims:
            if not isinstance(variable, Variable):
                raise TypeError(f"vars_to_clip_dims must map Variables to axes, got {variable!r}")
        bound = checks.constant("max_norm", max_norm, checks.positive)
        clipping = _ClipVariables({v: tuple(axes) for v, axes in vars_to_clip_dims.items()}, bound)
        super().__init__(_inside(opt).update, (clipping, *opt.transformations))


class _ClipVariables(Transformation):
    def __init__(self, axes: dict[Variable, tuple[int, ...]], bound: float) -> None:
        self._axes, self._bound = axes, bound

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        gradients = dict(zip(step.variables, step.gradients, strict=True))
        report = onward(step)
        if not report.skipped:
            for variable in step.variables:
                if variable in self._axes:
                    self._clip(variable, gradients[variable])
        return report

    def _clip(self, variable: Variable, gradient: Any) -> None:
        axes, value = self._axes[variable], variable.value
        where: Any = ...
        if isinstance(gradient, IndexedSlices) and not any(axis in (0, -value.ndim) for axis in axes):
            where = np.unique(gradient.indices)
        value[where] = clip_by_norm(value[where], self._bound, axes)


class MovingAverageOptimizer(Optimizer):
    """Wraps an optimizer to average the variables after each step; see `ExponentialMovingAverage`.

    The averages are part of its state: a Saver that gets the optimizer keeps them.

    Args:
        opt: makes the update.
        average_decay: the fraction of the average that is kept.
        num_updates: as for `ExponentialMovingAverage`.
        sequential_update: accepted for compatibility with TF1: the averages are always updated after the variables.

    Attributes:
        averages: the ExponentialMovingAverage.

    Raises:
        TypeError: `opt` is not an Optimizer.
        ValueError: `average_decay` is out of bounds.

    >>> from optim import GradientDescentOptimizer
    >>> w = Variable([0.0], name="w")
    >>> optimizer = MovingAverageOptimizer(GradientDescentOptimizer(1.0), 0.75)
    >>> for _ in range(2):
    ...     report = optimizer.apply_gradients([(np.float32([-4.0]), w)])
    >>> w.value, optimizer.averages.average(w).value  # the average starts after the first step
    (array([8.], dtype=float32), array([5.], dtype=float32))

    References: Polyak and Juditsky 1992, https://doi.org/10.1137/0330046
    """

    def __init__(
        self, opt: Optimizer, average_decay: float = 0.9999, num_updates: Any = None, sequential_update: bool = True
    ) -> None:
        self.averages: ExponentialMovingAverage = ExponentialMovingAverage(average_decay, num_updates)
        self._averaging = _Average(self.averages)
        super().__init__(_inside(opt).update, (self._averaging, *opt.transformations))

    def swapping_saver(
        self,
        var_list: Iterable[Variable] | Mapping[str, Variable] | None = None,
        name: str = "swapping_saver",
        **kwargs: Any,
    ) -> Saver:
        """A Saver that saves each average under its variable's name, and the variable under its average's.

        Args:
            var_list: the Variables to save, or a mapping, name → Variable; by default, those that are averaged.
            name: accepted for compatibility with TF1; unused.
            kwargs: other arguments of `Saver`.

        Raises:
            RuntimeError: no step has been made yet, so there are no averages.
        """
        if not self._averaging.seen:
            raise RuntimeError("apply_gradients or minimize must be called before swapping_saver: nothing is averaged")
        chosen = list(self._averaging.seen) if var_list is None else var_list
        named = chosen if isinstance(chosen, Mapping) else {variable.name: variable for variable in chosen}
        swapped: dict[str, Variable] = {}
        for key, variable in named.items():
            average = self.averages.average(variable)
            swapped[key] = variable if average is None else average
            if average is not None and var_list is None:
                swapped[average.name] = variable
        return Saver(swapped, **kwargs)


class _Average(Transformation):
    def __init__(self, averages: ExponentialMovingAverage) -> None:
        self._averages = averages
        self.seen: dict[Variable, None] = {}

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        report = onward(step)
        if not report.skipped:
            self._averages.apply(step.variables)
            self.seen.update(dict.fromkeys(step.variables))
        return report

    def state_of(
        self, name: str, variables: Sequence[Variable], stored: Collection[str] | None
    ) -> Iterator[CheckpointArray]:
        yield from self._averages.state(variables, stored)
        if stored is not None:
            self.seen.update((v, None) for v in variables if self._averages.average_name(v) in stored)


class MultitaskOptimizerWrapper(Optimizer):
    """Wraps an optimizer to leave a variable and its slots as they are where the gradient is 0 in every element.

    For losses of which some are absent in some batches: their gradient is unknown, rather than 0, and would make
    averages fade. Clip with `clip_gradients_by_global_norm`, as in TF1, or with any wrapper around this one.

    Args:
        opt: makes the update.

    Raises:
        TypeError: `opt` is not an Optimizer.

    >>> from optim import MomentumOptimizer
    >>> w = Variable([1.0], name="w")
    >>> optimizer = MultitaskOptimizerWrapper(MomentumOptimizer(0.5, 0.5))
    >>> reports = [optimizer.apply_gradients([(np.float32([g]), w)]) for g in (1.0, 0.0)]
    >>> w.value, optimizer.get_slot(w, "momentum").value
    (array([0.5], dtype=float32), array([1.], dtype=float32))

    References: tf.contrib.opt.MultitaskOptimizerWrapper
    """

    def __init__(self, opt: Optimizer) -> None:
        super().__init__(_inside(opt).update, (_LeaveZeros(), *opt.transformations))


class _LeaveZeros(Transformation):
    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        kept = [i for i, array in enumerate(step.arrays) if np.any(array)]
        if len(kept) < len(step.variables):
            step.gradients = [step.gradients[i] for i in kept]
            step.variables = [step.variables[i] for i in kept]
        return onward(step)
