"""Cells of tables as numbers, and points apart by run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.tools.formats.points import LeftOut, PointBatch, by_run, integers, numbers

CELLS = [
    ("1", 1.0), (" 2.5 ", 2.5), ("1e400", np.inf), ("-inf", -np.inf), ("NaN", np.nan), ("True", 1.0), ("false", 0.0),
    (3, 3.0), (True, 1.0), (0.5, 0.5), ("", None), ("  ", None), (None, None), ("x", "bad"), ([1], "bad"),
    ({}, "bad"), (10**400, "bad"), ("0x1", "bad"),
]  # fmt: skip


def test_cells_as_numbers():
    value, bad = numbers([cell for cell, _ in CELLS])
    expected = [np.nan if number is None or number == "bad" else number for _, number in CELLS]
    np.testing.assert_equal(value, expected)
    assert bad.tolist() == [number == "bad" for _, number in CELLS]


@pytest.mark.parametrize("cell", [cell for cell, _ in CELLS])
def test_a_cell_alone_is_as_among_others(cell):
    """Numbers alone are converted at once."""
    for others in ([], ["x"], ["1"]):
        value, bad = numbers([cell, *others])
        plain, plain_bad = numbers([cell, "x"])
        np.testing.assert_equal((value[0], bad[0]), (plain[0], plain_bad[0]))


def test_arrays_are_taken_as_they_are():
    value, bad = numbers(np.array([1, 2], np.int8))
    assert (value.tolist(), value.dtype, bad.tolist()) == ([1.0, 2.0], np.float64, [False, False])
    assert integers(np.array([1, -2], np.int8), str).tolist() == [1, -2]
    assert integers(np.array([1.0, -2.0]), str).tolist() == [1, -2]
    assert integers(np.array([7], np.uint64), str).tolist() == [7]


@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**50), 2**50).map(float)), max_size=5))
def test_cells_as_steps(steps):
    expected = [int(step) for step in steps]
    assert integers(steps, str).tolist() == integers([str(step) for step in steps], str).tolist() == expected


@pytest.mark.parametrize(
    "cell", ["1.5", 1.5, "", None, "x", "nan", "inf", float("inf"), 2**63, str(-(2**63) - 1), 1e300, [1]]
)
@pytest.mark.parametrize("others", [[], ["2.0"]])
def test_what_is_no_step(cell, others):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        integers(["1", cell, *others], lambda i: f"x.csv, row {i}")
    assert str(caught.value) == f"x.csv, row 1: a step must be an integer of 64 bits, got {cell!r}"
    with pytest.raises(ValueError, match=r"^1: "):
        integers(np.array([1, 2**63], np.uint64), str)


def test_points_apart_by_run():
    columns = np.arange(5), np.arange(5), np.arange(5.0), np.arange(5.0)
    points = PointBatch(".", list("vwxyz"), *columns)
    assert list(by_run(None, points)) == [points]
    found = [(one.run, one.tag.tolist(), one.value.tolist()) for one in by_run(["b", "a", "", "b", "a"], points)]
    assert found == [("b", [0, 3], [0.0, 3.0]), ("a", [1, 4], [1.0, 4.0]), (".", [2], [2.0])]


def test_what_was_left_out_none_times_is_not_told():
    left_out = LeftOut()
    left_out["a"] += 0
    left_out["b"] += 2
    assert left_out.notes() == ["b: 2 left out"]
