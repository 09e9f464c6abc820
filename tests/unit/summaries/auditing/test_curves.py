"""The averages that a sparkline shows: of all points, whatever they are."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.auditing.curves import Curve, averages, curve_of
from summaries.reading.series import Series


@given(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf]), max_size=100), st.integers(1, 20))
def test_each_is_the_mean_of_a_stretch_and_all_points_are_in_one(values, stretches):
    value = np.array(values)
    found = averages(value, stretches)
    assert len(found) == min(stretches, len(value))
    ends = np.arange(len(found) + 1) * len(value) // max(len(found), 1)
    parts = [value[i:j][np.isfinite(value[i:j])] for i, j in pairwise(ends)]
    expected = [part.mean() if len(part) else np.nan for part in parts]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 16, 17, 64, 1000])
def test_the_largest_numbers_do_not_overflow(count):
    np.testing.assert_allclose(averages(np.full(count, 1.7e308)), 1.7e308, rtol=1e-12)


@pytest.mark.parametrize("points", [0, 1, 5])
def test_a_curve_is_the_same_in_another_process(points):
    values = np.linspace(0, 1, points)
    curve = Curve("loss", "loss", "w", np.arange(points), values + 1e9, values, 100, averages(values, 3))
    sent = pickle.loads(pickle.dumps(curve))  # noqa: S301 - it was just pickled
    assert (sent.tag, sent.role, sent.variable, sent.points) == ("loss", "loss", "w", 100)
    for name in ("step", "wall_time", "value", "averages"):
        mine, theirs = getattr(curve, name), getattr(sent, name)
        np.testing.assert_array_equal(theirs, mine)
        assert (theirs.dtype, theirs.flags.writeable) == (mine.dtype, True)


def test_flags_become_shares_and_shares_stay_what_was_logged():
    """Of the last steps, say: the mean of such shares is none that was ever logged."""
    step = np.arange(1000)
    flags = np.where(step % 3 == 0, 1.0, 0.0)
    for value, expected in ((flags, {0.3, 0.35}), (np.where(step < 3, np.nan, flags), {0.3, 0.35})):
        drawn = curve_of(Series("gradients/clipped", step, step * 1.0, value), 100, "clipped").value
        assert expected <= set(drawn[~np.isnan(drawn)].tolist()) <= {0.3, 0.35, 0.4}
    shares = np.convolve(flags, np.full(100, 0.01))[:1000]
    drawn = curve_of(Series("gradients/clipped_fraction", step, step * 1.0, shares), 100, "clipped").value
    assert set(drawn.tolist()) <= set(shares.tolist())


def test_none_of_none():
    assert averages(np.empty(0)).tolist() == []
