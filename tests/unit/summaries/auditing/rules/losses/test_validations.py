"""GL311: validations that collapse or stand still, and those that may."""

import numpy as np
import pytest
from audits.audited import codes, finding, findings

N = np.arange(40)
TRAIN = 2 * 0.9**N


def test_an_accuracy_that_collapses():
    accuracy = np.where(N < 25, 0.97 - 0.001 * (N % 2), 0.003)
    found = finding("GL311", train__loss=TRAIN, val__accuracy=accuracy, val__f1=accuracy)
    assert found.message == "val/accuracy falls from 0.97 at step 24 to 0.003 at step 25; so does val/f1"
    assert found.severity.name == "WARNING"


def test_a_validation_that_stands_still_while_the_training_goes_on():
    validation = 2 * 0.9 ** np.minimum(N, 20)
    found = finding("GL311", train__loss=TRAIN, val__loss=validation)
    assert found.message == "val/loss is exactly 0.243153 at its last 20 of 40 points, while train/loss still falls"
    assert "GL311" not in codes(train__loss=2 * 0.9 ** np.minimum(N, 20), val__loss=validation)
    assert "GL311" not in codes(train__loss=TRAIN, val__loss=validation, lr=0.1 * 0.5**N)  # GL507 tells why


def test_a_training_that_has_settled_too_explains_a_validation_that_stands_still():
    validation = 0.1 + 2 * 0.5**N
    assert "GL311" in codes(train__loss=1 + 0.1 * np.sin(N), val__loss=validation)
    assert "GL311" not in codes(train__loss=validation + 1e-5 * np.sin(N), val__loss=validation)


def test_a_validation_that_falls_at_first_falls():
    n = np.arange(150)
    validation = 0.375 + 1.76 * 0.6**n + 0.13 * (1 - 0.9 ** np.maximum(n - 14, 0))
    assert "GL311" not in codes(train__loss=2.3 * 0.8**n + 1e-5, val__loss=validation)
    found = finding("GL311", train__loss=0.6 * 0.88**n + 6e-4, val__loss=0.92 + 0.002 * np.sin(n) - 0.01 * (n == 0))
    assert found.message.startswith("val/loss does not fall: 0.91 at step 0, then about 0.9201 (steps 75-149), ")
    assert "while train/loss falls from 0.6006 at step 0 to about 0.0006 (steps 138-149)" in found.message


@pytest.mark.parametrize(
    "accuracy",
    [
        np.where(N < 25, 0.97, 0.6),  # a third of it
        np.where((N > 20) & (N < 30), 0.1, 0.9),  # it came back
        0.5 + 0.4 * np.sin(N),
    ],
)
def test_what_is_no_collapse(accuracy):
    assert "GL311" not in codes(train__loss=TRAIN, val__accuracy=accuracy)


def test_a_validation_that_hardly_moves_any_more():
    validation = 2 * 0.9 ** np.minimum(N, 10) - 1e-6 * N
    found = finding("GL311", train__loss=2 * 0.9 ** np.minimum(N, 10) + 0.01 * np.sin(N), val__loss=validation)
    assert "val/loss hardly moves in its last 3" in found.message


def test_a_validation_that_never_was_away_from_its_end():
    """It moves by less than a thousandth, and then by a thousandth of that: nothing came down."""
    assert "GL311" not in codes(train__loss=TRAIN, val__loss=0.5 + np.where(N < 20, 4e-4, 2e-7) * np.sin(N))


def test_a_validation_that_is_never_better():
    found = finding("GL311", train__loss=TRAIN, val__loss=1.9 + 0.01 * np.sin(N))
    assert found.message.startswith("val/loss does not fall: 1.9 at step 0, then about 1.901 (steps 20-39)")
    assert "GL311" not in codes(train__loss=TRAIN, val__loss=0.5 + 0.01 * np.sin(N))  # it knew before
    assert "GL311" not in codes(train__loss=TRAIN, val__loss=1 + 0.9**N)


def test_an_accuracy_that_slips_away_while_the_training_goes_on():
    found = finding("GL311", train__loss=TRAIN, val__acc=0.8 - 0.005 * N)
    assert (
        found.message
        == "val/acc falls from about 0.795 (steps 0-2) to about 0.61 (steps 37-39), while train/loss falls"
    )
    assert "GL311" not in codes(train__loss=TRAIN, val__acc=0.8 - 0.0005 * N)


