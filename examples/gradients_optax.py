"""Gradients of a jitted optax step, before the chain clips them.

pip install jax optax
python examples/gradients_optax.py [LOGDIR]
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import optax

from optim import GradientMonitor
from optim.integrations.optax import gradients_in, measure_gradients
from summaries import SummaryWriter

keys = jax.random.split(jax.random.key(0), 3)
x = jax.random.normal(keys[0], (256, 8))
y = jnp.sin(x.sum(axis=1))
params: Any = {"hidden": {"w": jax.random.normal(keys[1], (8, 32)) / 3}, "out": jax.random.normal(keys[2], (32,)) / 6}
optimizer = optax.chain(measure_gradients(), optax.clip_by_global_norm(0.5), optax.adam(1e-2))
state = optimizer.init(params)


def loss_of(params: Any) -> Any:
    """The mean squared error."""
    return jnp.mean((jnp.tanh(x @ params["hidden"]["w"]) @ params["out"] - y) ** 2)


@jax.jit  # type: ignore[untyped-decorator]
def step(params: Any, state: Any) -> Any:
    """One step of Adam."""
    loss, gradients = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(gradients, state, params)
    return updates, state, loss


with SummaryWriter(sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_optax") as writer:
    monitor = GradientMonitor(writer)
    for number in range(1, 101):
        updates, state, loss = step(params, state)
        measured = gradients_in(state)
        monitor.observe(number, measured, params, clip_norm=0.5, learning_rate=1e-2, loss=loss, updates=updates)
        params = optax.apply_updates(params, updates)
