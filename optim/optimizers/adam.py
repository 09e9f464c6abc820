"""Adam, and its variants with the same powers: AMSGrad, LazyAdam, NAdam and AdamW."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import rules
from optim.checkpoints.state import CheckpointArray
from optim.kernels.plain import compute_dtype
from optim.optimizers.base import Update
from optim.optimizers.diagnostics import see_adam
from optim.optimizers.driver import Optimizer
from optim.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.optimizers.diagnostics import Sample
    from optim.optimizers.step import Step

__all__ = ["AMSGradOptimizer", "AdamOptimizer", "AdamWOptimizer", "LazyAdamOptimizer", "NAdamOptimizer"]


class AdamOptimizer(Optimizer):
    r"""Adam: the mean of the gradients divided by their root mean square. Slots: m, v.

    .. math::
        \alpha = \eta \sqrt{1 - \beta_2^t} / (1 - \beta_1^t), \quad m \leftarrow m + (1 - \beta_1)(g - m), \quad
        s \leftarrow s + (1 - \beta_2)(g^2 - s), \quad v \leftarrow v - \alpha m / (\sqrt s + \epsilon)

    ε is added to the root of s before the bias correction: "ε hat" in the paper. The powers of β₁ and β₂ are Variables,
    as in TF1, and part of `variables()`: one pair, which advances at every step, whichever variables are updated; of
    the widest dtype used in computation, while TF1's are float32. A sparse gradient decays m and v, and moves the
    weights, in all rows.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> w = Variable([1.0, 1.0], name="w")
    >>> optimizer = AdamOptimizer(0.1)
    >>> report = optimizer.apply_gradients([(np.float32([1e-3, -1e3]), w)])
    >>> w.value.round(3), [variable.name for variable in optimizer.variables()]
    (array([0.9, 1.1], dtype=float32), ['beta1_power', 'beta2_power', 'w/Adam', 'w/Adam_1'])

    References: Kingma and Ba 2015, https://arxiv.org/abs/1412.6980
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(
            _AdamUpdate(rules.ADAM, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, epsilon=epsilon)
        )


class LazyAdamOptimizer(Optimizer):
    r"""Adam, whose sparse gradients touch only the rows that they name. Slots: m, v.

    A row's m and v do not decay while no gradient names it, and its weights rest, which is quicker for large
    embeddings, and not the same as Adam. With dense gradients it is Adam.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import IndexedSlices
    >>> w = Variable([[1.0], [1.0]], name="w")
    >>> optimizer = LazyAdamOptimizer(0.1)
    >>> for row in (0, 1):
    ...     report = optimizer.apply_gradients([(IndexedSlices(np.float32([[1.0]]), [row]), w)])
    >>> optimizer.get_slot(w, "m").value.round(3).tolist()
    [[0.10000000149011612], [0.10000000149011612]]

    References: Kingma and Ba 2015, https://arxiv.org/abs/1412.6980; tf.contrib.opt.LazyAdamOptimizer
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        update = _AdamUpdate(rules.ADAM, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, epsilon=epsilon)
        update.rule_of_rows = _LAZY
        super().__init__(update)


class AMSGradOptimizer(Optimizer):
    r"""AMSGrad: Adam, divided by the largest root mean square so far, so that rates never rise. Slots: m, v, vhat.

    .. math::
        h \leftarrow \max(h, s), \quad
        v \leftarrow v - \eta \frac{m / (1 - \beta_1^t)}{\sqrt{h / (1 - \beta_2^t)} + \epsilon}

    with Adam's m and s, as in torch. The paper has no bias correction.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> w = Variable([1.0], name="w")
    >>> optimizer = AMSGradOptimizer(0.1, beta2=0.5)
    >>> for g in (4.0, 0.0, 0.0):
    ...     report = optimizer.apply_gradients([(np.float32([g]), w)])
    >>> optimizer.get_slot(w, "v").value, optimizer.get_slot(w, "vhat").value
    (array([2.], dtype=float32), array([8.], dtype=float32))

    References: Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "AMSGrad",
    ) -> None:
        super().__init__(
            _CorrectedAdamUpdate(
                rules.AMSGRAD, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, epsilon=epsilon
            )
        )


