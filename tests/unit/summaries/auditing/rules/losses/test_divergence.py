"""A loss that diverges: what is said of its course, and short runs that nobody would doubt."""

import re

import numpy as np
import pytest
from audits.audited import codes, finding
from labelled import runs as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

# Three epochs of the demo without clipping, as three processors computed them.
RECORDED = {
    "rises slowly, ends below its peak": """
        2.4 2.17 2.13 1.89 1.74 1.63 1.82 2.44 1.8 2.47 2.44 1.61 2.35 1.9 2.13 1.6 1.61 2.47 2.19 2.24 3.25 3.3 2.23
        2.49 2.9 3.74 3.68 5.09 5.44 6.78 4.72 6.18 6.82 6.82 5.56 7.41 8.39 8.31 7.19 11.14 8.78 11.19 10.33 13.35 10.3
        6.93 7.12 8.75 7.1 10.89 11.71 13.76 14.78 13.24 11.21 9.27 7.58 7.77 8.2 8.23 6.64 8.3 7.51 9.42 9.13 7.77""",
    "is on its way back": """
        2.37 2.09 1.83 2.27 1.64 1.56 1.69 1.72 2.11 2.48 1.74 1.85 2.04 2.43 2.23 2.85 2.03 2.21 2.1 2.06 2.08 1.43
        1.74 2.4 2.15 2.58 2.82 3 2.59 3.24 3.52 3.56 3.41 4.57 9.7 3.92 7.3 3.57 5.38 6.27 7.78 4.57 6.53 14.23 12.35
        10.49 13.79 11.59 12.19 9.61 9.35 7.8 10.49 11.69 5.96 6.26 5.69 4.6 3.49 3.34 3.76 3.93 4.62 5.49 4.88 5.59""",
    "never falls, and wanders": """
        2.57 2.42 2.64 2.72 2.72 2.51 4.05 2.68 2.97 2.43 3.13 2.88 3.03 4.11 5.39 4.55 5.56 5.04 5.38 5.94 4.56 3.38
        4.26 4.53 3.67 6.05 16.8 3.45 4.1 4.07 4.65 6.08 4.49 11.06 7.91 8.1 9.4 8.09 5.85 6.29 6.05 6.33 4.98 6.74 8.47
        7.96 8.48 11.23 8.14 10.51 8.61 7.6 5.69 6.69 5.79 8.68 4.86 7.47 9.45 10 10.85 9.9 10.13 6.71 5.62 5.61""",
}


def found(loss):
    """What GL304 says of a loss; its steps are 0, 1, …"""
    run = labelled.as_run(np.random.default_rng(0), {"train/loss": labelled.columns(loss)})
    return audit_run("run", run, Config(select=("GL304",))).findings


def message(loss):
    (finding,) = found(loss)
    return finding.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "rises slowly, ends below its peak",
            "train/loss rises from 1.61 at step 16 to 8.3 at step 61; its highest point is 14.78 at step 52",
        ),
        (
            "is on its way back",
            "train/loss rises from 1.74 at step 22 to 4.88 at step 64; its highest point is 14.23 at step 43",
        ),
        (
            "never falls, and wanders",
            "train/loss rises from 2.43 at step 9 to 6.71 at step 63; its highest point is 16.8 at step 26",
        ),
    ],
)
def test_a_short_run_that_ends_far_above_its_start(name, said):
    loss = np.array([float(word) for word in RECORDED[name].split()])
    (finding,) = found(loss)
    assert (finding.severity.name, finding.message) == ("ERROR", said)
    assert found(loss[::-1]) == found(loss[:13]) == ()


def test_a_short_run_that_comes_back_has_not_diverged():
    loss = np.array([float(word) for word in RECORDED["rises slowly, ends below its peak"].split()])
    assert found(np.concatenate([loss, np.linspace(7, 1.6, 30)])) == ()


STEPS = np.arange(300)
LEARNT = 0.5 + 2 * np.exp(-STEPS / 20)


def test_a_jump_is_told_from_the_point_before_it_to_the_end():
    rises = "train/loss rises from"
    assert message(np.where(STEPS < 150, LEARNT, 3.0)) == f"{rises} 0.5012 at step 149 to 3 at step 299"
    assert message(np.where(STEPS < 8, 2.0, 9.0)) == f"{rises} 2 at step 7 to 9 at step 299"
    assert message(np.where(STEPS < 290, LEARNT, 3.0)) == f"{rises} 0.5 at step 289 to 3 at step 299"


