"""Measures gradients on four virtual devices: run by test_optax, since a process chooses its devices once.

python jax_devices.py
"""

import json
import os
import warnings

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import numpy as np
import optax
from jax.sharding import PartitionSpec

from optim.integrations.optax import gradients_in, measure_gradients

MESH = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
GRADIENTS = {"b": np.float32([2.0, -1.0]), "w": np.arange(16, dtype=np.float32).reshape(8, 2)}
SPECS = {"b": PartitionSpec(), "w": PartitionSpec("x")}


def measured(given, **options):
    """What is measured within shard_map, where each device has two rows of w and all of b; and what is told."""
    optimizer = optax.chain(measure_gradients(given), optax.sgd(0.1))
    state = optimizer.init(GRADIENTS)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        step = jax.shard_map(
            lambda gradients, state: optimizer.update(gradients, state)[1],
            mesh=MESH,
            in_specs=(SPECS, PartitionSpec()),
            out_specs=PartitionSpec(),
            **options,
        )
        try:
            reports = gradients_in(jax.jit(step)(GRADIENTS, state))
        except ValueError as error:  # shard_map notices that the devices' results differ
            return {"told": [str(each.message) for each in told], "error": str(error)[:60]}
    return {
        "told": [str(each.message) for each in told if "gradients" in str(each.message)],
        "norms": {report.name: report.gradient_norm for report in reports},
        "sizes": {report.name: report.size for report in reports},
        "zeros": {report.name: report.gradient_zeros for report in reports},
    }


def replicated():
    """What is said of the state of pmap, and what one device's holds."""
    optimizer = optax.chain(measure_gradients(PartitionSpec()), optax.sgd(0.1))
    every = jax.tree.map(lambda leaf: np.stack([leaf] * 4), GRADIENTS)
    state = jax.pmap(optimizer.init)(every)
    state = jax.pmap(lambda gradients, state: optimizer.update(gradients, state)[1])(every, state)
    try:
        gradients_in(state)
    except ValueError as error:
        one = gradients_in(jax.tree.map(lambda leaf: leaf[0], state))
        return {"error": str(error), "norms": {report.name: report.gradient_norm for report in one}}


print(
    json.dumps(
        {
            "specs": measured(SPECS),
            "specs, unchecked": measured(SPECS, check_vma=False),
            "no specs": measured(None),
            "no specs, unchecked": measured(None, check_vma=False),
            "pmap": replicated(),
        }
    )
)
