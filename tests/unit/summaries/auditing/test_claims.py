"""Claims: each holds of points that show it, and of no others; and every finding's claims are proved by its run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import faults, healthy, losses
from labelled import runs as labelled
from labelled.proofs import unproved
from strangers.labels import folders

from summaries import read_logdir
from summaries.auditing.claims import Extreme, Jump, Level, Lost, Move, NotBetter, Point, Share, Shift, told_apart
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run, signals_of
from summaries.auditing.rules import RULES
from summaries.reading.series import Series

CURVES = Config(select=("GL3", "GL4", "GL5"))
SAID_BY_CLAIMS = {"GL302", "GL303", "GL304", "GL305", "GL307", "GL308", "GL402", "GL506"}


def series(*values):
    return Series("loss", np.arange(len(values)), 1e9 + np.arange(len(values)), np.array(values, float))


ROSE = series(3, 1, 2, 9, 8)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (Move.of("loss", ROSE, 1, 4, "rises"), "loss rises from 1 at step 1 to 8 at step 4"),
        (Extreme("", Point(3, 9.0), 1, 4), "its highest point is 9 at step 3"),
        (Jump("loss", Point(3, 9.0), 3, 3, 2.5), "loss jumps to 9 at step 3, usually at most 2.5"),
        (Level.of("", ROSE, 0, 2), "about 2 (steps 0-2)"),
        (
            Shift.of(Level.of("loss", ROSE, 0, 2), Level.of("loss", ROSE, 4, 4), "rises"),
            "loss rises from about 2 (steps 0-2) to 8 at step 4",
        ),
        (NotBetter(""), "nothing was learnt"),
        (Share.since("", ROSE, 1, "above", 5), "above 5 at 2 of 4 points"),
        (
            Lost("loss", Point(0, 3.0), Point(1, 1.0), "falls", Point(1, 1.0)),
            "loss falls from 3 at step 0 to 1 at step 1",
        ),
    ],
)
def test_what_points_show_and_how_it_is_said(claim, words):
    assert str(claim) == words
    assert claim.holds(ROSE)
    assert not claim.holds(series(9, 8, 7, 6, 5)) or isinstance(claim, Lost)


@pytest.mark.parametrize(
    "claim",
    [
        Move.of("loss", ROSE, 1, 4, "falls"),
        Move("loss", Point(1, 1.0), Point(4, 7.0), "rises"),  # of no point
        Move("loss", Point(1, 1.0), Point(2, 1.0), "rises"),
        Extreme("", Point(4, 8.0), 1, 4),
        Jump("loss", Point(3, 9.0), 3, 3, 1.0),
        Jump("loss", Point(0, 3.0), 0, 0, 2.5),  # of the first step, before which nothing is usual
        Level("", 2.1, 0, 2, 3),
        Level("", 2.0, 0, 2, 3, number="3"),
        Lost("loss", Point(3, 9.0), Point(4, 8.0), "falls", Point(1, 1.0)),
        Share("", "above", 5, 3, 4, 1),
    ],
)
def test_what_points_contradict(claim):
    assert not claim.holds(ROSE)


def test_nothing_was_learnt_only_if_the_end_is_no_better_than_the_start():
    assert not NotBetter("").holds(series(3, 90, 80, 70, 60, 50, 40, 30, 20, 0.03))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_numbers_are_told_apart_where_seven_digits_can(one, other):
    a, b = told_apart(one, other)
    assert (a != b) is (f"{one:.7g}" != f"{other:.7g}" or a != b)


def contradicted(run, config=CURVES):
    """What is said of a run that its points contradict, and what is said without claims."""
    findings = audit_run("run", run, config).findings
    signals = signals_of("run", run, config)
    wrong = [(finding.code, words) for finding in findings for words in unproved(finding, signals)]
    return wrong + [(one.code, one.message) for one in findings if one.code in SAID_BY_CLAIMS and not one.claims]


MAKERS = [*healthy.HEALTHY, *(maker for _, maker in faults.FAULTS)]


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_what_is_said_of_labelled_runs_is_proved_by_their_points(maker):
    for seed, (points, noise) in enumerate(labelled.SIZES):
        rng = np.random.default_rng(seed)
        assert contradicted(labelled.as_run(rng, maker(rng, points, noise))) == []


@pytest.mark.parametrize("maker", [maker for _, maker in losses.FAULTS], ids=lambda maker: maker.__name__)
def test_what_is_said_of_hard_runs_is_proved_by_their_points(maker):
    for seed, points in enumerate((*losses.SIZES, losses.FEW)):
        rng = np.random.default_rng(seed)
        assert contradicted(labelled.as_run(rng, maker(rng, points)[0])) == []


@pytest.mark.parametrize("place", folders(), ids=lambda place: place.name)
def test_what_is_said_of_strangers_runs_is_proved_by_their_points(place):
    told = {name: contradicted(run) for name, run in read_logdir(place).items()}
    assert {name: wrong for name, wrong in told.items() if wrong} == {}


@st.composite
def curves(draw):
    """A curve of random pieces: slopes, levels, jumps and humps, with noise that may be large."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pieces = draw(st.lists(st.tuples(st.integers(3, 60), st.floats(-3, 3), st.booleans()), min_size=1, max_size=6))
    level, values = draw(st.floats(-2, 2)), []
    for length, to, at_once in pieces:
        values.append(np.full(length, to) if at_once else np.linspace(level, to, length))
        level = to
    noise = draw(st.sampled_from([0.0, 0.01, 0.1, 0.5]))
    value = np.concatenate(values)
    return np.exp(value + noise * rng.standard_normal(len(value)))


@given(curves(), curves(), curves(), st.sampled_from(["", "rollout/ep_rew_mean"]))
def test_what_is_said_of_any_curve_is_proved_by_its_points(loss, validation, norm, reward):
    columns = {"train/loss": loss, "val/loss": validation, "grad_norm": norm, "train/entropy_loss": -validation}
    columns |= {reward: loss} if reward else {}
    run = labelled.as_run(np.random.default_rng(0), {tag: labelled.columns(value) for tag, value in columns.items()})
    assert contradicted(run) == []


def test_every_rule_that_speaks_of_a_curve_makes_claims():
    assert set(RULES) >= SAID_BY_CLAIMS
