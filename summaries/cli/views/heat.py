"""A matrix in a terminal: a line for each row, a cell for each column, the larger the brighter."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from summaries.presenting.terminal import encodes, printable, shortened_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from rich.console import Console

__all__ = ["heat_map"]

_COLORS = ("#30123b", "#4662d7", "#36aaf9", "#1ae4b6", "#72fe5e", "#c8ef34", "#faba39", "#f66b19", "#ca2a04")
_MARKS = ".:-=+*#%@"
_MOST_LABEL = 24
_SHORTEST = 4  # cells of a label


def heat_map(
    printing: Console, labels: Sequence[str], matrix: NDArray[np.float64], height: int, *, log: bool
) -> list[Text]:
    """Draw a matrix.

    Args:
        printing: where it is printed: without colors, marks take their place.
        labels: of the rows.
        matrix: float64[k, n], k at least 1: infinite where a value is not finite, which is drawn as "!"; NaN where
            there is none.
        height: most lines. If there are more rows, a line has the largest values of several, with the first label.
        log: whether colors are of logarithms; values that are not positive then have the least color.
    """
    height = min(max(height, 1), len(labels))
    firsts = np.arange(height) * len(labels) // height
    with np.errstate(all="ignore"):
        rows = np.fmax.reduceat(matrix, firsts)
        levels = np.log10(np.where(rows > 0, rows, np.nan)) if log else rows
        levels = np.where(np.isfinite(levels), levels, np.nan)
        some = not np.isnan(levels).all()
        low, high = (float(np.nanmin(levels)), float(np.nanmax(levels))) if some else (0.0, 0.0)
        place = (levels / 2 - low / 2) / (high / 2 - low / 2) if high > low else levels * 0  # halves do not overflow
        shade = np.nan_to_num(place * (len(_MARKS) - 1)).round().astype(int)
    names = [printable(labels[first]) for first in firsts.tolist()]
    if encodes(printing, "…"):
        names = shortened_apart(names, max(min(_MOST_LABEL, printing.width // 3), _SHORTEST))
    margin = max(map(cell_len, names))
    colored = printing.color_system is not None
    lines = []
    for name, row, shades in zip(names, rows.tolist(), shade.tolist(), strict=True):
        line = Text().append(f"{' ' * (margin - cell_len(name))}{name} ", "dim")
        cells = (_cell(value, level, colored=colored) for value, level in zip(row, shades, strict=True))
        for (mark, style), same in groupby(cells):  # fewer sequences: a terminal may be far away
            line.append(mark * len(list(same)), style)
        lines.append(line)
    return lines


def _cell(value: float, level: int, *, colored: bool) -> tuple[str, str]:
    """The mark of a cell, and its style."""
    if math.isnan(value):
        return " ", ""
    if math.isinf(value):
        return "!", "bold white on red"
    return (" ", f"on {_COLORS[level]}") if colored else (_MARKS[level], "")
