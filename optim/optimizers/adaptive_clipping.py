"""TF1's contrib adaptive clipping: a function of pairs (gradient, variable), whose bound follows their norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.state import CheckpointArray
from optim.clip import global_norm
from optim.kernels.scale_and_bounds import Clip
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optim.variable import Variable

__all__ = ["AdaptiveClipping", "adaptive_clipping_fn"]

_LARGEST = math.log(math.nextafter(math.inf, 0.0))  # whose exponential is finite


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
    what is above the bound is scaled down to the average, not to the bound. Gradients whose norm is not finite pass as
    they are, and the averages ignore them: TF1's are not finite from then on.

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

    >>> clip = adaptive_clipping_fn(1.0, decay=0.9)
    >>> [round(float(clip([(np.array([norm]), "w")])[0][0][0]), 3) for norm in (1.0, 1.0, 1.0, 100.0)]
    [1.0, 1.0, 1.0, 1.585]
    >>> clip.clipped, round(clip.bound, 3)
    (True, 6.31)

    References: tf.contrib.layers.adaptive_clipping_fn
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
        self.norm: float = math.nan
        self.bound: float = math.nan
        self.clipped: bool = False

    def __call__(self, grads_and_vars: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Clip the gradients.

        Args:
            grads_and_vars: pairs (gradient, variable); a gradient may be None or IndexedSlices. Not modified.
        """
        pairs = list(grads_and_vars)
        self.norm, self.clipped = global_norm([gradient for gradient, _ in pairs]), False
        if not math.isfinite(self.norm):
            return pairs
        mean, deviation = self._take_in(math.log(self.norm + self._epsilon))
        self.bound = min(math.exp(min(mean + self._factor * deviation, _LARGEST)), self._most)
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
