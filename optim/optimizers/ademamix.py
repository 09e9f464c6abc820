"""AdEMAMix: Adam with a second momentum that remembers ten thousand steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optim import checks, rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from optim.optimizers.base import Hyperparameter

__all__ = ["AdEMAMixOptimizer"]


class AdEMAMixOptimizer(Optimizer):
    r"""AdEMAMix: Adam's direction plus α times that of a slow momentum. Slots: m, m_slow, v.

    .. math::
        v \leftarrow v - \eta \left( \frac{\hat m + \alpha m_{slow}}{\sqrt{\hat s} + \epsilon} + \lambda v \right)

    with Adam's corrected m and s, and m_slow, which keeps β₃ of itself and is not corrected.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        beta3: β₃, how much of m_slow is kept; likewise.
        alpha: α, the weight of m_slow; likewise.
        epsilon: ε; likewise.
        weight_decay: λ; likewise.
        warmup_steps: the steps in which α rises linearly from 0, and β₃ from β₁, so that its half-life grows linearly;
            0 for none.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> report = AdEMAMixOptimizer(0.25, alpha=0.0).apply_gradients([(np.float32([2.0]), w)])  # Adam's step
    >>> w.value.round(3)
    array([0.75], dtype=float32)

    References: Pagliardini et al. 2025, https://arxiv.org/abs/2409.03137
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        beta3: Hyperparameter = 0.9999,
        alpha: Hyperparameter = 8.0,
        epsilon: Hyperparameter = 1e-8,
        weight_decay: Hyperparameter = 0.0,
        warmup_steps: int = 0,
        use_locking: bool = False,
        name: str = "AdEMAMix",
    ) -> None:
        update = _AdEMAMixUpdate(
            rules.ADEMAMIX, learning_rate, name, use_locking,
            beta1=beta1, beta2=beta2, beta3=beta3, alpha=alpha, epsilon=epsilon, weight_decay=weight_decay,
        )  # fmt: skip
        update.warmup = checks.constant("warmup_steps", warmup_steps, checks.at_least_zero)
        super().__init__(update)


class _AdEMAMixUpdate(Update):
    warmup = 0.0

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        t, beta1, beta3, mix = self.steps + 1, values["beta1"], values["beta3"], values["alpha"]
        if t < self.warmup:
            share = t / self.warmup
            mix, beta3 = share * mix, min(beta3, _between(beta1, beta3, share))
        numbers = {
            "beta3": beta3,
            "mix": mix,
            "correct1": 1 / (1 - beta1**t),
            "correct2": 1 / math.sqrt(1 - values["beta2"] ** t),
            "decay": values["learning_rate"] * values["weight_decay"],
        }
        return super().formula_numbers({**values, **numbers}, dtype)


def _between(first: float, last: float, share: float) -> float:
    """The rate of an average whose half-life is this share of the way from that of `first` to that of `last`."""
    log_first, log_last = math.log(max(first, 1e-8)), math.log(last)
    return math.exp(log_first * log_last / ((1 - share) * log_last + share * log_first))
