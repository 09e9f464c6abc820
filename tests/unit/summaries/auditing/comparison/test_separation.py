"""Kruskal and Wallis' test: beside numbers computed by hand, and as often wrong as it says."""

import numpy as np
import pytest

from summaries.auditing.comparison.separation import ranks, seeds_share, separations


def kruskal(levels, outcomes, name="x"):
    return separations([{name: level} for level in levels], [name], np.asarray(outcomes, float))


def test_ranks_as_in_textbooks():
    assert ranks(np.array([10.0, 20, 20, 5])).tolist() == [2, 3.5, 3.5, 1]


def test_the_statistic_by_hand():
    """Three groups of three without ties: H = 12 / (9 * 10) * (6² + 15² + 24²) / 3 - 3 * 10 = 7.2."""
    (found,) = kruskal([1.0] * 3 + [2.0] * 3 + [3.0] * 3, range(9))
    assert found.statistic == pytest.approx(7.2)
    assert found.share == pytest.approx(0.9)
    assert found.levels == (("1", 3, 1.0), ("2", 3, 4.0), ("3", 3, 7.0))
    assert found.p == pytest.approx(6 / 1680, rel=0.5)  # six of the 1680 ways to divide nine runs


def test_ties_are_corrected():
    """Two groups, all outcomes equal within them: the ranks differ as much as they can, so ε² is one."""
    (found,) = kruskal(["a"] * 4 + ["b"] * 4, [1, 1, 1, 1, np.inf, np.inf, np.inf, np.inf])
    assert found.share == pytest.approx(1.0)


def test_one_in_twenty_without_an_effect():
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        runs = [{"lr": float(rng.integers(3)), "bs": float(rng.integers(2)), "x": rng.random()} for _ in range(24)]
        wrong += any(one.p < 0.05 for one in separations(runs, ["lr", "bs", "x"], rng.standard_normal(24)))
    assert wrong <= 20  # ten are expected


def test_a_continuous_hyperparameter_with_an_optimum_inside():
    rng = np.random.default_rng(0)
    rates = 10 ** rng.uniform(-5, -1, 60)
    (found,) = kruskal(rates.tolist(), (np.log10(rates) + 3) ** 2 + 0.3 * rng.standard_normal(60), "lr")
    assert found.p < 0.01
    assert len(found.levels) == 4
    assert [runs for _, runs, _ in found.levels] == [15] * 4
    assert " to " in found.levels[0][0]


def test_what_cannot_be_kruskal():
    assert kruskal([1.0, 1.0], [1, 2]) == ()
    assert kruskal([1.0, 2.0], [1, 2]) == ()  # each run has a value of its own
    assert kruskal([1.0, 1.0, 2.0], [3, 3, 3])[0].p == 1.0


def test_the_share_of_seeds():
    apart = [np.array([1, 1.1]), np.array([5, 5.1]), np.array([9, 9.1])]
    mixed = [np.array([1, 9.0]), np.array([2, 8.0]), np.array([3, 7.0])]
    assert seeds_share(apart) < 0.2
    assert seeds_share(mixed) == 1.0
    assert np.isnan(seeds_share([np.array([1.0]), np.array([2.0])]))
    assert np.isnan(seeds_share([np.array([1.0, 2.0])]))
