"""A matrix as cells of a terminal."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from rich.console import Console

from summaries.cli.views.heat import heat_map

NAN, INF = np.nan, np.inf


def console(width=80, color=None):
    return Console(file=io.StringIO(), width=width, color_system=color, force_terminal=True)


def plain(lines):
    return [line.plain for line in lines]


def test_the_larger_the_darker_and_what_is_not_finite_is_marked():
    matrix = np.array([[0.0, 4.0, 8.0, NAN], [8.0, INF, NAN, 2.0]])
    assert plain(heat_map(console(), ["a", "bb"], matrix, 9, log=False)) == [" a .+@ ", "bb @! -"]
    powers = np.array([[1.0, 10.0, 100.0, 0.0]])
    assert plain(heat_map(console(), ["a"], powers, 9, log=True)) == ["a .+@."]


def test_with_colors_equal_cells_are_one_piece():
    [line] = heat_map(console(color="truecolor"), ["a"], np.array([[1.0, 1.0, 1.0, 9.0]]), 9, log=False)
    assert [(span.end - span.start, span.style) for span in line.spans[1:]] == [(3, "on #30123b"), (1, "on #ca2a04")]


def test_with_few_lines_the_largest_of_several_rows_is_shown():
    matrix = np.array([[0.0, 1.0], [8.0, 0.0], [NAN, 3.0], [NAN, INF]])
    assert plain(heat_map(console(), list("abcd"), matrix, 2, log=False)) == ["a @.", "c  !"]


SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(
    npst.arrays(np.float64, SHAPES, elements=st.floats(allow_infinity=False) | st.just(INF)),
    st.integers(-1, 12), st.integers(1, 60), st.booleans(), st.sampled_from([None, "truecolor"]),
)  # fmt: skip
def test_any_matrix_is_drawn(matrix, height, width, log, color):
    lines = heat_map(console(width, color), ["\x1b[31mname\n"] * len(matrix), matrix, height, log=log)
    assert len(lines) == min(max(height, 1), len(matrix))
    assert len({line.cell_len for line in lines}) == 1
    assert all(line.plain.isprintable() for line in lines)


@pytest.mark.parametrize("value", [NAN, INF, 0.0, -1.0, 5e-324, 1.7e308])
def test_one_value_everywhere(value):
    lines = heat_map(console(), ["a"], np.full((1, 3), value), 1, log=True)
    assert plain(lines)[0] in ("a    ", "a !!!", "a ...")
