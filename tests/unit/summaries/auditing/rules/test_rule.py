"""Every threshold, what it is and what it may be: to change one is to change what configurations mean."""

import pickle
from dataclasses import FrozenInstanceError

import pytest

from summaries.auditing.rules import RULES
from summaries.auditing.rules.rule import Limits, Threshold, above, at_least, proportion, whole

THRESHOLDS = {
    "GL201": {
        "max_share": (0.05, "a number from 0 to 1"),
    },
    "GL202": {
        "tolerance": (1e-06, "a number of at least 0"),
    },
    "GL203": {
        "tolerance_secs": (0.128, "a number of at least 0"),
    },
    "GL204": {
        "factor": (20.0, "a number above 1"),
        "min_secs": (30.0, "a number of at least 0"),
        "log_sigmas": (8.0, "a number above 0"),
        "share": (0.02, "a number from 0 to 1"),
        "min_points": (10, "a whole number of at least 4"),
    },
    "GL205": {
        "min_share": (0.8, "a number from 0 to 1"),
        "min_points": (10, "a whole number of at least 2"),
    },
    "GL206": {
        "sigmas": (6.0, "a number above 0"),
    },
    "GL301": {
        "max_overflows": (0.02, "a number from 0 to 1"),
        "max_first": (40, "a whole number of at least 1"),
        "max_in_a_row": (3, "a whole number of at least 1"),
    },
    "GL302": {
        "sigmas": (8.0, "a number above 0"),
        "min_rise": (0.1, "a number of at least 0"),
        "min_points": (30, "a whole number of at least 20"),
        "undone": (0.25, "a number of at least 0"),
    },
    "GL303": {
        "min_points": (30, "a whole number of at least 20"),
        "few_points": (20, "a whole number of at least 5"),
        "no_change": (0.01, "a number of at least 0"),
        "times": (3.0, "a number above 1"),
        "worse": (0.25, "a number from 0 to 1"),
        "sigmas": (4.0, "a number above 0"),
        "max_decline": (0.04, "a number of at least 0"),
        "max_hidden": (0.2, "a number of at least 0"),
        "opponents": (0.05, "a number from 0 to 1"),
        "still": (0.001, "a number of at least 0"),
        "min_validations": (4, "a whole number of at least 2"),
        "min_shares": (9, "a whole number of at least 4"),
        "worthwhile": (0.1, "a number of at least 0"),
        "low_level": (0.1, "a number of at least 0"),
        "learnt": (0.9, "a number from 0 to 1"),
    },
    "GL304": {
        "min_points": (10, "a whole number of at least 5"),
        "sigmas": (6.0, "a number above 0"),
        "min_rise": (0.2, "a number of at least 0"),
        "min_undone": (0.25, "a number of at least 0"),
        "times": (4.0, "a number above 1"),
        "explodes": (1000.0, "a number above 1"),
    },
    "GL305": {
        "min_points": (4, "a whole number of at least 3"),
        "sigmas": (6.0, "a number above 0"),
        "trend": (2.0, "a number above 0"),
        "min_rise": (0.1, "a number of at least 0"),
        "large": (0.33, "a number of at least 0"),
        "times": (4.0, "a number above 1"),
    },
    "GL309": {
        "near": (0.05, "a number from 0 to 1"),
        "fall": (0.1, "a number from 0 to 1"),
        "chance": (0.5, "a number from 0 to 1"),
        "at": (0.015, "a number from 0 to 1"),
        "agrees": (0.1, "a number from 0 to 1"),
        "min_points": (20, "a whole number of at least 10"),
        "min_sure": (8, "a whole number of at least 8"),
    },
    "GL310": {"times": (1000.0, "a number above 1"), "min_points": (10, "a whole number of at least 5")},
    "GL311": {
        "lost": (0.5, "a number from 0 to 1"),
        "good": (0.1, "a number from 0 to 1"),
        "share": (0.3, "a number from 0 to 1"),
        "min_points": (12, "a whole number of at least 12"),
        "fewest": (8, "a whole number of at least 6"),
        "min_same": (5, "a whole number of at least 3"),
        "trained": (0.2, "a number from 0 to 1"),
        "gained": (0.12, "a number from 0 to 1"),
        "slipped": (0.08, "a number from 0 to 1"),
        "coin": (0.6, "a number from 0 to 1"),
        "few": (0.25, "a number from 0 to 1"),
        "gap": (0.4, "a number from 0 to 1"),
        "kept": (0.4, "a number from 0 to 1"),
        "ahead": (10.0, "a number above 1"),
        "times": (10.0, "a number above 1"),
        "still": (0.001, "a number from 0 to 1"),
    },
    "GL312": {
        "left": (0.02, "a number from 0 to 1"),
        "nothing": (0.02, "a number from 0 to 1"),
        "narrow": (0.1, "a number from 0 to 1"),
        "spread": (0.2, "a number above 0"),
        "share": (0.4, "a number from 0 to 1"),
        "negative": (0.25, "a number from 0 to 1"),
        "better": (0.15, "a number from 0 to 1"),
        "times": (4.0, "a number above 1"),
        "min_distances": (6, "a whole number of at least 4"),
        "min_points": (20, "a whole number of at least 10"),
    },
    "GL313": {
        "fall": (0.35, "a number from 0 to 1"),
        "straight": (0.5, "a number from 0 to 1"),
        "bends": (2.0, "a number above 1"),
        "min_points": (8, "a whole number of at least 6"),
        "fewest": (6, "a whole number of at least 4"),
        "sure_points": (20, "a whole number of at least 6"),
        "hardly": (0.03, "a number from 0 to 1"),
        "rests": (0.01, "a number from 0 to 1"),
        "little": (0.1, "a number from 0 to 1"),
        "low": (0.5, "a number from 0 to 1"),
        "low_rate": (0.0001, "a number above 0"),
        "usual_rate": (0.001, "a number above 0"),
    },
    "GL314": {
        "alike": (0.4, "a number from 0 to 1"),
        "smooth": (0.3, "a number from 0 to 1"),
        "size": (0.05, "a number from 0 to 1"),
        "min_points": (100, "a whole number of at least 60"),
    },
    "GL315": {
        "undone": (0.06, "a number from 0 to 1"),
        "hump": (0.3, "a number from 0 to 1"),
        "swing": (0.1, "a number from 0 to 1"),
        "level": (0.04, "a number from 0 to 1"),
        "accuracy": (0.1, "a number from 0 to 1"),
        "leap": (2.0, "a number above 1"),
        "min_points": (12, "a whole number of at least 10"),
    },
    "GL316": {
        "min_points": (8, "a whole number of at least 6"),
        "min_zeros": (12, "a whole number of at least 8"),
        "share": (0.8, "a number from 0 to 1"),
    },
    "GL317": {
        "min_points": (6, "a whole number of at least 4"),
        "near": (0.03, "a number from 0 to 1"),
        "times": (1.75, "a number above 1"),
        "classes": (5, "a whole number of at least 2"),
        "gained": (0.1, "a number from 0 to 1"),
        "saves": (1.5, "a number above 0"),
        "fall": (0.1, "a number from 0 to 1"),
    },
    "GL318": {
        "times": (3.0, "a number above 1"),
        "gap": (0.25, "a number from 0 to 1"),
        "min_points": (4, "a whole number of at least 3"),
    },
    "GL507": {
        "left": (0.005, "a number from 0 to 1"),
        "share": (0.4, "a number from 0 to 1"),
        "min_points": (10, "a whole number of at least 5"),
    },
    "GL401": {
        "max_overflows": (0.02, "a number from 0 to 1"),
        "max_first": (40, "a whole number of at least 1"),
        "max_in_a_row": (3, "a whole number of at least 1"),
    },
    "GL402": {
        "factor": (10.0, "a number above 1"),
        "sigmas": (8.0, "a number above 0"),
        "warm_up": (0.05, "a number from 0 to 1"),
        "share": (0.02, "a number from 0 to 1"),
        "min_points": (30, "a whole number of at least 20"),
    },
    "GL403": {
        "ratio": (0.0003, "a number from 0 to 1"),
        "fall": (0.001, "a number from 0 to 1"),
        "floor": (1e-07, "a number of at least 0"),
        "min_points": (20, "a whole number of at least 1"),
    },
    "GL404": {
        "fraction": (0.9, "a number from 0 to 1"),
        "min_points": (100, "a whole number of at least 1"),
        "min_shares": (20, "a whole number of at least 1"),
    },
    "GL405": {
        "min_points": (50, "a whole number of at least 1"),
    },
    "GL406": {
        "min_points": (10, "a whole number of at least 1"),
    },
    "GL407": {
        "share": (0.9, "a number from 0 to 1"),
        "min_points": (20, "a whole number of at least 1"),
        "min_variables": (3, "a whole number of at least 2"),
    },
    "GL501": {
        "low": (1e-06, "a number of at least 0"),
        "high": (0.1, "a number above 0"),
        "least_weight": (0.1, "a number from 0 to 1"),
        "min_points": (20, "a whole number of at least 4"),
    },
    "GL503": {
        "min_points": (10, "a whole number of at least 1"),
    },
    "GL504": {
        "jump": (2.0, "a number above 1"),
        "max_zero": (0.05, "a number from 0 to 1"),
        "min_points": (10, "a whole number of at least 1"),
    },
    "GL601": {
        "sigmas": (4.0, "a number above 0"),
        "min_difference": (0.08, "a number of at least 0"),
        "min_points": (10, "a whole number of at least 1"),
    },
    "GL602": {
        "factor": (1.2, "a number above 1"),
        "min_points": (10, "a whole number of at least 2"),
    },
    "GL207": {
        "factor": (1.5, "a number above 1"),
        "tau": (0.8, "a number from 0 to 1"),
        "min_points": (200, "a whole number of at least 20"),
    },
    "GL306": {"min_points": (3, "a whole number of at least 1")},
    "GL307": {"min_points": (20, "a whole number of at least 3")},
    "GL308": {
        "share": (0.5, "a number from 0 to 1"),
        "band": (0.05, "a number from 0 to 1"),
        "min_points": (60, "a whole number of at least 30"),
    },
    "GL408": {"share": (0.95, "a number from 0 to 1"), "min_points": (4, "a whole number of at least 1")},
    "GL505": {
        "sigmas": (8.0, "a number above 0"),
        "min_rise": (0.1, "a number of at least 0"),
        "ahead": (10, "a whole number of at least 1"),
    },
    "GL508": {"rise": (8.0, "a number above 1"), "within": (100, "a whole number of at least 1")},
    "GL509": {"share": (0.9, "a number from 0 to 1"), "min_points": (10, "a whole number of at least 2")},
    "GL510": {
        "rms": (2.3, "a number above 1"),
        "ahead": (8, "a whole number of at least 1"),
        "sigmas": (8.0, "a number above 0"),
        "min_rise": (0.1, "a number of at least 0"),
    },
    "GL511": {"residual": (0.7, "a number above 0"), "min_points": (10, "a whole number of at least 2")},
    "GL512": {"distance": (1e-05, "a number above 0"), "min_points": (50, "a whole number of at least 2")},
    "GL506": {
        "share": (0.05, "a number from 0 to 1"),
        "lost": (0.75, "a number from 0 to 1"),
        "gain": (0.5, "a number of at least 0"),
        "explained": (0.02, "a number from 0 to 1"),
        "still": (0.02, "a number from 0 to 1"),
        "min_points": (10, "a whole number of at least 5"),
        "min_rewards": (12, "a whole number of at least 12"),
        "max_kl": (10.0, "a number above 0"),
        "min_kl": (1e-6, "a number of at least 0"),
        "little_kl": (0.001, "a number above 0"),
        "much_kl": (0.05, "a number above 0"),
        "times": (10.0, "a number above 1"),
        "better": (0.15, "a number from 0 to 1"),
        "min_zeros": (10, "a whole number of at least 5"),
    },
    "GL604": {"min_points": (20, "a whole number of at least 1")},
    "GL611": {"tolerance": (0.001, "a number above 0"), "min_points": (10, "a whole number of at least 2")},
    "GL612": {"tolerance": (0.15, "a number above 0"), "min_points": (10, "a whole number of at least 2")},
    "GL613": {"share": (0.1, "a number above 0"), "min_points": (20, "a whole number of at least 2")},
    "GL615": {
        "odds": (0.001, "a number above 0"),
        "min_difference": (0.05, "a number of at least 0"),
        "min_points": (20, "a whole number of at least 2"),
    },
}


