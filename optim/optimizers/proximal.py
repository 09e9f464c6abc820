"""Optimizers whose step ends in a proximal map: l1 makes weights exactly 0, l2 shrinks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optim import checks, rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from optim.optimizers.base import Hyperparameter
    from optim.variable import Variable

__all__ = ["AdagradDAOptimizer", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer"]


class ProximalGradientDescentOptimizer(Optimizer):
    r"""Gradient descent, then the proximal map of l1 and l2 regularization. No slots.

    .. math:: p = v - \eta g, \quad v \leftarrow \operatorname{sign}(p) \max(|p| - \eta l_1, 0) / (1 + \eta l_2)

    A sparse gradient moves only the rows that it names.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        l1_regularization_strength: l₁; likewise.
        l2_regularization_strength: l₂; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0, 0.25], name="w")
    >>> optimizer = ProximalGradientDescentOptimizer(0.5, l1_regularization_strength=1.0)
    >>> report = optimizer.apply_gradients([(np.float32([0.0, 0.0]), w)])
    >>> w.value
    array([0.5, 0. ], dtype=float32)

    References: Duchi and Singer 2009, http://jmlr.org/papers/v10/duchi09a.html
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        l1_regularization_strength: Hyperparameter = 0.0,
        l2_regularization_strength: Hyperparameter = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            _ProximalUpdate(
                rules.PROXIMAL_GRADIENT_DESCENT, learning_rate, name, use_locking,
                l1_regularization_strength=l1_regularization_strength,
                l2_regularization_strength=l2_regularization_strength,
            )
        )  # fmt: skip


class ProximalAdagradOptimizer(Optimizer):
    r"""Adagrad, then the proximal map of l1 and l2 regularization, with each element's rate. Slot: accumulator.

    .. math::
        a \leftarrow a + g^2, \quad r = \eta / \sqrt a, \quad p = v - r g, \quad
        v \leftarrow \operatorname{sign}(p) \max(|p| - r l_1, 0) / (1 + r l_2)

    A sparse gradient moves only the rows that it names.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        initial_accumulator_value: the initial value of a; positive.
        l1_regularization_strength: l₁; likewise.
        l2_regularization_strength: l₂; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> optimizer = ProximalAdagradOptimizer(0.5, initial_accumulator_value=3.0)
    >>> report = optimizer.apply_gradients([(np.float32([1.0]), w)])
    >>> w.value
    array([0.75], dtype=float32)

    References: Duchi and Singer 2009, http://jmlr.org/papers/v10/duchi09a.html; Duchi et al. 2011,
    http://jmlr.org/papers/v12/duchi11a.html
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Hyperparameter = 0.0,
        l2_regularization_strength: Hyperparameter = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        start = checks.constant("initial_accumulator_value", initial_accumulator_value, checks.positive)
        super().__init__(
            _ProximalUpdate(
                rules.PROXIMAL_ADAGRAD, learning_rate, name, use_locking, initial={"accumulator": start},
                l1_regularization_strength=l1_regularization_strength,
                l2_regularization_strength=l2_regularization_strength,
            )
        )  # fmt: skip


class AdagradDAOptimizer(Optimizer):
    r"""Adagrad by dual averaging: the weights follow from sums of all gradients, so l1 keeps them sparse.

    Slots: gradient_accumulator, gradient_squared_accumulator.

    .. math::
        s \leftarrow s + g, \quad a \leftarrow a + g^2, \quad
        v \leftarrow -\eta \operatorname{sign}(s) \max(|s| - t l_1, 0) / (t \eta l_2 + \sqrt a)

    where t is the number of the step: the value of `global_step`, plus 1. The weights' initial values do not count:
    TF1 asks for 0. A sparse gradient moves only the rows that it names.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        global_step: the Variable that counts steps, which `apply_gradients` increments if it is given it.
        initial_gradient_squared_accumulator_value: the initial value of a; positive.
        l1_regularization_strength: l₁; as the rate.
        l2_regularization_strength: l₂; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w, step = Variable([0.0], name="w"), Variable(0, trainable=False, name="global_step")
    >>> optimizer = AdagradDAOptimizer(0.5, step, initial_gradient_squared_accumulator_value=3.0)
    >>> report = optimizer.apply_gradients([(np.float32([1.0]), w)], step)
    >>> w.value
    array([-0.25], dtype=float32)

    References: Duchi et al. 2011, http://jmlr.org/papers/v12/duchi11a.html
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: Hyperparameter = 0.0,
        l2_regularization_strength: Hyperparameter = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        what = "initial_gradient_squared_accumulator_value"
        start = checks.constant(what, initial_gradient_squared_accumulator_value, checks.positive)
        super().__init__(
            _ProximalUpdate(
                rules.ADAGRAD_DA, learning_rate, name, use_locking, initial={"gradient_squared_accumulator": start},
                l1_regularization_strength=l1_regularization_strength,
                l2_regularization_strength=l2_regularization_strength,
                global_step=global_step,
            )
        )  # fmt: skip


class _ProximalUpdate(Update):
    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        l1, l2 = values["l1_regularization_strength"], values["l2_regularization_strength"]
        return super().formula_numbers({**values, "l1": l1, "l2": l2, "t": values.get("global_step", 0) + 1}, dtype)
