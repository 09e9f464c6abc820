"""What stands of a series, in the cases that are easily got wrong."""

import numpy as np
import pytest

from summaries.reading.restarts import Standing, standing
from summaries.reading.series import Series

HIGHEST = np.iinfo(np.int64).max


def names(codes):
    return [Standing(code).name for code in codes]


@pytest.mark.parametrize("keep_repeats", [False, True])
def test_the_last_point_stands_at_the_highest_step(keep_repeats):
    codes = standing(np.array([1, HIGHEST]), [(1, 2)], keep_repeats=keep_repeats)
    assert names(codes) == ["STANDS", "STANDS"]


def test_repeats_of_a_step():
    step = np.array([1, 2, 2, 3, 3, 2])
    assert names(standing(step, [])) == ["STANDS", *["WRITTEN_AGAIN"] * 4, "STANDS"]
    assert names(standing(step, [], keep_repeats=True)) == [
        "STANDS", "STANDS", "STANDS", "WRITTEN_AGAIN", "WRITTEN_AGAIN", "STANDS",
    ]  # fmt: skip


def test_a_session_start_goes_before_a_later_write():
    assert names(standing(np.array([1, 2, 2]), [(2, 2)])) == ["STANDS", "SESSION_RESTARTED", "STANDS"]


def test_latest():
    series = Series("loss", np.array([0, 1, 2, 1]), np.arange(4.0), np.arange(4.0), [(3, 1)])
    assert series.latest().value.tolist() == [0.0, 3.0]
    assert series.latest().restarts == ()


def test_nothing_stands_of_nothing():
    assert standing(np.zeros(0, np.int64), [(0, 5)]).tolist() == []
