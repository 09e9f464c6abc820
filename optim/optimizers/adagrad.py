"""Adagrad and Adadelta: a learning rate for each element, from its squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import checks, rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from optim.optimizers.base import Hyperparameter

__all__ = ["AdadeltaOptimizer", "AdagradOptimizer"]


class AdagradOptimizer(Optimizer):
    r"""Adagrad: a learning rate for each element that falls as its squared gradients add up. Slot: accumulator.

    .. math:: a \leftarrow a + g^2, \quad v \leftarrow v - \eta g / \sqrt a

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        initial_accumulator_value: the initial value of a; positive.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> report = AdagradOptimizer(0.5, initial_accumulator_value=3.0).apply_gradients([(np.float32([1.0]), w)])
    >>> w.value
    array([0.75], dtype=float32)

    References: Duchi et al. 2011, http://jmlr.org/papers/v12/duchi11a.html
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        start = checks.constant("initial_accumulator_value", initial_accumulator_value, checks.positive)
        super().__init__(Update(rules.ADAGRAD, learning_rate, name, use_locking, initial={"accumulator": start}))


class AdadeltaOptimizer(Optimizer):
    r"""Adadelta: scales steps by the root mean square of earlier steps. Slots: accum, accum_update.

    .. math::
        a \leftarrow \rho a + (1 - \rho) g^2, \quad u = g \sqrt{d + \epsilon} / \sqrt{a + \epsilon}, \quad
        v \leftarrow v - \eta u, \quad d \leftarrow \rho d + (1 - \rho) u^2

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        rho: ρ, how much of the averages is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> report = AdadeltaOptimizer(1.0, rho=0.75, epsilon=1.0).apply_gradients([(np.float32([0.0]), w)])
    >>> w.value
    array([1.], dtype=float32)

    References: Zeiler 2012, https://arxiv.org/abs/1212.5701
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        rho: Hyperparameter = 0.95,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(Update(rules.ADADELTA, learning_rate, name, use_locking, rho=rho, epsilon=epsilon))
