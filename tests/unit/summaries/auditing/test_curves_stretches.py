"""Curves: which points are drawn, and the shares of stretches. What holds of any series is in tests/properties."""

import numpy as np
import pytest

from summaries.auditing.curves import means, thin


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


@pytest.mark.parametrize(
    ("count", "width"), [(1, 20), (19, 20), (20, 20), (21, 20), (4000, 20), (4001, 21), (100_000, 500)]
)
def test_means(count, width):
    value = (np.arange(count) % 3 == 0).astype(float)
    last, share = means(value)
    parts = [value[start : start + width] for start in range(0, count, width)]
    assert share.tolist() == pytest.approx([part.mean() for part in parts])
    assert last.tolist() == [min(start + width, count) - 1 for start in range(0, count, width)]
    assert len(last) <= 200


def test_means_of_nothing_and_of_nan():
    last, share = means(np.empty(0))
    assert (len(last), len(share)) == (0, 0)
    last, share = means(np.append(np.ones(20), [np.nan, np.inf]))
    assert share[0] == 1
    assert np.isnan(share[1])
