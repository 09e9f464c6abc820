"""SpikeForecast: tells that Adam is about to lose its balance, before the loss rises."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim import checks
from optim.curvature import moved, preconditioner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.optimizers.driver import Optimizer
    from optim.variable import Variable

    Arrays = Sequence[NDArray[np.float64]]

__all__ = ["Forecast", "SpikeForecast"]

_HORIZON = 30  # steps that are forecast
_TREND = 5  # steps over which the curvature's trend is taken
_LOSSES = 100  # whose median a rise is measured by
_FEWEST = 5  # of them
# From here on, chosen on runs of their own; what they are worth is measured on others: tests/papers/forecasts.py.
_ECHO = 0.75  # of the oscillation's square that arrives in v: it changes within a step
_QUICKEST, _SLOWEST = 3.0, 0.005  # a trend: times v's fastest fall; of the curvature, where it falls
_FASTEST = 1.5  # logarithm of what an oscillation's energy is multiplied by in a step
_CAP = 60.0  # of the curvature times the rate


class Forecast(NamedTuple):
    """What a look saw.

    Attributes:
        curvature: η times the largest curvature, as Adam's preconditioner sees it.
        limit: what it must stay below: (2 + 2β₁)/(1 - β₁), which is 38 for β₁ = 0.9.
        rise: the largest energy that the oscillation along that curvature will have, over the median of the last
            losses. From 8 on, a spike is likely.
    """

    curvature: Any
    limit: float
    rise: Any


class SpikeForecast:
    r"""Forecasts spikes of the loss that Adam makes itself, from one more gradient at each step.

    Above the limit, the weights oscillate along the top direction u of the preconditioned Hessian, more and more:

    .. math::
        x = \eta u^T H u, \quad E = \tfrac{1}{8} x / \eta \, (u^T D \Delta)^2, \quad
        \log E \leftarrow \log E + 2 \log |r|, \quad r^2 + ((1 - \beta_1) x - 1 - \beta_1) r + \beta_1 = 0

    with D = √v̂ + ε, u of norm 1 by D, and the last step Δ. x follows its trend, since v forgets; what the oscillation
    adds to v slows it down. The direction is tracked by the power iteration, one product with H at a step: the
    difference between two gradients. It needs the gradients of one loss, so the batch must be all data, or large.

    Args:
        optimizer: one with Adam's m and v, such as AdamOptimizer or AdamWOptimizer.
        gradients: a callable of no arguments that returns the gradients, in the order of the variables, for the batch
            of the step.
        reach: how far it looks, relative to the weights' norm; positive.

    >>> from optim import AdamOptimizer, Variable
    >>> w = Variable([1.0, 1.0], name="w", dtype=np.float64)
    >>> curvatures, optimizer = np.array([1.0, 3.0]), AdamOptimizer(0.1)
    >>> forecast = SpikeForecast(optimizer, lambda: [curvatures * w.value])
    >>> for step in range(60):
    ...     g = curvatures * w.value
    ...     seen = forecast.look(0.5 * float(g @ w.value), [(g, w)])
    ...     report = optimizer.apply_gradients([(g, w)])
    >>> round(float(seen.limit), 3), bool(seen.curvature < seen.limit), bool(seen.rise < 8)
    (38.0, True, True)

    References: Bai et al. 2025, https://arxiv.org/abs/2506.04805; Cohen et al. 2022, https://arxiv.org/abs/2207.14484
    """

    def __init__(self, optimizer: Optimizer, gradients: Callable[[], Sequence[Any]], reach: float = 1e-4) -> None:
        self._optimizer, self._gradients = optimizer, gradients
        self._reach = checks.constant("reach", reach, checks.positive)
        self._direction: Arrays = ()
        self._before: Arrays = ()  # the weights, at the last look
        self._losses: deque[Any] = deque(maxlen=_LOSSES)
        self._raw: deque[Any] = deque(maxlen=2)  # curvatures; the lower one counts, which an outlier is not
        self._curvatures: deque[Any] = deque(maxlen=_TREND + 1)
        self._energies: deque[Any] = deque(maxlen=3)
        self._pulls: deque[Any] = deque(maxlen=_TREND)

    def look(self, loss: Any, grads_and_vars: Sequence[tuple[Any, Variable]]) -> Forecast:
        """Look ahead, once in each step, after the gradients and before the update.

        Args:
            loss: the loss.
            grads_and_vars: pairs (gradient, Variable), as `apply_gradients` gets them; dense.

        Returns:
            A Forecast; before the second step, with a curvature of NaN and a rise of 0.

        Raises:
            ValueError: the optimizer has no slot v.
        """
        values = self._optimizer.update.hyperparameters()
        if "beta2" not in values:
            raise ValueError(f"the optimizer must have Adam's m and v, got {self._optimizer.get_name()!r}")
        limit = (2 + 2 * values["beta1"]) / (1 - values["beta1"])
        variables = [variable for _, variable in grads_and_vars]
        weights = [np.array(variable.value, np.float64) for variable in variables]
        before, self._before = self._before, weights
        divisors = [preconditioner(self._optimizer, variable) for variable in variables]
        found = Forecast(np.nan, limit, 0.0)
        with np.errstate(all="ignore"):  # what diverges says so by its values
            if before and all(divisor is not None for divisor in divisors):
                roots = [np.asarray(divisor, np.float64) for divisor in divisors]
                steps = [after - ahead for after, ahead in zip(weights, before, strict=True)]
                gradients = [np.asarray(gradient, np.float64) for gradient, _ in grads_and_vars]
                x, growth, echo = self._track(variables, weights, gradients, roots, steps, values["learning_rate"])
                found = Forecast(x, limit, self._rise(x, growth, echo, values["beta1"], values["beta2"]))
        self._losses.append(loss)
        return found

    def total(self, arrays: Arrays) -> Any:
        """The sum of all elements. An override may keep several networks apart that are trained side by side.

        Args:
            arrays: products of arrays of the variables' shapes.
        """
        return sum(float(array.sum()) for array in arrays)

    def _track(
        self,
        variables: Sequence[Variable],
        weights: Arrays,
        gradients: Arrays,
        roots: Arrays,
        steps: Arrays,
        rate: float,
    ) -> tuple[Any, Any, Any]:
        """One step of the power iteration: the curvature times the rate, the energy along, and what it adds to v."""
        if not self._direction:
            random = np.random.default_rng(0)
            self._direction = [random.standard_normal(array.shape) for array in weights]
        size = np.sqrt(self.total([u * u * d for u, d in zip(self._direction, roots, strict=True)]))
        if not np.isfinite(size).all():  # gradients were not: it begins anew at the next look
            self._direction = ()
            return np.nan * size, 0.0 * size, 0.0 * size
        direction = [u / size for u in self._direction]
        h = self._reach * np.sqrt(self.total([w * w for w in weights]) / self.total([u * u for u in direction]))
        with moved([(h * u, variable) for u, variable in zip(direction, variables, strict=True)], 1.0):
            ahead = [np.array(gradient, np.float64) for gradient in self._gradients()]
        bends = [(a - g) / h for a, g in zip(ahead, gradients, strict=True)]
        x = np.maximum(rate * self.total([b * u for b, u in zip(bends, direction, strict=True)]), 0.0)
        along = self.total([u * s * d for u, s, d in zip(direction, steps, roots, strict=True)])
        echo = self.total([(u * u) ** 2 * d for u, d in zip(direction, roots, strict=True)]) * 2 * x / rate
        self._direction = [b / d for b, d in zip(bends, roots, strict=True)]
        return x, along**2 * x / rate / 8, echo

    def _rise(self, curvature: Any, energy: Any, echo: Any, beta1: float, beta2: float) -> Any:
        self._raw.append(curvature)
        self._energies.append(energy)
        x, e = np.minimum.reduce([*self._raw]), np.maximum.reduce([*self._energies])
        fall = 0.5 * (1 - beta2)  # of √v in a step without gradients, relatively
        pull = fall * _ECHO * echo  # what slows x down, relatively, for each unit of energy
        drift = 0.0
        if len(self._curvatures) > _TREND - 1:
            drift = (x - self._curvatures[-_TREND]) / _TREND + sum(self._pulls) / _TREND
        self._curvatures.append(x)
        self._pulls.append(x * pull * e)
        drift = np.clip(drift, -_SLOWEST * x, _QUICKEST * fall * x)
        highest = e
        for _ in range(_HORIZON):
            x = np.clip(x + drift - x * pull * e, 0.0, _CAP)
            e = e * np.exp(np.clip(_log_growth(x, beta1), -1.0, _FASTEST))
            highest = np.maximum(highest, e)
        if len(self._losses) < _FEWEST:
            return 0.0 * highest
        return highest / np.median(np.array(self._losses), axis=0)


def _log_growth(x: Any, beta1: float) -> Any:
    """The logarithm of what an oscillation's energy is multiplied by in a step of momentum."""
    c = (1 - beta1) * x - 1 - beta1
    root = np.where(c > 2 * beta1**0.5, (c + np.sqrt(np.maximum(c * c - 4 * beta1, 0.0))) / 2, beta1**0.5)
    return 2 * np.log(root)
