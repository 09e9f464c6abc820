"""optax: gradients measured by a transformation of the chain, inside jit.

    optimizer = optax.chain(measure_gradients(), optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    ...
    monitor.observe(step, gradients_in(state), params, clip_norm=1.0, updates=updates)

When: wherever the transformation stands in the chain: put it before the one that clips. It measures at every update, in
the update's own program; the numbers are fetched at steps at which GradientMonitor uses them. Where `apply_if_finite`
or `MultiSteps` leave the chain's state as it was, nothing is logged of gradients; a step that they skip because its
gradients are not finite counts in `gradients/nonfinite`.

What: `gradients/global_norm` and each gradient's norm and zeros; with `clip_norm` clipping's tags; with the parameters
and the updates their norms. Of complex gradients, the magnitudes are meant.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import jax
import optax

from optim.telemetry.devices import reports_of_traced, traced_statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optim.telemetry.report import VariableReports

__all__ = ["MeasuredGradients", "gradients_in", "measure_gradients"]


@partial(jax.tree_util.register_dataclass, data_fields=["table", "count"], meta_fields=["names", "sizes"])
@dataclass
class MeasuredGradients:
    """The state of `measure_gradients`.

    Attributes:
        table: float32[gradients, 5]: the measurements.
        count: int32: the number of updates that have been measured.
        names: the gradients' names, such as "layer/w".
        sizes: their numbers of elements.
    """

    table: Any
    count: Any
    names: tuple[str, ...]
    sizes: tuple[int, ...]


def measure_gradients(specs: Any = None) -> optax.GradientTransformation:
    """Measure the gradients at this place of an optax chain, which pass unchanged.

    Args:
        specs: for a chain that runs within `jax.shard_map` or `pmap`, where each device may hold a part of a gradient:
            how the gradients are sharded. A tree of PartitionSpecs, as shard_map's `in_specs` has them, or one for
            all: `PartitionSpec()` if each device holds them whole.
    """

    def init(params: Any) -> MeasuredGradients:
        names, leaves, axes = _leaves(params, specs)
        table = jax.eval_shape(traced_statistics, leaves)
        zeros = jax.numpy.zeros(table.shape, table.dtype), jax.numpy.zeros((), jax.numpy.int32)
        return MeasuredGradients(*zeros, names, _sizes(leaves, axes))

    def update(updates: Any, state: MeasuredGradients, params: Any = None) -> tuple[Any, MeasuredGradients]:
        names, leaves, axes = _leaves(updates, specs)
        if specs is None:
            _tell_sharded(leaves)
        table = traced_statistics(leaves, axes)
        return updates, MeasuredGradients(table, state.count + 1, names, _sizes(leaves, axes))

    return optax.GradientTransformation(init, update)


def gradients_in(state: Any) -> VariableReports:
    """What `measure_gradients` measured at the last update, for GradientMonitor.

    Args:
        state: the optimizer's state.

    Raises:
        LookupError: the chain has no `measure_gradients()`, or several.
        ValueError: the state is that of several devices, as `jax.pmap` returns it.
    """
    states = _nodes(state, MeasuredGradients)
    if len(states) != 1:
        raise LookupError(f"the optimizer's state must have one measure_gradients(), got {len(states)}")
    (measured,) = states
    if measured.table.shape != (len(measured.names), measured.table.shape[-1]):
        raise ValueError(
            f"the optimizer's state must be that of one device, got measurements of shape {measured.table.shape} for "
            f"{len(measured.names)} gradients: of a state from jax.pmap, give jax.tree.map(lambda leaf: leaf[0], state)"
        )
    reports = reports_of_traced(measured.names, measured.sizes, measured.table)
    reports.update, reports.rejected = int(measured.count), _rejected(state)
    return reports


def _nodes(state: Any, kind: type) -> list[Any]:
    """The nodes of this kind in a tree."""
    leaves = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, kind))
    return [leaf for leaf in leaves if isinstance(leaf, kind)]


def _rejected(state: Any) -> int:
    """The number of elements that were not finite, at the least, of a step that was skipped for that."""
    skipped = [node for node in _nodes(state, optax.ApplyIfFiniteState) if not node.last_finite]
    skips = [node.skip_state for node in _nodes(state, optax.MultiStepsState) if isinstance(node.skip_state, dict)]
    skipped_by_count = [int(skip.get("num_not_finite", 0)) for skip in skips if skip.get("should_skip")]
    return max([*skipped_by_count, len(skipped)], default=0)


def _leaves(tree: Any, specs: Any) -> tuple[tuple[str, ...], list[Any], list[tuple[str, ...]]]:
    """Of each gradient its name, the array, and the axes along which devices hold its parts."""
    pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
    names = tuple(jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs)
    leaves = [leaf for _, leaf in pairs]
    if specs is None:
        return names, leaves, [()] * len(leaves)
    is_spec = lambda node: isinstance(node, jax.sharding.PartitionSpec)  # noqa: E731
    spread = jax.tree.map(lambda spec, part: jax.tree.map(lambda _: spec, part), specs, tree, is_leaf=is_spec)
    manual = _manual_axes()
    axes = [_axes(spec, manual) for spec in jax.tree.leaves(spread, is_leaf=is_spec)]
    return names, leaves, axes


def _axes(spec: Any, manual: Sequence[str]) -> tuple[str, ...]:
    """The axes in a PartitionSpec over which this program runs on each device by itself."""
    names = [name for part in spec for name in (part if isinstance(part, tuple) else (part,))]
    return tuple(name for name in names if name in manual)


def _manual_axes() -> tuple[str, ...]:
    """The axes of shard_map and pmap that surround this."""
    return tuple(jax.sharding.get_abstract_mesh().manual_axes)


def _sizes(leaves: Sequence[Any], axes: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """The numbers of elements of whole gradients."""
    return tuple(
        leaf.size * prod(jax.lax.axis_size(name) for name in of_leaf)
        for leaf, of_leaf in zip(leaves, axes, strict=True)
    )


def _varying(value: Any) -> frozenset[str]:
    """The axes over which a value is known to differ between devices; older releases of JAX have it as `vma`."""
    known = jax.typeof(value)
    names: frozenset[str] = known.manual_axis_type.varying if hasattr(known, "manual_axis_type") else known.vma
    return names


def _tell_sharded(leaves: Sequence[Any]) -> None:
    """Warn, while this is traced, if each device may hold other parts of the gradients."""
    manual = [name for name in _manual_axes() if jax.lax.axis_size(name) > 1]
    # Whether shard_map keeps books on which values differ between devices: this one does.
    checked = [name for name in manual if name in _varying(jax.lax.axis_index(name))]
    varying = {name for leaf in leaves for name in _varying(leaf)}
    doubtful = [name for name in manual if name not in checked or name in varying]
    if doubtful:
        warnings.warn(
            f"gradients are measured on each device by itself, over the axis {', '.join(map(repr, doubtful))}: norms "
            "are those of a device's part. measure_gradients(specs), with the gradients' PartitionSpecs, sums the "
            "parts; PartitionSpec() says that each device has all of them",
            stacklevel=2,
        )
