"""AdaMax: Adam with the largest gradient in place of the root mean square."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optim import rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from optim.optimizers.base import Hyperparameter

__all__ = ["AdaMaxOptimizer"]


class AdaMaxOptimizer(Optimizer):
    r"""AdaMax: the mean of the gradients over the largest of them, which fades. Slots: m, v.

    .. math::
        m \leftarrow m + (1 - \beta_1)(g - m), \quad u \leftarrow \max(\beta_2 u, |g|), \quad
        v \leftarrow v - \frac{\eta}{1 - \beta_1^t} \frac{m}{u + \epsilon}

    The slot "v" has u. As in TF1's contrib optimizer, a sparse gradient touches only the rows that it names. torch adds
    ε to \|g\| instead.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of u is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0, 1.0], name="w")
    >>> report = AdaMaxOptimizer(0.25).apply_gradients([(np.float32([1e-3, -1e3]), w)])
    >>> w.value.round(3)
    array([0.75, 1.25], dtype=float32)

    References: Kingma and Ba 2015, section 7.1, https://arxiv.org/abs/1412.6980
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(
            _AdaMaxUpdate(rules.ADAMAX, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, epsilon=epsilon)
        )


class _AdaMaxUpdate(Update):
    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        alpha = values["learning_rate"] / (1 - values["beta1"] ** (self.steps + 1))
        return super().formula_numbers({**values, "alpha": alpha}, dtype)
