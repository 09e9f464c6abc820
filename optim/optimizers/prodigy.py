"""Prodigy: Adam that finds its own learning rate, from how far the weights have come."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.checkpoints.state import CheckpointArray
from optim.optimizers.driver import Optimizer
from optim.optimizers.layerwise import Layer, LayerwiseUpdate, Move, run_rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.variable import Variable

__all__ = ["ProdigyOptimizer"]


class ProdigyOptimizer(Optimizer):
    r"""Prodigy: Adam with the rate η d, where d estimates the distance to the solution. Slots: m, v, s, start.

    .. math::
        r \leftarrow \sqrt{\beta_2} r + \frac{d}{d_0} d \eta \langle g, v_0 - v \rangle, \quad
        s \leftarrow \sqrt{\beta_2} s + \frac{d}{d_0} d \eta g, \quad
        d \leftarrow \max(d, c\, r / \lVert s \rVert_1)

    and Adam's step, whose m and v average dg and d²g². With diagnostics, a report has d. A sparse
    gradient counts as a dense one.

    Args:
        learning_rate: η, a factor of the estimated rate; a number, a Variable, or a callable of no arguments. Schedules
            begin at 1.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of v is kept; likewise.
        beta3: how much of r and s is kept; None means the root of β₂.
        epsilon: ε, relative to d; likewise.
        weight_decay: λ, decoupled, as AdamW's; likewise.
        use_bias_correction: whether Adam's correction is made.
        safeguard_warmup: whether s leaves η out, for schedules that warm up.
        d0: the first d; positive.
        d_coef: c, a factor of d; positive.
        growth_rate: the most that d grows in a step; at least 1, and may be infinite.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    Attributes:
        d: the estimate.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> optimizer = ProdigyOptimizer()
    >>> reports = [optimizer.apply_gradients([(2 * (w.value - 3), w)]) for _ in range(100)]
    >>> abs(float(w.value[0]) - 3) < 0.1, optimizer.d > 0.1
    (True, True)

    References: Mishchenko and Defazio 2024, https://arxiv.org/abs/2306.06101
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 1.0,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        beta3: Hyperparameter | None = None,
        epsilon: Hyperparameter = 1e-8,
        weight_decay: Hyperparameter = 0.0,
        use_bias_correction: bool = False,
        safeguard_warmup: bool = False,
        d0: float = 1e-6,
        d_coef: float = 1.0,
        growth_rate: float = float("inf"),
        use_locking: bool = False,
        name: str = "Prodigy",
    ) -> None:
        others = {} if beta3 is None else {"beta3": beta3}
        update = _ProdigyUpdate(
            rules.GRADIENT_DESCENT, learning_rate, name, use_locking, kept=("m", "v", "s", "start"),
            beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay, **others,
        )  # fmt: skip
        update.corrects, update.safeguards = use_bias_correction, safeguard_warmup
        update.d0 = checks.constant("d0", d0, checks.positive)
        update.coefficient = checks.constant("d_coef", d_coef, checks.positive)
        update.growth = checks.constant("growth_rate", growth_rate, checks.positive_or_infinite)
        update.estimate.update(d=update.d0, largest=update.d0)
        super().__init__(update)

    @property
    def d(self) -> float:
        """The estimate of the distance to the solution."""
        update = self.update
        assert isinstance(update, _ProdigyUpdate)
        return update.estimate["d"]


class _ProdigyUpdate(LayerwiseUpdate):
    corrects = safeguards = False
    d0 = coefficient = growth = 1.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.estimate = {"d": 0.0, "largest": 0.0, "numerator": 0.0}
        self._rate = 0.0

    def bound(self, name: str) -> checks.Bound:
        return checks.up_to_one if name == "beta3" else super().bound(name)

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        fresh = super().start(variable, slot)
        if slot == "start":
            fresh[...] = variable.value
        return fresh

    def look(self, layers: list[Layer], values: Mapping[str, float]) -> None:
        """Let the slots take in the gradients, and estimate d."""
        beta1, beta2, t = values["beta1"], values["beta2"], self.steps + 1
        beta3 = values.get("beta3", beta2**0.5)
        d = self.estimate["d"]
        correction = (1 - beta2**t) ** 0.5 / (1 - beta1**t) if self.corrects else 1.0
        self._rate = d * values["learning_rate"] * correction
        numerator, denominator = beta3 * self.estimate["numerator"], 0.0
        weight = d / self.d0 * (d if self.safeguards else self._rate)
        for layer in layers:
            slots = layer.slots
            numerator += d / self.d0 * self._rate * float(np.vdot(layer.gradient, slots["start"] - layer.value))
            run_rule(
                rules.PRODIGY_AVERAGES,
                layer.gradient,
                [slots["m"], slots["v"], slots["s"]],
                [d, beta1, beta2, beta3, weight],
            )
            denominator += float(np.abs(slots["s"]).sum(dtype=np.float64))
        if denominator and values["learning_rate"] > 0:
            self._grow(numerator, denominator)

    def _grow(self, numerator: float, denominator: float) -> None:
        hat = self.coefficient * numerator / denominator
        d = self.estimate["d"]
        if d == self.d0:
            d = max(d, hat)
        largest = max(self.estimate["largest"], hat)
        self.estimate = {"d": min(largest, d * self.growth), "largest": largest, "numerator": numerator}

    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        d = self.estimate["d"]
        direction = np.zeros_like(layer.gradient)
        run_rule(rules.PRODIGY_DIRECTION, layer.slots["m"], [direction, layer.slots["v"]], [d * values["epsilon"]])
        if values["weight_decay"]:
            direction += values["weight_decay"] * layer.value
        return Move(direction, {"learning_rate": self._rate}, {"distance": d})

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        yield from super().state(variables, stored)
        for key, value in self.estimate.items():
            yield CheckpointArray(f"{self.name}/{key}", np.array(value), partial(self._restore, key))

    def _restore(self, key: str, value: NDArray[Any]) -> None:
        self.estimate[key] = float(value)
