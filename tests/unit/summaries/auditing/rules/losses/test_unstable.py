"""GL315: what was learnt is undone, for good or for a time, or swings."""

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(48)
FALL = 0.4 + 2 * 0.9**N
NOISE = np.random.default_rng(0).standard_normal((3, 48))


def test_both_losses_rise_and_stay():
    up = 0.2 * (N > 30)
    found = finding("GL315", train__loss=FALL + up, val__loss=FALL + up + 0.1, lr=np.full(48, 0.1))
    assert found.message.startswith("val/loss rises from about 0.5994 (steps 28-31) to about 0.7166 (steps 44-47), ")
    assert found.message.endswith(", train/loss rises with it; the learning rate is 0.1 at most")


def test_a_rise_is_told_from_the_level_that_was_best():
    """Fifteen points are twelve levels that overlap, each of two points."""
    loss = np.array([1.0, 0.35, 0.23, 0.17, 0.14, 0.12, 0.11, 2.4, 2.35, 2.33, 2.4, 2.37, 2.37, 2.36, 2.34])
    found = finding("GL315", train__loss=loss + 0.01, val__loss=loss)
    assert found.message.startswith("val/loss rises from 0.11 at step 6 to about 2.35 (steps 13-14), train/loss rises")
    assert found.steps == (5, 14)


def test_a_rise_within_the_noise_of_levels_is_none():
    validation = np.array([0.888, 0.843, 0.8592, 0.8423, 0.8409, 0.8646, 0.8296, 0.8848, 0.8413, 0.8712, 0.8558, 0.8402,
                           0.8245, 0.8517, 0.8306, 0.8685, 0.8759, 0.8774, 0.8793, 0.893, 0.9412, 0.8764, 0.8628,
                           0.8308])  # fmt: skip
    training = np.repeat([1.05, 1.02, 0.98, 1.0, 1.06], [8, 4, 4, 2, 6]) + 0.001 * np.sin(np.arange(24))
    assert "GL315" not in codes(train__loss=training, val__loss=validation)
    validation[20:] = 0.9412
    assert "GL315" in codes(train__loss=training, val__loss=validation)


def test_what_rises_all_the_way_does_not_swing():
    up = 1.2**N
    assert "GL315" not in codes(train__loss=FALL, val__loss=up)


def test_a_hump():
    hump = np.where((N > 20) & (N < 32), 1.5, 0)
    found = finding("GL315", train__loss=FALL + hump, val__loss=FALL + hump)
    assert ", train/loss rises with it, and comes back" in found.message


def test_a_validation_that_swings():
    found = finding("GL315", train__loss=FALL, val__loss=0.9 + 0.4 * NOISE[1].clip(-2, 2))
    assert "val/loss swings between " in found.message
    swings = np.where(N % 3, 0.4, 0.8)
    found = finding("GL315", train__loss=FALL, val__loss=FALL, val__acc=swings)
    assert found.message == "val/acc swings between 0.4 at step 25 and 0.8 at step 24 in its last 24 points"


def test_a_validation_that_swings_higher_than_before_may_fall_in_its_last_half():
    swings = 0.4 * NOISE[1].clip(-2, 2)
    after_a_rise = np.where(N < 24, 0.5, 2.3 - 0.03 * N) + swings
    assert "val/loss swings between " in finding("GL315", train__loss=FALL, val__loss=after_a_rise).message
    assert "GL315" not in codes(train__loss=FALL, val__loss=np.where(N < 24, 2.5, 2.3 - 0.03 * N) + swings)


@pytest.mark.parametrize(
    ("train", "validation"),
    [
        (FALL, FALL + 0.1),
        (FALL, FALL + 0.3 * (N > 30)),  # overfitting
        (FALL + 0.3 * (N > 30), FALL),
        (FALL, 0.4 + 2 * 0.9**N + 0.02 * NOISE[0]),
        (FALL, np.full(48, 0.4)),
    ],
)
def test_what_is_stable(train, validation):
    assert "GL315" not in codes(train__loss=train, val__loss=validation)


def test_a_part_may_rise():
    assert "GL315" not in codes(
        train__box_loss=FALL + 0.2 * (N > 30), train__cls_loss=3 * FALL, val__box_loss=FALL + 0.2 * (N > 30)
    )


def test_a_training_loss_that_only_rises_beside_accuracies():
    rises = 0.9 + 0.1 * N + 0.3 * NOISE[2]
    found = finding("GL315", loss=rises, test_acc=np.full(48, 0.6))
    assert found.message.startswith("loss rises from about 0.8019 (steps 0-3) to about 5.569 (steps 44-47)")
    assert finding("GL315", loss=FALL, test_acc=np.full(48, 0.6)) is None


def test_an_accuracy_in_percent_swings_by_percents():
    swings = np.where(N % 3, 50.0, 55.0)
    assert finding("GL315", train__loss=FALL, val__loss=FALL, val__acc=swings) is None
    found = finding("GL315", train__loss=FALL, val__loss=FALL, val__acc=8 * (swings - 45))
    assert "val/acc swings between 40 at step 25 and 80 at step 24" in found.message


def test_humps_at_different_times_are_no_hump_of_both():
    early, late = (np.where((N - first) // 12, 0, 1.5) for first in (9, 29))
    assert finding("GL315", train__loss=FALL + early, val__loss=FALL + late) is None


@pytest.mark.parametrize("seed", [1, 28])
def test_a_few_noisy_validations_do_not_swing_while_they_fall(seed):
    epoch, rng = np.arange(14), np.random.default_rng(seed)
    train, validation = (1.1 - 0.5 * epoch / 14 + 0.05 * rng.standard_normal(14) for _ in range(2))
    assert finding("GL315", train__loss=train, val__loss=validation) is None


def test_a_validation_that_leaps_by_factors_until_the_rate_is_down():
    n = np.arange(30)
    leaps = np.where(n < 16, 10.0 ** (2 + np.random.default_rng(0).uniform(-1, 1, 30)), 6.0 * 0.99**n)
    found = finding("GL315", train__nll=60 * 0.9**n, val__nll_loss=leaps)
    assert found.message.startswith("val/nll_loss swings between ")
    assert found.message.endswith(" in its first 15 points")
