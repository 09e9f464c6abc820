"""A step of a small network: minimize, gradients included, against HIPS autograd's own grad of the same loss.

Ours computes the gradients and updates the variables; autograd's only computes the gradients. The target is 1.3.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import optim
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEPS = 25
INPUTS, CLASSES, RECURRENT_STEPS = 20, 10, 16


def figures() -> Iterator[Figure]:
    """Yield one for each network."""
    for network, *size in ((feed_forward, 32, 32), (feed_forward, 128, 64), (recurrent, 32, 32)):
        contenders = {
            OURS: Contender(minimizing, (network, *size)),
            "HIPS autograd's grad": Contender(differentiating, (network, *size), "autograd"),
            "the loss alone": Contender(evaluating, (network, *size)),
        }
        what = f"minimize, {network.__name__} of {size[0]} units, a batch of {size[1]}"
        yield compare(what, "µs", contenders, per=STEPS, seconds=2.0)


def parameters_of(units: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {"w1": (INPUTS, units), "b1": (units,), "u": (units, units), "w2": (units, CLASSES), "b2": (CLASSES,)}
    return {name: (0.1 * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}


def batch_of(size: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.standard_normal((size, INPUTS)).astype(np.float32), rng.integers(0, CLASSES, size)


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


def minimizing(network: Callable[..., Any], units: int, batch: int) -> Callable[[], object]:
    variables = {name: optim.Variable(value, name=name) for name, value in parameters_of(units).items()}
    loss = functools.partial(network, np, variables, *batch_of(batch))
    optimizer = optim.GradientDescentOptimizer(1e-3)
    return repeated(lambda: optimizer.minimize(loss))


def differentiating(network: Callable[..., Any], units: int, batch: int) -> Callable[[], object]:
    import autograd.numpy as differentiable
    from autograd import grad

    parameters, (x, y) = parameters_of(units), batch_of(batch)
    gradient = grad(lambda p: network(differentiable, p, x, y))
    return repeated(lambda: gradient(parameters))


def evaluating(network: Callable[..., Any], units: int, batch: int) -> Callable[[], object]:
    return repeated(functools.partial(network, np, parameters_of(units), *batch_of(batch)))


def repeated(step: Callable[[], object]) -> Callable[[], object]:
    return lambda: [step() for _ in range(STEPS)]
