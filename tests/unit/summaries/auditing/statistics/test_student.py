"""Student's t, beside published tables; and intervals that hold the mean as often as they say."""

import numpy as np
import pytest

from summaries.auditing.statistics.student import interval, quantile


@pytest.mark.parametrize(
    ("probability", "freedom", "value"),
    [
        (0.05, 1, 12.706), (0.05, 2, 4.303), (0.05, 3, 3.182), (0.05, 4, 2.776), (0.05, 30, 2.042), (0.01, 9, 3.250),
        (0.001, 10, 4.587), (0.0002, 3, 22.204), (0.05, 120, 1.980), (0.05, 10_000, 1.960),
    ],
)  # fmt: skip
def test_as_in_tables(probability, freedom, value):
    assert quantile(probability, freedom) == pytest.approx(value, abs=6e-4)


def test_both_ways_to_compute_it_meet():
    assert quantile(0.001, 200) == pytest.approx(quantile(0.001, 201), rel=1e-3)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_an_interval_holds_the_mean_in_nineteen_of_twenty_samples(n):
    rng = np.random.default_rng(n)
    held = [low <= 3.0 <= high for low, high in (interval(3 + rng.standard_normal(n)) for _ in range(4000))]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_one_value_has_no_interval():
    assert np.isnan(interval(np.array([1.0]))).all()
    assert np.isnan(interval(np.empty(0))).all()
