"""Sparklines: a series as a line the height of a word, by which one sees whether it falls, jumps or ends in NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.presenting.thinning import thin

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BARS", "HEIGHT", "PLAIN_BARS", "WIDTH", "coordinates", "sparkline", "svg_paths"]

WIDTH, HEIGHT = 96, 20
BARS = "▁▂▃▄▅▆▇█·"
PLAIN_BARS = "_.-~=+*#?"  # for encodings without block characters
_STRETCHES = 24
_LOG_FROM = 10.0


def coordinates(value: NDArray[np.float64]) -> list[int]:
    """Where to draw a series: x0, y0, x1, y1, … in a box of 96 by 20, with y downwards.

    The extremes stay, as in `thin`. If all values are positive and the largest is more than 10 times the least, heights
    are logarithmic.

    Args:
        value: float64[n], in the order to be drawn.

    Returns:
        At most 98 points; y is -1 where the value is not finite.

    >>> coordinates(np.array([4.0, np.nan, 2.0]))
    [0, 0, 48, -1, 96, 20]
    """
    at = thin(value, _STRETCHES)
    x = np.round(at * (WIDTH / max(len(value) - 1, 1))).astype(int)
    shown = value[at]
    finite = np.isfinite(shown)
    y = np.full(len(shown), -1)
    if finite.any():
        height = shown[finite]
        with np.errstate(over="ignore"):
            if height.min() > 0 and height.max() / height.min() > _LOG_FROM:
                height = np.log(height)
        low, high = height.min() / 2, height.max() / 2  # halves: their difference never overflows
        share = (height / 2 - low) / (high - low) if high > low else np.full(len(height), 0.5)
        y[finite] = np.round((1 - share) * HEIGHT).astype(int)
    return [int(number) for number in np.stack([x, y], axis=1).ravel()]


def svg_paths(value: NDArray[np.float64]) -> tuple[str, str]:
    """The same as two SVG paths: the line, and a tick at the top for each value that is not finite.

    >>> svg_paths(np.array([4.0, 3.0, np.nan, 2.0]))
    ('M0 0h0L32 10M96 20h0', 'M64 0v6')
    """
    line, odd, following = "", "", False
    points = coordinates(value)
    for x, y in zip(points[::2], points[1::2], strict=True):
        if y < 0:
            odd += f"M{x} 0v6"
        else:
            line += f"L{x} {y}" if following else f"M{x} {y}h0"  # so that a point between two gaps is drawn
        following = y >= 0
    return line, odd


def sparkline(averages: NDArray[np.float64], bars: str = BARS) -> str:
    """A curve's averages as a line of bars; the last of `bars` marks averages that are not finite.

    >>> sparkline(np.array([4.0, 3.0, np.nan, 1.0]))
    '█▆·▁'
    """
    halves = averages / 2  # whose differences do not overflow
    finite = halves[np.isfinite(halves)]
    if not len(finite):
        return bars[-1] * len(halves)
    low = finite.min()
    span = (finite.max() - low) or 1.0
    return "".join(bars[round((x - low) / span * (len(bars) - 2))] if np.isfinite(x) else bars[-1] for x in halves)
