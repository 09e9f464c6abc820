"""Series side by side, step by step, beside pandas' joins and interpolation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import Series
from summaries.tools.choices import ALIGNMENTS
from summaries.tools.reducing.alignment import aligned

pd = pytest.importorskip("pandas", reason="an extra")


def series(points):
    step = np.array([step for step, _ in points], np.int64)
    return Series("x", step, step / 2 + 1e9, np.array([value for _, value in points], float))


def beside(frame, how):
    """What pandas makes of columns that are NaN where a run has no point."""
    if how == "exact":
        return frame.dropna()
    return frame.interpolate(method="index", limit_area="inside") if how == "interpolate" else frame


values = st.floats(-1e6, 1e6)
points = st.dictionaries(st.integers(0, 60), values, min_size=1, max_size=20).map(lambda d: sorted(d.items()))


@given(st.lists(points, min_size=1, max_size=4), st.sampled_from(ALIGNMENTS))
def test_as_pandas(runs, how):
    found = aligned([series(points) for points in runs], how)
    columns = [pd.Series(dict(points), dtype=float) for points in runs]
    expected = beside(pd.concat(columns, axis=1).sort_index(), how)
    assert found.step.tolist() == expected.index.tolist()
    np.testing.assert_allclose(found.value, expected.to_numpy(), rtol=1e-9, atol=1e-6)
    np.testing.assert_array_equal(found.present, ~np.isnan(found.value))


@pytest.mark.parametrize(
    ("how", "expected"),
    [("exact", [105.0, 100.0]), ("union", [105.0, 10.0, 100.0]), ("interpolate", [105.0, 102.5, 100.0])],
)
def test_the_time_is_that_of_the_last_run_there(how, expected):
    a = Series("x", np.array([0, 10, 20]), np.array([1.0, 10.0, 3.0]), np.zeros(3))
    b = Series("x", np.array([0, 20]), np.array([105.0, 100.0]), np.zeros(2))
    assert aligned([a, b], how).wall_time.tolist() == expected


def test_times_that_are_none_stay_so():
    a = Series("x", np.array([0]), np.array([np.nan]), np.zeros(1))
    np.testing.assert_equal(aligned([a, a], "exact").wall_time, [np.nan])


def test_steps_beyond_what_floats_tell_apart():
    a = series([(2**60, 0.0), (2**60 + 4, 4.0)])
    b = series([(2**60 + 1, 7.0)])
    found = aligned([a, b], "interpolate")
    assert found.step.tolist() == [2**60, 2**60 + 1, 2**60 + 4]
    assert found.value[:, 0].tolist() == [0.0, 1.0, 4.0]


def test_steps_further_apart_than_an_integer_tells():
    a = series([(-(2**63), 0.0), (2**63 - 1, 4.0)])
    found = aligned([a, series([(0, 7.0)])], "interpolate")
    assert found.value[:, 0].tolist() == [0.0, 2.0, 4.0]


def test_infinite_and_absent_neighbours():
    a = series([(0, np.inf), (10, 1.0), (20, np.nan), (30, 2.0)])
    b = series([(5, 0.0), (15, 0.0), (25, 0.0), (35, 0.0)])
    found = aligned([a, b], "interpolate")
    at = dict(zip(found.step.tolist(), found.value[:, 0].tolist(), strict=True))
    np.testing.assert_equal([at[5], at[15], at[25], at[35]], [np.nan, np.nan, np.nan, np.nan])
    assert dict(zip(found.step.tolist(), found.present[:, 0].tolist(), strict=True))[35] is False
    assert found.present[:-1, 0].all()