def test_an_accuracy_that_slips_away_while_nothing_is_learnt():
    found = finding("GL311", train__loss=2 + 0 * N, val__acc=0.8 - 0.005 * N)
    assert found.message == "val/acc falls from about 0.795 (steps 0-2) to about 0.61 (steps 37-39)"


def test_an_accuracy_that_slips_away_while_that_of_the_training_rises():
    found = finding("GL311", loss=1.2 - 0.002 * N, train__acc=0.35 + 0.005 * N, val__acc=0.5 - 0.004 * N)
    assert (
        found.message
        == "val/acc falls from about 0.496 (steps 0-2) to about 0.348 (steps 37-39), while train/acc rises"
    )


def test_an_accuracy_that_never_was_good():
    found = finding("GL311", train__loss=TRAIN, val__accuracy=np.where(N < 2, 0.002, 0.0))
    assert found.message == "val/accuracy is never above 0.002, while train/loss falls"
    assert finding("GL311", train__loss=TRAIN, Valid__MRR=0.05 + 0.01 * np.sin(N)).message.startswith(
        "Valid/MRR is never above 0.0599991"
    )
    assert "GL311" not in codes(train__loss=TRAIN, val__r2=0.4 + 0.01 * np.sin(N))


def test_an_accuracy_of_a_coin():
    found = finding("GL311", train__loss=TRAIN, val__acc=0.5 + 0.02 * np.sin(2 * N))
    assert found.message.startswith("val/acc is never above 0.5")


def test_an_accuracy_far_below_that_of_the_training():
    rising = 1 - 0.9 * 0.9**N
    found = finding("GL311", train__loss=TRAIN, train__acc=rising, val__acc=0.3 * rising + 0.02 * np.sin(N))
    assert found.message == "val/acc ends at about 0.2913 (steps 27-39), and train/acc at about 0.9722 (steps 27-39)"
    assert "GL311" not in codes(train__loss=TRAIN, train__acc=rising, val__acc=0.7 * rising)
    assert "GL311" not in codes(train__loss=TRAIN, train__acc=100 * rising, val__acc=0.3 * rising + 0.5)


def test_validations_that_are_the_same_from_the_first_one_on():
    found = finding("GL311", train__loss=TRAIN, val__loss=3.82746 + 0 * N)
    assert found.message == "val/loss is exactly 3.82746 at all of its 40 points, while train/loss falls"
    assert finding("GL311", train__loss=TRAIN, valid__cer=1 + 0 * N).message.startswith("valid/cer is exactly 1 at all")
    assert "GL311" not in codes(train__loss=TRAIN, val__acc=1 + 0 * N)  # it is at its best
    assert "GL311" not in codes(train__loss=2 + 0 * N, val__loss=3.82746 + 0 * N)


def test_an_accuracy_of_the_training_that_does_not_move_while_its_loss_falls():
    found = finding("GL311", loss=TRAIN, acc__top1=20 + 2 * np.sin(2 * N))
    assert found.message.startswith("acc/top1 is never above ")
    assert "GL311" not in codes(loss=TRAIN, acc__top1=80 + 2 * np.sin(2 * N))


def test_an_area_under_a_curve_that_is_that_of_chance():
    area = np.array([0.52, 0.53, 0.51, 0.52, 0.53, 0.525, 0.527, 0.524])
    found = finding("GL311", train__logloss=TRAIN, eval__auc=area)
    assert found.message == "eval/auc is never above 0.53, and chance gives 0.5, while train/logloss falls"
    assert "GL311" not in codes(train__logloss=TRAIN, eval__auc=area + 0.2)


def test_what_never_changes_is_told_once():
    rest = {"val__loss": 2.31 + 0 * N, "val__accuracy": 0.08 + 0 * N}
    (found,) = findings("GL311", train__loss=TRAIN, **rest)
    assert found.message == (
        "val/loss is exactly 2.31 at all of its 40 points, and val/accuracy never changes either, while train/loss"
        " falls"
    )


