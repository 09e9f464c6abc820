"""Each optimizer's update as one elementwise formula, written as in its paper.

A formula takes the gradient g, the variable v, the slots and the step's hyperparameters, and returns the new variable
and the new slots. It does not deal with arrays, blocks, threads or clipping: `kernels` runs it as it is on NumPy
arrays, and what is shipped here comes compiled. So a new optimizer is a formula here, and a class in `optimizers`
that names its hyperparameters.

A formula may use arithmetic, numbers, local names, `np.sqrt`, `np.abs`, `np.sign` and `np.where`, and nothing else.
Numbers take the arrays' dtype.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ADADELTA",
    "ADAGRAD",
    "ADAM",
    "ADAMW",
    "FTRL",
    "FTRL_SQRT",
    "GRADIENT_DESCENT",
    "LION",
    "MOMENTUM",
    "MOVING_AVERAGE",
    "MOVING_AVERAGE_DEBIASED",
    "NADAM",
    "NESTEROV",
    "RMSPROP",
    "RMSPROP_CENTERED",
    "Rule",
]


@dataclass(frozen=True)
class Rule:
    """How one optimizer moves one element.

    Attributes:
        formula: (g, v, *slots, *hyperparameters) → (v, *slots), with elementwise arithmetic only.
        slots: the slots' names, in the formula's order.
        reference: the formula's source.
        moves_at_rest: whether an element with gradient 0 moves, so that a sparse gradient moves every row.
        sparse: the rule for sparse gradients, if TF1 computes the same update differently for them, which shows if a
            slot is infinite: b·m + (1-b)·g stays infinite, m + (1-b)·(g-m) becomes NaN.
        is_linear: whether it is v - learning_rate·g: TF1 then applies rows with the same index one after the other; for
            all others it sums them first, and the sum may be infinite although the change of v is not.
    """

    formula: Callable[..., tuple[Any, ...]]
    slots: tuple[str, ...]
    reference: str
    moves_at_rest: bool = False
    sparse: Rule | None = None
    is_linear: bool = False

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The formula's arguments, in order: "g", "v", slots, hyperparameters."""
        return tuple(inspect.signature(self.formula).parameters)

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        """The names of the arguments after the slots."""
        return self.parameters[2 + len(self.slots) :]

    @property
    def name(self) -> str:
        """The formula's name."""
        return self.formula.__name__.strip("_")


def _gradient_descent(g: Any, v: Any, learning_rate: Any) -> tuple[Any]:
    return (v - learning_rate * g,)


def _momentum(g: Any, v: Any, a: Any, learning_rate: Any, momentum: Any) -> tuple[Any, Any]:
    a = momentum * a + g
    return v - learning_rate * a, a


def _nesterov(g: Any, v: Any, a: Any, learning_rate: Any, momentum: Any) -> tuple[Any, Any]:
    a = momentum * a + g
    return v - (learning_rate * g + learning_rate * (momentum * a)), a


def _adagrad(g: Any, v: Any, a: Any, learning_rate: Any) -> tuple[Any, Any]:
    a = a + g * g
    return v - learning_rate * g / np.sqrt(a), a


def _adadelta(g: Any, v: Any, a: Any, d: Any, learning_rate: Any, rho: Any, epsilon: Any) -> tuple[Any, Any, Any]:
    a = rho * a + (1 - rho) * (g * g)
    u = np.sqrt(d + epsilon) / np.sqrt(a + epsilon) * g
    return v - learning_rate * u, a, rho * d + (1 - rho) * (u * u)


