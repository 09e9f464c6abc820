"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from optim.optimizers.base import Hyperparameter

__all__ = ["GradientDescentOptimizer", "MomentumOptimizer"]


class GradientDescentOptimizer(Optimizer):
    r"""Gradient descent.

    .. math:: v \leftarrow v - \eta g

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    Raises:
        ValueError: a number is out of bounds, which the message states; the same holds for all optimizers.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0], name="w")
    >>> report = GradientDescentOptimizer(0.1).apply_gradients([(np.float32([1.0, -1.0]), w)])
    >>> w.value, report.step
    (array([0.9, 2.1], dtype=float32), 1)

    References: Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586
    """

    def __init__(self, learning_rate: Hyperparameter, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(Update(rules.GRADIENT_DESCENT, learning_rate, name, use_locking))


class MomentumOptimizer(Optimizer):
    r"""Gradient descent with momentum. Slot: momentum.

    .. math:: a \leftarrow \mu a + g, \quad v \leftarrow v - \eta a

    and with Nesterov's momentum :math:`v \leftarrow v - \eta (g + \mu a)`, with the new a.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        momentum: μ; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.
        use_nesterov: whether to use Nesterov's momentum.

    >>> from optim import Variable
    >>> w, g = Variable([1.0], name="w"), np.float32([1.0])
    >>> optimizer = MomentumOptimizer(0.1, 0.5)
    >>> for _ in range(2):
    ...     report = optimizer.apply_gradients([(g, w)])
    >>> w.value, optimizer.get_slot(w, "momentum").value
    (array([0.75], dtype=float32), array([1.5], dtype=float32))

    References: Polyak 1964, https://doi.org/10.1016/0041-5553(64)90137-5; Sutskever et al. 2013,
    http://proceedings.mlr.press/v28/sutskever13.html
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        momentum: Hyperparameter,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        rule = rules.NESTEROV if use_nesterov else rules.MOMENTUM
        super().__init__(Update(rule, learning_rate, name, use_locking, momentum=momentum))
