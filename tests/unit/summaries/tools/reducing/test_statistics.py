"""Statistics over runs, beside pandas'."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from summaries.tools.reducing.statistics import over_runs, statistic

pd = pytest.importorskip("pandas", reason="an extra")

AS_PANDAS = {
    "mean": lambda frame: frame.mean(axis=1),
    "median": lambda frame: frame.median(axis=1),
    "std": lambda frame: frame.std(axis=1),
    "min": lambda frame: frame.min(axis=1),
    "max": lambda frame: frame.max(axis=1),
    "count": lambda frame: frame.count(axis=1),
    "mean+std": lambda frame: frame.mean(axis=1) + frame.std(axis=1),
    "mean-std": lambda frame: frame.mean(axis=1) - frame.std(axis=1),
    "q0.25": lambda frame: frame.quantile(0.25, axis=1),
    "q.9": lambda frame: frame.quantile(0.9, axis=1),
    "q0": lambda frame: frame.min(axis=1),
    "q1.0": lambda frame: frame.max(axis=1),
}
shapes = st.tuples(st.integers(1, 6), st.integers(1, 5))
matrices = shapes.flatmap(lambda shape: arrays(float, shape, elements=st.one_of(st.floats(-1e6, 1e6), st.just(np.nan))))


@given(matrices)
def test_as_pandas(values):
    values = values[~np.isnan(values).all(axis=1)]
    found = over_runs(values, [statistic(name) for name in AS_PANDAS])
    frame = pd.DataFrame(values)
    for result, expected in zip(found, AS_PANDAS.values(), strict=True):
        np.testing.assert_allclose(result, expected(frame).to_numpy(), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_the_denominator_of_the_standard_deviation(ddof):
    values = np.array([[1.0, 2.0, 4.0, 8.0], [1.0, 2.0, np.nan, np.nan], [1.0, np.nan, np.nan, np.nan]])
    (found,) = over_runs(values, [statistic("std", ddof)])
    np.testing.assert_allclose(found, pd.DataFrame(values).std(axis=1, ddof=ddof).to_numpy())


def test_infinities():
    values = np.array([[1.0, np.inf, 2.0], [-np.inf, np.inf, 0.0]])
    names = ("mean", "std", "min", "median", "max", "count")
    found = np.array(over_runs(values, [statistic(name) for name in names])).T
    nan, inf = np.nan, np.inf
    np.testing.assert_equal(found, [[inf, nan, 1, 2, inf, 3], [nan, nan, -inf, 0, inf, 3]])


@pytest.mark.parametrize("name", ["average", "q", "q2", "q1.5", "q-1", "q25", "Mean", ""])
def test_there_is_no_such_statistic(name):
    known = "mean, median, std, min, max, count, mean+std, mean-std"
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        statistic(name)
    assert (
        str(caught.value)
        == f"a statistic must be one of {known}, or a quantile from q0 to q1 such as q0.25, got {name!r}"
    )
