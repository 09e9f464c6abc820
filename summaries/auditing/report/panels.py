"""A run's curves → the charts to draw of them: which curves belong together, and how each chart is to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.auditing.curves import Curve

    Kind = Literal["lines", "heat"]

__all__ = ["Panel", "panels"]

# Title, how it is drawn, and the roles in it, in the order in which a reader asks for them. What comes twice is drawn
# once, by the first roles that there are.
_LAYOUT: tuple[tuple[str, Kind, tuple[str, ...]], ...] = (
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
_LINEAR = frozenset({"learning_rate", "clipped", "clipped_fraction", "zero_fraction"})  # these are read from zero on
_MOST_LINES = 8  # as many as there are colors that can be told apart; more lines are charts of their own
_LOG_FROM = 10.0  # largest over least value from which a linear axis would hide the small ones


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart.

    Attributes:
        title: what it says above it.
        kind: "lines", or "heat": a row a variable, over the steps, brighter where the value is larger.
        curves: which of the run's curves are in it, by index.
        log: whether its values are to be read on a logarithmic axis.
        further: whether it is one that nobody asked for by role.
    """

    title: str
    kind: Kind
    curves: tuple[int, ...]
    log: bool
    further: bool = False


def panels(curves: Sequence[Curve]) -> list[Panel]:
    """The charts of a run, in the order of the page; every curve is in exactly one."""
    made: list[Panel] = []
    shown: set[int] = set()
    for title, kind, roles in _LAYOUT + _FURTHER:
        found = sorted(
            (index for index, curve in enumerate(curves) if curve.role in roles),
            key=lambda index: (roles.index(curves[index].role), _counting(curves[index].tag)),
        )
        if not found or title in {panel.title for panel in made}:
            continue
        drawn = kind if len(found) > 1 else "lines"
        chosen = tuple(found if drawn == "heat" else found[:_MOST_LINES])
        further = (title, kind, roles) in _FURTHER
        made.append(Panel(title, drawn, chosen, _spread(curves[index] for index in chosen), further))
        shown.update(chosen)
    rest = sorted(set(range(len(curves))) - shown, key=lambda index: _counting(curves[index].tag))
    return made + [Panel(curves[i].tag, "lines", (i,), _spread([curves[i]]), further=True) for i in rest]


def _counting(tag: str) -> list[tuple[int, str]]:
    """Orders layer_2 before layer_10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", tag)]


def _spread(curves: Iterable[Curve]) -> bool:
    """Whether the values are better read on a logarithmic axis: none is negative, their magnitudes differ."""
    curves = list(curves)
    if any(curve.role in _LINEAR for curve in curves):
        return False
    values = np.concatenate([curve.value for curve in curves])
    values = values[np.isfinite(values)]
    positive = values[values > 0]
    if len(positive) == 0 or len(positive) < len(values) / 2 or values.min() < 0:
        return False
    with np.errstate(over="ignore"):
        return bool(positive.max() / positive.min() > _LOG_FROM)
