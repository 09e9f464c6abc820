"""Follow the regularized leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import checks, rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from optim.optimizers.base import Hyperparameter

__all__ = ["FtrlOptimizer"]


class FtrlOptimizer(Optimizer):
    r"""Follow the regularized leader, which can set weights to exactly 0. Slots: accum, linear.

    .. math::
        n = a + g^2, \quad z \leftarrow z + g + 2 \lambda_s v - (n^p - a^p) v / \eta, \quad
        q = n^p / \eta + 2 \lambda_2, \quad a \leftarrow n

    and v becomes :math:`(\lambda_1 \operatorname{sign} z - z) / q` if :math:`|z| > \lambda_1`, else 0.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments; positive.
        learning_rate_power: -p; at most 0.
        initial_accumulator_value: the initial value of a; at least 0.
        l1_regularization_strength: λ₁; at least 0.
        l2_regularization_strength: λ₂; at least 0.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.
        accum_name: the suffix of the names of slot accum's variables, instead of the optimizer's name.
        linear_name: likewise, for slot linear.
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
            _FtrlUpdate(
                rules.FTRL_SQRT if learning_rate_power == -0.5 else rules.FTRL,  # noqa: PLR2004 - a root
                learning_rate,
                name,
                use_locking,
                initial={"accum": start},
                labels={"accum": accum_name, "linear": linear_name},
                learning_rate_power=learning_rate_power,
                l1_regularization_strength=l1_regularization_strength,
                l2_regularization_strength=l2_regularization_strength,
                l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength,
            )
        )


class _FtrlUpdate(Update):
    def bound(self, name: str) -> checks.Bound:
        return checks.positive if name == "learning_rate" else super().bound(name)

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        named = {
            **values,
            "power": -values["learning_rate_power"],
            "l1": values["l1_regularization_strength"],
            "l2": values["l2_regularization_strength"],
            "shrinkage": values["l2_shrinkage_regularization_strength"],
        }
        return super().formula_numbers(named, dtype)
