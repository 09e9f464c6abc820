"""See what the gradients of a JAX model do: a pytree of parameters, momentum by hand, and GradientMonitor.

pip install jax
python examples/monitor_jax.py [LOGDIR]
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp

from optim import GradientMonitor
from summaries import SummaryWriter

x = jax.random.normal(jax.random.key(0), (256, 8))
y = jnp.sin(x.sum(axis=1))
hidden = {"w": 0.3 * jax.random.normal(jax.random.key(1), (8, 32)), "b": jnp.zeros(32)}
weights: Any = {"hidden": hidden, "out": jnp.ones(32) / 32}
velocity = jax.tree.map(jnp.zeros_like, weights)


def mean_square_error(weights: Any) -> Any:
    """Of a network with one hidden layer."""
    hidden = jnp.tanh(x @ weights["hidden"]["w"] + weights["hidden"]["b"])
    return jnp.mean((hidden @ weights["out"] - y) ** 2)


with SummaryWriter(sys.argv[1] if len(sys.argv) > 1 else "runs/monitor_jax") as writer:
    monitor = GradientMonitor(writer)
    for step in range(1, 101):
        loss, gradients = jax.value_and_grad(mean_square_error)(weights)
        velocity = jax.tree.map(lambda v, g: 0.9 * v - 0.05 * g, velocity, gradients)
        monitor.observe(step, gradients, weights, loss=loss, updates=velocity, slots={"velocity": velocity})
        weights = jax.tree.map(jnp.add, weights, velocity)
