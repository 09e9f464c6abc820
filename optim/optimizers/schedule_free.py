"""Schedule-free training: an average of the weights in place of a rate that falls."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.checkpoints.state import CheckpointArray
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.variable import Variable

__all__ = ["ScheduleFreeAdamW", "ScheduleFreeSGD"]


class _ScheduleFree(Optimizer):
    """What both have: the switch between the weights to train and those to use."""

    update: _ScheduleFreeUpdate

    def eval(self) -> None:
        """Put the averages x into the variables: for evaluation, and to save the model. Again does nothing."""
        self.update.to_average(average=True)

    def train(self) -> None:
        """Put y, where gradients are to be taken, into the variables again: before the next step."""
        self.update.to_average(average=False)


class ScheduleFreeSGD(_ScheduleFree):
    r"""Schedule-free gradient descent. Slot: z.

    .. math::
        u = g + \lambda y, \quad z \leftarrow z - \eta u, \quad x \leftarrow (1 - c) x + c z, \quad
        y = \beta x + (1 - \beta) z

    The variables are y while training, and x after `eval`, until `train`. c is the share of the step's weight,
    :math:`t^r \eta_{max}^p`, in the sum of all weights: with a constant rate and r = 0, x is the mean of all z.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments. It does not need to fall.
        momentum: β; likewise.
        weight_decay: λ; likewise.
        warmup_steps: steps in which the rate rises linearly.
        r: the power of the step in its weight.
        weight_lr_power: p, the power of the largest rate so far in its weight.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([0.0], name="w")
    >>> optimizer = ScheduleFreeSGD(0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     report = optimizer.apply_gradients([(np.float32([-1.0]), w)])
    >>> optimizer.eval()
    >>> w.value, optimizer.get_slot(w, "z").value  # the mean of 0.5 and 1.0
    (array([0.75], dtype=float32), array([1.], dtype=float32))

    References: Defazio et al. 2024, https://arxiv.org/abs/2405.15682
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 1.0,
        momentum: Hyperparameter = 0.9,
        weight_decay: Hyperparameter = 0.0,
        warmup_steps: int = 0,
        r: float = 0.0,
        weight_lr_power: float = 2.0,
        use_locking: bool = False,
        name: str = "ScheduleFreeSGD",
    ) -> None:
        update = _ScheduleFreeUpdate(
            rules.SCHEDULE_FREE_SGD, learning_rate, name, use_locking, momentum=momentum, weight_decay=weight_decay
        )  # fmt: skip
        update.weigh(warmup_steps, r, weight_lr_power)
        super().__init__(update)


class ScheduleFreeAdamW(_ScheduleFree):
    r"""Schedule-free AdamW: `ScheduleFreeSGD` with gradients divided by Adam's root mean square. Slots: z, v.

    .. math:: u = g / (\sqrt{\hat s} + \epsilon) + \lambda y

    and then as there, with β₁ in place of β.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments. It does not need to fall.
        beta1: β₁; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        weight_decay: λ; likewise.
        warmup_steps: steps in which the rate rises linearly.
        r: the power of the step in its weight.
        weight_lr_power: p, the power of the largest rate so far in its weight.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> optimizer = ScheduleFreeAdamW(0.25)
    >>> report = optimizer.apply_gradients([(np.float32([8.0]), w)])
    >>> w.value.round(3), optimizer.get_slot(w, "z").value.round(3)
    (array([0.75], dtype=float32), array([0.75], dtype=float32))

    References: Defazio et al. 2024, https://arxiv.org/abs/2405.15682
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.0025,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        weight_decay: Hyperparameter = 0.0,
        warmup_steps: int = 0,
        r: float = 0.0,
        weight_lr_power: float = 2.0,
        use_locking: bool = False,
        name: str = "ScheduleFreeAdamW",
    ) -> None:
        update = _ScheduleFreeUpdate(
            rules.SCHEDULE_FREE_ADAMW, learning_rate, name, use_locking,
            momentum=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
        )  # fmt: skip
        update.weigh(warmup_steps, r, weight_lr_power)
        super().__init__(update)


class _ScheduleFreeUpdate(Update):
    """Keeps the sum of the steps' weights, and which of its points the variables are at."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sums: dict[str, float] = {"weight_sum": 0.0, "largest_rate": 0.0, "momentum": 0.0, "is_average": 0.0}
        self._next: dict[str, float] = {}

    def weigh(self, warmup_steps: int, r: float, power: float) -> None:
        """Set how the steps are weighted."""
        self._warmup = checks.constant("warmup_steps", warmup_steps, checks.at_least_zero)
        self._r = checks.constant("r", r, checks.finite)
        self._power = checks.constant("weight_lr_power", power, checks.finite)

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        return variable.value.copy() if slot == "z" else super().start(variable, slot)

    def bound(self, name: str) -> checks.Bound:
        return _between if name == "momentum" else super().bound(name)

    def check(self, values: Mapping[str, float], dtypes: AbstractSet[np.dtype[Any]]) -> None:
        if self.sums["is_average"]:
            raise ValueError(f"{self.name} is in the mode for evaluation: call train() before the next step")

    def prepare(self, values: Mapping[str, float], dtypes: AbstractSet[np.dtype[Any]]) -> None:
        t = self.steps + 1
        rate = values["learning_rate"] * min(1.0, t / self._warmup if self._warmup else 1.0)
        largest = max(rate, self.sums["largest_rate"])
        weight = t**self._r * largest**self._power
        total = self.sums["weight_sum"] + weight
        self._next = {"weight_sum": total, "largest_rate": largest, "momentum": values["momentum"]}
        self._numbers = {"learning_rate": rate, "share": weight / total if total else 0.0}
        if "beta2" in values:
            self._numbers["correct2"] = 1 / math.sqrt(1 - values["beta2"] ** t)

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        return super().formula_numbers({**values, **self._numbers}, dtype)

    def finish(self, values: Mapping[str, float]) -> None:
        self.sums |= self._next

    def to_average(self, *, average: bool) -> None:
        """Move the variables to x or to y, unless they are there."""
        if bool(self.sums["is_average"]) == average or not self.steps:
            return
        beta = self.sums["momentum"]
        weight = 1 - 1 / beta if average else 1 - beta
        for variable, z in self._slots.get("z", {}).items():
            variable.assign(variable.value + weight * (z.value - variable.value))
        self.sums["is_average"] = float(average)

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        yield from super().state(variables, stored)
        for key, value in self.sums.items():
            yield CheckpointArray(f"{self.name}/{key}", np.array(value), partial(self._restore, key))

    def _restore(self, key: str, value: NDArray[Any]) -> None:
        self.sums[key] = float(value)


_between = checks.Bound("above 0 and below 1", lambda x: 0 < x < 1)
