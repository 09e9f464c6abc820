"""The loss that stands for a run, the sum of its parts, and which validation belongs to which loss."""

import numpy as np
import pytest
from audits.audited import finding
from labelled import runs as labelled

from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import TagTable


def signals(**values):
    run = labelled.as_run(
        np.random.default_rng(0),
        {tag.replace("__", "/"): labelled.columns(value) for tag, value in values.items()},
    )
    return Signals("run", run, TagTable(tags=run.tags))


FALL, RISE, NONE = np.linspace(2, 1, 60), np.linspace(1, 1.5, 60), np.zeros(60)
MAIN = {
    "Loss": ["MAE", "RMSE", "RegLoss", "Loss"],
    "total_loss": ["loss_cls", "loss_box_reg", "total_loss"],
    "train_loss_step": ["train_loss_epoch", "train_loss_step", "epoch"],
    "train/loss": ["train/aux_loss", "train/loss", "eval/loss"],
    "train/box_loss": ["train/obj_loss", "train/box_loss", "x/lr0"],
    "val_loss": ["val_loss", "accuracy"],
    "Train/mean_reward": ["Episode/rew_torques", "Loss/surrogate", "Train/mean_reward", "Perf/total_fps"],
    "rollout/ep_rew_mean": ["train/loss", "eval/mean_reward", "rollout/ep_rew_mean", "time/fps"],
    "train/kl_loss": ["train/kl_loss"],
}


@pytest.mark.parametrize(("main", "tags"), MAIN.items(), ids=MAIN)
def test_what_stands_for_a_run(main, tags):
    assert signals(**{tag.replace("/", "__"): FALL for tag in tags}).main.tag == main


def test_nothing_stands_for_a_run_without_losses():
    assert signals(accuracy=FALL, lr=FALL).main is None


def test_the_objective_is_the_sum_of_parts():
    run = signals(train__box_loss=FALL, train__obj_loss=RISE, train__cls_loss=NONE, val__box_loss=RISE)
    assert run.objective.tag == "the sum of train/box_loss and train/obj_loss"
    assert run.objective.tags == ("train/box_loss", "train/obj_loss", "train/cls_loss")
    np.testing.assert_allclose(run.objective.finite.value, FALL + RISE, rtol=1e-6)
    assert signals(loss_cls=FALL, loss_box=RISE, total_loss=FALL).objective.tag == "total_loss"
    assert signals(loss_cls=FALL, loss_box=RISE[:40]).objective.tag == "loss_cls"
    assert signals(train__loss=FALL, rollout__ep_rew_mean=RISE).objective is None


def test_a_part_that_rises_is_no_divergence():
    rng = np.random.default_rng(1)
    fall, rise = (
        np.interp(np.arange(200), [0, 199], ends) + 0.01 * rng.standard_normal(200) for ends in ([3, 1], [0.2, 0.5])
    )
    assert finding("GL304", train__box_loss=fall, train__obj_loss=rise) is None
    both = finding("GL304", train__box_loss=fall[::-1], train__obj_loss=rise)
    assert (both.tag, both.others) == ("train/box_loss", ("train/obj_loss",))


def test_a_validation_belongs_to_the_loss_with_its_words():
    run = signals(
        train__box_loss=FALL,
        train__obj_loss=RISE,
        val__obj_loss=RISE,
        val__box_loss=FALL,
        val__foo_loss=RISE,
        test_loss=FALL,
    )
    of = {tag: run.trained_with(run.all[tag]).tag for tag in ("val/obj_loss", "val/box_loss", "val/foo_loss")}
    assert of == {
        "val/obj_loss": "train/obj_loss",
        "val/box_loss": "train/box_loss",
        "val/foo_loss": "the sum of train/box_loss and train/obj_loss",
    }
    run = signals(Loss=FALL, Loss_val=RISE, MAE=FALL, MAE_val=RISE)
    assert run.trained_with(run.all["Loss_val"]).tag == "Loss"
    assert [one.tag for one in run.of("validation_loss")] == ["Loss_val"]


def test_an_unknown_loss_is_one_if_it_behaves_like_one():
    run = signals(loss__loss_tr=FALL, accuracy=RISE)
    assert run.objective.tag == "loss/loss_tr"
    assert signals(loss__loss_tr=RISE).objective is None
    assert signals(loss__loss_tr=RISE).all["loss/loss_tr"].meaning.role == "auxiliary_loss"
    assert signals(train__loss=FALL, losses__bounds_loss=FALL).objective.tag == "train/loss"
    assert signals(best_loss=FALL).all["best_loss"].meaning.role == ""
