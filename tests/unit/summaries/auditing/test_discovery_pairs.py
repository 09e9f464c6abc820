"""A validation loss in a run of its own, beside or below the run that trains: Keras's way, and TF1's."""

import numpy as np
import pytest
from labelled import faults, runs
from labelled.proofs import unproved

from summaries import SummaryWriter, audit, read_run
from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of


def log(directory, tag, value, points=60):
    with SummaryWriter(directory) as writer:
        for step in range(points):
            writer.add_scalar(tag, value(step), step, walltime=1e9 + step)


@pytest.mark.parametrize(
    ("train", "validate", "trained"),
    [
        ("a/train", "a/validation", "train/epoch_loss"),
        ("a", "a/eval", "epoch_loss"),
        ("train", "val", "train/epoch_loss"),
        (".", "eval", "epoch_loss"),
        ("a/loss_train", "a/loss_val", "loss_train/epoch_loss"),
    ],
)
@pytest.mark.parametrize("rise", [0.0, 0.01])
def test_overfitting_across_two_runs(tmp_path, train, validate, trained, rise):
    log(tmp_path / train, "epoch_loss", lambda step: 2 * 0.9**step)
    log(tmp_path / validate, "epoch_loss", lambda step: 0.5 + 2 * 0.85**step + rise * max(step - 20, 0))
    found = audit(tmp_path, Config(ignore=("GL308",))).findings  # a note: without a rise, it ends on a plateau
    assert [(finding.run, finding.code) for finding in found] == ([(validate, "GL305")] if rise else [])
    assert all(f", while {trained} falls from " in finding.message for finding in found)
    assert [finding.tag for finding in found] == ["epoch_loss"] * bool(rise)


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
        "validation/epoch_loss hardly changes in 11 validations: 2 at step 0, then 1.99999 at step 10; nor does"
        " train/epoch_loss fall"
    )


def test_what_compares_a_training_with_its_validation_sees_both(tmp_path):
    log(tmp_path / "a/train", "epoch_loss", lambda step: 2.3 * 0.8**step, points=20)
    log(tmp_path / "a/train", "epoch_accuracy", lambda step: 1 - 0.9 * 0.7**step, points=20)
    log(tmp_path / "a/validation", "epoch_loss", lambda step: 2.29 + 0.02 * (step * 7 % 5), points=20)
    log(tmp_path / "a/validation", "evaluation_accuracy_vs_iterations", lambda step: 0.1 + 0.02 * (step % 3), points=20)
    found = audit(tmp_path, Config(select=("GL311",))).findings
    assert [(finding.run, finding.tag) for finding in found] == [
        ("a/validation", "evaluation_accuracy_vs_iterations"),
        ("a/validation", "epoch_loss"),
    ]
    assert found[0].message.endswith(" is never above 0.14, while train/epoch_loss falls")
    (level, fall) = found[1].claims[1:]
    assert (level.run, level.tags, fall.run, fall.tags) == ("", ("epoch_loss",), "a/train", ("epoch_loss",))


def test_what_keras_logs_by_epochs_and_by_iterations_is_told_once(tmp_path):
    log(tmp_path / "train", "epoch_loss", lambda step: 2.3 * 0.8**step, points=20)
    for tag in ("evaluation_loss_vs_iterations", "epoch_loss"):
        log(tmp_path / "validation", tag, lambda step: 2.29 + 0.02 * (step * 7 % 5), points=20)
    (found,) = audit(tmp_path, Config(select=("GL311",))).findings
    assert (found.tag, found.others) == ("epoch_loss", ())


def test_what_is_found_of_a_training_is_not_told_of_its_validation_again(tmp_path):
    log(tmp_path / "train", "epoch_loss", lambda step: 2.3 + 0.01 * (step * 7 % 11))
    log(tmp_path / "validation", "epoch_accuracy", lambda step: 0.5 + 0.01 * (step * 7 % 11))
    assert [finding.run for finding in audit(tmp_path, Config(select=("GL303", "GL309"))).findings] == ["train"]


def logs_both(maker):
    return {"train", "val"} == {tag.split("/")[0] for tag in maker(np.random.default_rng(0), 400, 0.01)}


COMPARED = [(code, maker) for code, maker in faults.FAULTS if code.startswith("GL3") and logs_both(maker)]


@pytest.mark.parametrize(("code", "maker"), COMPARED, ids=lambda one: getattr(one, "__name__", one))
def test_two_runs_say_what_one_says_that_logs_both(tmp_path, code, maker):
    logged = maker(np.random.default_rng(0), 400, 0.01)
    for place in ("train", "val"):
        of = {tag.removeprefix(f"{place}/"): column for tag, column in logged.items() if tag.startswith(place)}
        runs.write(tmp_path / place, np.random.default_rng(0), of)
    found = audit(tmp_path, Config(select=(code,))).findings
    assert code in {finding.code for finding in found}
    signals = {place: signals_of(place, read_run(tmp_path / place), Config()) for place in ("train", "val")}
    assert not [words for one in found for words in unproved(one, signals[one.run], signals)]
