"""Sparklines: where a series is drawn, and the paths of it."""

import numpy as np
import pytest

from summaries.presenting.sparklines import coordinates, sparkline, svg_paths


@pytest.mark.parametrize(
    ("value", "points"),
    [
        ([4.0, 2.0, 3.0], [0, 0, 48, 20, 96, 10]),
        ([100.0, 1.0, 10.0], [0, 0, 48, 20, 96, 10]),  # logarithmic
        ([5.0], [0, 10]),
        ([np.nan, np.inf], [0, -1, 96, -1]),
        ([1e308, -1e308], [0, 0, 96, 20]),
        ([], []),
    ],
)
def test_coordinates(value, points):
    assert coordinates(np.array(value)) == points


def test_a_long_series_is_drawn_by_few_points():
    assert len(coordinates(np.sin(np.arange(100_000)))) <= 2 * (4 * 24 + 2)


def test_a_point_between_gaps_is_drawn_and_each_gap_has_a_tick():
    line, odd = svg_paths(np.array([1.0, np.nan, 2.0, np.inf, 3.0]))
    assert line == "M0 20h0M48 10h0M96 0h0"
    assert odd == "M24 0v6M72 0v6"
    assert svg_paths(np.empty(0)) == ("", "")


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([1.0], "▁"), ([np.nan, np.nan], "··"), ([1.0, np.nan, 2.0], "▁·█"), ([5.0, 5.0], "▁▁"),
     ([-1e300, 1e300], "▁█"), ([-1.7e308, 1.7e308], "▁█"), ([1.7e308] * 16, "▁" * 16)],
)  # fmt: skip
def test_sparkline(values, line):
    assert sparkline(np.array(values, float)) == line