def test_a_climb_is_told_from_where_it_was_as_low_as_at_best():
    climb = LEARNT + np.clip((STEPS - 100) * 0.05, 0, 4)
    assert message(climb) == "train/loss rises from 0.5628 at step 101 to 4.5 at step 299"


def test_a_peak_is_told_beside_the_end():
    peak = LEARNT + np.interp(STEPS, [0, 100, 160, 200, 299], [0, 0, 14, 9, 9])
    rises = "train/loss rises from 0.5135 at step 100 to 9.5 at step 299"
    assert message(peak) == f"{rises}; its highest point is 14.5 at step 160"


def test_every_number_is_a_point_of_the_curve():
    loss = LEARNT + np.interp(STEPS, [0, 100, 160, 200, 299], [0, 0, 14, 9, 9])
    loss *= np.exp(0.2 * np.random.default_rng(0).standard_normal(len(loss)))
    told = re.findall(r"([\d.]+) at step (\d+)", message(loss))
    assert len(told) == 3
    assert [value for value, _ in told] == [f"{loss[int(step)]:.4g}" for _, step in told]
    assert float(told[2][0]) == pytest.approx(loss.max(), rel=1e-3)


def test_evidence_has_the_points():
    (finding,) = found(LEARNT + np.interp(STEPS, [0, 100, 160, 200, 299], [0, 0, 14, 9, 9]))
    assert {name: round(value, 1) for name, value in finding.evidence.items()} == {
        "best": 0.5,
        "end": 9.5,
        "highest": 14.5,
        "sigmas": 496.8,
    }


@pytest.mark.parametrize("end", [10.0, 500.0])
def test_a_loss_that_explodes_at_its_second_point_and_never_comes_down_to_its_first(end):
    noise = np.exp(0.05 * np.random.default_rng(0).standard_normal(300))
    loss = noise * (3.0 + (end - 3.0) * (STEPS > 0) + 1e5 * np.exp(-STEPS / 4) * (STEPS > 0))
    (finding,) = found(loss)
    assert finding.severity.name == "ERROR"
    assert finding.message.startswith("train/loss rises from 3.0")
    assert found(np.where(STEPS == 0, 1.7, 3.0) * noise) == ()  # a single low point


def test_two_points_are_enough_for_a_loss_that_explodes():
    assert message([1.405, 8.698e14]) == "train/loss rises from 1.405 at step 0 to 8.698e+14 at step 1"
    assert found([1.4, 900.0]) == found([1.4, 2e3, 1.5e3]) == found([0.0, 1e9]) == found([1.4, 2e9, np.nan]) == ()


def test_a_range_test_of_learning_rates_may_blow_up():
    n = np.arange(200)
    loss = 2.3 - 1.8 * np.clip((n - 60) / 87, 0, 1) + np.where(n > 165, 1.9 + 8e3 * (n == 172), 0)
    for rate, silent in ((1e-4 * 1e5 ** (n / 199), True), (0.05 * n, False), (np.full(200, 0.1), False)):
        assert {"GL302", "GL303", "GL304", "GL305", "GL315"}.isdisjoint(codes(loss=loss, lr=rate)) is silent


def test_a_loss_of_batches_that_rises_while_all_validations_fall_is_a_note():
    """The data lie in the order of their classes: the loss jumps at each new one, and the model learns."""
    n = np.arange(90)
    batches = np.where(n < 12, 0.02, 1.5) + 0.05 * np.sin(3 * n)
    assert finding("GL304", train_loss=batches, val_loss=1.6 - 0.006 * n).severity.name == "INFO"
    assert finding("GL304", train_loss=batches, val_loss=1.6 + 0.006 * n).severity.name == "ERROR"
    assert finding("GL304", train_loss=batches).severity.name == "ERROR"


def test_a_rise_is_told_from_the_first_point_if_that_is_lower():
    loss = np.r_[0.57, 3.1, 4.2, 6, 8, 10, 11, 12, 12.5, np.full(140, 13.0) + 0.01 * np.sin(np.arange(140))]
    assert finding("GL304", train_loss=loss).message.startswith("train_loss rises from 0.57 at step 0 to 13")


def test_a_loss_that_came_down_and_is_back_for_a_third_of_the_run():
    value = np.r_[np.full(14, 2.3), np.linspace(2.2, 0.84, 9), np.full(19, 2.31)] + 0.003 * np.sin(np.arange(42))
    found = finding("GL304", loss=value)
    assert (found.message, found.severity.name) == ("loss rises from 0.84 at step 22 to 2.312 at step 40", "ERROR")
    assert finding("GL304", loss=value[:25]) is None  # it may come down again
