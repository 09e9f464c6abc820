"""LARS and LAMB: a rate for each layer, in proportion to its weights' norm over its update's: the trust ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.kernels.measure import norm
from optim.optimizers.driver import Optimizer
from optim.optimizers.layerwise import Layer, LayerwiseUpdate, Move, run_rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optim.optimizers.base import Hyperparameter

__all__ = ["LARSOptimizer", "LambOptimizer", "adam_direction"]


class LARSOptimizer(Optimizer):
    r"""LARS: momentum, with a rate for each layer. Slot: momentum.

    .. math::
        r = \epsilon_L \lVert v \rVert / (\lVert g \rVert + \lambda \lVert v \rVert + \epsilon), \quad
        a \leftarrow \mu a + g, \quad v \leftarrow v - \eta r a

    The trust ratio r is 1 if a norm is 0, for skipped variables and for sparse gradients, which get plain momentum. As
    TF1's contrib optimizer, and unlike the paper, it does not add λv to the gradient: the loss has to.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        momentum: μ; likewise.
        weight_decay: λ, the weight decay of the loss; likewise.
        eeta: ε_L, the coefficient of the trust ratio; likewise.
        epsilon: ε; likewise.
        name: the optimizer's name.
        skip_list: parts of names: variables that have one in their name are skipped; for None, none are.
        use_nesterov: whether to use Nesterov's momentum.

    >>> from optim import Variable
    >>> w = Variable([3.0, 4.0], name="w")
    >>> report = LARSOptimizer(1.0, weight_decay=0.0, eeta=0.1).apply_gradients([(np.float32([0.0, 50.0]), w)])
    >>> w.value
    array([3. , 3.5], dtype=float32)

    References: You et al. 2017, https://arxiv.org/abs/1708.03888
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        momentum: Hyperparameter = 0.9,
        weight_decay: Hyperparameter = 0.0001,
        eeta: Hyperparameter = 0.001,
        epsilon: Hyperparameter = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        update = _LARSUpdate(
            rules.NESTEROV if use_nesterov else rules.MOMENTUM, learning_rate, name,
            momentum=momentum, weight_decay=weight_decay, eeta=eeta, epsilon=epsilon,
        )  # fmt: skip
        update.skipped = tuple(skip_list or ())
        super().__init__(update)


class LambOptimizer(Optimizer):
    r"""LAMB: Adam's direction, with a rate for each layer. Slots: m, v.

    .. math::
        u = \hat m / (\sqrt{\hat s} + \epsilon) + \lambda v, \quad
        v \leftarrow v - \eta \frac{\lVert v \rVert}{\lVert u \rVert} u

    with Adam's corrected m and s. The trust ratio is 1 if a norm is 0. A sparse gradient counts as a dense one.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        weight_decay: λ; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([2.0, 0.0], name="w")
    >>> report = LambOptimizer(0.25, weight_decay=0.0).apply_gradients([(np.float32([1e-2, 0.0]), w)])
    >>> w.value.round(3)
    array([1.5, 0. ], dtype=float32)

    References: You et al. 2020, https://arxiv.org/abs/1904.00962
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-6,
        weight_decay: Hyperparameter = 0.01,
        use_locking: bool = False,
        name: str = "Lamb",
    ) -> None:
        update = _LambUpdate(
            rules.GRADIENT_DESCENT, learning_rate, name, use_locking, kept=("m", "v"),
            beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
        )  # fmt: skip
        super().__init__(update)


class _LARSUpdate(LayerwiseUpdate):
    moves_rows = True
    skipped: tuple[str, ...] = ()

    def bound(self, name: str) -> checks.Bound:
        return checks.at_least_zero if name == "eeta" else super().bound(name)

    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        if any(part in layer.variable.name for part in self.skipped):
            return Move(layer.gradient)
        weights, gradient = norm([layer.value]), norm([layer.gradient])
        ratio = 1.0
        if weights > 0 and gradient > 0:
            ratio = values["eeta"] * weights / (gradient + values["weight_decay"] * weights + values["epsilon"])
        rate = values["learning_rate"] * ratio
        return Move(layer.gradient, {"learning_rate": rate}, {"trust_ratio": ratio})


class _LambUpdate(LayerwiseUpdate):
    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        direction, measured = adam_direction(layer, values, self.steps + 1)
        direction += values["weight_decay"] * layer.value
        weights, moved = norm([layer.value]), norm([direction])
        ratio = weights / moved if weights > 0 and moved > 0 else 1.0
        rate = values["learning_rate"] * ratio
        return Move(direction, {"learning_rate": rate}, {"trust_ratio": ratio}, measured)


def adam_direction(layer: Layer, values: Mapping[str, float], t: int) -> tuple[Any, Any]:
    """Adam's corrected m over the root of its corrected s, plus ε, after it has updated both slots; and the stats."""
    beta1, beta2 = values["beta1"], values["beta2"]
    root = (1 - beta2**t) ** 0.5
    direction = np.zeros_like(layer.gradient)
    numbers = [-root / (1 - beta1**t), beta1, beta2, values["epsilon"] * root]
    arrays = [direction, layer.slots["m"], layer.slots["v"]]
    return direction, run_rule(rules.ADAM, layer.gradient, arrays, numbers, report=layer.measures)
