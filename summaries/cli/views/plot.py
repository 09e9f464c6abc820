"""Curves drawn in a terminal: braille dots in colour, or plain characters where there are no colours or no braille.

A library was weighed: plotext takes a quarter of a second to import, and version 6 broke its interface. What is needed
is one kind of plot, of millions of points, with gaps where values are not finite.

Each curve is reduced to what its columns of dots show (first, lowest, highest, last), then drawn as lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from summaries.cli.views.formats import number_text, step_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["MARKS", "STYLES", "Line", "plot", "smoothed"]

STYLES = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_cyan", "bright_magenta")
"""The colours of curves, in order; after the last, the first again."""

MARKS = "*+ox#@%&"
"""Their marks, where there are no colours."""

_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], np.uint8)  # [row, column] of a character
_MOST_PIECES = 64  # a curve whose steps go back more often is drawn as points
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_LEAST, _LARGEST = 1e-300, 1.7e308  # spans below the first have no round numbers
_LEAST_POWER, _LARGEST_POWER = -323.0, 308.2  # of ten, that a float has
_FINE = (1.0, 2.0, 5.0)  # between powers of ten


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Points to draw.

    Attributes:
        step: int64[n], in the order they were written.
        value: float64[n].
    """

    step: NDArray[np.int64]
    value: NDArray[np.float64]


