"""Which tag is what: one table of everybody's names."""

import pytest

from summaries.auditing.tags import PATTERNS, Meaning, TagTable

TAGS = {
    "loss": [
        "train/loss", "loss", "Loss", "epoch_loss", "train_loss", "train_loss_step", "train_loss_epoch", "Loss/train",
        "training/loss", "lm loss", "lm loss vs samples", "train/CE loss", "train/CrossEntropyLoss", "batch_loss",
        "loss/train/total", "losses/total_loss", "train/total_loss", "train/nll", "train_inner/loss", "loss_1",
        "loss_vs_iterations", "losses/cross_entropy_loss", "train/loss_epoch", "lm-loss-training/lm loss", "total_loss",
    ],
    "validation_loss": [
        "validation/loss", "val_loss", "eval/loss", "eval_loss", "epoch_val_loss", "Loss/val", "Loss/test",
        "valid/loss", "test/loss",
        "val/loss_epoch", "lm loss validation", "validation_loss", "loss/validation", "eval/lm/CE loss",
        "evaluation_loss_vs_iterations", "val/cross_entropy", "loss_val", "valid/nll",
    ],
    "learning_rate": [
        "train/learning_rate", "lr", "learning_rate", "learning-rate", "epoch_learning_rate", "lr-AdamW", "lr-Adam/pg1",
        "optim/lr", "optim/LR (group 0)", "learning-rate vs samples", "lr/group0", "train/lr", "train_inner/lr",
        "lr-SGD-1", "optim/learning_rate_group0", "LearningRate",
    ],
    "global_norm": [
        "gradients/global_norm", "train/grad_norm", "grad-norm", "grad_norm", "optim/total_grad_norm", "gnorm",
        "train_inner/gnorm", "grad_2.0_norm_total", "global_norm/gradient_norm",
        "OptimizeLoss/global_norm/gradient_norm",
        "l2_norm/grad/global", "grad-norm vs samples", "gradient_norm", "train/global_grad_norm", "optim/grad_norm",
        "global_grad_norm",
    ],
    "clipped_global_norm": [
        "gradients/clipped_global_norm", "global_norm/clipped_gradient_norm", "train/grad_norm_clipped",
    ],
    "clip_norm": ["gradients/clip_norm", "optim/max_grad_norm", "train/clip_norm"],
    "clipped": ["gradients/clipped"],
    "clipped_fraction": ["gradients/clipped_fraction", "optim/clipping_rate", "train/clip_frac"],
    "nonfinite": ["gradients/nonfinite"],
    "loss_scale": ["loss-scale", "train/loss_scale", "loss scale", "loss-scale"],
    "gradient_norm": [
        "gradients/norm/layer1/kernel", "grad_2.0_norm/layer1.weight", "grad_norm/layer1.weight",
        "grad_2.0_norm_layer1",
        "l2_norm/grad/model.layers.0.weight", "grad/blocks.0.weight.norm", "gradient_norm/dense/kernel:0",
        "OptimizeLoss/gradient_norm/dense/kernel",
    ],
    "zero_fraction": ["gradients/zero_fraction/w"],
    "weight_norm": ["weights/norm/w", "param/blocks.0.weight.norm", "l2_norm/param/w"],
    "update_norm": ["updates/norm/w", "l2_norm/update/w"],
    "update_ratio": ["updates/ratio/w", "update_ratio/w"],
    "slot_mean": ["slots/v/mean/w", "exp_avg_sq/blocks.0.weight.avg"],
    "slot_norm": ["slots/m/norm/w", "exp_avg/blocks.0.weight.norm", "l2_norm/moment/w"],
    "slot_max": ["slots/m/max/w", "exp_avg_sq/w.max"],
    "slot_min": ["exp_avg_sq/w.min"],
    "steps_per_second": ["train/global_step_per_sec", "global_step/sec", "steps_per_second"],
    "": [
        "accuracy", "train/policy_loss", "train/value_loss", "loss_G", "loss_D", "generator_loss", "kl_loss",
        "entropy_loss",
        "rollout/ep_rew_mean", "histogram", "train/epoch", "throughput/tokens_per_sec", "lossless", "glossary", "color",
        "train/z_loss", "load_balancing_loss", "iteration-time", "perplexity", "loss/kl", "train/aux_loss",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("role", "tag"), [(role, tag) for role, tags in TAGS.items() for tag in tags])
def test_role(role, tag):
    assert TagTable().meaning(tag).role == role


def test_every_role_is_tried_here():
    assert {role for role, _ in PATTERNS} == set(TAGS)


def test_variables_and_slots():
    table = TagTable()
    assert table.meaning("slots/v/max/a/b") == Meaning("slot_max", "a/b", "v")
    assert table.meaning("grad_2.0_norm/layer1.weight").variable == "layer1.weight"
    assert table.meaning("exp_avg_sq/blocks.0.weight.norm") == Meaning("slot_norm", "blocks.0.weight", "exp_avg_sq")


@pytest.mark.parametrize("run", ["validation", "lenet/validation", "run_eval", "fold1/test", "val"])
def test_a_loss_in_a_validation_run(run):
    assert TagTable().meaning("epoch_loss", run).role == "validation_loss"
    assert TagTable().meaning("epoch_loss", "train").role == "loss"


def test_own_patterns_come_first():
    table = TagTable([("loss", "objective_.*"), ("", "train/loss"), ("gradient_norm", "g@(?P<variable>.*)")])
    assert table.meaning("objective_a").role == "loss"
    assert table.meaning("train/loss").role == ""
    assert table.meaning("g@w") == Meaning("gradient_norm", "w")
    assert table.meaning("loss").role == "loss"
