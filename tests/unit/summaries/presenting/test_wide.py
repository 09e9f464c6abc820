"""Rows by step: the last point at a step stands, and what is missing is missing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summaries.presenting.wide import WideRun, wide_names
from summaries.reading.series import Series


def series(tag, points):
    step, wall_time, value = zip(*points, strict=True) if points else ((), (), ())
    return Series(tag, np.array(step, np.int64), np.array(wall_time, float), np.array(value, float))


POINTS = st.lists(
    st.tuples(st.integers(-2, 6) | st.sampled_from([-(2**63), 2**63 - 1]), st.floats(0, 9), st.floats(width=32)),
    max_size=12,
)


@given(st.dictionaries(st.sampled_from("abc"), POINTS), st.integers(1, 4))
def test_every_cell_is_the_last_point_of_its_tag_and_step(runs, size):
    """Whatever pieces the table is made in; also if steps go back, and at both ends of int64."""
    tags = sorted(runs)
    table = WideRun({tag: series(tag, points) for tag, points in runs.items()}, tags)
    cells = {(tag, step): (time, value) for tag, points in runs.items() for step, time, value in points}
    steps = sorted({step for _, step in cells})
    assert table.step.tolist() == steps
    pieces = [table.rows(start, start + size) for start in range(0, len(steps), size)]
    got = {}
    for piece in pieces:
        for row, step in enumerate(piece.step.tolist()):
            times = [cells[tag, step][0] for tag in tags if (tag, step) in cells]
            assert piece.wall_time[row] == max(times)
            for tag, value, missing in zip(tags, piece.value, piece.missing, strict=True):
                assert missing[row] == ((tag, step) not in cells)
                if missing[row]:
                    assert np.isnan(value[row])
                else:
                    got[tag, step] = value[row]
    assert repr(sorted(got.items())) == repr(sorted((key, np.float64(value)) for key, (_, value) in cells.items()))


def test_a_tag_that_the_run_does_not_have():
    rows = WideRun({"a": series("a", [(1, 0.5, 2.0)])}, ["b", "a"]).rows()
    assert [values.tolist() for values in rows.missing] == [[True], [False]]


def test_a_run_without_points():
    rows = WideRun({}, ["a"]).rows()
    assert (rows.step.dtype, rows.wall_time.dtype, rows.value[0].dtype) == (np.int64, np.float64, np.float64)
    assert len(rows.step) == len(rows.wall_time) == len(rows.value[0]) == 0


def test_names_of_columns_are_all_different():
    names = wide_names(["step", "step_", "run", "loss", "wall_time"])
    assert names == ["step_", "step__", "run_", "loss", "wall_time_"]
