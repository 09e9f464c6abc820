"""Each optimizer's update as one elementwise formula, written as in its paper.

A formula takes the gradient g, the variable v, the slots and the step's hyperparameters, and returns the new variable
and the new slots. It does not deal with arrays, blocks, threads or clipping: `kernels` runs it as it is on NumPy
arrays, and those of `rules` come compiled. A formula may use arithmetic, numbers, local names, other formulas,
`np.sqrt`, `np.abs`, `np.sign` and `np.where`, and nothing else. Numbers take the arrays' dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "adadelta",
    "adagrad",
    "adagrad_da",
    "adam",
    "adam_sparse",
    "adamax",
    "adamw",
    "ademamix",
    "amsgrad",
    "debiased_average",
    "ftrl",
    "ftrl_sparse",
    "ftrl_sqrt",
    "ftrl_sqrt_sparse",
    "gradient_descent",
    "lion",
    "momentum",
    "moving_average",
    "nadam",
    "nesterov",
    "prodigy_averages",
    "prodigy_direction",
    "proximal_adagrad",
    "proximal_gradient_descent",
    "radam",
    "rmsprop",
    "rmsprop_centered",
    "rmsprop_centered_sparse",
    "rmsprop_sparse",
    "schedule_free",
    "schedule_free_adamw",
]


def gradient_descent(g: Any, v: Any, learning_rate: Any) -> tuple[Any]:
    """Gradient descent."""
    return (v - learning_rate * g,)


def momentum(g: Any, v: Any, a: Any, learning_rate: Any, momentum: Any) -> tuple[Any, Any]:
    """Momentum: a decaying sum of the gradients."""
    a = momentum * a + g
    return v - learning_rate * a, a


def nesterov(g: Any, v: Any, a: Any, learning_rate: Any, momentum: Any) -> tuple[Any, Any]:
    """Momentum that looks ahead, as Nesterov's method does."""
    a = momentum * a + g
    return v - (learning_rate * g + learning_rate * (momentum * a)), a


def adagrad(g: Any, v: Any, a: Any, learning_rate: Any) -> tuple[Any, Any]:
    """Adagrad: the gradient over the root of the sum of squares."""
    a = a + g * g
    return v - learning_rate * g / np.sqrt(a), a


def adadelta(g: Any, v: Any, a: Any, d: Any, learning_rate: Any, rho: Any, epsilon: Any) -> tuple[Any, Any, Any]:
    """Adadelta: a step of the size of the last ones, over the gradient's root mean square."""
    a = rho * a + (1 - rho) * (g * g)
    u = np.sqrt(d + epsilon) / np.sqrt(a + epsilon) * g
    return v - learning_rate * u, a, rho * d + (1 - rho) * (u * u)


