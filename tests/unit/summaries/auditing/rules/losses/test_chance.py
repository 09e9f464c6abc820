"""GL309: classifiers that guess, and losses that only happen to lie there."""

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(30)
AT_CHANCE = 0.1 + 0.001 * (N % 3)


def test_what_is_said_names_the_classes_and_the_rate():
    found = finding("GL309", train__loss_epoch=2.303 - 0.004 * N, val__accuracy=AT_CHANCE, lr=np.full(30, 1e-6))
    assert found.severity.name == "WARNING"
    assert found.message == (
        "train/loss_epoch falls from about 2.301 (steps 0-1) to about 2.189 (steps 28-29), and 2.303 ="
        " ln 10 is guessing among 10; the learning rate is 1e-06 at most"
    )


def test_a_fall_at_once_is_told_from_the_first_point():
    loss = np.r_[1.6e7, np.full(29, 0.66)] - 1e-4 * np.r_[N]
    found = finding("GL309", train__loss_epoch=loss, val__accuracy=np.where(N % 2, 0.49, 0.5))
    assert found.message.startswith("train/loss_epoch falls from 1.6e+07 at step 0 to about 0.6572 (steps 28-29)")


def test_noise_moves_the_number_of_classes():
    loss = np.r_[348.1, 3.386, 2.385 + 0.005 * np.sin(N[2:])]
    found = finding("GL309", train__loss_epoch=loss, val__accuracy=np.where(N % 2, 0.078, 0.08))
    assert found.message.endswith("2.398 = ln 11 is guessing among about 11")


def test_a_straight_line_alone_is_a_note():
    assert finding("GL309", train__loss_epoch=4.852 - 0.004 * N).severity.name == "INFO"


@pytest.mark.parametrize(
    "loss",
    [
        2.303 - 1.5 * (1 - 0.9**N),  # it learns
        2.303 - 0.2 * (1 - 0.7**N),  # it has converged, as a fine-tuning does
        1.75 - 0.004 * N,  # the logarithm of no usual number
        0.05 - 0.0001 * N,
    ],
)
def test_what_is_no_guessing(loss):
    assert "GL309" not in codes(train__loss_epoch=loss, val__accuracy=0.5 + 0.01 * N)


def test_a_loss_that_begins_to_fall_at_its_end_is_a_note():
    falls_late = 2.303 - 0.1 * np.maximum(N - 26, 0) / 3 + 0.0005 * np.sin(7 * N)
    found = finding("GL309", train__loss_epoch=falls_late, val__accuracy=AT_CHANCE)
    assert found.severity.name == "INFO"


def test_eight_epochs_are_enough_where_an_accuracy_is_that_of_chance():
    loss = np.r_[22.7, 0.71 + 0.005 * np.sin(N[:11])]
    found = finding("GL309", epoch_loss=loss, epoch_val_accuracy=np.where(N[:12] % 2, 0.49, 0.5))
    assert found.message.endswith("0.6931 = ln 2 is guessing among 2")
    assert "GL309" not in codes(epoch_loss=loss[:7], epoch_val_accuracy=np.where(N[:7] % 2, 0.49, 0.5))
    assert "GL309" not in codes(epoch_loss=2.303 - 0.004 * N[:15])


def test_a_training_that_memorizes_guesses_elsewhere():
    of_training = {"train__loss_epoch": 2.6 - 0.06 * N, "val__accuracy": 0.0833 + 0.001 * (N % 3)}
    found = finding("GL309", val__loss=2.49 + 0.01 * np.sin(N), **of_training)
    assert (found.severity.name, found.tag, found.evidence["classes"]) == ("WARNING", "val/loss", 12)
    assert found.message == (
        "val/loss is about 2.49 (steps 15-29), and no accuracy is better than chance: 2.485 = ln 12 is guessing"
        " among about 12"
    )
    assert "GL309" not in codes(val__loss=2.49 + 0.01 * np.sin(N), train__loss_epoch=of_training["train__loss_epoch"])


