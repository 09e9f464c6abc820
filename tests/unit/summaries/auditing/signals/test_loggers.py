"""Which framework wrote a run, by its tags, and what follows from that."""

import re

import numpy as np
import pytest
from audits.audited import codes
from labelled.runs import as_run, columns

from summaries.auditing.config import Config, ConfigError
from summaries.auditing.engine import audit_run
from summaries.auditing.signals.loggers import LOGGERS, NO_LOGGER, UNKNOWN, logger_of
from summaries.auditing.signals.tags import TagTable

RUNS = {
    "gradledger": ["train/loss", "gradients/global_norm", "updates/ratio/w"],
    "Stable-Baselines3": ["rollout/ep_rew_mean", "time/fps", "train/loss", "train/approx_kl"],
    "Stable Baselines": ["episode_reward", "loss/policy_gradient_loss", "input_info/discounted_rewards"],
    "rsl_rl": ["Train/mean_reward", "Train/mean_reward/time", "Loss/surrogate", "Perf/total_fps"],
    "rl_games": ["performance/step_fps", "losses/a_loss", "rewards/step", "rewards/time", "info/last_lr"],
    "skrl": ["Loss / Policy loss", "Reward / Total reward (mean)"],
    "ML-Agents": ["Environment/Cumulative Reward", "Losses/Policy Loss", "Policy/Learning Rate"],
    "CleanRL": ["charts/episodic_return", "losses/value_loss", "charts/SPS"],
    "RLlib": ["ray/tune/episode_reward_mean"],
    "TRL": ["train/rewards/chosen", "train/rewards/margins", "train/loss"],
    "YOLOv5": ["train/box_loss", "val/box_loss", "x/lr0", "metrics/mAP_0.5"],
    "Ultralytics": ["train/box_loss", "val/box_loss", "lr/pg0", "metrics/mAP50(B)"],
    "detectron2": ["total_loss", "loss_box_reg", "data_time", "eta_seconds"],
    "MMEngine": ["data_time", "loss", "loss_bbox", "lr"],
    "VITS": ["loss/g/total", "loss/d/total", "grad_norm_g"],
    "DeepSpeed": ["Train/Samples/train_loss", "Train/Samples/lr"],
    "Megatron-LM": ["lm loss", "lm loss vs samples", "loss-scale"],
    "fairseq": ["train_inner/loss", "train_inner/ppl"],
    "Hugging Face Trainer": ["train/loss", "train/epoch", "train/total_flos", "eval/loss", "eval/runtime"],
    "Lightning": ["epoch", "hp_metric", "train_loss_step", "val_loss"],
    "Keras": ["epoch_loss", "epoch_accuracy"],
    "TensorFlow Estimator": ["loss", "global_step/sec"],
}


@pytest.mark.parametrize(("name", "tags"), RUNS.items(), ids=RUNS)
def test_a_logger_is_told_by_its_tags(name, tags):
    assert logger_of(tags).name == name
    assert logger_of(["other", *reversed(tags)]).name == name


def test_every_logger_is_tried_here():
    assert [logger.name for logger in LOGGERS] == list(RUNS)


@pytest.mark.parametrize(
    "tags",
    [
        [],
        ["loss"],
        ["train/loss", "val/loss", "lr"],
        ["train/loss", "train/kl", "train/elbo"],
        ["epoch"],
        ["epoch\nhp_metric"],
    ],
    ids=str,
)
def test_a_run_that_shows_no_logger(tags):
    assert logger_of(tags) is UNKNOWN


def test_a_logger_that_is_given():
    assert logger_of(["loss"], "VITS").name == "VITS"
    assert logger_of(RUNS["VITS"], NO_LOGGER) is UNKNOWN


@pytest.mark.parametrize("logger", LOGGERS, ids=lambda logger: logger.name)
def test_its_main_tags_are_losses_or_rewards(logger):
    for tag in RUNS[logger.name]:
        if any(re.fullmatch(main, tag) for main in logger.main):
            assert TagTable(tags=RUNS[logger.name]).meaning(tag).role in {"loss", "auxiliary_loss", "reward"}


def adapted(n=300):
    """A rate that changes by factors of 1.5, several at a time."""
    rng = np.random.default_rng(0)
    return 1e-3 * 1.5 ** np.clip(np.cumsum(rng.choice([-2, 0, 0, 2], n)), -6, 6)


def test_a_rate_that_a_logger_adapts_is_no_jump():
    flat = np.ones(300)
    assert "GL504" in codes(Loss__learning_rate=adapted())
    assert codes(Loss__learning_rate=adapted(), Train__mean_reward=flat, Perf__total_fps=flat) == []


def test_a_configuration_says_otherwise():
    run = as_run(np.random.default_rng(0), {"Loss/learning_rate": columns(adapted())})
    given, none = Config(loggers={"a/*": "rsl_rl"}), Config(loggers={"a/*": "none"})
    assert audit_run("a/b", run, given).logger == "rsl_rl"
    assert [finding.code for finding in audit_run("a/b", run, given).findings] == []
    assert [finding.code for finding in audit_run("b/b", run, given).findings] == ["GL504"]
    assert audit_run("a/b", run, none).logger == ""


def test_a_logger_that_is_not_known():
    with pytest.raises(ConfigError) as raised:
        Config(loggers={"*": "Lightening"})
    assert str(raised.value) == "loggers: unknown logger 'Lightening'; did you mean 'Lightning'?"
