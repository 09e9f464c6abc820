"""Clipping whose bound follows the gradients: ZClip, AdaGC, AGC, and their ancestor in TF1.

AutoClip, by a percentile, is in `clipping_wrappers`. Their state is part of an optimizer's, so a Saver keeps it, and
what they see goes into the report and the event file under `clipping/`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.state import CheckpointArray
from optim.clip import clip_scale, global_norm
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

__all__ = [
    "ZClip",
    "adaptive_clipping_fn",
    "clip_gradients_by_history",
    "clip_gradients_by_unit",
    "clip_gradients_by_zscore",
]


class ZClip:
    r"""A bound on norms that are unlike those before: for any training loop, whatever clips in it.

    .. math::
        z = (n - \mu) / \sigma, \quad
        b = \mu + z_0^2 \sigma / z \text{ if } z > z_0, \quad
        \mu \leftarrow \alpha \mu + (1 - \alpha) \min(n, b), \quad
        \sigma^2 \leftarrow \alpha \sigma^2 + (1 - \alpha)(\min(n, b) - \mu)^2

    In the first steps it only collects norms, from whose mean and variance it starts. A norm that is not finite has no
    bound, and is left out.

    Args:
        z_threshold: z₀; positive.
        alpha: α, how much of the mean and the variance is kept; from 0 to 1.
        warmup_steps: the number of norms to start from; at least 1.

    Attributes:
        mean: μ.
        variance: σ².
        z: of the last norm; NaN in the first steps.

    >>> clip = ZClip(warmup_steps=4)
    >>> [clip(norm) for norm in (1.0, 3.0, 1.0, 3.0)]
    [inf, inf, inf, inf]
    >>> clip(12.0), clip.z  # a mean of 2 and a deviation of 1
    (2.625, 10.0)

    References: Kumar et al. 2025, https://arxiv.org/abs/2504.02507
    """

    def __init__(self, z_threshold: float = 2.5, alpha: float = 0.97, warmup_steps: int = 25) -> None:
        self._threshold = checks.constant("z_threshold", z_threshold, checks.positive)
        self._alpha = checks.constant("alpha", alpha, checks.up_to_one)
        self._warmup = checks.positive_integer("warmup_steps", warmup_steps)
        self.mean = self.variance = self.z = math.nan
        self._first: list[float] = []

    def __call__(self, norm: float) -> float:
        """The bound for a step, which takes in its norm; infinite where it is not to be clipped."""
        self.z = math.nan
        if not math.isfinite(norm):
            return math.inf
        if math.isnan(self.mean):
            self._begin(norm)
            return math.inf
        deviation = math.sqrt(self.variance)
        self.z = (norm - self.mean) / deviation if deviation else math.copysign(math.inf, norm - self.mean)
        bound = math.inf
        if self.z > self._threshold:
            bound = self.mean + self._threshold**2 * deviation / self.z
        taken = min(norm, bound)
        self.mean = self._alpha * self.mean + (1 - self._alpha) * taken
        self.variance = self._alpha * self.variance + (1 - self._alpha) * (taken - self.mean) ** 2
        return bound

    def _begin(self, norm: float) -> None:
        self._first.append(norm)
        if len(self._first) == self._warmup:
            self.mean, self.variance = float(np.mean(self._first)), float(np.var(self._first))
            self._first = []

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The state: mean, variance, z, and the norms that were collected; assign them to go on from there."""
        return np.array([self.mean, self.variance, self.z, *self._first])

    @numbers.setter
    def numbers(self, values: NDArray[np.float64]) -> None:
        self.mean, self.variance, self.z, *self._first = values.tolist()


def clip_gradients_by_zscore(
    optimizer: Optimizer, z_threshold: float = 2.5, alpha: float = 0.97, warmup_steps: int = 25
) -> Optimizer:
    """ZClip: wrap an optimizer to clip norms that are unlike those before. See `ZClip`, which does it in any loop.

    The report, and the event file, have `clipping/z`, `clipping/mean` and `clipping/deviation`.

    Args:
        optimizer: makes the update.
        z_threshold: as in `ZClip`.
        alpha: as in `ZClip`.
        warmup_steps: as in `ZClip`.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0], name="w")
    >>> optimizer = clip_gradients_by_zscore(GradientDescentOptimizer(1.0), warmup_steps=4)
    >>> [optimizer.apply_gradients([(np.float32([g]), w)]).clip_norm for g in (1.0, 3.0, 1.0, 3.0, 12.0)]
    [inf, inf, inf, inf, 2.625]

    References: Kumar et al. 2025, https://arxiv.org/abs/2504.02507
    """
    return wrapped(optimizer, _ByZScore, ZClip(z_threshold, alpha, warmup_steps))


