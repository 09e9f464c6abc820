"""ZClip: clipping by norms that are unlike those before. AutoClip, by a percentile, is in `clipping_wrappers`."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from optim import checks
from optim.checkpoints.state import CheckpointArray
from optim.optimizers.wrappers import Transformation, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from optim.optimizers.driver import Optimizer
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport

__all__ = ["ZClip", "clip_gradients_by_zscore"]


class ZClip:
    r"""A bound on norms that are unlike those before: for any training loop, whatever clips in it.

    .. math::
        z: float = (n - \mu) / \sigma, \quad
        b = \mu + z_0^2 \sigma / z \text{ if } z > z_0, \quad
        \mu \leftarrow \alpha \mu + (1 - \alpha) \min(n, b), \quad
        \sigma^2 \leftarrow \alpha \sigma^2 + (1 - \alpha)(\min(n, b) - \mu)^2

    In the first steps it only collects norms, from whose mean and variance it starts. A norm that is not finite has no
    bound, and is left out: `skip_nonfinite_steps` is for those.

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

    In torch: `bound = clip(float(torch.nn.utils.get_total_norm(grads)))`, then `clip_grad_norm_(parameters, bound)` and
    `monitor.observe(step, model, clip_norm=bound if clip.seen else None, clipping=clip.seen)`.

    References: Kumar et al. 2025, https://arxiv.org/abs/2504.02507
    """

    def __init__(self, z_threshold: float = 2.5, alpha: float = 0.97, warmup_steps: int = 25) -> None:
        self._threshold = checks.constant("z_threshold", z_threshold, checks.positive)
        self._alpha = checks.constant("alpha", alpha, checks.up_to_one)
        self._warmup = checks.positive_integer("warmup_steps", warmup_steps)
        self.mean: float = math.nan
        self.variance: float = math.nan
        self.z: float = math.nan
        self._first: list[float] = []

    def __call__(self, norm: float) -> float:
        """The bound for a step, which takes in its norm: the least norm that would be clipped, if it is not to be.

        It is infinite in the first steps, for a norm that is not finite, and while all norms so far were 0.
        """
        self.z = math.nan
        if not math.isfinite(norm):
            return math.inf
        if math.isnan(self.mean):
            self._begin(norm)
            return math.inf
        deviation = math.sqrt(self.variance)
        above = norm - self.mean
        self.z = above / deviation if deviation else math.copysign(math.inf, above) if above else 0.0
        bound = self.mean + self._threshold * deviation
        if self.z > self._threshold:
            bound = self.mean + self._threshold**2 * deviation / self.z
        bound = bound or math.inf
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
    def seen(self) -> dict[str, float]:
        """The last z, the mean and the deviation, by name, for `GradientMonitor.observe`; empty in the first steps."""
        if math.isnan(self.z):
            return {}
        of_norms = {"mean": self.mean, "deviation": math.sqrt(self.variance)}
        return {"z": self.z, **of_norms} if math.isfinite(self.z) else of_norms

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
    [None, None, None, None, 2.625]

    References: Kumar et al. 2025, https://arxiv.org/abs/2504.02507
    """
    return wrapped(optimizer, _ByZScore, ZClip(z_threshold, alpha, warmup_steps))


class _ByZScore(Transformation):
    def __init__(self, clip: ZClip) -> None:
        self._clip = clip

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        before = self._clip.numbers
        bound = self._clip(step.norm_so_far)
        if math.isfinite(bound):
            step.keep_norm_within(bound)
        step.measured = True
        step.clipping |= self._clip.seen
        report = onward(step)
        if report.skipped:
            self._clip.numbers = before
        return report

    def state(self, name: str) -> Iterator[CheckpointArray]:
        yield CheckpointArray(f"{name}/zclip", self._clip.numbers, partial(setattr, self._clip, "numbers"), grows=True)
