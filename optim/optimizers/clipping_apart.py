"""AdaGC and AGC: wrappers that clip each variable's gradient, or each unit's, by itself."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.state import CheckpointArray
from optim.clip import clip_scale
from optim.kernels.measure import norm
from optim.kernels.plain import compute_dtype
from optim.kernels.scale_and_bounds import AS_IT_IS, Clip
from optim.optimizers.wrappers import Transformation, wrapped
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.optimizers.driver import Optimizer
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport
    from optim.variable import Variable

__all__ = ["clip_gradients_by_history", "clip_gradients_by_unit"]


class _ScaledGradients(Transformation):
    """Scales each gradient by itself: copies are made of those that are scaled."""

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        if not math.isfinite(step.global_norm):  # before clipping
            step.known_nonfinite = step.nonfinite
        step.measured = True
        clip, step.clip = step.clip, AS_IT_IS
        clipped = [self._scaled(gradient, clip) for gradient in step.gradients]
        step.gradients = self.kept_within(step, clipped)
        return onward(step)

    def kept_within(self, step: Step, gradients: list[Any]) -> list[Any]:
        """The gradients, those too large scaled."""
        raise NotImplementedError  # each kind of clipping has its own

    @staticmethod
    def _scaled(gradient: Any, clip: Clip) -> Any:
        if clip == AS_IT_IS:
            return gradient
        if isinstance(gradient, IndexedSlices):
            return IndexedSlices(clip.applied(gradient.values), gradient.indices, gradient.dense_shape)
        return clip.applied(gradient)


def clip_gradients_by_history(
    optimizer: Optimizer,
    relative: float = 1.05,
    beta: float = 0.98,
    absolute: float = 1.0,
    warmup_steps: int = 100,
) -> Optimizer:
    r"""AdaGC: wrap an optimizer to clip each variable's gradient by the average of its own norms.

    .. math::
        \hat g_i = g_i \min(1, \lambda \gamma_i / \lVert g_i \rVert), \quad
        \gamma_i \leftarrow \beta \gamma_i + (1 - \beta) \lVert \hat g_i \rVert

    In the first steps all are clipped together by their global norm, and the average is their least norm so far. The
    report, and the event file, have `clipping/variables`: the share of variables that were clipped. Each variable's
    norm in a report is that after clipping; the global norm, the one before.

    Args:
        optimizer: makes the update.
        relative: λ, the largest norm allowed, over the average; positive.
        beta: β, how much of the average is kept; from 0 to 1.
        absolute: the bound on the global norm in the first steps; positive.
        warmup_steps: the number of these; at least 1.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0], name="w")
    >>> optimizer = clip_gradients_by_history(GradientDescentOptimizer(1.0), relative=2.0, warmup_steps=1)
    >>> for g in (1.0, 50.0):
    ...     report = optimizer.apply_gradients([(np.float32([g]), w)])
    >>> w.value  # -1, and then -2
    array([-3.], dtype=float32)

    References: Wang et al. 2025, https://arxiv.org/abs/2502.11034
    """
    return wrapped(
        optimizer, _ByHistory,
        checks.constant("relative", relative, checks.positive), checks.constant("beta", beta, checks.up_to_one),
        checks.constant("absolute", absolute, checks.positive), checks.positive_integer("warmup_steps", warmup_steps),
    )  # fmt: skip


class _ByHistory(_ScaledGradients):
    def __init__(self, relative: float, beta: float, absolute: float, warmup_steps: int) -> None:
        self._relative, self._beta, self._absolute, self._warmup = relative, beta, absolute, warmup_steps
        self._steps = 0
        self._averages: dict[str, float] = {}  # by the variable's name

    def kept_within(self, step: Step, gradients: list[Any]) -> list[Any]:
        norms = [norm([g.values if isinstance(g, IndexedSlices) else g]) for g in gradients]
        together = clip_scale(math.hypot(*norms), self._absolute) if self._steps < self._warmup else math.nan
        kept = []
        clipped = 0
        for gradient, size, variable in zip(gradients, norms, step.variables, strict=True):
            average = self._averages.get(variable.name)
            scale = together
            if self._steps >= self._warmup:
                scale = 1.0 if average is None else clip_scale(size, self._relative * average or math.inf)
            taken = size * scale
            if self._steps < self._warmup or average is None:
                average = taken if average is None else min(average, taken)
            else:
                average = self._beta * average + (1 - self._beta) * taken
            if math.isfinite(average):
                self._averages[variable.name] = average
            clipped += scale != 1.0
            kept.append(self._scaled(gradient, AS_IT_IS.scaled(scale)))
        self._steps += 1
        step.clipped |= clipped > 0
        step.clipping["variables"] = clipped / max(1, len(norms))
        return kept

    def state(self, name: str) -> Iterator[CheckpointArray]:
        yield CheckpointArray.of_count(f"{name}/adagc/steps", self._steps, partial(setattr, self, "_steps"))

    def state_of(self, name: str, variables: Sequence[Variable], stored: Any) -> Iterator[CheckpointArray]:
        yield from self.state(name)
        for variable in variables:
            entry = f"{name}/adagc/{variable.name}"
            if entry in (self._stored_names(name) if stored is None else stored):
                value = np.array(self._averages.get(variable.name, 0.0))
                yield CheckpointArray(entry, value, partial(self._restore, variable.name))

    def _stored_names(self, name: str) -> set[str]:
        return {f"{name}/adagc/{key}" for key in self._averages}

    def _restore(self, key: str, value: NDArray[Any]) -> None:
        self._averages[key] = float(value)


def clip_gradients_by_unit(
    optimizer: Optimizer, clipping: float = 0.01, epsilon: float = 1e-3, unit_axis: int = -1
) -> Optimizer:
    r"""AGC: wrap an optimizer to clip each unit's gradient by the norm of its weights.

    .. math:: g_u \leftarrow g_u \min(1, \lambda \max(\lVert v_u \rVert, \epsilon) / \lVert g_u \rVert)

    A unit is what feeds one output: a column of a matrix that is multiplied from the left, as `x @ w` does; a variable
    of one axis is one unit. A sparse gradient counts by its rows, with the weights of these rows. The report, and the
    event file, have `clipping/units`: the share of units that were clipped. Each variable's norm in a report is that
    after clipping; the global norm, the one before.

    Args:
        optimizer: makes the update.
        clipping: λ; positive.
        epsilon: ε, the least norm of weights that counts; positive.
        unit_axis: the axis along which units lie: -1 for NumPy's and TensorFlow's matrices, 0 for torch's.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([[4.0, 4.0], [3.0, 3.0]], name="w")
    >>> optimizer = clip_gradients_by_unit(GradientDescentOptimizer(1.0), 0.2)
    >>> report = optimizer.apply_gradients([(np.float32([[0.0, 0.0], [8.0, 0.5]]), w)])
    >>> w.value
    array([[4. , 4. ],
           [2. , 2.5]], dtype=float32)

    References: Brock et al. 2021, https://arxiv.org/abs/2102.06171
    """
    if unit_axis not in (0, -1):
        raise ValueError(f"unit_axis must be 0 or -1, got {unit_axis!r}")
    return wrapped(
        optimizer, _ByUnit, checks.constant("clipping", clipping, checks.positive),
        checks.constant("epsilon", epsilon, checks.positive), unit_axis,
    )  # fmt: skip


class _ByUnit(_ScaledGradients):
    def __init__(self, clipping: float, epsilon: float, axis: int) -> None:
        self._clipping, self._epsilon, self._axis = clipping, epsilon, axis

    def kept_within(self, step: Step, gradients: list[Any]) -> list[Any]:
        kept, units, clipped = [], 0, 0
        for gradient, variable in zip(gradients, step.variables, strict=True):
            sparse = isinstance(gradient, IndexedSlices)
            values = gradient.values if sparse else gradient
            weights = variable.value[gradient.indices] if sparse else variable.value
            sizes = _unit_norms(values, self._axis)
            bounds = self._clipping * np.maximum(_unit_norms(weights, self._axis), self._epsilon)
            over = sizes > bounds
            units, clipped = units + over.size, clipped + int(over.sum())
            if over.any():
                scale = np.where(over, bounds / np.where(over, sizes, 1), 1).astype(compute_dtype(values.dtype))
                values = np.asarray((values * scale).astype(values.dtype))  # of one number, NumPy makes no array
                gradient = IndexedSlices(values, gradient.indices, gradient.dense_shape) if sparse else values  # noqa: PLW2901
            kept.append(gradient)
        step.clipped |= clipped > 0
        step.clipping["units"] = clipped / max(1, units)
        return kept


def _unit_norms(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """float64: the norm of each unit, in a shape that broadcasts to the array's."""
    axes = tuple(other for other in range(array.ndim) if array.ndim == 1 or other != axis % array.ndim)
    norms: NDArray[Any] = np.sqrt(np.square(array, dtype=np.float64).sum(axis=axes, keepdims=True))
    return norms
