"""Panels: from the curves of a run to its charts, with the curves that belong together and their kind of axis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from summaries.auditing.signals.tags import network_order
from summaries.storage.names import by_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.auditing.curves import Curve

    Kind = Literal["lines", "heat"]

__all__ = ["Panel", "panels"]

# Title, kind and roles of each chart, in the order in which readers want them. A title that occurs twice is drawn once,
# with the first roles that the run has.
_LAYOUT: tuple[tuple[str, Kind, tuple[str, ...]], ...] = (
    ("Reward", "lines", ("reward",)),
    ("Episode length", "lines", ("episode_length",)),
    ("Loss", "lines", ("loss", "validation_loss")),
    ("Gradient norm and its bound", "lines", ("global_norm", "clip_norm", "clipped_global_norm")),
    ("Share of steps clipped", "lines", ("clipped_fraction",)),
    ("Share of steps clipped", "lines", ("clipped",)),
    ("Gradient norm of each variable", "heat", ("gradient_norm",)),
    ("Update ratio of each variable", "heat", ("update_ratio",)),
    ("Learning rate", "lines", ("learning_rate",)),
)
_FURTHER: tuple[tuple[str, Kind, tuple[str, ...]], ...] = (
    ("Auxiliary losses", "lines", ("auxiliary_loss",)),
    ("Weight norm of each variable", "heat", ("weight_norm",)),
    ("Update norm of each variable", "heat", ("update_norm",)),
    ("Share of zeros in each gradient", "heat", ("zero_fraction",)),
    ("Norm of each slot", "heat", ("slot_norm",)),
    ("Mean of each slot", "heat", ("slot_mean",)),
    ("Largest of each slot", "heat", ("slot_max",)),
    ("Least of each slot", "heat", ("slot_min",)),
)
_LINEAR = frozenset({"learning_rate", "clipped", "clipped_fraction", "zero_fraction"})  # their axes start at zero
_MOST_LINES = 8  # as many as there are distinguishable colors; further lines get their own charts
_LOG_FROM = 10.0  # ratio of largest to smallest value from which a linear axis would hide the small ones


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart.

    Attributes:
        title: its heading.
        kind: "lines", or "heat": a heat map over the steps, with a row for each variable.
        curves: the curves in it, as indices into the curves of the run.
        log: whether its values have a logarithmic axis.
        further: whether it belongs to the charts that are folded away at first.
    """

    title: str
    kind: Kind
    curves: tuple[int, ...]
    log: bool
    further: bool = False


def panels(curves: Sequence[Curve], main: str = "", worst: str = "") -> list[Panel]:
    """The charts of a run, in the order of the page; every curve is in exactly one of them.

    Args:
        curves: the curves of the run.
        main: the tag that stands for the run: it comes first among those of its role.
        worst: the tag of the worst finding: the chart that has it comes before all others.
    """
    made: list[Panel] = []
    shown: set[int] = set()
    for title, kind, roles in _LAYOUT + _FURTHER:
        order = {
            index: (roles.index(curve.role), curve.tag != main, by_number(curve.tag))
            for index, curve in enumerate(curves)
            if curve.role in roles
        }
        if not order or title in {panel.title for panel in made}:
            continue
        drawn = kind if len(order) > 1 else "lines"
        if drawn == "heat":
            rows = list(order)
            chosen = tuple(rows[at] for at in network_order([curves[row].tag for row in rows]))
        else:
            chosen = tuple(sorted(order, key=order.__getitem__)[:_MOST_LINES])
        further = (title, kind, roles) in _FURTHER
        made.append(Panel(title, drawn, chosen, _spread(curves[index] for index in chosen), further))
        shown.update(chosen)
    rest = sorted(set(range(len(curves))) - shown, key=lambda index: by_number(curves[index].tag))
    made += [Panel(curves[i].tag, "lines", (i,), _spread([curves[i]]), further=True) for i in rest]
    first = [panel for panel in made if worst and any(curves[index].tag == worst for index in panel.curves)]
    return [*(replace(panel, further=False) for panel in first), *(panel for panel in made if panel not in first)]


def _spread(curves: Iterable[Curve]) -> bool:
    """Whether the values need a logarithmic axis: none is negative, and their magnitudes differ.

    Beside a validation loss, what is below its least value needs no room: a training loss that goes to zero would
    flatten a validation loss that doubles.
    """
    curves = list(curves)
    if any(curve.role in _LINEAR for curve in curves):
        return False
    values = np.concatenate([curve.value for curve in curves])
    values = values[np.isfinite(values)]
    validations = [curve.value[np.isfinite(curve.value)] for curve in curves if curve.role == "validation_loss"]
    if any(map(len, validations)):
        values = values[(values >= np.concatenate(validations).min()) | (values < 0)]
    positive = values[values > 0]
    if len(positive) == 0 or len(positive) < len(values) / 2 or values.min() < 0:
        return False
    with np.errstate(over="ignore"):
        return bool(positive.max() / positive.min() > _LOG_FROM)
