"""optax: gradients measured by a transformation of the chain, inside jit.

    optimizer = optax.chain(measure_gradients(), optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    ...
    monitor.observe(step, gradients_in(state), clip_norm=1.0)

When: wherever the transformation stands in the chain: put it before the one that clips. It measures at every update, in
the update's own program; the numbers are fetched at steps at which GradientMonitor uses them.

What: `gradients/global_norm` and each gradient's norm and zeros; with `clip_norm` clipping's tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
import optax

from optim.kernels.stats import OF_GRADIENT, stats_width
from optim.telemetry.devices import from_traced, traced_statistics
from optim.telemetry.report import VariableReports

__all__ = ["MeasuredGradients", "gradients_in", "measure_gradients"]


@partial(jax.tree_util.register_dataclass, data_fields=["table"], meta_fields=["names", "sizes"])
@dataclass
class MeasuredGradients:
    """The state of `measure_gradients`.

    Attributes:
        table: float32[gradients, 5]: the measurements.
        names: the gradients' names, such as "layer/w".
        sizes: their numbers of elements.
    """

    table: Any
    names: tuple[str, ...]
    sizes: tuple[int, ...]


def measure_gradients() -> optax.GradientTransformation:
    """Measure the gradients at this place of an optax chain, which pass unchanged."""

    def measured(tree: Any) -> MeasuredGradients:
        pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
        names = tuple(jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs)
        leaves = [leaf for _, leaf in pairs]
        return MeasuredGradients(traced_statistics(leaves), names, tuple(leaf.size for leaf in leaves))

    def init(params: Any) -> MeasuredGradients:
        return measured(jax.tree.map(jax.numpy.zeros_like, params))

    def update(updates: Any, state: MeasuredGradients, params: Any = None) -> tuple[Any, MeasuredGradients]:
        return updates, measured(updates)

    return optax.GradientTransformation(init, update)


def gradients_in(state: Any) -> VariableReports:
    """What `measure_gradients` measured at the last update, for GradientMonitor.

    Args:
        state: the optimizer's state.

    Raises:
        LookupError: the chain has no `measure_gradients()`, or several.
    """
    leaves = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, MeasuredGradients))
    found = [leaf for leaf in leaves if isinstance(leaf, MeasuredGradients)]
    if len(found) != 1:
        raise LookupError(f"the optimizer's state must have one measure_gradients(), got {len(found)}")
    table = from_traced(np.asarray(found[0].table))
    stats = np.full((len(table), stats_width(0)), np.nan)
    stats[:, OF_GRADIENT] = table[:, OF_GRADIENT]
    return VariableReports(found[0].names, found[0].sizes, (), stats, has_weights=False, has_updates=False)
