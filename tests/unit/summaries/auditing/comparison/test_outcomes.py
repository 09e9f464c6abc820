"""What a run reached: its end and its best, by medians of tenths."""

import numpy as np
import pytest
from labelled import runs as labelled

from summaries.auditing.comparison.outcomes import chosen, main_losses, outcome_of, ranked
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import TagTable


def signals(*tags, values=(1.0,)):
    run = labelled.as_run(np.random.default_rng(0), {tag: labelled.columns(values) for tag in tags})
    return Signals("run", run, TagTable(tags=tags))


def reached(values, *, maximize=False, tag="loss", main=False):
    return outcome_of(signals(tag, values=values).all[tag], maximize=maximize, main=main)


def test_the_end_and_the_best():
    values = np.concatenate([np.linspace(3, 1, 50), np.full(50, 2.0)])
    found = reached(values)
    assert found.final == 2.0
    assert found.best == pytest.approx(np.median(values[40:50]), rel=1e-6)
    assert found.best_step == 49


def test_one_spike_or_nan_changes_neither():
    values = np.full(100, 2.0)
    values[[3, 55, 95, 99]] = 50, -50, np.nan, np.inf
    assert reached(values)[1:4] == (2.0, 2.0, 99)


def test_a_run_that_diverged():
    found = reached(np.where(np.arange(100) < 80, 1.0, np.nan))
    assert (found.final, found.best) == (np.inf, 1.0)
    assert reached([np.nan, np.nan]).best == np.inf
    late = reached([*np.geomspace(1, 1e30, 197), np.inf, np.inf, np.nan])
    assert (late.final, late.best_step) == (np.inf, 19)


def test_larger_is_better():
    assert reached(np.arange(100.0), maximize=True)[1:3] == (94.5, 94.5)
    assert reached([np.nan] * 5, maximize=True).final == -np.inf
    assert ranked(-np.inf, maximize=True) == np.inf
    assert ranked(3.0, maximize=True) == -3.0


def test_few_points():
    assert reached([5.0])[1:4] == (5.0, 5.0, 0)


def test_the_tag_that_most_runs_have():
    train, val = reached([1.0], tag="train/loss"), reached([1.0], tag="val/loss")
    assert chosen([{"train/loss": train, "val/loss": val}]) == "val/loss"
    assert chosen([{"train/loss": train, "val/loss": val}, {"train/loss": train}]) == "train/loss"


def test_what_stands_for_a_run_goes_before_what_most_runs_have():
    main, side = reached([1.0], tag="epoch_loss", main=True), reached([1.0], tag="evaluation_loss_vs_iterations")
    both = {"evaluation_loss_vs_iterations": side, "epoch_loss": main}
    assert chosen([both, both]) == "epoch_loss"
    assert chosen([both, {"evaluation_loss_vs_iterations": side}]) == "epoch_loss"


def test_the_main_loss_and_its_validation():
    boxes = "train/box_loss", "train/cls_loss", "val/cls_loss", "val/box_loss", "lr/pg0"
    assert main_losses(signals(*boxes)) == {"train/box_loss", "val/box_loss"}
    assert main_losses(signals("loss", "validation_loss", "val/part_loss")) == {"loss", "validation_loss"}
    assert main_losses(signals("val_loss")) == {"val_loss"}
    assert main_losses(signals("accuracy")) == set()
