"""Curvature where training is, and noise in gradients: a few losses or gradients more, for a look now and then.

An optimizer is stable along its step as long as the curvature there, as its preconditioner sees it, is below 2 over the
learning rate. These functions leave variables as they found them, bit for bit.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.optimizers.driver import Optimizer
    from optim.variable import Variable

    Pairs = Sequence[tuple[Any, Variable]]

__all__ = ["critical_sharpness", "curvature_along", "gradient_noise_scale", "moved", "preconditioner", "step_of"]

_WIDEST = 30  # doublings of the rate, or halvings: beyond, a step would be lost in rounding


def critical_sharpness(
    loss: Callable[[], Any], directions: Pairs, first_rate: float = 1e-3, tolerance: float = 0.05
) -> float:
    r"""2 over the critical rate: the least rate at which a step along these directions would raise the loss.

    .. math:: \lambda_c = 2 / \eta_c, \quad \eta_c = \min \{\eta > 0 : L(\theta - \eta \Delta) > L(\theta)\}

    A learning rate is stable, for the loss as it is here, while it is below the critical rate. On a quadratic this is
    `curvature_along`.

    Args:
        loss: a callable of no arguments that reads the Variables and returns a number; called some ten times.
        directions: pairs (Δ, Variable), such as gradients, or those of `step_of`.
        first_rate: where the search begins: the training's rate is near enough; positive.
        tolerance: the relative width at which it ends; positive.

    Returns:
        λ_c; 0.0 if no rate raises the loss, and infinity if every rate does.

    Raises:
        ValueError: an argument is not positive.

    >>> from optim import Variable
    >>> w = Variable([1.0, 1.0], name="w", dtype=np.float64)
    >>> sharpness = critical_sharpness(lambda: 3 * float(w.value @ w.value), [(6 * w.value, w)], tolerance=1e-6)
    >>> round(sharpness, 3)
    6.0

    References: Kalra and Barkeshli 2024, https://arxiv.org/abs/2406.09405; Cohen et al. 2021, https://arxiv.org/abs/2103.00065
    """
    rate = checks.constant("first_rate", first_rate, checks.positive)
    width = checks.constant("tolerance", tolerance, checks.positive)
    here = _number(loss)

    def rises(at: float) -> bool:
        with moved(directions, -at):
            return not _number(loss) <= here  # NaN is a rise

    if rises(rate):
        high, low = _search(rises, rate, 0.5, wanted=False)
    else:
        low, high = _search(rises, rate, 2.0, wanted=True)
    if not math.isfinite(high):
        return 0.0
    if not low:
        return math.inf
    while high / low > 1 + width:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if rises(middle) else (middle, high)
    return 2 / math.sqrt(low * high)


def _search(rises: Callable[[float], bool], rate: float, factor: float, *, wanted: bool) -> tuple[float, float]:
    """The last rate before the answer becomes as wanted, and the first after; the latter 0 or infinite if none does."""
    for _ in range(_WIDEST):
        before, rate = rate, rate * factor
        if rises(rate) is wanted:
            return before, rate
    return rate, math.inf if wanted else 0.0


def curvature_along(gradients: Callable[[], Sequence[Any]], directions: Pairs, reach: float = 1e-4) -> float:
    r"""The curvature along a step, as its preconditioner sees it, from two more gradients.

    .. math:: \frac{\Delta^T H \Delta}{\Delta^T g}, \qquad
        H \Delta \approx \frac{g(\theta + h \Delta) - g(\theta - h \Delta)}{2 h}

    For :math:`\Delta = P^{-1} g`, as `step_of` has it for Adam, this is the curvature of the preconditioned Hessian
    along the gradient; for Δ = g, that of the Hessian. Above 2/η, a step without momentum raises a quadratic loss.

    Args:
        gradients: a callable of no arguments that returns the gradients, in the order of the directions.
        directions: pairs (Δ, Variable).
        reach: h, relative to the weights' norm over Δ's; positive.

    Returns:
        The curvature; NaN where Δ is orthogonal to the gradient.

    Raises:
        ValueError: `reach` is not positive.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0], name="w", dtype=np.float64)
    >>> round(curvature_along(lambda: [np.array([2.0, 2.0]) * w.value], [(2 * w.value, w)]), 6)
    2.0

    References: Bai et al. 2025, https://arxiv.org/abs/2506.04805; Cohen et al. 2022, https://arxiv.org/abs/2207.14484
    """
    checks.constant("reach", reach, checks.positive)
    arrays = [np.asarray(direction, np.float64) for direction, _ in directions]
    size = math.sqrt(_dot(arrays, arrays))
    weights = math.sqrt(sum(float(np.vdot(v.value, v.value)) for _, v in directions)) or 1.0
    if not size:
        return math.nan
    h = reach * weights / size
    slope = _dot(arrays, gradients())
    with moved(directions, h):
        ahead = [np.array(gradient, np.float64) for gradient in gradients()]
    with moved(directions, -h):
        behind = [np.array(gradient, np.float64) for gradient in gradients()]
    bend = (_dot(arrays, ahead) - _dot(arrays, behind)) / (2 * h)
    return bend / slope if slope else math.nan


def step_of(optimizer: Optimizer, grads_and_vars: Pairs) -> list[tuple[NDArray[Any], Variable]]:
    r"""The gradients, divided as Adam divides: by the root of its corrected second moment, plus ε.

    Args:
        optimizer: one with the slots m and v, such as AdamOptimizer, after at least one step; for any other, the
            gradients come back as they are.
        grads_and_vars: pairs (gradient, Variable); dense.

    Returns:
        Pairs (Δ, Variable), for `curvature_along` and `critical_sharpness`.

    >>> from optim import AdamOptimizer, Variable
    >>> w = Variable([1.0], name="w", dtype=np.float64)
    >>> optimizer = AdamOptimizer(0.1)
    >>> report = optimizer.apply_gradients([(np.array([4.0]), w)])
    >>> [(step, variable)] = step_of(optimizer, [(np.array([2.0]), w)])
    >>> step.round(6)
    array([0.5])

    References: Cohen et al. 2022, https://arxiv.org/abs/2207.14484
    """
    found: list[tuple[NDArray[Any], Variable]] = []
    for gradient, variable in grads_and_vars:
        divisor = preconditioner(optimizer, variable)
        found.append((np.asarray(gradient) if divisor is None else np.asarray(gradient) / divisor, variable))
    return found


def preconditioner(optimizer: Optimizer, variable: Variable) -> NDArray[Any] | None:
    """What Adam divides by, an array of the variable's shape; None for an optimizer without m and v, or no step yet."""
    values, t, second = optimizer.update.hyperparameters(), optimizer.update.steps, optimizer.get_slot(variable, "v")
    if second is None or "beta2" not in values or not t:
        return None
    divisor: NDArray[Any] = np.sqrt(second.value / (1 - values["beta2"] ** t)) + values["epsilon"]
    return divisor


