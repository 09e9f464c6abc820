"""A validation loss in a run of its own, beside or below the run that trains: Keras's way, and TF1's."""

import pytest

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config


def log(directory, tag, value, points=60):
    with SummaryWriter(directory) as writer:
        for step in range(points):
            writer.add_scalar(tag, value(step), step, walltime=1e9 + step)


@pytest.mark.parametrize(
    ("train", "validate"),
    [("a/train", "a/validation"), ("a", "a/eval"), ("train", "val"), (".", "eval"), ("a/loss_train", "a/loss_val")],
)
@pytest.mark.parametrize("rise", [0.0, 0.01])
def test_overfitting_across_two_runs(tmp_path, train, validate, rise):
    log(tmp_path / train, "epoch_loss", lambda step: 2 * 0.9**step)
    log(tmp_path / validate, "epoch_loss", lambda step: 0.5 + 2 * 0.85**step + rise * max(step - 20, 0))
    found = audit(tmp_path, Config(ignore=("GL308",))).findings  # a note: without a rise, it ends on a plateau
    assert [(finding.run, finding.code) for finding in found] == ([(validate, "GL305")] if rise else [])
    assert all(f", while epoch_loss of {train} falls from " in finding.message for finding in found)


def test_a_validation_alone_is_not_judged(tmp_path):
    log(tmp_path / "validation", "epoch_loss", lambda step: 0.5 + 2 * 0.85**step + 0.01 * step)
    assert audit(tmp_path, Config()).findings == ()


def test_scalars_that_share_a_chart_are_a_pair(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("lr", 0.1, 0)
        for step in range(60):
            rises = 0.5 + 2 * 0.85**step + 0.01 * max(step - 20, 0)
            writer.add_scalars("loss", {"train": 2 * 0.9**step, "val": rises}, step, walltime=1e9 + step)
    assert [(finding.run, finding.code) for finding in audit(tmp_path, Config()).findings] == [("loss_val", "GL305")]


def test_a_validation_that_does_not_move_is_told_beside_the_run_that_trains(tmp_path):
    log(tmp_path / "a/train", "epoch_loss", lambda step: 2 + 0.1 * (step * 7 % 11), points=11)
    log(tmp_path / "a/validation", "epoch_loss", lambda step: 2 - 1e-6 * step, points=11)
    (found,) = audit(tmp_path, Config(select=("GL303",))).findings
    assert found.message == (
        "epoch_loss hardly changes in 11 validations: 2 at step 0, then 1.99999 at step 10; nor does epoch_loss of"
        " a/train fall"
    )
