"""Robust statistics beside NumPy's and those of the normal distribution."""

import math

import numpy as np
import pytest

from summaries.robust import (
    Blocks,
    block_medians,
    blocks,
    changes,
    in_sigmas,
    mean,
    median,
    row_medians,
    sigma,
    since,
    stretch_medians,
    tail_reach,
    windows,
)

RNG = np.random.default_rng(0)
NOISE = RNG.standard_normal(100_000)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 10, 101, 1000, 1001, 1002, 50_000])
def test_median(n):
    values = NOISE[:n].copy()
    assert median(values) == np.median(values)
    np.testing.assert_array_equal(values, NOISE[:n])


def test_the_median_of_integers_lies_between_two():
    assert median(np.array([4, 1, 2, 9])) == 3.0


def test_medians_of_stretches():
    np.testing.assert_array_equal(stretch_medians(np.arange(7.0), 3), [0.5, 2.5, 5.0])


@pytest.mark.parametrize("n", [1, 2, 9, 1000])
def test_means_and_changes_are_numpys(n):
    values = NOISE[:n]
    assert mean(values) == values.mean()
    np.testing.assert_array_equal(changes(values), np.diff(values))


def test_windows_are_all_neighbours():
    np.testing.assert_array_equal(windows(np.arange(5.0)[::-1], 4), [[4, 3, 2, 1], [3, 2, 1, 0]])
    np.testing.assert_array_equal(row_medians(windows(np.array([1.0, 2.0, 4.0]), 2)), [1.5, 3.0])


def test_sigma_is_that_of_a_normal_distribution():
    assert sigma(3 * NOISE + 7) == pytest.approx(3, rel=0.01)
    spoilt = 3 * NOISE + 7
    spoilt[::10] = 1e9
    assert sigma(spoilt) == pytest.approx(3 * 1.2, rel=0.05)  # a tenth of the values is far off on one side
    assert sigma(np.full(5, 7.0)) == 0


@pytest.mark.parametrize("n", [1, 2, 7, 30, 31, 100, 1000])
@pytest.mark.parametrize("count", [1, 2, 3, 30, 5000])
def test_blocks_cover_all_and_are_equally_long(n, count):
    values = NOISE[:n]
    cut = blocks(values, count)
    np.testing.assert_array_equal(block_medians(values, count), cut.median)
    k = min(count, n)
    assert len(cut.start) == k
    assert cut.length == math.ceil(n / k)
    assert (cut.start.tolist()[0], cut.start.tolist()[-1]) == ((n - cut.length) // 2 if k == 1 else 0, n - cut.length)
    steps = np.diff(cut.start)
    assert (steps <= cut.length).all()
    assert (steps >= 0).all()
    if k > 1:
        assert np.ptp(steps) <= 1
    parts = [values[start : start + cut.length] for start in cut.start]
    np.testing.assert_allclose(cut.median, [np.median(part) for part in parts], rtol=1e-12)
    spread = [1.4826 * np.median(np.abs(part - np.median(part))) for part in parts]
    np.testing.assert_allclose(cut.sigma, spread, rtol=1e-12)


def test_the_error_of_a_blocks_median():
    """Medians of 100 normal numbers scatter by sqrt(pi / 2) / 10."""
    cut = Blocks(np.zeros(1, np.int64), 100, np.zeros(1), np.ones(1))
    scatter = np.median(NOISE.reshape(-1, 100), axis=1).std()
    assert cut.error[0] == pytest.approx(math.sqrt(math.pi / 2) / 10, rel=1e-4)
    assert cut.error[0] == pytest.approx(scatter, rel=0.06)


@pytest.mark.parametrize(
    ("rise", "noise", "want"),
    [
        (3.0, 2.0, 1.5),
        (3.0, 0.0, 1e6),
        (0.0, 0.0, 1e6),
        (-3.0, 2.0, -1.5),
        (1e9, 1.0, 1e6),
        (999_999.0, 1.0, 999_999.0),
    ],
)
def test_in_sigmas(rise, noise, want):
    assert in_sigmas(rise, noise) == want


@pytest.mark.parametrize(
    ("shares", "usual", "want"),
    [([1], 0.5, 0), ([0, 0, 1], 0.5, 2), ([1, 1, 0], 0.5, 0), ([0.2, 0.9, 0.8], 0.5, 1), ([1, 0, 0, 0, 1, 1], 0.5, 4)],
)
def test_since(shares, usual, want):
    assert since(np.array(shares, float), usual) == want


@pytest.mark.parametrize("n", [100, 399, 400, 999, 1000, 1999, 2000, 20_000])
def test_noise_reaches_less_far_than_its_tail(n):
    """Of twenty normal series none has a point beyond; and a bar much further out would find no spike."""
    reaches = []
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal(n)
        reaches.append(tail_reach(noise))
        assert noise.max() < reaches[-1]
    assert 4 < np.median(reaches) < 14


@pytest.mark.parametrize("n", [500, 1500, 5000])
def test_a_heavy_tail_reaches_further(n):
    noise = np.random.default_rng(1).standard_normal(n)
    assert tail_reach(np.sign(noise) * np.abs(noise) ** 2) > 1.5 * tail_reach(noise)


@pytest.mark.parametrize(("n", "most"), [(100, 13.0), (999, 13 + 4 * math.log10(9.99)), (1500, 40.0), (5000, 40.0)])
def test_it_is_bounded(n, most):
    noise = np.random.default_rng(1).standard_normal(n)
    assert tail_reach(np.sign(noise) * np.abs(noise) ** 9) == pytest.approx(most)


def test_a_few_spikes_do_not_move_it():
    noise = np.random.default_rng(1).standard_normal(1000)
    before = tail_reach(noise)
    noise[:3] = 100.0
    assert tail_reach(noise) == pytest.approx(before, rel=0.15)
