"""Which points are drawn. What holds of any series is in tests/properties."""

import numpy as np
import pytest

from summaries.presenting.thinning import thin


@pytest.mark.parametrize(
    ("count", "stretches", "whole"), [(0, 1, True), (2, 1, True), (3, 1, False), (2000, 1000, True)]
)
def test_a_short_series_is_kept_whole(count, stretches, whole):
    value = np.zeros(count)
    assert (len(thin(value, stretches)) == count) is whole


def test_extremes_and_ends_stay():
    value = np.zeros(100)
    value[[13, 57]] = 5.0, -7.0
    assert {0, 13, 57, 99} <= set(thin(value, 4).tolist())


def test_of_what_is_not_finite_the_first_and_the_last_of_a_stretch_stay():
    value = np.zeros(100)
    value[30:41] = np.nan
    value[35] = np.inf
    assert [at for at in thin(value, 2).tolist() if not np.isfinite(value[at])] == [30, 40]


def test_there_is_a_stretch():
    with pytest.raises(ValueError, match=r"^stretches must be at least 1, got 0$"):
        thin(np.zeros(5), 0)