def gradient_noise_scale(
    small: Sequence[Any], large: Sequence[Any], small_batch: float, large_batch: float
) -> tuple[float, float, float]:
    r"""The simple noise scale, from gradients of two batch sizes: a micro-batch, and the mean over several.

    .. math::
        |G|^2 = \frac{B |g_B|^2 - b |g_b|^2}{B - b}, \quad
        S = \frac{|g_b|^2 - |g_B|^2}{1/b - 1/B}, \quad \mathcal B = S / |G|^2

    Both are unbiased, but noisy: average the signal and the noise over steps, and divide the averages. A batch of this
    many examples has as much noise as signal.

    Args:
        small: gradients of one micro-batch.
        large: gradients of all micro-batches together: their mean.
        small_batch: b, examples in the one; positive.
        large_batch: B, examples in all; above b.

    Returns:
        (signal, noise, their ratio in examples): estimates of the mean gradient's square and of the noise S of one
            example; the ratio may be negative at a single step, and is NaN if the signal is 0.

    Raises:
        ValueError: a batch size is out of bounds.

    >>> gradient_noise_scale([np.array([3.0])], [np.array([2.0])], 1, 4)
    (2.3333333333333335, 6.666666666666667, 2.857142857142857)

    References: McCandlish et al. 2018, appendix A, https://arxiv.org/abs/1812.06162
    """
    b = checks.constant("small_batch", small_batch, checks.positive)
    whole = checks.constant("large_batch", large_batch, checks.positive)
    if not b < whole:
        raise ValueError(f"large_batch must be above small_batch, {small_batch}, got {large_batch}")
    of_small, of_large = (_dot(arrays, arrays) for arrays in (list(small), list(large)))
    signal = (whole * of_large - b * of_small) / (whole - b)
    noise = (of_small - of_large) / (1 / b - 1 / whole)
    return signal, noise, noise / signal if signal else math.nan


@contextlib.contextmanager
def moved(directions: Pairs, by: float) -> Iterator[None]:
    """A context in which the variables are moved by so many times these directions."""
    kept = [variable.value.copy() for _, variable in directions]
    try:
        for direction, variable in directions:
            variable.assign(variable.value + by * np.asarray(direction))
        yield
    finally:
        for value, (_, variable) in zip(kept, directions, strict=True):
            variable.assign(value)


def _number(loss: Callable[[], Any]) -> float:
    return float(np.sum(loss()))


def _dot(ones: Sequence[Any], others: Sequence[Any]) -> float:
    pairs = zip(ones, others, strict=True)
    return float(sum(np.vdot(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in pairs))
