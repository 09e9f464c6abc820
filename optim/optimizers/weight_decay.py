"""Weight decay as an extension of any optimizer's class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.optimizers.driver import Optimizer
from optim.optimizers.wrappers import Transformation
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from optim.optimizers.base import Hyperparameter
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport
    from optim.variable import Variable

__all__ = ["extend_with_decoupled_weight_decay"]


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    r"""A class of optimizers that decay the weights before each step: as TF1's contrib function of this name.

    .. math:: v \leftarrow v - \lambda v

    and then the optimizer's step. λ is not multiplied by the learning rate: for a rate that follows a schedule, let λ
    follow it, too. Its first argument is `weight_decay`, λ: a number, a Variable, or a callable of no arguments; the
    others are the class's own. Its `minimize` and `apply_gradients` take `decay_var_list`, too: the Variables to decay;
    None, or an empty list, means all that get a gradient. A sparse gradient decays the rows that it names.

    In a report, the update's norm is the optimizer's alone.

    Args:
        base_optimizer: the class, such as MomentumOptimizer.

    Returns:
        A new class, derived from it.

    Raises:
        TypeError: `base_optimizer` is not a class of optimizers.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([1.0, 2.0], name="w")
    >>> optimizer = extend_with_decoupled_weight_decay(GradientDescentOptimizer)(0.5, learning_rate=0.25)
    >>> report = optimizer.apply_gradients([(np.float32([1.0, 1.0]), w)])
    >>> w.value
    array([0.25, 0.75], dtype=float32)

    References: Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101
    """
    if not (isinstance(base_optimizer, type) and issubclass(base_optimizer, Optimizer)):
        raise TypeError(f"base_optimizer must be a class of optimizers, got {base_optimizer!r}")

    class Extended(base_optimizer):  # type: ignore[valid-type, misc]
        def __init__(self, weight_decay: Hyperparameter, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._decay = _Decay(weight_decay)
            self.transformations: tuple[Transformation, ...] = (self._decay,)

        def minimize(self, *args: Any, decay_var_list: Iterable[Variable] | None = None, **kwargs: Any) -> StepReport:
            self._decay.only = frozenset(decay_var_list or ())
            report: StepReport = super().minimize(*args, **kwargs)
            return report

        def apply_gradients(
            self, *args: Any, decay_var_list: Iterable[Variable] | None = None, **kwargs: Any
        ) -> StepReport:
            self._decay.only = frozenset(decay_var_list or ())
            report: StepReport = super().apply_gradients(*args, **kwargs)
            return report

        def __reduce__(self) -> tuple[Any, ...]:  # pickle does not find a class that a function has made
            return _empty, (base_optimizer,), self.__dict__

    Extended.__name__ = Extended.__qualname__ = f"{base_optimizer.__name__}WithWeightDecay"
    return Extended


def _empty(base_optimizer: type[Optimizer]) -> Optimizer:
    extended = extend_with_decoupled_weight_decay(base_optimizer)
    return extended.__new__(extended)


class _Decay(Transformation):
    def __init__(self, weight_decay: Hyperparameter) -> None:
        self._weight_decay = weight_decay
        self.only: frozenset[Variable] = frozenset()
        if not callable(weight_decay):
            self._now()

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        decay = self._now()
        for gradient, variable in zip(step.gradients, step.variables, strict=True):
            if self.only and variable not in self.only:
                continue
            rows: Any = np.unique(gradient.indices) if isinstance(gradient, IndexedSlices) else ...
            variable.value[rows] -= variable.dtype.type(decay) * variable.value[rows]
        return onward(step)

    def _now(self) -> float:
        return checks.number("weight_decay", self._weight_decay, checks.at_least_zero)
