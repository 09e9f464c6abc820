"""What stands of a series, in the cases that are easily got wrong."""

import numpy as np
import pytest

from summaries.reading.series import Items, Series, Standing, standing

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


def test_points_are_compared_by_identity_and_can_be_kept_in_sets():
    """Equality of arrays would be an array, which has no truth value."""
    step, wall_time = np.arange(2), np.arange(2.0)
    for one, other in [
        (Series("loss", step, wall_time, wall_time), Series("loss", step, wall_time, wall_time)),
        (Items("image", step, wall_time, step, [], 0), Items("image", step, wall_time, step, [], 0)),
    ]:
        assert one == one  # noqa: PLR0124
        assert one != other
        assert len({one, other}) == 2