def smoothed(value: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """The exponential moving average, as TensorBoard draws it; values that are not finite stay as they are.

    Args:
        value: float64[n].
        weight: of what came before, from 0 to less than 1.

    >>> smoothed(np.array([1.0, 2.0, np.nan, 2.0]), 0.5).round(3)
    array([1.   , 1.667,   nan, 1.857])
    """
    averages = value.copy()
    average = unseen = 0.0
    for i, number in enumerate(value.tolist()):
        if math.isfinite(number):
            average = average * weight + (1 - weight) * number
            unseen = unseen * weight + (1 - weight)  # the share of what is known: 1 - weight ** number
            averages[i] = average / unseen
    return averages


def plot(curves: Sequence[Line], width: int, height: int, *, log: bool = False, marks: bool = False) -> list[Text]:
    """Draw curves over one another, with axes.

    Args:
        curves: the curves; the first is drawn last, so that it is on top.
        width: of the whole drawing, in cells.
        height: of the part with the curves, in lines.
        log: whether the axis of values is logarithmic; values that are not positive are left out then.
        marks: whether to draw with one character for each curve, not with coloured braille.

    Returns:
        The lines. Below the curves, "x" marks columns in which values are not finite, or left out.
    """
    finite = [_shown(curve.value, log=log) for curve in curves]
    if not any(shown.any() for shown in finite):
        return [Text("no value to draw", "dim")]
    low = min(float(curve.value[shown].min()) for curve, shown in zip(curves, finite, strict=True) if shown.any())
    high = max(float(curve.value[shown].max()) for curve, shown in zip(curves, finite, strict=True) if shown.any())
    first = min(int(curve.step.min()) for curve in curves if len(curve.step))
    last = max(int(curve.step.max()) for curve in curves if len(curve.step))
    values = _Axis.of_values(low, high, log=log)
    labels = _labels(values, height)
    margin = max(map(len, labels.values()), default=0)
    canvas = _Canvas(max(width - margin - 2, 10), height, marks=marks)
    for i in reversed(range(len(curves))):
        canvas.draw(i, curves[i], finite[i], values, _Axis(float(first), float(last)))
    lines = []
    for row, line in enumerate(canvas.lines()):
        label = labels.get(row, "")
        axis = Text(f"{label:>{margin}} {'┤' if label else '│'}" if not marks else f"{label:>{margin}} |", "dim")
        line.rstrip()
        lines.append(axis + line)
    corner, across = ("└", "─") if not marks else ("+", "-")
    foot = Text(" " * (margin + 1) + corner, "dim")
    for missing in canvas.missing.tolist():
        foot.append("x" if missing else across, "bold red" if missing else "dim")
    return [*lines, foot, Text(" " * (margin + 2) + _steps_line(first, last, canvas.width), "dim")]


def _shown(value: NDArray[np.float64], *, log: bool) -> NDArray[np.bool_]:
    shown: NDArray[np.bool_] = np.isfinite(value)
    return shown & (value > 0) if log else shown


@dataclass(frozen=True, slots=True)
class _Axis:
    """A scale from numbers to places: 0 at `low`, 1 at `high`."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def of_values(cls, low: float, high: float, *, log: bool) -> _Axis:
        if log:
            low, high = math.log10(low), math.log10(high)
        if low == high:
            pad = 0.5 if log else abs(low) / 2 or 0.5
            low, high = max(low - pad, -_LARGEST), min(high + pad, _LARGEST)
        return cls(max(low, _LEAST_POWER), min(high, _LARGEST_POWER), log) if log else cls(low, high)

    def places(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n] from 0 to 1."""
        numbers = np.log10(numbers) if self.log else numbers
        scale = max(abs(self.low), abs(self.high)) or 1.0  # so that no difference overflows
        span = self.high / scale - self.low / scale
        position: NDArray[np.float64] = (numbers / scale - self.low / scale) / (span or 1.0)
        return np.clip(position, 0.0, 1.0)


class _Canvas:
    """A grid of dots, 2 by 4 in a character, each with the number of the curve that was drawn there last."""

    def __init__(self, width: int, height: int, *, marks: bool) -> None:
        self.width, self.height = width, height
        self._marks = marks
        across, down = (1, 1) if marks else (2, 4)
        self._dots = np.zeros((height * down, width * across), bool)
        self._owner = np.full((height, width), -1, np.int16)
        self.missing = np.zeros(width, bool)

    def draw(self, number: int, curve: Line, shown: NDArray[np.bool_], values: _Axis, steps: _Axis) -> None:
        """Draw a curve; `number` is its own."""
        rows, columns = self._dots.shape
        x = np.rint(steps.places(curve.step.astype(np.float64)) * (columns - 1)).astype(np.intp)
        self.missing[x[~shown] * self.width // columns] = True
        y = np.zeros(len(x), np.intp)
        y[shown] = np.rint((1 - values.places(curve.value[shown])) * (rows - 1)).astype(np.intp)
        ends = np.flatnonzero((np.diff(curve.step) < 0) | (shown[1:] != shown[:-1])) + 1
        pieces = np.split(np.arange(len(x)), ends) if len(ends) <= _MOST_PIECES else []
        if not pieces:
            self._dot(number, x[shown], y[shown])
        for piece in pieces:
            if len(piece) and shown[piece[0]]:
                self._line(number, *_reduced(x[piece], y[piece]))

    def _line(self, number: int, x: NDArray[np.intp], y: NDArray[np.intp]) -> None:
        """Connect points by lines."""
        self._dot(number, x, y)
        for x0, y0, x1, y1 in zip(x[:-1].tolist(), y[:-1].tolist(), x[1:].tolist(), y[1:].tolist(), strict=True):
            between = max(abs(x1 - x0), abs(y1 - y0)) - 1
            if between > 0:
                at = np.arange(1, between + 1) / (between + 1)
                along = np.rint(x0 + (x1 - x0) * at).astype(np.intp)
                self._dot(number, along, np.rint(y0 + (y1 - y0) * at).astype(np.intp))

    def _dot(self, number: int, x: NDArray[np.intp], y: NDArray[np.intp]) -> None:
        self._dots[y, x] = True
        down, across = self._dots.shape[0] // self.height, self._dots.shape[1] // self.width
        self._owner[y // down, x // across] = number

    def lines(self) -> list[Text]:
        """The lines, from top to bottom."""
        if not self._marks:
            dots = self._dots.reshape(self.height, 4, self.width, 2)
            codes = (dots * _DOTS[:, None, :]).sum((1, 3), dtype=np.int64)
        lines = []
        for row in range(self.height):
            line = Text()
            for column, owner in enumerate(self._owner[row].tolist()):
                if owner < 0:
                    line.append(" ")
                elif self._marks:
                    line.append(MARKS[owner % len(MARKS)])
                else:
                    line.append(chr(_BRAILLE + int(codes[row, column])), STYLES[owner % len(STYLES)])
            lines.append(line)
        return lines


def _reduced(x: NDArray[np.intp], y: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first, lowest, highest and last point of each column: lines between these look as between all."""
    starts = np.flatnonzero(np.diff(x, prepend=-1))
    if 4 * len(starts) >= len(x):
        return x, y
    ends = np.append(starts[1:], len(x)) - 1
    lows, highs = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    return np.repeat(x[starts], 4), np.column_stack([y[starts], lows, highs, y[ends]]).ravel()


def _labels(axis: _Axis, height: int) -> dict[int, str]:
    """The numbers beside the axis of values: line → text, two lines apart at least."""
    labels: dict[int, str] = {}
    for tick in _ticks(axis, max(height // 2, 2)):
        number = 10**tick if axis.log else tick
        position = float(axis.places(np.array([number]))[0])
        row = round((1 - position) * (height - 1))
        if not any(abs(row - other) < 2 for other in labels):  # noqa: PLR2004
            labels[row] = number_text(number)
    return labels


def _ticks(axis: _Axis, most: int) -> list[float]:
    """At most about so many round numbers on an axis; of a logarithmic one, their logarithms."""
    low, high = axis.low, axis.high
    if axis.log:
        powers = range(math.floor(low), math.ceil(high) + 1)
        factors = _FINE if 3 * len(powers) <= most + 3 else (1.0,)
        ticks = [power + math.log10(factor) for power in powers for factor in factors]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) > 1:
            return ticks[:: math.ceil(len(ticks) / most)]
        return [math.log10(tick) for tick in _ticks(_Axis(10**low, 10**high), most) if tick > 0]
    rough = high / most - low / most  # divided first, so that it does not overflow
    if rough < _LEAST:
        return [low, high]
    size = 10.0 ** math.floor(math.log10(rough))
    rough /= size
    step = size * next(factor for factor in _ROUND if factor >= rough * 0.999)
    if not math.isfinite(step):
        return [low, high]
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _steps_line(first: int, last: int, width: int) -> str:
    """The steps below the drawing: the first, the middle and the last."""
    left, right = step_text(first), step_text(last)
    middle = f"step {step_text((first + last) // 2)}"
    if len(left) + len(middle) + len(right) + 4 > width:
        return f"{left}{right:>{max(width - len(left), len(right) + 1)}}"
    return f"{left}{middle:^{width - len(left) - len(right)}}{right}"