class _ByZScore(Transformation):
    def __init__(self, clip: ZClip) -> None:
        self._clip = clip

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        before = self._clip.numbers
        bound = self._clip(step.norm_so_far)
        step.keep_norm_within(bound)
        if not math.isnan(self._clip.mean):
            deviation = math.sqrt(self._clip.variance)
            step.clipping |= {"z": self._clip.z, "mean": self._clip.mean, "deviation": deviation}
        report = onward(step)
        if report.skipped:
            self._clip.numbers = before
        return report

    def state(self, name: str) -> Iterator[CheckpointArray]:
        yield CheckpointArray(f"{name}/zclip", self._clip.numbers, partial(setattr, self._clip, "numbers"), grows=True)


class _ScaledGradients(Transformation):
    """Scales each gradient by itself: copies are made of those that are scaled."""

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        _ = step.global_norm  # before clipping
        step.measured = True
        clip, step.clip = step.clip, AS_IT_IS
        clipped = [self._scaled(gradient, clip) for gradient in step.gradients]
        step.gradients = self.kept_within(step, clipped)
        return onward(step)

    def kept_within(self, step: Step, gradients: list[Any]) -> list[Any]:
        """The gradients, those too large scaled."""
        raise NotImplementedError

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
                values = (values * scale).astype(values.dtype)
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


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> AdaptiveClipping:
    r"""A function that clips gradients by a bound that follows their norms: TF1's contrib function of this name.

    .. math:: b = \exp(\mu + k \sigma), \qquad g \leftarrow g \, e^{\mu} / n \text{ if } n \ge b

    where μ and σ are moving averages of the logarithm of the norm n and of its deviation, which have taken in n. So
    what is above the bound is scaled down to the average, not to the bound.

    Args:
        std_factor: k; at least 0.
        decay: how much of the averages is kept; from 0 to 1.
        static_max_norm: a bound on b; None for none.
        global_step: the Variable that counts steps: in step n no more than n/(n + 1) of the averages is kept, so that
            they follow faster at first; None for not.
        report_summary: accepted for compatibility with TF1; unused: `bound` and `norm` are there to be logged.
        epsilon: the least variance, and what is added to norms.
        name: accepted for compatibility with TF1; unused.

    Returns:
        A callable: pairs (gradient, variable) → pairs with clipped gradients. A Saver takes it, since it has `state`.

    >>> clip = adaptive_clipping_fn(decay=0.5)
    >>> [pairs] = [clip([(np.array([1.0]), "w")]) for _ in range(1)]
    >>> pairs, clip.norm
    ([(array([1.]), 'w')], 1.0)

    References: tf.contrib.layers.adaptive_clipping_fn
    """
    return AdaptiveClipping(std_factor, decay, static_max_norm, global_step, epsilon)


class AdaptiveClipping:
    """What `adaptive_clipping_fn` returns.

    Attributes:
        norm: of the last gradients, before clipping.
        bound: the last bound.
        clipped: whether they were scaled.
    """

    def __init__(
        self, std_factor: float, decay: float, static_max_norm: float | None, global_step: Any, epsilon: float
    ) -> None:
        self._factor = checks.constant("std_factor", std_factor, checks.at_least_zero)
        self._decay = checks.constant("decay", decay, checks.up_to_one)
        self._most = (
            math.inf
            if static_max_norm is None
            else checks.constant("static_max_norm", static_max_norm, checks.positive)
        )
        self._global_step = global_step
        self._epsilon = checks.constant("epsilon", epsilon, checks.positive)
        self._averages = np.zeros(2)  # of the norm's logarithm, and of its square
        self.norm = self.bound = math.nan
        self.clipped = False

    def __call__(self, grads_and_vars: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Clip the gradients.

        Args:
            grads_and_vars: pairs (gradient, variable); a gradient may be None or IndexedSlices. Not modified.
        """
        pairs = list(grads_and_vars)
        self.norm = global_norm([gradient for gradient, _ in pairs])
        mean, deviation = self._take_in(math.log(self.norm + self._epsilon))
        self.bound = min(math.exp(mean + self._factor * deviation), self._most)
        self.clipped = not self.norm < self.bound
        scale = math.exp(mean) / self.norm if self.clipped and self.norm else 1.0
        return [(None if g is None else _times(g, scale), variable) for g, variable in pairs]

    def _take_in(self, log_norm: float) -> tuple[float, float]:
        """The mean and the deviation of the norms' logarithms, this one's included."""
        decay = self._decay
        if self._global_step is not None:
            n = checks.number("global_step", self._global_step, checks.at_least_zero)
            decay = min(decay, n / (n + 1))
        self._averages += (1 - decay) * (np.array([log_norm, log_norm**2]) - self._averages)
        mean, square = self._averages.tolist()
        return mean, math.sqrt(max(self._epsilon, square - mean**2))

    def state(self, variables: Sequence[Variable], stored: Any = None) -> Iterator[CheckpointArray]:
        """The entries that a Saver saves or restores."""
        yield CheckpointArray("AdaptiveMaxNorm/averages", self._averages, self._restore)

    def _restore(self, averages: NDArray[Any]) -> None:
        self._averages[...] = averages


def _times(gradient: Any, scale: float) -> Any:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(_times(gradient.values, scale), gradient.indices, gradient.dense_shape)
    array = np.asarray(gradient)
    return Clip(scale).applied(array) if scale != 1.0 else array
