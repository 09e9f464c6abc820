"""The shape of a loss: levels, rises, trends and where they begin, for series of which these are known."""

import math

import numpy as np
import pytest

from summaries.auditing.statistics.course import (
    Course,
    bend,
    largest_rise,
    level_between,
    onset,
    scatter_about_trend,
    without_zeros,
)
from summaries.reading.series import Series
from summaries.robust import blocks

N = 3000


def noise(seed=0, n=N):
    return np.random.default_rng(seed).standard_normal(n)


def series(values):
    return Series("loss", np.arange(len(values)), np.arange(float(len(values))), np.asarray(values, float))


def levels(values):
    course = Course.of(values)
    return course.late, course.early


def test_levels():
    values = np.r_[np.full(N // 2, 5.0), np.full(N // 2, 2.0)] + 0.1 * noise()
    course = Course.of(values)
    assert (course.early, course.late) == (pytest.approx(5, abs=0.02), pytest.approx(2, abs=0.02))
    assert course.noise == pytest.approx(0.1, rel=0.1)
    assert len(course.blocks.median) == 30
    assert course.median == np.median(values)


def test_a_few_outliers_move_no_level():
    values = np.full(N, 5.0) + 0.1 * noise()
    values[::100] = 1e6
    assert Course.of(values).late == pytest.approx(5, abs=0.02)


def test_the_first_twentieth_is_no_part_of_the_early_level():
    values = np.full(N, 5.0)
    values[: N // 20] = 9.0
    assert Course.of(values).early == 5


def test_the_error_of_thirds_is_that_of_two_means():
    differences = [np.subtract(*levels(noise(seed))) for seed in range(200)]
    errors = [Course.of(noise(seed)).error_of_thirds for seed in range(50)]
    assert np.median(errors) == pytest.approx(np.std(differences), rel=0.25)


def test_the_error_of_thirds_of_noise_that_is_correlated():
    """Means of a hundred alike points in a row scatter as points do."""
    slow = np.repeat(noise(n=N // 100), 100)
    assert Course.of(slow).error_of_thirds > 5 * Course.of(noise()).error_of_thirds


def test_the_error_of_a_rise_is_that_of_two_blocks():
    courses = [Course.of(noise(seed)) for seed in range(50)]
    scatter = np.std([course.blocks.median[29] - course.blocks.median[4] for course in courses])
    assert np.median([course.error_of_rise(4, 1) for course in courses]) == pytest.approx(scatter, rel=0.35)


@pytest.mark.parametrize(
    ("values", "fell"),
    [
        (np.linspace(3, 2, N), True),
        (np.linspace(2, 3, N), False),
        (np.zeros(N), False),
        (np.r_[5.0, 4.5, np.full(N - 2, 2.0)], True),
        (np.r_[2.05, np.full(N - 1, 2.0)], False),  # by less than it must
        (np.r_[np.full(40, 2.2), np.full(N - 40, 2.0)], True),
    ],
)
def test_whether_it_fell(values, fell):
    assert Course.of(values + 0.01 * noise()).fell(8.0, 0.1) is fell


def test_without_zeros():
    values = np.where(np.arange(100) % 10 == 0, 0.0, 1.0)
    kept = without_zeros(series(values))
    assert kept.step.tolist() == [i for i in range(100) if i % 10]
    assert kept.wall_time.tolist() == kept.step.tolist()
    assert (kept.value == 1).all()
    few = series(np.where(np.arange(100) == 3, 0.0, 1.0))
    assert without_zeros(few) is few


def test_bend():
    assert bend(np.array([1.0, 2.0])) == 0
    assert bend(np.arange(50) ** 2.0) == pytest.approx(1.4826 * 2 / math.sqrt(6))
    assert bend(3 * np.arange(50.0)) == 0
    assert bend(noise(n=100_000)) == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_scatter_about_trend(degree):
    t = np.linspace(0, 1, 5000)
    trend = 7 * t**degree
    assert scatter_about_trend(trend, degree) == pytest.approx(0, abs=1e-9)
    assert scatter_about_trend(trend + 2 * noise(n=5000), degree) == pytest.approx(2, rel=0.05)
    if degree > 1:
        assert scatter_about_trend(trend, degree - 1) > 0.01
    few = [scatter_about_trend(noise(seed, 6), degree) ** 2 for seed in range(4000)]
    assert np.mean(few) == pytest.approx(1, rel=0.1)  # as many as its coefficients are not counted


@pytest.mark.parametrize(
    ("values", "rise"), [([1], 0), ([3, 2, 1], 0), ([3, 1, 4, 2], 3), ([1, 5, 0, 2], 4), ([9, 0, 2, 1, 3], 3)]
)
def test_largest_rise(values, rise):
    assert largest_rise(np.array(values, float)) == rise


@pytest.mark.parametrize("at", [900, 1500, 2200])
@pytest.mark.parametrize("scatter", [0.0, 0.05])
def test_onset_of_a_jump_and_of_a_climb(at, scatter):
    falling = 2 - np.minimum(np.arange(N), at) / N
    for rise, exact in ((np.where(np.arange(N) >= at, 1.0, 0.0), 2), (np.maximum(0, np.arange(N) - at) / 300, 60)):
        values = falling + rise + scatter * noise()
        cut = blocks(values, 30)
        best = int(np.argmin(cut.median))
        height = float(cut.median[-1] - cut.median[best])
        assert abs(onset(values, cut, best, height, 1.0) - at) <= exact + (20 if scatter else 0) + 40 * (exact > 2)


def test_an_onset_is_looked_for_in_three_blocks():
    """What comes behind them, and were it the lowest of all, is another story."""
    values = np.r_[np.full(1000, 2.0), np.full(210, 3.0), np.full(90, -50.0), np.full(700, 3.0)]
    cut = blocks(values, 20)
    cut = cut._replace(median=np.where(np.arange(20) < 10, 2.0, 3.0))
    assert onset(values, cut, 0, 1.0, 1.0) == 1000


def test_level_between():
    values = np.r_[np.full(500, 1.0), np.full(500, 3.0)] + 0.1 * noise(n=1000)
    low, error = level_between(series(values), 0, 1000, 0.0, 0.2)
    assert low == pytest.approx(np.median(values[:201]))
    spread = 1.4826 * np.median(np.abs(values[:201] - low))
    assert error == pytest.approx(math.sqrt(math.pi / 2) * spread / math.sqrt(201), rel=1e-4)
    high, _ = level_between(series(values), 500, 1000, 0.8, 1.0)
    assert high == np.median(values[900:])
    assert all(map(math.isnan, level_between(series(values), 5000, 6000, 0.0, 0.5)))
