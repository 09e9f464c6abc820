"""Roles of what is neither a loss nor a norm: rewards, metrics, housekeeping, and values on a second axis.

The words of a tag decide. Housekeeping is what counts or times the run itself, such as the epoch or frames
per second: no rule looks at its course or at its steps. A value on a second axis is one that the run logs against steps
too, and here against elapsed seconds, iterations or episodes: it says nothing new, and its steps are no steps.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from summaries.auditing.signals.loss_names import words

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["WORD_ROLES", "higher_is_better", "is_on_another_axis", "role_by_words", "without_split"]

WORD_ROLES = frozenset({"reward", "episode_length", "metric", "housekeeping", "other_axis"})
"""The roles that this module tells."""

_REWARD = re.compile(r"\b(?:rewards?|rew|returns?|(?:episode|episodic|ep) ?(?:ret|return|score))\b|\bep(?:rew|ret)\w*")
_EPISODE_LENGTH = re.compile(r"\b(?:ep|eps|episode|episodic|episodes)\b.*\b(?:len|lens|lengths?|steps)\b|\beplen\w*")
_METRIC = re.compile(
    r"\b(?:(?:top ?\d )?acc(?:uracy|uracies)?(?: top ?\d)?|top ?\d|r (?:1|5|10|50|100)|"
    r"precision|recall|sensitivity|specificity|f ?\d|fbeta|auc|"
    r"auroc|auprc|roc|m?ap|map ?\d+|m?io ?u|dice|jaccard|kappa|mcc|psnr|ssim|ms ssim|bleu\d?|rouge\w*|meteor|cider|"
    r"wer|cer|fid|inception score|r ?2|smape|mape|mase|ndcg|mrr|hits?|perplexity|ppl|spearman\w*|pearson\w*|"
    r"success(?: rate)?|win rate)\b"
)
_SET = re.compile(r"\b(?:use|uses|is|has|enabled?|weight|coef\w*|lambda|threshold)\b")  # beside a metric: what is set
_HIGHER = re.compile(
    r"\b(?:acc\w*|top ?\d|r (?:1|5|10|50|100)|precision|recall|f ?1|m?ap|map \d+|auc|auroc|m?io ?u|dice|r ?2|bleu\d?|"
    r"rouge\w*|success(?: rate)?|mrr|ndcg|hits?)\b"
)
_COUNTER = (
    r"(?:(?:train|training|trainer|val|valid|validation|eval|test|total|global|current|cur|num|number|of|n|env|agent|"
    r"optimizer|gradient|time|collection|collected|processed|consumed|trained|charts|info|learner|sampled)\b ?)*"
    r"(?:epochs?|steps?|iters?|iterations?|updates?|timesteps?|episodes?|batches|frames?|tokens|examples|samples)"
)
_CLOCK = (
    r".*\b(?:fps|sps|ips|eta|elapsed|runtime|throughput|memory|mem|gpu|cpu|ram|vram|disk|utilization|flos|flops|tflops|"
    r"mfu|hfu|(?:per|/) (?:sec|secs|second|seconds|s|hour)|wall ?(?:time|clock)|secs|seconds|time ms|ms)\b.*|.*\btimes?"
)
_HOUSEKEEPING = re.compile(rf"{_COUNTER}|{_CLOCK}|hp metric|(?:relative )?walltime|seed|.*\blr mul")
_AXES = re.compile(r"(.+)/(?:time|iter|iters|epoch|episode|episodes|walltime|wall_time)")
_SPLIT = re.compile(r"\b(?:train|training|trainer|val|valid|validation|evals?|evaluation|test|testing|dev|held ?out)\b")


@lru_cache(maxsize=1 << 14)
def role_by_words(tag: str) -> str:
    """The role that the words of a tag tell, one of `WORD_ROLES`; "" if they tell none.

    >>> role_by_words("rollout/ep_rew_mean"), role_by_words("Perf/collection time"), role_by_words("val/acc_epoch")
    ('reward', 'housekeeping', 'metric')
    """
    text = words(tag)
    if _EPISODE_LENGTH.search(text):
        return "episode_length"
    if _REWARD.search(text):
        return "reward"
    if _HOUSEKEEPING.fullmatch(text):
        return "housekeeping"
    return "metric" if _METRIC.search(text) and not _SET.search(text) else ""


def is_on_another_axis(tag: str, tags: Collection[str]) -> bool:
    """Whether the run logs the values of this tag against steps under another one.

    >>> is_on_another_axis("rewards/time", {"rewards/step", "rewards/time"})
    True
    """
    match = _AXES.fullmatch(tag)
    return match is not None and any(f"{match[1]}{axis}" in tags for axis in ("", "/step", "/frame"))


@lru_cache(maxsize=1 << 14)
def higher_is_better(tag: str) -> bool:
    """Whether the words of a tag name a metric that is 1, or 100 %, at best, such as an accuracy.

    >>> higher_is_better("val/acc"), higher_is_better("val/wer")
    (True, False)
    """
    return _HIGHER.search(words(tag)) is not None


def without_split(tag: str) -> str:
    """The words of a tag without those that say on which data it was measured.

    >>> without_split("val/box_loss"), without_split("Loss_val")
    ('box loss', 'loss')
    """
    return " ".join(_SPLIT.sub(" ", words(tag)).split())
