"""GL305: what is said of an overfit, and what shows that a rise is no chance."""

import numpy as np
import pytest
from audits.audited import codes, finding
from labelled import runs as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run
from summaries.reading.series import Series


def test_overfitting_is_told_in_values_of_the_curves():
    n = np.arange(40)
    validation, training = 1.3 - 0.1 * np.minimum(n, 5) + 0.05 * np.maximum(n - 5, 0), 2 * 0.8**n
    found = finding("GL305", train__loss=training, val__loss=validation)
    assert found.message == (
        "val/loss rises from 0.8 at step 5 to 2.5 at step 39, while train/loss falls from 0.6554 at step 5 to"
        " 0.0003323 at step 39"
    )
    assert found.steps == (5, 39)


def test_a_rise_that_is_on_its_way_back_is_none():
    validation = np.array([1.732, 1.645, 1.067, 1.046, 0.749, 0.838, 0.9675, 1.083, 1.06, 0.9852, 0.9127, 0.8707])
    training = np.array([1.802, 2.534, 1.792, 1.703, 1.556, 1.78, 1.42, 1.398, 1.42, 1.318, 1.247, 1.179])
    assert "GL305" not in codes(train__loss=training, val__loss=validation)
    validation[8:] = 1.083
    assert "GL305" in codes(train__loss=training, val__loss=validation)


def test_a_training_loss_that_was_still_falling_is_not_said_to_stay():
    n = np.arange(150)
    validation = 0.4675 + 1.7 * 0.5**n + 0.06 * (n > 10) + 0.0003 * np.maximum(n - 10, 0)
    for training, how in (
        (2.3 * 0.4**n + 3e-5, "has fallen to about 3e-05 (steps 121-149)"),
        (np.where(n < 3, 2.3, 3e-5), "stays at 3e-05 at step 149"),
    ):
        found = finding("GL305", train__loss=training, val__loss=validation)
        assert found.message.endswith(f", while train/loss {how}")


def test_a_training_loss_that_rises_too_is_not_overfit():
    n = np.arange(200)
    rises = 2.3 + 0.005 * n + 0.03 * np.exp((n - 150) / 20)
    scalars = {
        "train/loss": labelled.columns(rises),
        "val/loss": (np.arange(39, 200, 40), np.r_[2.35, 2.42, 2.51, 2.71, 9.9]),
    }
    run = labelled.as_run(np.random.default_rng(0), scalars)
    assert not audit_run("run", run, Config(select=("GL305",))).findings
    run = labelled.as_run(
        np.random.default_rng(0), scalars | {"train/loss": labelled.columns(np.full(200, 2.3) + 0.01 * np.sin(n))}
    )
    assert len(audit_run("run", run, Config(select=("GL305",))).findings) == 1


def epochs_and_iterations(with_epochs):
    """What is said of a validation by epochs, and a training by iterations, four an epoch, and maybe by epochs."""
    n, m = np.arange(40), np.arange(160)
    validation = 1.3 - 0.1 * np.minimum(n, 5) + 0.05 * np.maximum(n - 5, 0)
    columns = {"val/loss": (n, 4 * n, validation), "train/batch_loss": (m, m, 2 * 0.8 ** (m / 4))}
    if with_epochs:
        columns["train/loss"] = (n, 4 * n, 1.9 * 0.8**n)
    scalars = {tag: Series(tag, step, 1e9 + secs, value) for tag, (step, secs, value) in columns.items()}
    run = labelled.as_run(np.random.default_rng(0), {tag: labelled.columns(s.value) for tag, s in scalars.items()})
    run.scalars.update(scalars)
    (found,) = audit_run("run", run, Config(select=("GL305",))).findings
    return found.message


def test_epochs_are_compared_with_epochs_else_by_the_clock():
    rises = "val/loss rises from 0.8 at step 5 to 2.5 at step 39, while "
    falls = "train/loss falls from 0.6226 at step 5 to 0.0003157 at step 39"
    assert epochs_and_iterations(with_epochs=True) == rises + falls
    falls = "train/batch_loss, by the clock, falls from 0.6554 at step 20 to 0.0002811 at step 159"
    assert epochs_and_iterations(with_epochs=False) == rises + falls


