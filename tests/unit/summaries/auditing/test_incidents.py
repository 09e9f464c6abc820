"""A recorded incident repeats steps of its run: the audit tells each thing once, and no course of an excerpt."""

import math

import numpy as np
import pytest

from summaries import SummaryWriter, audit

STEPS = 1000


def log(logdir, every, spoilt, *, recorded=range(601, 726), name=""):
    """A run that logs some steps, and an incident that has each of some: losses that fall, other than at some steps."""
    rng = np.random.default_rng(0)
    loss = 2 * np.exp(-np.arange(STEPS) / STEPS) + 0.02 * rng.standard_normal(STEPS)
    for step, value in spoilt.items():
        loss[step] = value
    places = {name: range(0, STEPS, every), f"{name}/incident=700": recorded}
    for place, steps in places.items():
        with SummaryWriter(f"{logdir}/{place}") as writer:
            for step in steps:
                writer.add_scalar("train/loss", loss[step], step, walltime=1e9 + step)
                writer.add_scalar("gradients/clipped", 0.0, step, walltime=1e9 + step)
            if steps is recorded:
                writer.add_text("incident", "a spike of the loss", 700, walltime=1e9 + 700)


def found(logdir):
    """(run, code) of each finding."""
    return sorted((finding.run, finding.code) for finding in audit(logdir).findings)


@pytest.mark.parametrize("every", [1, 10])
def test_a_spike_that_the_run_has_too_is_told_once(logdir, every):
    log(logdir, every, {700: 12.0})
    assert found(logdir) == [(".", "GL302"), (".", "GL405"), ("incident=700", "GL208")]


def test_a_spike_that_only_the_incident_has(logdir):
    log(logdir, 100, {703: 12.0})
    assert found(logdir) == [("incident=700", "GL208"), ("incident=700", "GL302")]


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_another_thing_at_other_steps_is_told_of_both(logdir):
    log(logdir, 10, {100: math.nan, 703: math.nan})
    assert found(logdir) == [(".", "GL301"), (".", "GL405"), ("incident=700", "GL208"), ("incident=700", "GL301")]


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_what_the_run_shows_at_its_next_step_is_told_once(logdir):
    log(logdir, 10, {703: math.nan, 710: math.nan}, recorded=range(601, 706))
    assert found(logdir) == [(".", "GL301"), (".", "GL405"), ("incident=700", "GL208")]


def test_no_course_is_told_of_an_excerpt(logdir):
    log(logdir, 100, {})
    assert found(logdir) == [("incident=700", "GL208")]
    log(f"{logdir}/other", 100, {}, recorded=range(601, 900))
    assert found(f"{logdir}/other") == [("incident=700", "GL208")]


def test_incidents_of_several_runs(logdir):
    log(logdir, 10, {700: 12.0}, name="a")
    log(logdir, 100, {703: 12.0}, name="b")
    assert found(logdir) == [
        ("a", "GL302"), ("a", "GL405"), ("a/incident=700", "GL208"), ("b/incident=700", "GL208"),
        ("b/incident=700", "GL302"),
    ]  # fmt: skip


def test_an_incident_without_its_run(logdir):
    log(logdir, 10, {700: 12.0})
    assert found(f"{logdir}/incident=700") == [(".", "GL208"), (".", "GL302")]
