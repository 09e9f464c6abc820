"""Outliers of their groups: found when they are there, and seldom when they are not."""

import numpy as np

from summaries.auditing.comparison.groups import grouped, outliers
from summaries.auditing.comparison.results import Member


def members(values):
    """Runs of groups: {value of a hyperparameter: the final values of its runs}."""
    made = [
        Member(f"{name}{i}", {"x": name}, value, value, 0, "", "", None)
        for name, own in values.items()
        for i, value in enumerate(own)
    ]
    return sorted(made, key=lambda member: (member.final, member.run))


def found(values):
    runs = members(values)
    return outliers(runs, grouped(runs, ["x"], "final", maximize=False), "final")


def test_no_outliers_in_noise():
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        levels = np.exp(rng.standard_normal(6))
        wrong += bool(found({str(i): levels[i] * np.exp(0.05 * rng.standard_normal(5)) for i in range(6)}))
    assert wrong <= 6  # two are expected


def test_the_odd_one_out():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values = {str(i): 1 + i + 0.01 * rng.standard_normal(4) for i in range(4)}
        values["2"][1] *= 1.2
        assert [one.run for one in found(values)][:1] == ["21"]


def test_small_groups_and_equal_values_say_nothing():
    assert found({"a": [1.0, 9.0], "b": [2.0, 3.0]}) == ()
    assert found({"a": [1.0, 1.0, 1.0]}) == ()


def test_a_group_that_mostly_diverged_has_no_outlier():
    assert found({"a": [1.0, np.inf, np.inf]}) == ()
    assert [(one.run, one.usual) for one in found({"a": [1.0, 1.0, np.inf]})] == [("a2", 1.0)]


def test_the_interval_of_a_group():
    (group,) = grouped(members({"a": [1.0, 2.0, 3.0, np.inf]}), ["x"], "final", maximize=False)
    assert (group.final.mean, group.final.runs, group.diverged) == (2.0, 3, 1)
    assert round(float(group.final.low), 4) == -0.4841