def adam(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam, with the corrections of both averages in alpha."""
    m = m + (1 - beta1) * (g - m)
    s = s + (1 - beta2) * (g * g - s)
    # alpha in the divisor: nothing overflows, however small epsilon is
    return v - m / ((np.sqrt(s) + epsilon) * (1 / alpha)), m, s


def adam_sparse(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam as TF1 computes it for sparse gradients."""
    m = beta1 * m + (1 - beta1) * g
    s = beta2 * s + g * (g * (1 - beta2))  # as TF1's graphs compute it for gradients that are not constants
    return v - alpha * m / (np.sqrt(s) + epsilon), m, s


def nadam(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam with Nesterov's momentum."""
    m = m + (1 - beta1) * (g - m)
    s = s + (1 - beta2) * (g * g - s)
    return v - alpha * (beta1 * m + (1 - beta1) * g) / (np.sqrt(s) + epsilon), m, s


def adamw(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam with decoupled weight decay."""
    m = beta1 * m + (1 - beta1) * g
    s = beta2 * s + (1 - beta2) * (g * g)
    return v - decay * v - alpha * m / (np.sqrt(s) + epsilon), m, s


def lion(
    g: Any, v: Any, m: Any, learning_rate: Any, beta1: Any, beta2: Any, weight_decay: Any
) -> tuple[Any, Any]:  # fmt: skip
    """Lion: the sign of an interpolation of momentum and gradient."""
    c = m + (1 - beta1) * (g - m)
    return v - learning_rate * (np.sign(c) + weight_decay * v), m + (1 - beta2) * (g - m)


def _ftrl_sums(
    g: Any, v: Any, z: Any, before: Any, after: Any, learning_rate: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any]:  # fmt: skip
    """z, and what it is divided by, from the powers of the sum of squares without this gradient and with it."""
    z = z + ((g + np.where(shrinkage > 0, 2 * shrinkage * v, 0)) - (after - before) / learning_rate * v)
    return z, after / learning_rate + 2 * l2


def ftrl(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, power: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Follow the regularized leader, with any power."""
    n = a + g * g
    z, q = _ftrl_sums(g, v, z, a**power, n**power, learning_rate, l2, shrinkage)
    return np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / q, 0), n, z


def ftrl_sqrt(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The same with the power 1/2."""
    n = a + g * g
    z, q = _ftrl_sums(g, v, z, np.sqrt(a), np.sqrt(n), learning_rate, l2, shrinkage)
    return np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / q, 0), n, z


def ftrl_sparse(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, power: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """FTRL as TF1 computes it for sparse gradients."""
    n = a + g * g
    z, q = _ftrl_sums(g, v, z, a**power, n**power, learning_rate, l2, shrinkage)
    return (np.where(np.abs(z) > l1, np.sign(z) * l1, z) - z) / q, n, z


def ftrl_sqrt_sparse(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The same with the power 1/2."""
    n = a + g * g
    z, q = _ftrl_sums(g, v, z, np.sqrt(a), np.sqrt(n), learning_rate, l2, shrinkage)
    return (np.where(np.abs(z) > l1, np.sign(z) * l1, z) - z) / q, n, z


def rmsprop(
    g: Any, v: Any, s: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """RMSProp with momentum."""
    s = s + (1 - decay) * (g * g - s)
    a = momentum * a + learning_rate * g / np.sqrt(s + epsilon)
    return v - a, s, a


def rmsprop_centered(
    g: Any, v: Any, s: Any, mg: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any, Any]:
    """RMSProp by the variance: the mean of squares less the square of the mean."""
    s = s + (1 - decay) * (g * g - s)
    mg = mg + (1 - decay) * (g - mg)
    a = momentum * a + learning_rate * g / np.sqrt(s - mg * mg + epsilon)
    return v - a, s, mg, a


def rmsprop_sparse(
    g: Any, v: Any, s: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """RMSProp as TF1 computes it for sparse gradients."""
    s = decay * s + (1 - decay) * (g * g)
    a = momentum * a + 1 / np.sqrt(s + epsilon) * learning_rate * g
    return v - a, s, a


def rmsprop_centered_sparse(
    g: Any, v: Any, s: Any, mg: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any, Any]:
    """Centered RMSProp as TF1 computes it for sparse gradients."""
    s = decay * s + (1 - decay) * (g * g)
    mg = decay * mg + (1 - decay) * g
    a = momentum * a + 1 / np.sqrt(s + epsilon - mg * mg) * learning_rate * g
    return v - a, s, mg, a


def amsgrad(
    g: Any, v: Any, m: Any, s: Any, h: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Adam by the largest second moment so far."""
    m = m + (1 - beta1) * (g - m)
    s = s + (1 - beta2) * (g * g - s)
    h = np.where(h > s, h, s)
    return v - alpha * m / (np.sqrt(h) + epsilon), m, s, h


def adamax(
    g: Any, v: Any, m: Any, u: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam by the largest gradient, which fades."""
    m = m + (1 - beta1) * (g - m)
    u = np.where(beta2 * u > np.abs(g), beta2 * u, np.abs(g))
    return v - alpha * m / (u + epsilon), m, u


def radam(
    g: Any, v: Any, m: Any, s: Any,
    alpha: Any, rectifies: Any, beta1: Any, beta2: Any, epsilon: Any, penalty: Any, decay: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Adam, rectified, or momentum while the second moment is not certain."""
    g = g + penalty * v
    m = m + (1 - beta1) * (g - m)
    s = s + (1 - beta2) * (g * g - s)
    return v - decay * v - alpha * m / np.where(rectifies > 0, np.sqrt(s) + epsilon, 1), m, s


def ademamix(
    g: Any, v: Any, m: Any, slow: Any, s: Any,
    learning_rate: Any, beta1: Any, beta2: Any, beta3: Any, mix: Any,
    correct1: Any, correct2: Any, epsilon: Any, decay: Any,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Adam's direction plus that of a slow momentum."""
    m = m + (1 - beta1) * (g - m)
    slow = slow + (1 - beta3) * (g - slow)
    s = s + (1 - beta2) * (g * g - s)
    # one division: two more would take longer than all else
    return v - decay * v - learning_rate * (m * correct1 + mix * slow) / (np.sqrt(s) * correct2 + epsilon), m, slow, s


def schedule_free(
    g: Any, y: Any, z: Any, learning_rate: Any, weight_decay: Any, share: Any, momentum: Any
) -> tuple[Any, Any]:
    """Schedule-free SGD: y, at which gradients are taken, and z, which they move."""
    u = g + weight_decay * y
    return y + share * (z - y) + learning_rate * (momentum * (1 - share) - 1) * u, z - learning_rate * u


def schedule_free_adamw(
    g: Any, y: Any, z: Any, s: Any,
    learning_rate: Any, weight_decay: Any, share: Any, momentum: Any, beta2: Any, correct2: Any, epsilon: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The same with Adam's second moment."""
    s = s + (1 - beta2) * (g * g - s)
    u = g / (np.sqrt(s) * correct2 + epsilon)  # a root and a division are as slow as all else together
    return *schedule_free(u, y, z, learning_rate, weight_decay, share, momentum), s


def _shrunk(x: Any, by: Any) -> Any:
    """`x`, moved towards 0 by at most `by`."""
    left = np.abs(x) - by
    return np.sign(x) * np.where(left < 0, 0, left)


def proximal_gradient_descent(g: Any, v: Any, learning_rate: Any, l1: Any, l2: Any) -> tuple[Any]:
    """Gradient descent, then a proximal step for L1 and L2."""
    return (_shrunk(v - learning_rate * g, learning_rate * l1) / (1 + learning_rate * l2),)


def proximal_adagrad(g: Any, v: Any, a: Any, learning_rate: Any, l1: Any, l2: Any) -> tuple[Any, Any]:
    """Adagrad, then a proximal step for L1 and L2."""
    a = a + g * g
    rate = learning_rate / np.sqrt(a)
    return _shrunk(v - rate * g, rate * l1) / (1 + rate * l2), a


def adagrad_da(g: Any, v: Any, s: Any, a: Any, learning_rate: Any, l1: Any, l2: Any, t: Any) -> tuple[Any, Any, Any]:
    """Adagrad with dual averaging."""
    s = s + g
    a = a + g * g
    return -learning_rate * _shrunk(s, t * l1) / (t * learning_rate * l2 + np.sqrt(a)), s, a


def prodigy_averages(
    g: Any, m: Any, s: Any, sums: Any, d: Any, beta1: Any, beta2: Any, beta3: Any, weight: Any
) -> tuple[Any, Any, Any]:
    """Prodigy's averages of gradients times the estimated distance."""
    return beta1 * m + (1 - beta1) * d * g, beta2 * s + (1 - beta2) * (d * g) * (d * g), beta3 * sums + weight * g


def prodigy_direction(m: Any, direction: Any, s: Any, epsilon: Any) -> tuple[Any, Any]:
    """Adam's direction, which Prodigy scales."""
    return m / (np.sqrt(s) + epsilon), s


# An average takes the variable where an optimizer takes the gradient, and its shadow where that takes the variable.
def moving_average(value: Any, shadow: Any, decay: Any) -> tuple[Any]:
    """A moving average, its shadow in place of the variable."""
    return (shadow - (1 - decay) * (shadow - value),)


def debiased_average(value: Any, shadow: Any, biased: Any, decay: Any, weight: Any) -> tuple[Any, Any]:
    """A moving average that begins at 0, over the weight of what it has seen."""
    biased = biased - (1 - decay) * (biased - value)
    return biased / weight, biased
