"""Lion: the sign of a moving average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from optim.optimizers.base import Hyperparameter

__all__ = ["LionOptimizer"]


class LionOptimizer(Optimizer):
    r"""Lion: every element moves by the same amount, in the direction of its momentum. Slot: m.

    .. math::
        v \leftarrow v - \eta (\operatorname{sign}(m + (1 - \beta_1)(g - m)) + \lambda v), \quad
        m \leftarrow m + (1 - \beta_2)(g - m)

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments. A third to a tenth of Adam's.
        beta1: β₁, the weight of m in the direction; likewise.
        beta2: β₂, how much of m is kept; likewise.
        weight_decay: λ; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0, 1.0], name="w")
    >>> report = LionOptimizer(0.25).apply_gradients([(np.float32([1e-3, -1e3]), w)])
    >>> w.value
    array([0.75, 1.25], dtype=float32)

    References: Chen et al. 2023, https://arxiv.org/abs/2302.06675
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 1e-4,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.99,
        weight_decay: Hyperparameter = 0.0,
        use_locking: bool = False,
        name: str = "Lion",
    ) -> None:
        super().__init__(
            Update(rules.LION, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, weight_decay=weight_decay)
        )