def test_a_validation_that_rises_early_and_stays_there():
    n = np.arange(80)
    rise = np.interp(n, [0, 4, 28, 79], [0.74, 0.555, 0.70, 0.695]) + 0.004 * np.sin(3 * n)
    assert codes(train__loss=2 * 0.9**n, val__loss=rise) == ["GL305"]
    back = np.interp(n, [0, 4, 28, 60, 79], [0.74, 0.555, 0.70, 0.58, 0.68])
    assert "GL305" not in codes(train__loss=2 * 0.9**n, val__loss=back)


def test_a_training_loss_that_hardly_falls_is_no_overfit():
    n = np.arange(80)
    validation = 15 + 8 * np.minimum(n, 20) / 20 - 10 * np.exp(-((n - 2) ** 2) / 2)
    assert codes(train__loss=2 - 1.5 * n / 80, val__loss=validation) == ["GL305"]
    assert "GL305" not in codes(train__loss=2 - 0.1 * n / 80, val__loss=validation)


def test_a_training_loss_is_told_from_before_a_jump():
    """At the best validation the data break: the training loss jumps, comes back, and ends lower or as it was."""
    n = np.arange(120)
    noise = 0.02 * np.sin(5 * n)
    validation = np.where(n <= 60, 1.5 - n / 60, 1.3)
    ends_lower = np.where(n <= 60, 2 * 0.97**n, 5 * 0.9 ** (n - 61) + 0.05) + noise
    ends_higher = np.where(n <= 60, 2 * 0.94**n, 5 * 0.97 ** (n - 61)) + noise
    found = finding("GL305", train__loss=ends_lower, val__loss=validation)
    assert found.message == (
        "val/loss rises from 0.5 at step 60 to 1.3 at step 119, with a jump at step 61, while train/loss falls from"
        " 0.3016 at step 60 to 0.04218 at step 119"
    )
    assert finding("GL305", train__loss=ends_higher, val__loss=validation) is None


@pytest.mark.parametrize("seed", [251, 495, 550])
def test_the_lowest_of_a_few_noisy_validations_is_chance(seed):
    """Where each level is a point, none after the lowest one is lower, and that shows nothing."""
    epoch, rng = np.arange(20), np.random.default_rng(seed)
    training = 0.5 * np.exp(-epoch / 7) + 0.2 + 0.03 * rng.standard_normal(20)
    validation = 0.45 + 0.15 * np.exp(-epoch / 4) + 0.05 * rng.standard_normal(20)
    assert "GL305" not in codes(train_loss=training, val_loss=validation)


def test_few_validations_that_all_are_several_times_as_high():
    train = np.r_[np.full(10, 0.5) - 0.01 * np.arange(10), 1e-3 * 0.9 ** np.arange(10)]
    steps = {"train__loss": train, "val__loss": np.repeat([0.6, 0.55, 0.5, 4.6, 4.71, 4.7], 1)}
    assert finding("GL305", **steps) is not None
    assert finding("GL305", **(steps | {"val__loss": np.array([0.6, 0.55, 0.5, 0.6, 0.58, 0.61])})) is None


def test_few_validations_that_leap_while_the_training_data_are_learnt_by_heart():
    validation = np.array([4.459, 4.541, 5.929, 5.588, 5.757, 5.822, 5.696])
    training = np.array([4.52, 4.32, 0.0014, 7e-4, 6e-4, 5.5e-4, 5e-4])
    found = finding("GL305", train__loss=training, eval__loss=validation)
    assert found.message.startswith(
        "eval/loss rises from 4.459 at step 0 to 5.696 at step 6, with a jump at step 2, while train/loss"
    )
    assert "GL305" not in codes(train__loss=np.linspace(4.5, 2.5, 7), eval__loss=validation)
