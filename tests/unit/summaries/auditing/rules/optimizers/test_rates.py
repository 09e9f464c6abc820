"""What schedules do with a learning rate, told from what none does, at the edges between them."""

import numpy as np
import pytest
from audits.audited import codes, finding
from labelled import timelines as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

N = 60
FALLING = 1e-3 * (1 - np.arange(N) / N)


def judged(rate, restarts=()):
    """The steps of GL504's finding, and how many points it counts; None where there is none."""
    run = labelled.a_rate(np.random.default_rng(0), np.asarray(rate, float), restarts)
    found = audit_run("run", run, Config(select=("GL504",))).findings
    return (found[0].steps, found[0].count) if found else None


def changed(values, at=30):
    """A falling rate with these shares of it from a point on."""
    rate = FALLING.copy()
    rate[at : at + len(values)] *= values
    return rate


@pytest.mark.parametrize(
    ("rate", "found"),
    [
        (FALLING, None),
        (changed([0.5]), None),  # a warm-up of two points
        (changed([0.1]), ((30, 30), 1)),
        (changed([0.1, 0.1, 0.1]), ((30, 33), 2)),  # there and back
        (changed([0.25, 0.5, 0.75]), None),
        (changed([0, 0.5]), None),
        (changed([0, 0, 0.3, 0.6]), None),
        (changed([0]), ((30, 30), 1)),
        (changed([0] * 5), ((30, 34), 5)),
        (changed([0] * 30), ((30, 59), 30)),
        (changed([0.2] * 30), None),  # a step decay
        (changed([10]), ((30, 30), 1)),
        (changed([10] * 30), ((30, 30), 1)),
        (changed([0.1] * 3, at=0), None),
        (changed([0.1] * 9, at=0), ((9, 9), 1)),
        (changed([1e-4, 1e-3, 1e-2, 1e-1], at=0), None),
        (changed([0, 1e-4, 1e-3, 1e-2, 1e-1], at=0), None),
        (changed(np.arange(20) / 20, at=0), None),
        (changed([*np.arange(10) / 20, *10 * np.arange(10, 20) / 20], at=0), ((10, 10), 1)),  # a jump on the way up
    ],
)
def test_without_restarts(rate, found):
    assert judged(rate) == found


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 10, 25])
def test_a_warm_up_after_a_restart(first, length):
    assert judged(changed((first + np.arange(length)) / length), [30]) is None


@pytest.mark.parametrize(
    ("values", "found"), [([0] * 30, ((30, 59), 30)), ([10] * 30, ((30, 30), 1)), ([0.1] * 30, None), ([0, 0], None)]
)
def test_other_rates_after_a_restart(values, found):
    assert judged(changed(values), [30]) == found


def test_a_restart_at_which_nothing_stands():
    """Its points were superseded by the next one's."""
    assert judged(changed([0.5] * 30), [59, 30]) is None


def test_where_a_group_learns_another_may_be_frozen():
    rate = 1e-3 * 0.5 * (1 + np.cos(np.pi * np.arange(200) / 200))
    assert finding("GL504", lr__group0=rate, lr__group1=np.zeros(200)).severity.name == "INFO"
    assert finding("GL504", lr__group0=np.zeros(200), lr__group1=np.zeros(200)).severity.name == "ERROR"


def test_a_second_cycle_that_begins_with_a_ramp():
    """As of layers that are thawed: the head was trained alone, in a cycle of its own."""
    cycle = np.sin(np.linspace(0.05, np.pi - 1e-4, 60))
    assert "GL504" not in codes(lr_0=np.r_[2e-3 * cycle, 1e-4 * cycle], loss=np.ones(120))
    jumps = np.r_[2e-3 * cycle, np.full(60, 8e-4)]
    assert "GL504" in codes(lr_0=jumps, loss=np.ones(120))
