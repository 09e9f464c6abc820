"""What explains that a curve goes up: settings, told from those that are the likely cause of a fault."""

import numpy as np
import pytest
from audits import audited
from labelled import curricula
from labelled.runs import SIZES, as_run

from summaries import Severity
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

CONFIG = Config()
N = 1000
T = np.arange(N)
FALLS = 0.4 + 2 * np.exp(-T / 80) + 0.02 * np.random.default_rng(0).standard_normal(N)
LATER = T >= 600


def told(loss, **settings):
    return audited.finding("GL304", loss=loss, **settings)


def test_a_jump_that_comes_with_a_setting_is_a_note():
    harder = FALLS + 0.5 * LATER
    assert told(harder).severity is Severity.ERROR
    note = told(harder, difficulty=1 * LATER)
    assert note.severity is Severity.INFO
    assert note.message.endswith("; it comes with a setting: difficulty rises from 0 at step 599 to 1 at step 600")


def test_a_setting_that_changes_elsewhere_explains_nothing():
    harder = FALLS + 0.5 * LATER
    for elsewhere in (T >= 300, T >= 900):
        assert told(harder, difficulty=1 * elsewhere).message == told(harder).message


def test_a_rise_that_goes_on_after_a_setting_is_a_fault_and_names_it():
    grows = FALLS + 0.005 * np.maximum(T - 600, 0)
    fault = told(grows, batch_size=256 - 192 * LATER)
    assert fault.severity is Severity.ERROR
    assert fault.message.endswith("; the likely cause: batch_size falls from 256 at step 599 to 64 at step 600")


def test_a_jump_that_undoes_most_must_be_made_good():
    lost = np.where(LATER, 2.3 + 0 * T, FALLS)
    assert told(lost, image_size=128 + 64 * LATER).severity is Severity.ERROR
    learnt = np.where(LATER, 1.6 + 0.7 * np.exp(-np.maximum(T - 600.0, 0) / 50), FALLS)
    assert told(learnt, image_size=128 + 64 * LATER).severity is Severity.INFO
    just_now = slice(0, 700)
    assert told(lost[just_now], image_size=(128 + 64 * LATER)[just_now]).severity is Severity.INFO


def test_a_ramp_explains_a_part_of_what_was_learnt_and_no_more():
    ramp = np.clip((T - 300) / 500, 0, 1)
    assert told(FALLS + 0.6 * ramp, kl_weight=ramp).severity is Severity.INFO
    assert told(FALLS * np.exp(2 * ramp), kl_weight=ramp).severity is Severity.ERROR


def test_a_ramp_that_had_begun_long_before_is_no_cause():
    lost = np.where(LATER, 2.3 + 0 * T, FALLS)
    assert told(lost, noise_std=T / N).message == told(lost).message
    named = told(lost, noise_std=T / N, image_size=128 + 64 * LATER)
    assert named.message.endswith("; the likely cause: image_size rises from 128 at step 599 to 192 at step 600")


def test_a_setting_on_another_axis_is_placed_by_the_clock():
    run = as_run(
        np.random.default_rng(0),
        {"loss": (10 * T, FALLS + 0.5 * LATER), "difficulty": (np.arange(100), 1 * (np.arange(100) >= 60))},
    )
    clock = run.scalars["loss"].wall_time
    series = run.scalars["difficulty"]
    run.scalars["difficulty"] = type(series)(series.tag, series.step, clock[5::10], series.value)
    (note,) = audit_run("run", run, Config(select=("GL304",))).findings
    assert note.message.endswith("difficulty rises from 0 at step 59 to 1 at step 60")


@pytest.mark.parametrize(("code", "maker", "cause"), curricula.FAULTS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_fault_that_follows_a_setting_names_it(code, maker, cause):
    missed = []
    for points, noise in SIZES:
        for seed in range(20):
            rng = np.random.default_rng(seed)
            findings = audit_run("run", as_run(rng, maker(rng, points, noise)), CONFIG).findings
            words = [one.message for one in findings if one.code == code and one.severity >= Severity.WARNING]
            if not any(f"the likely cause: {cause}" in message for message in words):
                missed.append((points, noise, seed, words))
    assert missed == []