class NAdamOptimizer(Optimizer):
    r"""Adam with Nesterov's momentum. Slots: m, v.

    .. math:: v \leftarrow v - \alpha (\beta_1 m + (1 - \beta_1) g) / (\sqrt s + \epsilon)

    with Adam's α, and the new m and s. The same as TF1's contrib NadamOptimizer, with a constant β₁.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> w = Variable([1.0], name="w")
    >>> report = NAdamOptimizer(0.1, beta1=0.5).apply_gradients([(np.float32([1.0]), w)])
    >>> w.value.round(3)
    array([0.85], dtype=float32)

    References: Dozat 2016, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "NAdam",
    ) -> None:
        super().__init__(
            _AdamUpdate(rules.NADAM, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, epsilon=epsilon)
        )


class AdamWOptimizer(Optimizer):
    r"""Adam with weight decay decoupled from the gradient. Slots: m, v.

    .. math:: v \leftarrow v - \eta \lambda v - \alpha m / (\sqrt s + \epsilon \sqrt{1 - \beta_2^t})

    with Adam's α, m and s: ε is added to the corrected root, as in the paper and in torch.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        epsilon: ε; likewise.
        weight_decay: λ; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> w = Variable([1.0], name="w")
    >>> report = AdamWOptimizer(0.1, weight_decay=0.5).apply_gradients([(np.float32([0.0]), w)])
    >>> w.value
    array([0.95], dtype=float32)

    References: Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        weight_decay: Hyperparameter = 0.01,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        update = _CorrectedAdamUpdate(
            rules.ADAMW, learning_rate, name, use_locking,
            beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
        )  # fmt: skip
        super().__init__(update)


_LAZY = replace(rules.ADAM, moves_at_rest=False, sparse=replace(rules.ADAM.sparse or rules.ADAM, moves_at_rest=False))
_BETAS = ("beta1", "beta2")


class _AdamUpdate(Update):
    """Keeps β₁ᵗ and β₂ᵗ, where t is the next step, and corrects the rate with them."""

    corrected = False  # whether ε is added to the corrected root
    _powers: tuple[Variable, ...] = ()

    def check(self, values: Mapping[str, float], dtypes: AbstractSet[np.dtype[Any]]) -> None:
        for dtype in dtypes:
            for beta in _BETAS:
                if dtype.type(values[beta]) >= 1:  # the rate would be divided by 0
                    raise ValueError(f"{beta} must be below 1 in {dtype}, got {values[beta]}, which rounds to 1")

    def prepare(self, values: Mapping[str, float], dtypes: AbstractSet[np.dtype[Any]]) -> None:
        self._have_powers(_widest(dtypes), [values[beta] for beta in _BETAS])

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        # Round the rate as TF1 does; it corrects the bias of m and s from starting at 0.
        power1, power2 = (dtype.type(power.value) for power in self._powers)
        alpha = float(dtype.type(values["learning_rate"]) * np.sqrt(1 - power2) / (1 - power1))
        return super().formula_numbers({**values, "alpha": alpha}, dtype)

    def finish(self, values: Mapping[str, float]) -> None:
        for power, beta in zip(self._powers, _BETAS, strict=True):
            power.value *= power.dtype.type(values[beta])

    def diagnose(self, step: Step, sample: Callable[[], Sample]) -> None:
        power1, power2 = (float(power.value) for power in self._powers)
        scale = math.sqrt(1 - power2)  # of ε, in this update's rule
        see_adam(step, sample(), power1, power2, step.hyperparameters["epsilon"] / (1.0 if self.corrected else scale))

    def other_variables(self) -> list[Variable]:
        return list(self._powers)

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        yield from super().state(variables, stored)
        dtypes = {compute_dtype(variable.dtype) for variable in self.slotted(variables, stored)}
        if not dtypes:
            return
        for k, beta in enumerate(_BETAS):
            value = self._powers[k].value if self._powers and stored is None else np.empty((), _widest(dtypes))
            yield CheckpointArray(f"{self.name}/{beta}_power", value, partial(self._restore_power, k))

    def keep_only(self, variables: Collection[Variable]) -> None:
        super().keep_only(variables)
        dtypes = {compute_dtype(variable.dtype) for variable in variables}
        if not dtypes or (self._powers and self._powers[0].dtype != _widest(dtypes)):
            self._powers = ()

    def _restore_power(self, k: int, value: NDArray[Any]) -> None:
        self._have_powers(value.dtype, (0.0, 0.0))
        self._powers[k].assign(value)

    def _have_powers(self, dtype: np.dtype[Any], start: Sequence[float]) -> None:
        """Create the two powers, or widen them to at least this dtype."""
        if not self._powers:
            self._powers = tuple(
                Variable(number, trainable=False, name=f"{beta}_power", dtype=dtype)
                for beta, number in zip(_BETAS, start, strict=True)
            )
        for power in self._powers:
            if power.dtype.itemsize < dtype.itemsize:
                power.value = power.value.astype(dtype)


class _CorrectedAdamUpdate(_AdamUpdate):
    """Adds ε to the corrected root; decays the weights, if they are to decay."""

    corrected = True

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        uncorrected = values["epsilon"] * float(np.sqrt(1 - dtype.type(self._powers[1].value)))
        decay = values["learning_rate"] * values.get("weight_decay", 0.0)
        return super().formula_numbers({**values, "epsilon": uncorrected, "decay": decay}, dtype)


def _widest(dtypes: AbstractSet[np.dtype[Any]]) -> np.dtype[Any]:
    return max(dtypes, key=lambda dtype: dtype.itemsize)
