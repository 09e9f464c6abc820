"""Whether a run learns."""

import numpy as np
import pytest
from labelled import runs as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of
from summaries.auditing.rules.progress import is_early, learns, learns_since

N = np.arange(400)


def signals(**values):
    columns = {tag.replace("__", "/"): labelled.columns(value) for tag, value in values.items()}
    return signals_of("run", labelled.as_run(np.random.default_rng(0), columns), Config())


def test_a_run_learns_if_its_objective_falls_by_a_tenth():
    noise = 0.02 * np.random.default_rng(0).standard_normal(400)
    assert learns(signals(loss=2 * 0.99**N + noise))
    assert not learns(signals(loss=2 - 0.05 * N / 400 + noise))
    assert not learns(signals(grad_norm=np.ones(400)))
    assert not learns(signals(loss=np.ones(3)))


@pytest.mark.parametrize(
    ("loss", "goes_on"),
    [
        (2 - N / 400, True),
        (1 + N / 400, False),
        (np.where(N < 100, 2.0, 1.0), None),
        (np.where(N < 300, 1.0, 2.0), False),
    ],
)
def test_what_the_objective_does_since_a_step(loss, goes_on):
    assert learns_since(signals(loss=loss), 300) is goes_on


def test_few_points_of_steps_are_early_and_those_of_epochs_are_not():
    flat = np.full(50, 2.3)
    for columns, early in (
        ({"loss": flat}, True),
        ({"loss": flat, "val__loss": flat}, False),
        ({"loss_epoch": flat}, False),
    ):
        run = signals(**columns)
        assert is_early(run, run.of("loss")[0].finite) is early


def test_a_schedule_that_has_only_begun_is_early():
    share = N / 400
    for rate, early in (
        (np.minimum(share / 0.6, 1), True),  # it warmed up for most of the steps so far
        (np.minimum(share / 0.1, 1), False),  # then it is constant
        (1 - 0.4 * share, True),  # it comes down
        (1 - 0.9 * share, False),
        (np.full(400, 0.1), False),
    ):
        run = signals(loss=np.full(400, 2.3), lr=rate)
        assert is_early(run, run.of("loss")[0].finite) is early
