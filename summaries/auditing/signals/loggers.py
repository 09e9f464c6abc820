"""Loggers: which framework wrote a run, judging by its tags, and what that framework always does.

A framework is a row of a table: the tags that show it, its main loss, and what its losses are measured against. A
comment says what it always does that looks like a fault elsewhere. Rules do not ask for the name of a framework, but
for what follows from it: roles of tags, the main loss, and whether the learning rate adapts. A configuration may name
the framework instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LOGGERS", "NO_LOGGER", "UNKNOWN", "Logger", "logger_of"]


@dataclass(frozen=True, slots=True)
class Logger:
    """A framework that logs.

    Attributes:
        name: its name.
        marks: regular expressions; a run is this framework's if each of them matches a whole tag of the run.
        main: regular expressions for what stands for a run: its main loss or its reward, best first.
        housekeeping: regular expression for its counters and clocks, in addition to those that `roles` knows by words.
        moving: whether its losses are measured against a moving target, so that they need not fall.
        adapts_rate: whether it changes the learning rate after each update, by what the update did.
    """

    name: str
    marks: tuple[str, ...] = ()
    main: tuple[str, ...] = ()
    housekeeping: str = ""
    moving: bool = False
    adapts_rate: bool = False


NO_LOGGER = "none"
UNKNOWN = Logger("")
"""The logger of a run whose tags show none."""

LOGGERS: tuple[Logger, ...] = (
    Logger("gradledger", (r"gradients/(?:global_norm|norm/.+)", r"(?:updates|slots|weights)/.+")),
    # -- reinforcement learning --
    # logs everything again at each evaluation
    Logger(
        "Stable-Baselines3",
        (r"time/fps", r"rollout/.+|train/(?:n_updates|loss|.+_loss)"),
        main=(r"rollout/ep_rew_mean",),
        moving=True,
    ),
    # logs the episodes of each environment after those of the one before
    Logger(
        "Stable Baselines",
        (r"(?:loss|input_info)/.+", r"episode_reward|input_info/(?:rewards|discounted_rewards|advantage)"),
        main=(r"episode_reward",),
        moving=True,
    ),
    # logs rewards a second time, against elapsed seconds
    Logger(
        "rsl_rl",
        (r"Train/mean_(?:reward|episode_length)|Loss/surrogate", r"Perf/.+|Policy/mean_noise_std"),
        main=(r"Train/mean_reward",),
        moving=True,
        adapts_rate=True,
    ),
    # logs rewards three times: against frames, iterations and elapsed seconds
    Logger(
        "rl_games",
        (r"(?:info/(?:last_lr|kl|epochs)|performance/step_.+)", r"(?:rewards\d*|episode_lengths|shaped_rewards)/.+"),
        main=(r"rewards\d*/(?:step|frame)", r"rewards\d*/iter"),
        housekeeping=r"info/(?:epochs|e_clip|lr_mul)",
        moving=True,
        adapts_rate=True,
    ),
    Logger("skrl", (r"(?:Loss|Losses) / .+", r"(?:Reward|Episode) / .+"), moving=True, adapts_rate=True),
    Logger(
        "ML-Agents",
        (r"Environment/(?:Cumulative Reward|Episode Length)|Policy/(?:Entropy|Learning Rate|.+ Value Estimate)",),
        main=(r"Environment/Cumulative Reward",),
        housekeeping=r"Environment/Lesson.*|Is Training",
        moving=True,
    ),
    Logger("CleanRL", (r"charts/(?:episodic_return|SPS|learning_rate)",), (r"charts/episodic_return",), moving=True),
    Logger("RLlib", (r"ray/tune/.+",), (r"ray/tune/(?:.+/)?episode_re\w+_mean",), moving=True),
    Logger("TRL", (r"train/(?:rewards/chosen|reward|objective/.+)", r"train/.+"), housekeeping=r"train/num_tokens"),
    # -- detectors --
    # trains on a sum of parts, each of which is validated
    Logger("YOLOv5", (r"train/(?:box|obj|cls)_loss", r"x/lr\d"), main=(r"train/box_loss",)),
    # trains on a sum of parts, each of which is validated
    Logger(
        "Ultralytics",
        (r"train/(?:box|cls|dfl|loss|seg|pose)(?:_loss)?", r"lr/pg\d"),
        main=(r"train/(?:loss|box_loss)",),
    ),
    Logger(
        "detectron2",
        (r"total_loss", r"eta_seconds|data_time|rpn/.+|fast_rcnn/.+|roi_head/.+"),
        main=(r"total_loss",),
        housekeeping=r"(?:rpn|roi_head)/num_.+",
    ),
    Logger("MMEngine", (r"(?:train/)?data_time", r"(?:train/)?(?:.+\.)?loss(?:_.+)?"), main=(r"(?:train/)?loss",)),
    # -- generative models --
    # logs gradient norms of half precision, which may overflow at first
    Logger("VITS", (r"loss/[gd]/total", r"loss/[gd]/.+"), main=(r"loss/g/total",), moving=True),
    # -- trainers --
    Logger("DeepSpeed", (r"Train/Samples/.+",), main=(r"Train/Samples/train_loss",)),
    Logger(
        "Megatron-LM",
        (r"lm[ -]loss(?:-training/.+)?", r".+ vs samples|.*iteration-time.*|loss-scale"),
        main=("lm loss",),
    ),
    Logger("fairseq", (r"train_inner/.+",), main=(r"train_inner/loss", r"train/loss")),
    # evaluates again at the last step, and logs the mean loss of the whole run there
    Logger(
        "Hugging Face Trainer",
        (r"(?:train|eval)/(?:epoch|total_flos|runtime|samples_per_second)",),
        main=(r"train/loss",),
        housekeeping=r"(?:train|eval|test)/.*(?:runtime|per_second|total_flos|epoch)",
    ),
    # logs the epoch with every value, hp_metric in every file, and tests the best checkpoint at its own step
    Logger(
        "Lightning",
        (r"epoch", r"hp_metric|.+_(?:step|epoch)|lr-.+|.+/dataloader_idx_\d+|.*(?:loss|acc).*"),
        main=(r"(?:train[/_])?loss_step|train[/_]loss_step", r"train[/_]?loss", r"loss", r"train[/_]loss_epoch"),
        housekeeping=r"epoch|hp_metric",
    ),
    Logger("Keras", (r"(?:epoch|batch)_.+",), main=(r"epoch_loss", r"batch_loss")),
    Logger("TensorFlow Estimator", (r"global_step/sec",), main=(r"loss", r"loss_1")),
)
"""The frameworks that are known, the most specific first."""


def logger_of(tags: Iterable[str], name: str = "") -> Logger:
    """The logger of this name; if it is "", the first whose marks are all among the tags; `UNKNOWN` if there is none.

    Args:
        tags: all tags of a run.
        name: one of `LOGGERS`, or "none" for none of them; "" to judge by the tags.

    >>> logger_of(["epoch", "hp_metric", "train_loss"]).name
    'Lightning'
    >>> logger_of(["loss"]) is UNKNOWN
    True
    """
    if name:
        return next((logger for logger in LOGGERS if logger.name == name), UNKNOWN)
    return _recognized(tuple(tags))


@lru_cache(maxsize=256)  # the runs of a directory often have the same tags
def _recognized(tags: tuple[str, ...]) -> Logger:
    lines = "\n".join(tag for tag in tags if "\n" not in tag)  # searched at once, which is faster than one by one
    return next((one for one in LOGGERS if all(_line(mark).search(lines) for mark in one.marks)), UNKNOWN)


@lru_cache(maxsize=256)
def _line(mark: str) -> re.Pattern[str]:
    return re.compile(f"^(?:{mark})$", re.MULTILINE)
