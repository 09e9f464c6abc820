"""A step of a small network: minimize, gradients included, against HIPS autograd's own grad of the same loss.

Ours computes the gradients and updates the variables; autograd's only computes the gradients. The target is 1.3.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import autograd.numpy as differentiable
import numpy as np
from autograd import grad

import optim
from benchmarks.timing import best_seconds, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, STEPS = 40, 25
INPUTS, CLASSES, RECURRENT_STEPS = 20, 10, 16


def parameters_of(units: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {"w1": (INPUTS, units), "b1": (units,), "u": (units, units), "w2": (units, CLASSES), "b2": (CLASSES,)}
    return {name: (0.1 * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}


def cross_entropy(numpy: Any, scores: Any, y: Any) -> Any:
    scores = scores - numpy.max(scores, axis=1, keepdims=True)
    return numpy.mean(numpy.log(numpy.sum(numpy.exp(scores), axis=1)) - scores[np.arange(len(y)), y])


def feed_forward(numpy: Any, p: Any, x: Any, y: Any) -> Any:
    hidden = numpy.tanh(x @ p["w1"] + p["b1"])
    return cross_entropy(numpy, hidden @ p["w2"] + p["b2"] + 0 * numpy.sum(p["u"]), y)


def recurrent(numpy: Any, p: Any, x: Any, y: Any) -> Any:
    state = np.zeros((len(x), len(p["u"])), np.float32)
    for _ in range(RECURRENT_STEPS):
        state = numpy.tanh(x @ p["w1"] + state @ p["u"] + p["b1"])
    return cross_entropy(numpy, state @ p["w2"] + p["b2"], y)


def contenders(network: Callable[..., Any], units: int, batch: int) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((batch, INPUTS)).astype(np.float32), rng.integers(0, CLASSES, batch)
    parameters = parameters_of(units)
    variables = {name: optim.Variable(value, name=name) for name, value in parameters.items()}
    optimizer = optim.GradientDescentOptimizer(1e-3)
    loss = functools.partial(network, np, variables, x, y)
    theirs = grad(lambda p: network(differentiable, p, x, y))

    def repeated(step: Callable[[], object]) -> Callable[[], object]:
        return lambda: [step() for _ in range(STEPS)]

    return {
        "gradledger": repeated(lambda: optimizer.minimize(loss)),
        "HIPS autograd's grad": repeated(lambda: theirs(parameters)),
        "the loss alone": repeated(lambda: network(np, parameters, x, y)),
    }


def main() -> None:
    """Print a table for each network."""
    for network, units, batch in ((feed_forward, 32, 32), (feed_forward, 128, 64), (recurrent, 32, 32)):
        seconds = best_seconds(contenders(network, units, batch), ROUNDS)
        title = f"minimize, {network.__name__} of {units} units, a batch of {batch}"
        print_table(title, "us", {name: value / STEPS * 1e6 for name, value in seconds.items()})
