"""GradientMonitor: logs the tags of `with_summaries` from a training loop with another library's optimizer."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.arrays import whole
from optim.kernels.measure import count_nonfinite, measure, norm_from_squares, sums_of_squares
from optim.kernels.measure import norm as norm_of
from optim.kernels.stats import (
    NONFINITE,
    OF_GRADIENT,
    SLOT_WIDTH,
    SQUARES,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    slot_columns,
    stats_width,
)
from optim.telemetry.logger import Telemetry
from optim.telemetry.report import StepReport, VariableReports
from optim.telemetry.trees import arrays_by_name, gradients_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from summaries import EventFileWriter

__all__ = ["GradientMonitor"]


class GradientMonitor:
    """Logs gradients, whichever library computes them and makes the update.

    Arrays are not modified, nor copied if memory can be shared: each is read once, at steps that are due.

    Args:
        writer: where to log; histograms need a SummaryWriter.
        every_n_steps: write at steps that this divides.
        histograms_every_n_steps: log histograms at steps that this divides; None for no histograms.
        variables: the names that get tags of their own; None for all.
        clock: returns seconds, from any start, for `train/global_step_per_sec`.
        layout: whether to log a layout of custom scalars; False if the run has its own, since TensorBoard shows one
            per run.

    Raises:
        TypeError: a number of steps is not an integer; `variables` is not a list of names; histograms are requested,
            but the writer is not a SummaryWriter.
        ValueError: a number of steps is not positive.

    >>> import tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     monitor = GradientMonitor(writer)
    ...     report = monitor.observe(1, {"w": np.array([3.0, 4.0])}, {"w": np.array([0.0, 2.0])}, clip_norm=1.0)
    >>> report.global_norm, report.clipped
    (5.0, True)
    >>> read_run(writer.path).scalars["gradients/norm/w"].value
    array([5.])
    """

    def __init__(
        self,
        writer: EventFileWriter,
        every_n_steps: int = 1,
        histograms_every_n_steps: int | None = None,
        variables: Iterable[str] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        layout: bool = True,
    ) -> None:
        self._telemetry = Telemetry(
            writer, every_n_steps, histograms_every_n_steps, variables, clock, layout=layout
        )  # fmt: skip

    def observe(
        self,
        step: int,
        gradients: Any,
        weights: Any = None,
        clip_norm: float | None = None,
        learning_rate: float | None = None,
        loss: Any = None,
        *,
        updates: Any = None,
        slots: Mapping[str, Any] | None = None,
        global_norm: Any = None,
    ) -> StepReport:
        """Record a step, and log it if it is due.

        Call it at every step, before the gradients are clipped. With `clip_norm` the norm is also measured at steps
        that are not due, since `gradients/clipped_fraction` counts all steps.

        Args:
            step: the step's number.
            gradients: name → array; nested mappings, lists, named tuples and JAX pytrees get names like "outer/inner".
                Or a torch module, or its `named_parameters()`: then the gradients are the parameters' `grad`, and the
                weights the parameters. Arrays may be NumPy's, torch's on any device, JAX's, or any with `__array__` or
                `__dlpack__`. None is skipped. For a sharded DTensor pass its full_tensor(); or its to_local(), and the
                `global_norm` of all ranks.
            weights: arrays with the same names; others are ignored.
            clip_norm: the bound on the global norm, if the loop clips by it.
            learning_rate: the current rate.
            loss: a number, or an array of one element.
            updates: the arrays that the step adds to the weights, with the same names, as optax returns them.
            slots: slot name → arrays with the same names, such as {"mu": state.mu, "nu": state.nu}.
            global_norm: the norm before clipping if it is known, for example from torch's clip_grad_norm_. If None, it
                is measured.

        Returns:
            The step's report: the global norm if it was measured, and at a due step each variable.

        Raises:
            TypeError: a leaf is not an array of floating dtype; the gradients have no names.
            ValueError: there are no gradients; weights, updates or a slot lack the name of a gradient, or have another
                shape; `clip_norm` is not positive; a name is given twice; the writer is closed.
        """
        telemetry = self._telemetry
        step = checks.integer("step", step)
        bound = None
        if clip_norm is not None:
            bound = checks.positive_or_infinite("clip_norm", _number("clip_norm", clip_norm))
        if slots is not None and not isinstance(slots, Mapping):
            raise TypeError(f"slots must be a mapping from slot names to arrays, got {type(slots).__name__}")
        norm = None if global_norm is None else _number("global_norm", global_norm)
        due, histograms_due = telemetry.is_due(step), telemetry.histograms_are_due(step)
        known: VariableReports | None = None
        arrays: dict[str, NDArray[Any]] = {}
        nonfinite = None if norm is None else 0
        counted = bound is not None and norm is None  # whether `gradients/clipped_fraction` needs this step's norm
        if due or histograms_due or counted or not math.isfinite(norm or 0.0):
            telemetry.check_open()
            arrays, parameters = gradients_by_name(gradients)
            if not arrays:
                raise ValueError("gradients must contain at least one array, got none")
            weights = parameters if weights is None and parameters else weights
            if due:
                known = _measured(arrays, weights, updates, slots or {})
            norm, nonfinite = _norm_and_nonfinite([*arrays.values()], norm, known)
        report = StepReport(
            step,
            math.nan if learning_rate is None else _number("learning_rate", learning_rate),
            norm,
            bound,
            clipped=bound is not None and norm is not None and norm > bound,
            nonfinite=nonfinite,
            variables=() if known is None else known,
            loss=_number("loss", loss) if due and loss is not None else None,  # fetching it from a device takes time
        )
        telemetry.observe(report, tuple(arrays))
        if histograms_due:
            telemetry.add_histograms(step, "gradients", arrays)
            if weights is not None:
                of_weights = arrays_by_name(weights, "weights", arrays)
                telemetry.add_histograms(step, "weights", dict(zip(arrays, of_weights, strict=True)))
        return report


def _measured(
    gradients: dict[str, NDArray[Any]], weights: Any, updates: Any, slots: Mapping[str, Any]
) -> VariableReports:
    """The measurements of each variable; each array is read once."""
    trees = {"weights": weights, "updates": updates, **{f"slot {slot!r}": tree for slot, tree in slots.items()}}
    given = {what: arrays_by_name(tree, what, gradients) for what, tree in trees.items() if tree is not None}
    stats = np.full((len(gradients), stats_width(len(slots))), math.nan)
    stats[:, OF_GRADIENT] = measure([*gradients.values()])[:, OF_GRADIENT]
    for column, what in ((WEIGHT_SQUARES, "weights"), (UPDATE_SQUARES, "updates")):
        if what in given:
            stats[:, column] = sums_of_squares(given[what])
    for k, slot in enumerate(slots):
        stats[:, slot_columns(k)] = measure(given[f"slot {slot!r}"])[:, :SLOT_WIDTH]
    sizes = [gradient.size for gradient in gradients.values()]
    has = {f"has_{what}": what in given for what in ("weights", "updates")}
    return VariableReports(list(gradients), sizes, list(slots), stats, **has)


def _norm_and_nonfinite(
    arrays: list[NDArray[Any]], norm: float | None, known: VariableReports | None
) -> tuple[float, int]:
    """The global norm, measured unless the caller gave it, and the number of non-finite elements."""
    if known is not None:
        norm = norm_from_squares(known.stats[:, SQUARES].tolist(), arrays) if norm is None else norm
        return norm, int(known.stats[:, NONFINITE].sum())
    norm = norm_of(arrays) if norm is None else norm
    return norm, 0 if math.isfinite(norm) else count_nonfinite(arrays)


def _number(name: str, value: Any) -> float:
    """A number, or an array of one element on any device."""
    value = whole(value, name)
    try:
        return float(value.item() if hasattr(value, "item") else value + 0)  # a string is not a number
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