def _adam(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    m = m + (1 - beta1) * (g - m)
    s = s + (1 - beta2) * (g * g - s)
    # alpha in the divisor: nothing overflows, however small epsilon is
    return v - m / ((np.sqrt(s) + epsilon) * (1 / alpha)), m, s


def _adam_sparse(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    m = beta1 * m + (1 - beta1) * g
    s = beta2 * s + g * (g * (1 - beta2))  # as TF1's graphs compute it for gradients that are not constants
    return v - alpha * m / (np.sqrt(s) + epsilon), m, s


def _nadam(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    m = m + (1 - beta1) * (g - m)
    s = s + (1 - beta2) * (g * g - s)
    return v - alpha * (beta1 * m + (1 - beta1) * g) / (np.sqrt(s) + epsilon), m, s


def _adamw(
    g: Any, v: Any, m: Any, s: Any, alpha: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    m = beta1 * m + (1 - beta1) * g
    s = beta2 * s + (1 - beta2) * (g * g)
    return v - decay * v - alpha * m / (np.sqrt(s) + epsilon), m, s


def _lion(
    g: Any, v: Any, m: Any, learning_rate: Any, beta1: Any, beta2: Any, weight_decay: Any
) -> tuple[Any, Any]:  # fmt: skip
    c = m + (1 - beta1) * (g - m)
    return v - learning_rate * (np.sign(c) + weight_decay * v), m + (1 - beta2) * (g - m)


def _ftrl(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, power: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    n = a + g * g
    n_power = n**power
    z = z + ((g + np.where(shrinkage > 0, 2 * shrinkage * v, 0)) - (n_power - a**power) / learning_rate * v)
    q = n_power / learning_rate + 2 * l2
    return np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / q, 0), n, z


def _ftrl_sqrt(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    n = a + g * g
    root = np.sqrt(n)
    z = z + ((g + np.where(shrinkage > 0, 2 * shrinkage * v, 0)) - (root - np.sqrt(a)) / learning_rate * v)
    q = root / learning_rate + 2 * l2
    return np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / q, 0), n, z


def _ftrl_sparse(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, power: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    n = a + g * g
    n_power = n**power
    z = z + ((g + np.where(shrinkage > 0, 2 * shrinkage * v, 0)) - (n_power - a**power) / learning_rate * v)
    q = n_power / learning_rate + 2 * l2
    return (np.where(np.abs(z) > l1, np.sign(z) * l1, z) - z) / q, n, z


def _ftrl_sqrt_sparse(
    g: Any, v: Any, a: Any, z: Any, learning_rate: Any, l1: Any, l2: Any, shrinkage: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    n = a + g * g
    root = np.sqrt(n)
    z = z + ((g + np.where(shrinkage > 0, 2 * shrinkage * v, 0)) - (root - np.sqrt(a)) / learning_rate * v)
    q = root / learning_rate + 2 * l2
    return (np.where(np.abs(z) > l1, np.sign(z) * l1, z) - z) / q, n, z


def _rmsprop(
    g: Any, v: Any, s: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    s = s + (1 - decay) * (g * g - s)
    a = momentum * a + learning_rate * g / np.sqrt(s + epsilon)
    return v - a, s, a


def _rmsprop_centered(
    g: Any, v: Any, s: Any, mg: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any, Any]:
    s = s + (1 - decay) * (g * g - s)
    mg = mg + (1 - decay) * (g - mg)
    a = momentum * a + learning_rate * g / np.sqrt(s - mg * mg + epsilon)
    return v - a, s, mg, a


def _rmsprop_sparse(
    g: Any, v: Any, s: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    s = decay * s + (1 - decay) * (g * g)
    a = momentum * a + 1 / np.sqrt(s + epsilon) * learning_rate * g
    return v - a, s, a


def _rmsprop_centered_sparse(
    g: Any, v: Any, s: Any, mg: Any, a: Any, learning_rate: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Any, Any, Any]:
    s = decay * s + (1 - decay) * (g * g)
    mg = decay * mg + (1 - decay) * g
    a = momentum * a + 1 / np.sqrt(s + epsilon - mg * mg) * learning_rate * g
    return v - a, s, mg, a


# An average takes the variable where an optimizer takes the gradient, and its shadow where that takes the variable.
def _moving_average(value: Any, shadow: Any, decay: Any) -> tuple[Any]:
    return (shadow - (1 - decay) * (shadow - value),)


def _debiased_average(value: Any, shadow: Any, biased: Any, decay: Any, weight: Any) -> tuple[Any, Any]:
    biased = biased - (1 - decay) * (biased - value)
    return biased / weight, biased


def _rule(formula: Callable[..., Any], slots: tuple[str, ...], reference: str, **options: Any) -> Rule:
    """The rule, with its rule for sparse gradients if there is one."""
    sparse = options.pop("sparse", None)
    return Rule(formula, slots, reference, **options, sparse=sparse and Rule(sparse, slots, reference, **options))


GRADIENT_DESCENT = Rule(
    _gradient_descent, (), "Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586", is_linear=True
)
MOMENTUM = Rule(_momentum, ("momentum",), "Polyak 1964, https://doi.org/10.1016/0041-5553(64)90137-5")
NESTEROV = Rule(
    _nesterov, ("momentum",), "Sutskever et al. 2013, http://proceedings.mlr.press/v28/sutskever13.html"
)  # fmt: skip
ADAGRAD = Rule(_adagrad, ("accumulator",), "Duchi et al. 2011, http://jmlr.org/papers/v12/duchi11a.html")
ADADELTA = Rule(_adadelta, ("accum", "accum_update"), "Zeiler 2012, https://arxiv.org/abs/1212.5701")
ADAM = _rule(
    _adam,
    ("m", "v"),
    "Kingma and Ba 2015, https://arxiv.org/abs/1412.6980",
    moves_at_rest=True,
    sparse=_adam_sparse,
)
NADAM = Rule(_nadam, ("m", "v"), "Dozat 2016, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ", moves_at_rest=True)
ADAMW = Rule(_adamw, ("m", "v"), "Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101", moves_at_rest=True)
LION = Rule(_lion, ("m",), "Chen et al. 2023, https://arxiv.org/abs/2302.06675", moves_at_rest=True)
FTRL = _rule(
    _ftrl, ("accum", "linear"), "McMahan et al. 2013, https://research.google/pubs/pub41159", sparse=_ftrl_sparse
)
FTRL_SQRT = _rule(
    _ftrl_sqrt,
    ("accum", "linear"),
    "as FTRL, where the power is 1/2: a root is quicker than a power",
    sparse=_ftrl_sqrt_sparse,
)
RMSPROP = _rule(
    _rmsprop,
    ("rms", "momentum"),
    "Tieleman and Hinton 2012, Coursera, Lecture 6.5",
    sparse=_rmsprop_sparse,
)
RMSPROP_CENTERED = _rule(
    _rmsprop_centered,
    ("rms", "mg", "momentum"),
    "Graves 2013, https://arxiv.org/abs/1308.0850",
    sparse=_rmsprop_centered_sparse,
)
MOVING_AVERAGE = Rule(
    _moving_average, (), "Polyak and Juditsky 1992, https://doi.org/10.1137/0330046", moves_at_rest=True
)
MOVING_AVERAGE_DEBIASED = Rule(
    _debiased_average, ("biased",), "Kingma and Ba 2015, section 3, https://arxiv.org/abs/1412.6980", moves_at_rest=True
)