@pytest.mark.parametrize(("tag", "told"), [("val/ndcg@10", True), ("val/accuracy", False)])
def test_a_metric_that_hardly_ever_repeats_a_value_is_the_same_from_some_point_on(tag, told):
    n = np.arange(16)
    metric = 0.5 - 0.3 * 0.5 ** np.minimum(n, 4)
    found = finding("GL311", **{"train/loss": 2 * 0.9**n, tag: metric})
    assert (found is not None) is told  # an accuracy of few examples may stay the same
    if found:
        assert found.message == (
            "val/ndcg@10 is exactly 0.48125 at its last 12 of 16 points, while train/loss still falls"
        )


def test_a_model_that_no_longer_moves_has_not_settled_if_it_learnt_little():
    n = np.arange(16)
    little, much = (1 - share * (1 - 0.1 ** np.minimum(n, 2)) + 1e-4 * np.sin(n) for share in (0.1, 0.8))
    still = 0.5 - 0.3 * 0.5 ** np.minimum(n, 2)
    found = finding("GL311", train__loss=little, val__map=still)
    assert found.message == (
        "val/map is exactly 0.425 at its last 14 of 16 points, and train/loss falls from 1 at step 0 to about 0.901"
        " (steps 2-15) and rests there: the model does not move any more"
    )
    assert "GL311" not in codes(train__loss=much, val__map=still)


def test_data_that_are_learnt_by_heart():
    validation = 0.42 + 0.13 * 0.8**N
    found = finding("GL311", train__loss=0.6 * 0.5**N + 1e-8, val__loss=validation)
    assert found.message == (
        "val/loss is about 0.4202 (steps 20-39), while train/loss falls from about 0.3 (steps 0-2) to about 1e-08"
        " (steps 37-39): little of it holds for other data"
    )
    assert "GL311" not in codes(train__loss=0.6 * 0.5**N + 0.05, val__loss=validation)  # a gap is usual
    assert "GL311" not in codes(train__loss=0.6 * 0.5**N + 1e-8, val__mae=validation)  # measured otherwise
    assert "GL311" not in codes(train__loss=1.5 * 0.5**N + 1e-8, val__perplexity=1.42 + 0.8 * 0.8**N)


def test_few_validations_are_enough_where_they_never_fall():
    n = np.arange(9)
    assert "GL311" in codes(train__box_loss=0.5 * 0.7**n, val__box_loss=9 + np.sin(n))
    assert "GL311" not in codes(train__box_loss=5 * 0.7 ** n[:7], val__box_loss=9 + np.sin(n[:7]))


def test_the_same_of_other_metrics_is_said_in_their_own_words():
    n = np.arange(16)
    of = {f"val/R@{k}": 0.01 * k + 0.001 * np.sin(5 * n) for k in (1, 5, 10)}
    assert finding("GL311", train__loss=2 * 0.9**n, **of).message == (
        "val/R@1 is never above 0.0109129, while train/loss falls; nor do val/R@5 and val/R@10 rise"
    )


def test_a_validation_that_is_many_times_the_training_loss_is_measured_otherwise():
    n = np.arange(10)
    training = 0.45 * 0.87**n
    found = finding("GL311", train_loss=training, val_loss=250 + 50 * np.sin(n))
    assert found.message == (
        "val_loss is 250 at step 0 and 270.6 at step 9, train_loss 0.45 at step 0 and 0.1285 at step 9: as if it were"
        " measured on other inputs, on other targets, or in other units"
    )
    assert "GL311" not in codes(train_loss=training, val_loss=64 * training)  # a sum, where the other is a mean


def test_several_metrics_that_never_change_need_no_large_fall():
    n = np.arange(9)
    of = {"val_iou": np.full(9, 0.15), "val_dice": np.full(9, 0.26)}
    found = finding("GL311", train_loss=0.8 - 0.01 * n, **of)
    assert found.message == (
        "val_iou is exactly 0.15 at all of its 9 points, and val_dice never changes either, while train_loss falls"
    )
    assert "GL311" not in codes(train_loss=0.8 - 0.01 * n, val_iou=of["val_iou"])


def test_a_precision_averaged_over_recalls_is_no_area_of_which_half_is_chance():
    rises = 0.1 + 0.02 * N[:20]
    assert "GL311" not in codes(train__logloss=TRAIN[:20], val__pr_auc=rises, val__auprc=rises)
    assert "chance gives 0.5" in finding("GL311", train__logloss=TRAIN[:20], val__roc_auc=0.5 + 0.001 * N[:20]).message
