"""RAdam: Adam that waits until its variance can be trusted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optim import rules
from optim.optimizers.base import Update
from optim.optimizers.diagnostics import see_adam
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from optim.optimizers.base import Hyperparameter
    from optim.optimizers.diagnostics import Sample
    from optim.optimizers.step import Step

__all__ = ["RAdamOptimizer"]

_TRUSTED = 5.0  # the least length of the average whose variance is rectified, as in torch; the paper has 4


class RAdamOptimizer(Optimizer):
    r"""RAdam: momentum at first, then Adam with a rate that grows as its second moment becomes certain. Slots: m, v.

    .. math::
        \rho_\infty = \frac{2}{1 - \beta_2} - 1, \quad
        \rho = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t}, \quad
        v \leftarrow v - \eta \hat m \cdot r / (\sqrt{\hat s} + \epsilon') \text{ if } \rho > 5, \quad
        v - \eta \hat m \text{ else}, \quad
        r^2 = \frac{(\rho - 4)(\rho - 2) \rho_\infty}{(\rho_\infty - 4)(\rho_\infty - 2) \rho}

    with Adam's m and s, corrected; ε is added to the root before the correction, as in torch.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        weight_decay: λ; likewise.
        decoupled_weight_decay: whether λ decays the weights, as AdamW does, or is added to the gradient as λv.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> report = RAdamOptimizer(0.25).apply_gradients([(np.float32([2.0]), w)])  # the first steps are momentum's
    >>> w.value.round(3)
    array([0.5], dtype=float32)

    References: Liu et al. 2020, https://arxiv.org/abs/1908.03265
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        weight_decay: Hyperparameter = 0.0,
        decoupled_weight_decay: bool = False,
        use_locking: bool = False,
        name: str = "RAdam",
    ) -> None:
        update = _RAdamUpdate(
            rules.RADAM, learning_rate, name, use_locking,
            beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
        )  # fmt: skip
        update.decoupled = decoupled_weight_decay
        super().__init__(update)


class _RAdamUpdate(Update):
    decoupled = False

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        rate, decay, t = values["learning_rate"], values["weight_decay"], self.steps + 1
        factor = _rectified(values["beta2"], t)
        numbers = {
            "alpha": rate * (factor or 1.0) / (1 - values["beta1"] ** t),
            "rectifies": float(factor > 0),
            "penalty": 0.0 if self.decoupled else decay,
            "decay": rate * decay if self.decoupled else 0.0,
        }
        return super().formula_numbers({**values, **numbers}, dtype)

    def diagnose(self, step: Step, sample: Callable[[], Sample]) -> None:
        values, t = step.hyperparameters, self.steps + 1
        power2 = values["beta2"] ** t
        see_adam(step, sample(), values["beta1"] ** t, power2, values["epsilon"] / math.sqrt(1 - power2))


def _rectified(beta2: float, t: int) -> float:
    """The factor of a step that divides by the uncorrected root; 0 while its variance is not to be trusted."""
    most, power = 2 / (1 - beta2) - 1, beta2**t
    length = most - 2 * t * power / (1 - power)
    if length <= _TRUSTED:
        return 0.0
    return math.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length) * (1 - power))