def test_a_part_that_classifies_and_never_leaves_guessing():
    step = np.arange(300)
    box, cls = 2 * 0.98**step, 1.0986 + 0.002 * np.sin(7 * step)
    found = finding("GL309", total_loss=box + cls, loss_box=box, loss_cls=cls)
    assert found.message == "loss_cls is about 1.099 (steps 0-299) throughout, and 1.099 = ln 3 is guessing among 3"
    assert "GL309" not in codes(total_loss=box + cls, loss_box=box, loss_reg=cls)
    assert "GL309" not in codes(total_loss=box + cls * 0.98**step, loss_box=box, loss_cls=cls * 0.98**step)


def test_accuracies_that_never_move_beside_a_loss_that_is_worse_than_guessing():
    loss = np.r_[1.9e9, 3.2 + 0.4 * np.sin(5 * N[1:])]
    accuracies = {"train_acc": 0.1 + 0.005 * np.sin(3 * N), "valid_acc": 0.1 + 0.005 * np.cos(4 * N)}
    found = finding("GL309", train_loss=loss, **accuracies)
    assert found.message.startswith("train_loss is about 3.")
    assert found.message.endswith(
        " (steps 15-29); train_acc stays at about 0.09993 (steps 0-29): nothing more is learnt"
    )
    assert "GL309" not in codes(train_loss=loss, train_acc=0.1 + 0.01 * N, valid_acc=0.1 + 0.01 * N)
    assert "GL309" not in codes(train_loss=1.9 + 0.1 * np.sin(5 * N), **accuracies)


def test_a_few_epochs_that_fall_from_guessing_are_a_note():
    loss, accuracy = 1.613 - 0.006 * N[:14], np.full(14, 0.2) + 0.002 * (N[:14] % 3)
    assert finding("GL309", epoch_loss=loss, val_accuracy=accuracy).severity.name == "INFO"
    assert finding("GL309", epoch_loss=1.61 - 0.003 * (N[:14] % 3), val_accuracy=accuracy).severity.name == "WARNING"


def test_the_accuracies_of_the_best_five_are_no_chance_of_one():
    loss, n = 3.6 - 1.3 * (1 - 0.5**N), np.sin(N)
    of = {"train_loss_epoch": loss, "eval_loss": 2.32 + 0.01 * n, "eval_top1": 10 + 0.5 * n, "eval_top5": 50 + n}
    assert finding("GL309", **of).message.endswith("2.303 = ln 10 is guessing among 10")
    assert finding("GL309", **(of | {"eval_top1": 30 + n})) is None


def test_an_agreement_that_is_that_of_the_mean():
    r2 = -0.1 + 0.04 * np.sin(N)
    found = finding("GL309", **{"Loss/train": 0.9 - 0.3 * (1 - 0.5**N), "R2/val": r2})
    assert found.message == (
        "R2/val is never above -0.06038, and about -0.1079 (steps 28-29): the mean would do better"
    )
    assert finding("GL309", **{"Loss/train": 0.9 - 0.3 * (1 - 0.5**N), "R2/val": 0.2 + r2}) is None


def test_a_training_loss_is_compared_with_accuracies_of_the_training():
    n = np.arange(10)
    of = {"epoch_loss": np.r_[1.32, 1.22, 1.39 + 0.002 * np.sin(n[2:])], "epoch_val_accuracy": 0.74 + 0.005 * np.sin(n)}
    of |= {"epoch_accuracy": np.r_[0.42, 0.5, 0.25 + 0.01 * np.sin(n[2:])], "epoch_val_loss": 0.92 + 0.008 * n}
    assert finding("GL309", **of).message == (
        "epoch_loss is about 1.391 (steps 5-9), and no accuracy of the training is better than chance: 1.386 ="
        " ln 4 is guessing among 4"
    )
    assert finding("GL309", **(of | {"epoch_accuracy": of["epoch_val_accuracy"]})) is None


def test_what_passes_by_or_has_no_such_classes_does_not_guess():
    n = np.arange(10)
    passes = {"train/loss": 9 * 0.8**n, "valid/loss": 9 * 0.87**n, "valid/acc": 0 * n}
    assert finding("GL309", **passes) is None  # a number that no data set has, and no accuracy beside it
