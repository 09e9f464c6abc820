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
from typing import TYPE_CHECKING, Any

import jax
import optax

from optim.telemetry.devices import reports_of_traced, traced_statistics

if TYPE_CHECKING:
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
    states = [leaf for leaf in leaves if isinstance(leaf, MeasuredGradients)]
    if len(states) != 1:
        raise LookupError(f"the optimizer's state must have one measure_gradients(), got {len(states)}")
    return reports_of_traced(states[0].names, states[0].sizes, states[0].table)
