"""Peaks of a loss that warm restarts explain, told from those that they do not, where no learning rate is logged."""

import numpy as np
import pytest

from summaries.auditing.rules.explanations import recur_as_restarts
from summaries.auditing.statistics.excursions import Peak


def with_peaks(starts, height=0.5, lasts=200, n=4000):
    """A loss that falls from 4 to 1 at once, and rises where each peak starts; and these peaks."""
    values = 1 + 3 * np.exp(-np.arange(n) / 100) + 0.01 * np.random.default_rng(0).standard_normal(n)
    peaks = []
    for start in starts:
        values[start : start + lasts] += np.linspace(height, 0.3 * height, lasts)
        peaks.append(Peak(start, start + lasts - 1, start, lasts, 1.0, 50.0))
    return values, peaks


@pytest.mark.parametrize(
    ("starts", "restarts"),
    [
        ([1000, 2000, 3000], True),
        ([800, 1600, 2400, 3200], True),
        ([2000], True),
        ([571, 1714], True),  # each cycle takes twice as long as the one before: 1 + 2 + 4 sevenths
        ([900, 1800, 2700], True),  # the run ends in the middle of a cycle
        ([530, 1590, 3710], True),
        ([800, 1600, 3200], False),  # at 2400 the loss does not go up
        ([940, 1630, 3090], False),
        ([1450], False),
        ([2000, 2450], False),
    ],
)
def test_peaks_that_recur_as_warm_restarts_do(starts, restarts):
    values, peaks = with_peaks(starts)
    assert recur_as_restarts(values, peaks) is restarts


def test_peaks_that_are_no_restarts_wherever_they_begin():
    starts = [1000, 2000, 3000]
    assert not recur_as_restarts(*with_peaks(starts, height=2.0))  # they undo more than half of what was learnt
    values, peaks = with_peaks(starts)
    assert not recur_as_restarts(values, [peak._replace(points=1) for peak in peaks])
    assert not recur_as_restarts(values, [peaks[0]._replace(first=0), *peaks[1:]])
    assert not recur_as_restarts(*with_peaks([2000], lasts=40))  # one alone must take its time


def test_a_start_may_be_seen_a_little_late():
    """By a two-hundredth of the points."""
    for late, restarts in ((20, True), (21, False)):
        values, peaks = with_peaks([1000, 2000, 3000])
        moved = [peaks[0], peaks[1]._replace(first=peaks[1].first + late), peaks[2]]
        assert recur_as_restarts(values, moved) is restarts
