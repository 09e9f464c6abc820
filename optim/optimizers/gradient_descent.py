"""TF1's seven optimizers: each names its rule and gives it the step's hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import checks, rules
from optim.optimizers.adam import AdamOptimizer
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from optim.optimizers.driver import Hyperparameter

__all__ = [
    "AdadeltaOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "RMSPropOptimizer",
]


class GradientDescentOptimizer(Optimizer):
    r"""Gradient descent.

    .. math:: v \leftarrow v - \eta g

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    Raises:
        ValueError: a number is out of its bounds, which its message says; so for all optimizers.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0], name="w")
    >>> report = GradientDescentOptimizer(0.1).apply_gradients([(np.float32([1.0, -1.0]), w)])
    >>> w.value, report.step
    (array([0.9, 2.1], dtype=float32), 1)

    References: Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586
    """

    def __init__(self, learning_rate: Hyperparameter, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(rules.GRADIENT_DESCENT, learning_rate, use_locking, name)


class MomentumOptimizer(Optimizer):
    r"""Gradient descent with momentum. Slot: momentum.

    .. math:: a \leftarrow \mu a + g, \quad v \leftarrow v - \eta a

    and with Nesterov's momentum :math:`v \leftarrow v - \eta (g + \mu a)`, of the new a.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        momentum: μ; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.
        use_nesterov: whether to look ahead.

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
        super().__init__(rule, learning_rate, use_locking, name, momentum=momentum)


class AdagradOptimizer(Optimizer):
    r"""Adagrad: a rate for each element, which falls as its gradients add up. Slot: accumulator.

    .. math:: a \leftarrow a + g^2, \quad v \leftarrow v - \eta g / \sqrt a

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        initial_accumulator_value: what a starts at; positive.
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
        super().__init__(rules.ADAGRAD, learning_rate, use_locking, name, initial={"accumulator": start})


class AdadeltaOptimizer(Optimizer):
    r"""Adadelta: steps of the size that earlier steps had. Slots: accum, accum_update.

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
        super().__init__(rules.ADADELTA, learning_rate, use_locking, name, rho=rho, epsilon=epsilon)


class FtrlOptimizer(Optimizer):
    r"""Follow the regularized leader, which makes weights that are exactly 0. Slots: accum, linear.

    .. math::
        n = a + g^2, \quad z \leftarrow z + g + 2 \lambda_s v - (n^p - a^p) v / \eta, \quad
        q = n^p / \eta + 2 \lambda_2, \quad a \leftarrow n

    and v becomes :math:`(\lambda_1 \operatorname{sign} z - z) / q` where :math:`|z| > \lambda_1`, else 0.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments; positive.
        learning_rate_power: -p; at most 0.
        initial_accumulator_value: what a starts at; at least 0.
        l1_regularization_strength: λ₁; at least 0.
        l2_regularization_strength: λ₂; at least 0.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.
        accum_name: what the variables of slot accum are called, in the optimizer's name's place.
        linear_name: likewise, of slot linear.
        l2_shrinkage_regularization_strength: λₛ; at least 0.

    >>> from optim import Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = FtrlOptimizer(1.0, initial_accumulator_value=0.0, l1_regularization_strength=1.0)
    >>> report = optimizer.apply_gradients([(np.float32([2.0, 0.5]), w)])
    >>> w.value
    array([-0.5,  0. ], dtype=float32)

    References: McMahan et al. 2013, https://research.google/pubs/pub41159
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        start = checks.constant("initial_accumulator_value", initial_accumulator_value, checks.at_least_zero)
        super().__init__(
            rules.FTRL_SQRT if learning_rate_power == -0.5 else rules.FTRL,  # noqa: PLR2004 - a root
            learning_rate,
            use_locking,
            name,
            initial={"accum": start},
            learning_rate_power=learning_rate_power,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength,
        )
        self._slot_names = {"accum": accum_name, "linear": linear_name}

    def _formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        named = {
            **values,
            "power": -values["learning_rate_power"],
            "l1": values["l1_regularization_strength"],
            "l2": values["l2_regularization_strength"],
            "shrinkage": values["l2_shrinkage_regularization_strength"],
        }
        return super()._formula_numbers(named, dtype)

    def _bound(self, name: str) -> checks.Bound:
        return checks.positive if name == "learning_rate" else super()._bound(name)

    def _slot_label(self, slot: str) -> str | None:
        return self._slot_names[slot]


class RMSPropOptimizer(Optimizer):
    r"""RMSProp: gradients over the root of their mean square. Slots: rms (starts at 1), momentum; mg where centered.

    .. math::
        s \leftarrow s + (1 - \rho)(g^2 - s), \quad a \leftarrow \mu a + \eta g / \sqrt{s + \epsilon}, \quad
        v \leftarrow v - a

    Where centered, :math:`\bar g \leftarrow \bar g + (1 - \rho)(g - \bar g)` and the root is of
    :math:`s - \bar g^2 + \epsilon`.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        decay: ρ; likewise.
        momentum: μ; likewise.
        epsilon: ε, inside of the root; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        centered: whether to divide by the variance in the mean square's place.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> report = RMSPropOptimizer(0.5, decay=0.5).apply_gradients([(np.float32([1.0]), w)])
    >>> w.value
    array([0.5], dtype=float32)

    References: Tieleman and Hinton 2012, Coursera, Lecture 6.5; Graves 2013, https://arxiv.org/abs/1308.0850
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        decay: Hyperparameter = 0.9,
        momentum: Hyperparameter = 0.0,
        epsilon: Hyperparameter = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        rule = rules.RMSPROP_CENTERED if centered else rules.RMSPROP
        super().__init__(
            rule,
            learning_rate,
            use_locking,
            name,
            initial={"rms": 1.0},
            decay=decay,
            momentum=momentum,
            epsilon=epsilon,
        )
