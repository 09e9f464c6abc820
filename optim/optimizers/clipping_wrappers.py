"""Wrappers that clip gradients: by global norm, by value, by a percentile of the norms so far."""

from __future__ import annotations

import math
from bisect import insort
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.state import CheckpointArray
from optim.optimizers.wrappers import Transformation, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.optimizers.driver import Optimizer
    from optim.optimizers.step import Step
    from optim.telemetry.report import StepReport

__all__ = ["clip_gradients_by_norm", "clip_gradients_by_percentile", "clip_gradients_by_value"]


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: Hyperparameter) -> Optimizer:
    """Wrap an optimizer to clip all gradients together by their global norm, like TF1's contrib wrapper of this name.

    The scale is folded into the update, so no clipped copy of a gradient is made.

    Args:
        optimizer: makes the update.
        clip_norm: the bound on the gradients' global norm; positive; a number, a Variable, or a callable of no
            arguments, which is read at each step.

    Raises:
        TypeError: `optimizer` is not an Optimizer, as for all wrappers; `clip_norm` is not a number.
        ValueError: `clip_norm` is not positive.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0)
    >>> report = optimizer.apply_gradients([(np.float32([3.0, 4.0]), w)])
    >>> w.value, report.global_norm, report.clipped
    (array([-0.6, -0.8], dtype=float32), 5.0, True)

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063
    """
    return wrapped(optimizer, _ByGlobalNorm, clip_norm)


class _ByGlobalNorm(Transformation):
    def __init__(self, clip_norm: Hyperparameter) -> None:
        self._clip_norm = clip_norm
        if not callable(clip_norm):
            self._bound_now()

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        step.keep_norm_within(self._bound_now())
        return onward(step)

    def _bound_now(self) -> float:
        return checks.number("clip_norm", self._clip_norm, checks.positive_or_infinite)


def clip_gradients_by_value(optimizer: Optimizer, clip_value_min: float, clip_value_max: float) -> Optimizer:
    """Wrap an optimizer to clip every element of a gradient to bounds; NaN stays NaN.

    The update clips as it reads, without a copy. Only if a wrapper inside this one clips by norm, and so needs the norm
    of the clipped gradients, are they copied to measure it, one at a time.

    Args:
        optimizer: makes the update.
        clip_value_min: the lower bound, in the units of the gradients.
        clip_value_max: the upper bound, in the same units.

    Raises:
        ValueError: `clip_value_min` is greater than `clip_value_max`.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0, 0.0], name="w")
    >>> optimizer = clip_gradients_by_value(GradientDescentOptimizer(1.0), -1.0, 2.0)
    >>> report = optimizer.apply_gradients([(np.float32([-3.0, 4.0]), w)])
    >>> w.value
    array([ 1., -2.], dtype=float32)
    """
    return wrapped(optimizer, _ByValue, clip_value_min, clip_value_max)


class _ByValue(Transformation):
    def __init__(self, low: float, high: float) -> None:
        self._bounds = checks.constant("clip_value_min", low, _bound), checks.constant("clip_value_max", high, _bound)
        if low > high:
            raise ValueError(f"clip_value_min must be at most clip_value_max, got {low} and {high}")

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        step.clip = step.clip.kept_within(*self._bounds)
        return onward(step)


_bound = checks.Bound("a number", lambda x: not math.isnan(x))


def clip_gradients_by_percentile(optimizer: Optimizer, percentile: float = 10.0) -> Optimizer:
    """AutoClip: wrap an optimizer to clip by global norm, with a percentile of all norms so far as the bound.

    The norm of the current step is included. Norms that are not finite are excluded, and such a step's gradients become
    NaN, as with any clipping by norm. Norms of 0 are excluded too, unlike in the paper: they say nothing about the size
    of gradients, and a bound of 0 would stop training. So the first norm that is not 0 is never clipped.

    Args:
        optimizer: makes the update.
        percentile: from 0, the smallest norm so far, to 100, the largest.

    Raises:
        ValueError: `percentile` is not from 0 to 100.

    >>> from optim import GradientDescentOptimizer, Variable
    >>> w = Variable([0.0], name="w")
    >>> optimizer = clip_gradients_by_percentile(GradientDescentOptimizer(1.0), 50.0)
    >>> [optimizer.apply_gradients([(np.float32([g]), w)]).clip_norm for g in (1.0, 3.0, 9.0)]
    [1.0, 2.0, 3.0]

    References: Seetharaman et al. 2020, https://arxiv.org/abs/2007.14469
    """
    return wrapped(optimizer, _ByPercentile, percentile)


class _ByPercentile(Transformation):
    def __init__(self, percentile: float) -> None:
        self._percentile = checks.constant("percentile", percentile, _percentage)
        self._sorted: list[float] = []

    def take(self, step: Step, onward: Callable[[Step], StepReport]) -> StepReport:
        norm = step.norm_so_far
        norms = self._sorted.copy()
        if 0 < norm < math.inf:
            insort(norms, norm)
        bound = _percentile(norms, self._percentile)
        if bound > 0:
            step.keep_norm_within(bound)
        elif not math.isfinite(norm):
            step.clip = step.clip.scaled(math.nan)
        report = onward(step)
        if not report.skipped:
            self._sorted = norms
        return report

    def state(self, name: str) -> Iterator[CheckpointArray]:
        yield CheckpointArray(f"{name}/norms", np.array(self._sorted), self._restore, grows=True)

    def _restore(self, norms: NDArray[Any]) -> None:
        self._sorted = norms.tolist()


_percentage = checks.Bound("from 0 to 100", lambda x: 0 <= x <= 100)  # noqa: PLR2004 - per cent


def _percentile(values: list[float], percentile: float) -> float:
    """The percentile of sorted values, interpolated linearly as by NumPy; 0.0 if there are none."""
    if not values:
        return 0.0
    position = (len(values) - 1) * percentile / 100
    below = math.floor(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (position - below)
