"""GL313: losses that have only begun to fall, and those that bend, or may be slow."""

import numpy as np
import pytest
from audits.audited import codes, finding, found_in

from summaries import SummaryWriter

N = np.arange(30)
LINE = 4.5 - 0.02 * N


def test_a_straight_line_has_only_begun():
    found = finding("GL313", train__loss=LINE, val__loss=LINE - 0.1, lr=np.full(30, 1e-6))
    assert found.message == (
        "val/loss falls from about 4.39 (steps 0-1) to about 3.83 (steps 28-29) in the whole run, nearly in a"
        " straight line; the learning rate is 1e-06 at most"
    )
    assert found.severity.name == "WARNING"


@pytest.mark.parametrize(
    ("hparams", "said"),
    [
        ({"lr": 1e-6, "lr_decay": 0.5}, "; the learning rate is 1e-06, as the hyperparameters say"),
        ({"optimizer.base_lr": 0.3}, "; the learning rate is 0.3, as the hyperparameters say"),
        ({"optimizer.base_lr": 0.01}, ""),  # which is usual
        ({"generator/lr": 1e-3, "discriminator/lr": 1e-4}, ""),  # whose, nothing says
        ({"lr": "1e-4 to 1e-2", "color": 3.0}, ""),
        ({}, "; the learning rate is 0.5, as the hyperparameters say"),  # those in the run's name
    ],
)
def test_a_rate_that_is_only_a_hyperparameter_is_named(tmp_path, hparams, said):
    with SummaryWriter(str(tmp_path / ("run" if hparams else "lr=0.5"))) as writer:
        if hparams:
            writer.add_hparams(hparams, {"hparam/loss": 1.0}, run_name=".")
        for step, loss in enumerate(LINE):
            writer.add_scalar("train/loss", loss, step)
            writer.add_scalar("val/loss", loss - 0.1, step)
    found = found_in(str(tmp_path))["GL313"]
    assert found.message.endswith(f"in the whole run, nearly in a straight line{said}")


def test_a_rate_that_falls_bends_no_line():
    rate = 1e-5 * 0.5 * (1 + np.cos(np.pi * N / 30))
    way = np.cumsum(rate) / rate.sum()
    assert "GL313" in codes(train__loss=4.5 - 0.3 * way, val__loss=4.4 - 0.3 * way, lr=rate)
    assert "GL313" not in codes(train__loss=4.5 - 0.3 * way**0.3, val__loss=4.4 - 0.3 * way**0.3, lr=rate)


def test_what_falls_in_step_with_its_rate_is_no_line():
    rate = 1e-5 * 0.5 * (1 + np.cos(np.pi * N / 30))
    way = np.cumsum(rate) / rate.sum()
    found = finding("GL313", train__loss=4.5 - 0.3 * way, val__loss=4.4 - 0.3 * way, lr=rate)
    assert " in the whole run, as the learning rate comes down; the learning rate is 1e-05 at most" in found.message


def test_a_rate_that_dies_between_two_points_makes_no_line_of_them():
    n = np.arange(12)
    loss = np.where(n, 1.65, 1.654) - 1e-6 * n
    assert "GL313" not in codes(train__loss=loss, val__loss=loss, lr=0.05 * 0.01**n)


@pytest.mark.parametrize(
    "loss",
    [
        1 + 0.3 * 0.8**N,  # it has settled
        4.5 - 0.1 * N,  # most of it is gone
        4.5 - 0.0005 * N**2.5,  # it becomes ever faster
        4.5 + 0.02 * N,
        np.full(30, 4.5),
    ],
)
def test_what_is_not_slow(loss):
    assert "GL313" not in codes(train__loss=loss, val__loss=loss)


def test_single_steps_are_too_few():
    assert "GL313" not in codes(train__loss=np.repeat(LINE, 4), val__loss=LINE)


def test_a_loss_of_epochs_is_judged_by_itself_beside_accuracies():
    assert "GL313" in codes(loss=1.9 - 0.004 * N, test_acc=0.3 + 0.005 * N)
    assert "GL313" not in codes(loss=1.9 - 0.004 * N)


def test_few_validations_that_fall_by_more_than_hardly_anything_are_a_note():
    few = np.arange(12)
    for fall, severity in ((0.01, "WARNING"), (0.05, "INFO")):
        loss = 4.5 * (1 - fall * few / 11)
        assert finding("GL313", train__loss=loss, val__loss=loss).severity.name == severity


def test_the_rate_says_whether_a_slow_fall_is_a_fault():
    for rate, points, severity in (
        (5e-5, 15, "WARNING"),
        (5e-4, 30, "WARNING"),
        (5e-4, 15, "INFO"),
        (5e-3, 30, "INFO"),
    ):
        line, lr = 4.5 - 0.6 * np.arange(points) / points, np.full(points, rate)
        assert finding("GL313", train__loss_epoch=line, val__loss=line - 0.1, lr=lr).severity.name == severity


def test_accuracies_that_rest_while_the_loss_falls_by_little():
    step = np.arange(80)
    loss, top1 = 4.53 - 0.17 * (1 - 0.9**step), 12 + 2 * np.sin(3 * step)
    found = finding("GL313", loss_epoch=loss, acc__top1=top1)
    assert found.message.startswith("acc/top1 does not rise: about ")
    assert "GL313" not in codes(loss_epoch=loss, acc__top1=top1 + 0.5 * step)
    assert "GL313" not in codes(loss_epoch=loss, acc__top1=top1 + 60)  # a fine-tuning that has little left to learn


def test_a_loss_and_its_validation_that_both_end_no_lower():
    n = np.arange(10)
    parts = {"train/box_loss": 0.6 + 0.01 * np.sin(n), "train/cls_loss": 1.2 - 0.01 * np.sin(n) + 0.003 * np.cos(7 * n)}
    of_validation = {"val/box_loss": 0.55 + 0.005 * n, "val/cls_loss": 1.2 + 0.01 * np.cos(n)}
    found = finding("GL313", **parts, **of_validation, epoch=n)
    assert found.message == (
        "the sum of train/box_loss and train/cls_loss does not fall: 1.803 at step 0, then about 1.8026 (steps 7-9);"
        " nor does the sum of val/box_loss and val/cls_loss: 1.76 at step 0, then about 1.789 (steps 7-9)"
    )
    falls = finding("GL313", **parts, **(of_validation | {"val/box_loss": 0.55 - 0.01 * n}))
    assert (falls.severity.name, falls.tag) == ("INFO", "val/box_loss")
    assert finding("GL313", **parts) is None  # ten points alone may be noise
