"""The optimizers: each names its rule and gives it the step's hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import rules
from optim.optimizer import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from optim.variable import Variable

__all__ = ["GradientDescentOptimizer"]


class GradientDescentOptimizer(Optimizer):
    r"""Gradient descent.

    .. math:: v \leftarrow v - \eta g

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        use_locking: accepted for TF1's sake.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0], name="w")
    >>> report = GradientDescentOptimizer(0.1).apply_gradients([(np.float32([1.0, -1.0]), w)])
    >>> w.value, report.step
    (array([0.9, 2.1], dtype=float32), 1)

    References: Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586
    """

    def __init__(
        self,
        learning_rate: float | Variable | Callable[[], float],
        use_locking: bool = False,
        name: str = "GradientDescent",
    ) -> None:
        super().__init__(rules.GRADIENT_DESCENT, learning_rate, use_locking, name)
