"""Plots in the terminal: each curve is where its values are, at every scale."""

import math

import numpy as np
import pytest

from summaries.cli.views.plot import Line, plot, smoothed


def drawn(*curves, width=30, height=6, **options):
    """The lines of a plot, without colours."""
    made = [Line(np.arange(len(values)), np.array(values, float)) for values in curves]
    return [line.plain.rstrip() for line in plot(made, width, height, **options)]


def test_a_line_in_marks():
    assert drawn([0, 1, 2, 3, 4, 5], marks=True, width=16) == [
        "  |           **",
        "4 |         **",
        "  |      ***",
        "2 |    **",
        "  | ***",
        "0 |*",
        "  +-------------",
        "   0  step 2   5",
    ]


def test_a_line_in_braille():
    assert drawn([0, 1], width=14, height=2) == [
        "  │     ⢀⣀⠤⠔⠒⠉",
        "0 ┤⣀⠤⠔⠒⠉⠁",
        "  └───────────",
        "   0         1",
    ]


def test_the_first_curve_is_on_top():
    lines = drawn([1, 1, 1], [1, 1, 2], marks=True)
    assert sum(line.count("*") for line in lines) > sum(line.count("+") for line in lines[:-2]) > 0


def test_gaps_are_marked_below():
    lines = drawn([1, 2, math.nan, math.inf, 2, 1], marks=True, width=24)
    assert lines[-2].count("x") == 2
    assert not any("*" in line[12:14] for line in lines[:-2])


def test_a_logarithmic_axis_leaves_out_what_is_not_positive():
    lines = drawn([1e-3, 1e-2, 1e-1, 1.0, 0.0, -1.0], log=True, marks=True, width=40, height=8)
    assert [line.split()[0] for line in lines[:8] if line.split()[0] != "|"] == ["1", "0.1", "0.01", "0.001"]
    assert lines[-2].count("x") == 2


def test_steps_that_go_back_are_not_connected():
    curve = Line(np.array([0, 9, 0, 9]), np.array([0.0, 0.0, 9.0, 9.0]))
    lines = [line.plain for line in plot([curve], 30, 8, marks=True)]
    assert [("*" in line) for line in lines[:8]] == [True] + [False] * 6 + [True]


def test_many_points_look_as_all_of_them():
    """Reducing a curve to what its columns show does not change the picture."""
    rng = np.random.default_rng(0)
    values = np.cumsum(rng.normal(size=4000))
    whole = drawn(values, width=60, height=10)
    values_at = np.repeat(values, 9)  # nine times as many points, at the same places
    curve = Line(np.repeat(np.arange(4000), 9), values_at)
    assert [line.plain.rstrip() for line in plot([curve], 60, 10)] == whole


ODD = {
    "nothing": [],
    "one": [3.0],
    "equal": [2.0, 2.0, 2.0],
    "zeros": [0.0, 0.0],
    "huge": [-1.7e308, 1.7e308],
    "huge and equal": [1.7e308, 1.7e308],
    "tiny": [5e-324, 1e-323],
    "not finite": [math.nan, math.inf],
    "nearly equal": [1e9, 1e9 + 1e-6],
}


@pytest.mark.parametrize("values", ODD.values(), ids=ODD)
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize(("width", "height"), [(10, 4), (80, 12)])
def test_odd_values(values, log, marks, width, height):
    lines = drawn(values, log=log, marks=marks, width=width, height=height)
    shown = any(math.isfinite(value) and (value > 0 or not log) for value in values)
    assert (lines == ["no value to draw"]) != shown
    assert len({line.index("┤│|"[0]) for line in lines if "┤" in line}) <= 1  # one axis


def test_huge_steps():
    curve = Line(np.array([0, 2**62]), np.array([0.0, 1.0]))
    assert plot([curve], 60, 5)[-1].plain.split()[-1] == "4,611,686,018,427,387,904"


def test_smoothed_is_tensorboards():
    """TensorBoard divides the moving average by 1 - weight ** number."""
    values = np.random.default_rng(0).normal(size=50)
    average, expected = 0.0, []
    for number, value in enumerate(values, 1):
        average = average * 0.6 + 0.4 * value
        expected.append(average / (1 - 0.6**number))
    assert smoothed(values, 0.6) == pytest.approx(expected)