def test_every_threshold_is_listed_here():
    assert {code for code, rule in RULES.items() if rule.thresholds} == set(THRESHOLDS)


@pytest.mark.parametrize("code", THRESHOLDS)
def test_thresholds(code):
    rule = RULES[code]
    assert {name: (one.default, one.wanted) for name, one in rule.thresholds.items()} == THRESHOLDS[code]
    assert vars(rule.limits()) == {name: default for name, (default, _) in THRESHOLDS[code].items()}
    for threshold in rule.thresholds.values():
        assert threshold.checked(threshold.default) == threshold.default


class EveryKind(Limits):
    high: float = above(1, 2.0)
    some: float = at_least(1, 2.0)
    share: float = proportion(0.5)
    points: int = whole(5)
    many: int = whole(5, 3)


CHECKED = [
    ("high", [1.0000001, 5], [1, 0, float("nan"), float("inf"), True, "2", None]),
    ("some", [1, 1.5], [0.999, -1, float("inf"), False]),
    ("share", [0, 0.5, 1], [-0.001, 1.001]),
    ("points", [1, 2.0, 10**9], [0, 1.5, 10**400]),
    ("many", [3], [2, 2.999]),
]


@pytest.mark.parametrize(("name", "right", "wrong"), CHECKED, ids=lambda value: str(value)[:40])
def test_checked(name, right, wrong):
    threshold = EveryKind.thresholds[name]
    for value in right:
        assert threshold.checked(value) == value
    for value in wrong:
        with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
            threshold.checked(value)
        assert str(raised.value) == f"must be {threshold.wanted}, got {value!r}"


def test_a_whole_number_is_an_integer():
    assert type(EveryKind.thresholds["points"].checked(2.0)) is int
    assert type(Threshold(0.5, 0).checked(2)) is float


def test_limits_are_frozen():
    limits = EveryKind(share=0.25)
    assert (limits.share, limits.points) == (0.25, 5)
    with pytest.raises(FrozenInstanceError):
        limits.share = 0.75
    assert vars(pickle.loads(pickle.dumps(limits))) == vars(limits)  # noqa: S301 - our own


def test_a_threshold_that_a_rule_lacks_is_refused():
    with pytest.raises(TypeError, match=r"^Limits has no threshold 'sigma'$"):
        Limits(sigma=1.0)
