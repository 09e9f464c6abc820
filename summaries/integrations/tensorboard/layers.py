"""Layers over steps: the statistics of all variables as one matrix, with as many columns as a screen has pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.signals.tags import network_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["Kind", "cells", "extent", "kinds", "matrix"]

# Role, title, and whether its colors are logarithmic.
_TITLES = (
    ("gradient_norm", "Gradient norm", True),
    ("update_ratio", "Update ratio", True),
    ("weight_norm", "Weight norm", True),
    ("update_norm", "Update norm", True),
    ("zero_fraction", "Share of zeros in the gradient", False),
    ("slot_norm", "norm", True),
    ("slot_max", "largest", True),
    ("slot_mean", "mean", False),
    ("slot_min", "least", False),
)

_LEAST, _MOST = -(2.0**63), 2.0**63 - 1024  # the largest float that is a step


@dataclass(frozen=True, slots=True)
class Kind:
    """A statistic that a run has for its variables.

    Attributes:
        key: its role, and for a slot of the optimizer, a slash and the slot.
        title: its name for people.
        log: whether its colors are logarithmic.
        rows: the signal of each variable, in the order of the network.
    """

    key: str
    title: str
    log: bool
    rows: tuple[Signal, ...]


def kinds(signals: Signals) -> list[Kind]:
    """The statistics that a run has for its variables, in the order in which people ask for them."""
    found: list[Kind] = []
    for role, title, log in _TITLES:
        by_slot: dict[str, list[Signal]] = {}
        for signal in signals.of(role):
            if len(signal):
                by_slot.setdefault(signal.meaning.slot, []).append(signal)
        for slot, rows in by_slot.items():
            key, told = (f"{role}/{slot}", f"Slot {slot}: {title}") if slot else (role, title)
            ordered = tuple(rows[at] for at in network_order([row.tag for row in rows]))
            found.append(Kind(key, told, log, ordered))
    return found


def extent(rows: Sequence[Signal]) -> tuple[int, int]:
    """The first and the last step of these signals."""
    steps = [signal.standing.step for signal in rows]
    return min(int(step[0]) for step in steps), max(int(step[-1]) for step in steps)


def matrix(rows: Sequence[Signal], low: float, high: float, width: int) -> NDArray[np.float64]:
    """The largest value of each signal in each of `width` equal stretches of steps.

    Args:
        rows: k signals.
        low: the step at which the first stretch begins.
        high: the step at which the last one ends, above `low`.
        width: the number of stretches.

    Returns:
        float64[k, width]; infinite where a value is not finite, NaN where there is none: before the first point of a
        signal and after its last.
    """
    edges = np.linspace(low, high, width + 1)
    return np.array([cells(signal.standing, edges) for signal in rows]).reshape(len(rows), width)


def cells(series: Series, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row of a matrix: between two points, a cell without a point has the value of the one before it.

    Args:
        series: the points, with steps that do not fall.
        edges: float64[width + 1], rising: where the cells begin, and where the last one ends.

    >>> from summaries.reading.series import Series
    >>> series = Series("a", np.array([1, 2, 3, 6]), np.zeros(4), np.array([5.0, 7.0, np.nan, 1.0]))
    >>> cells(series, np.array([0.0, 1.0, 3.0, 5.0, 6.0, 7.0, 8.0]))
    array([nan,  7., inf, inf,  1., nan])
    """
    whole = np.ceil(np.clip(edges, _LEAST, _MOST)).astype(np.int64)  # else the steps would be converted, all of them
    at = np.searchsorted(series.step, whole)
    if edges[-1] >= whole[-1]:  # the last stretch contains its end
        at[-1] = np.searchsorted(series.step, whole[-1], side="right") if edges[-1] < _MOST else len(series.step)
    first, last = int(at[0]), int(at[-1])
    value = series.value[max(first - 1, 0) : last]
    if not np.isfinite(value).all():
        value = np.where(np.isfinite(value), value, np.inf)
    at -= max(first - 1, 0)
    row = np.full(len(edges) - 1, np.nan)
    filled = at[1:] > at[:-1]
    if filled.any():
        row[filled] = np.maximum.reduceat(value, at[:-1][filled])
    between = ~filled & (at[:-1] > 0) & (edges[:-1] <= series.step[-1])
    row[between] = value[at[:-1][between] - 1]
    return row
