"""Tags → roles: which tag is a loss, a norm or a learning rate, in the names of many frameworks.

There is one table of patterns, tried in order. The first one that matches the whole tag, ignoring case, decides. The
named groups `variable` and `slot` say what the tag is about. The patterns of a configuration are tried before these. If
no pattern matches, `loss_names` recognizes losses by the words in their names, and `roles` the rest. What the framework
that wrote the run always does comes from `loggers`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from summaries.auditing.signals.loggers import logger_of
from summaries.auditing.signals.loss_names import LOSS_ROLES, VALIDATION, context, is_criterion, loss_role, words
from summaries.auditing.signals.roles import WORD_ROLES, is_on_another_axis, role_by_words
from summaries.storage.names import by_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.auditing.signals.loggers import Logger

__all__ = ["PATTERNS", "ROLES", "Meaning", "TagTable", "is_validation", "network_order", "table_of"]

_ANY = r"(?:.*[/_.: -])?"  # any prefix that ends with a separator
_VARIABLE = r"(?P<variable>.+)"
_GRADIENT = r"(?:grad|gradient)s?"

PATTERNS: tuple[tuple[str, str], ...] = (
    # ours, as DESIGN.md fixes them; `global_norm/…` is tf.contrib's optimize_loss
    ("global_norm", r"gradients/global_norm"),
    ("clipped_global_norm", r"gradients/clipped_global_norm|(?:.*/)?global_norm/clipped_gradient_norm"),
    ("clip_norm", r"gradients/clip_norm"),
    ("clipped", r"gradients/clipped"),
    ("clipped_fraction", r"gradients/clipped_fraction"),
    ("nonfinite", r"gradients/nonfinite"),
    ("gradient_norm", rf"gradients/norm/{_VARIABLE}"),
    ("zero_fraction", rf"gradients/zero_fraction/{_VARIABLE}"),
    ("weight_norm", rf"weights/norm/{_VARIABLE}"),
    ("update_norm", rf"updates/norm/{_VARIABLE}"),
    ("update_ratio", rf"updates/ratio/{_VARIABLE}"),
    ("slot_mean", rf"slots/(?P<slot>[^/]+)/mean/{_VARIABLE}"),
    ("slot_norm", rf"slots/(?P<slot>[^/]+)/norm/{_VARIABLE}"),
    ("slot_max", rf"slots/(?P<slot>[^/]+)/max/{_VARIABLE}"),
    ("slot_min", rf"slots/(?P<slot>[^/]+)/min/{_VARIABLE}"),
    ("forecast_rise", r"optimizer/forecast_rise"),
    ("epsilon_share", rf"optimizer/epsilon_share/{_VARIABLE}"),
    ("gradient_rms", rf"optimizer/gradient_rms/{_VARIABLE}"),
    ("orthogonality_residual", rf"optimizer/orthogonality_residual/{_VARIABLE}"),
    ("distance", rf"optimizer/distance/{_VARIABLE}"),
    ("steps_per_second", r"(?:.*/)?(?:global_step|steps?|iters?|iterations?|batches)[_-]?(?:/|per_?)(?:sec|second|s)"),
    # clipping: OLMo's optim/clipping_rate; PPO's clip_fraction, of ratios, is recognized by other tags of the run
    ("clipped_fraction", rf"{_ANY}(?:clip(?:ping|ped)?_(?:rate|frac|fraction)|{_GRADIENT}_clip[_/]fraction)"),
    ("clipped", rf"(?:train(?:ing)?/)?(?:{_GRADIENT}[_-])?clipped"),
    ("clipped_percent", r"(?:train(?:_inner)?/)?clip"),  # fairseq's and metaseq's, beside their gnorm
    ("clip_norm", rf"{_ANY}(?:clip_norm|max_grad_norm|clip_grad_norm|clip_threshold)"),
    # loss scaling in mixed precision, whose overflows are not errors
    (
        "loss_scale",
        rf"{_ANY}(?:loss[_-]scale|loss scale|amp[_-]scale|grad[_-]scale|(?:grad_)?scaler(?:[/_]scale)?)|scale",
    ),
    # per-parameter norms: Lightning grad_2.0_norm/<p>, OLMo grad/<p>.norm, llm-foundry l2_norm/grad/<p>, metaseq, Keras
    ("global_norm", rf"{_ANY}l2_norm/grad/global|{_ANY}grad_[\d.]+_norm_total|{_ANY}grad_[\d.]+_norm/total"),
    ("gradient_norm", rf"(?:.*/)?l2_norm/grad/{_VARIABLE}"),
    ("weight_norm", rf"(?:.*/)?l2_norm/param/{_VARIABLE}"),
    ("update_norm", rf"(?:.*/)?l2_norm/(?:update|param_update)/{_VARIABLE}"),
    ("slot_norm", rf"(?:.*/)?l2_norm/(?P<slot>moment|second_moment(?:_sqrt)?)/{_VARIABLE}"),
    ("gradient_norm", rf"grad_[\d.]+_norm[/_]{_VARIABLE}"),
    ("gradient_norm", rf"(?:.*/)?gradient_norm/{_VARIABLE}"),
    ("gradient_norm", rf"(?:.*/)?grads_norm/{_VARIABLE}"),  # PyTorch Ignite's handlers
    ("weight_norm", rf"(?:.*/)?weights_norm/{_VARIABLE}"),
    ("global_norm", rf"(?:.*/)?(?:{_GRADIENT}/(?:total_|global_)?norm|norm/{_GRADIENT}|total_norm)"),
    ("gradient_norm", rf"(?:optim/)?(?:train/)?{_GRADIENT}/{_VARIABLE}[./]norm"),
    ("gradient_norm", rf"(?:.*/)?{_GRADIENT}/norm/{_VARIABLE}"),
    ("weight_norm", rf"(?:optim/)?(?:train/)?params?/{_VARIABLE}[./]norm"),
    ("slot_norm", rf"(?:optim/)?(?P<slot>exp_avg|exp_avg_sq)/{_VARIABLE}[./]norm"),
    ("slot_mean", rf"(?:optim/)?(?P<slot>exp_avg|exp_avg_sq)/{_VARIABLE}[./](?:avg|mean)"),
    ("slot_min", rf"(?:optim/)?(?P<slot>exp_avg|exp_avg_sq)/{_VARIABLE}[./]min"),
    ("slot_max", rf"(?:optim/)?(?P<slot>exp_avg|exp_avg_sq)/{_VARIABLE}[./]max"),
    ("gradient_norm", rf"(?:.*/)?(?:grad_?norms?|gradient_norms?)/{_VARIABLE}"),
    ("weight_norm", rf"(?:.*/)?(?:param|weight)_?norms?/{_VARIABLE}"),
    ("update_norm", rf"(?:.*/)?update_?norms?/{_VARIABLE}"),
    ("update_ratio", rf"(?:.*/)?(?:update_ratios?|update_to_weight|weight_update_ratio|update:weight)/{_VARIABLE}"),
    # the norm of all gradients: Hugging Face train/grad_norm, Megatron grad-norm, OLMo optim/total_grad_norm, metaseq
    ("clipped_global_norm", rf"{_ANY}(?:clipped|post_?clip)[_-](?:total_|global_)?{_GRADIENT}[_-]norm"),
    ("clipped_global_norm", rf"{_ANY}{_GRADIENT}[_-]norm[_-](?:clipped|post_clip|after_clip\w*)"),
    ("global_norm", rf"{_ANY}(?:(?:total|global|pre_?clip|unclipped)[_ -])?{_GRADIENT}[_ -]?norm(?: vs samples)?"),
    ("global_norm", rf"{_ANY}{_GRADIENT}[_-]norm[_-](?:total|global|unclipped|pre_clip|before_clip\w*)"),
    ("global_norm", rf"{_ANY}(?:gnorm|global_norm)|(?:.*/)?global_norm/gradient_norm"),
    ("learning_rate", rf"{_ANY}(?:learning[_ -]?rate|lr)(?: vs samples)?(?:[/_-]?(?:pg|group|param_group)?_?\d+)?"),
    (
        "learning_rate",
        r"(?:optim/)?lr[ _-]?\(?group[ _]?\d+\)?|(?:lr|learning_rate)[-/]\w+(?:/(?:pg|group)\d+)?(?:-\w+)?",
    ),
    ("learning_rate", r"(?:optim|optimizer|train|training|lr)/(?:learning_rate|lr)[/_]\w+|.*schedule\w*/pg\d+"),
    (
        "part_norm",
        rf"{_ANY}{_GRADIENT}[_ -]?norm[_-](?:g|d|gen|disc|generator|discriminator|actor|critic|policy|value)",
    ),
)
ROLES = frozenset(role for role, _ in PATTERNS) | LOSS_ROLES | WORD_ROLES
"""Every role that a tag can have."""

_PER_VARIABLE = frozenset(role for role, pattern in PATTERNS if _VARIABLE in pattern)
_SEPARATORS = re.compile(r"[/_.: -]+")
# Words in tags of reinforcement and adversarial learning; and, beside the word loss, those that name an opponent.
_MOVING = frozenset((
    "reward", "rewards", "rew", "return", "returns", "episode", "episodes", "rollout", "rollouts", "policy", "critic",
    "actor", "advantage", "advantages", "td", "discriminator", "generator", "adversarial", "gan",
))  # fmt: skip
_OPPONENTS = frozenset(("g", "d", "gen", "disc", "dis", "netg", "netd"))
_MOST_CHARACTERS = 1000  # in any sensible tag; the time for matching grows with the square of the length
_EVERY = re.compile(".*")
_VALIDATION_RUN = re.compile(rf"(?:.*[/_.-])?{VALIDATION.replace(' ', '[_-]')}(?:_?set)?\d*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a tag means.

    Attributes:
        role: one of `ROLES`; "" if the tag is unknown.
        variable: the variable that it is about; "" if it is about all of them, or none.
        slot: the slot of the optimizer that it is about, or "".
        judged: whether rules look at the tag; not if a configuration calls it other.
    """

    role: str
    variable: str = ""
    slot: str = ""
    judged: bool = field(default=True, repr=False)


class TagTable:
    """Decides what the tags of a run mean.

    Args:
        own: (role, pattern) pairs that are tried before those of the table; the role "" is that of tags to leave alone.
        tags: all tags of the run: they show its logger, and whether its losses need to fall, unlike those of
            reinforcement learning.
        logger: the name of the logger, if a configuration says it; else "".

    Attributes:
        logger: the logger of the run.

    >>> TagTable().meaning("train/grad_norm").role
    'global_norm'
    >>> TagTable().meaning("slots/v/mean/layer1/kernel")
    Meaning(role='slot_mean', variable='layer1/kernel', slot='v')
    >>> TagTable(tags=["train/loss", "rollout/ep_rew_mean"]).meaning("train/loss").role
    'auxiliary_loss'
    """

    def __init__(self, own: Iterable[tuple[str, str]] = (), tags: Iterable[str] = (), logger: str = "") -> None:
        self._own = compiled(tuple(own))
        self._tags = frozenset(tags)
        self.logger: Logger = logger_of(self._tags, logger)
        self._need_not_fall = (_EVERY,) if self.logger.moving else context(self._tags)
        clear = {_meaning_of(tag).role for tag in self._tags if not is_criterion(tag)}
        self._losses = clear & LOSS_ROLES
        self._meanings: dict[tuple[str, bool], Meaning] = {}

    def meaning(self, tag: str, run: str = "") -> Meaning:
        """What a tag means in a run of this name: in `…/validation`, as Keras names it, losses are for validation."""
        key = tag, is_validation(run)
        if key not in self._meanings:
            self._meanings[key] = self._meaning(*key)
        return self._meanings[key]

    @cached_property
    def moving_target(self) -> bool:
        """Whether the logger or the tags show that losses are measured against a moving target."""
        if self.logger.moving:
            return True
        every = (frozenset(_SEPARATORS.split(tag.lower())) for tag in self._tags)
        return any(words & _MOVING or ("loss" in words and words & _OPPONENTS) for words in every)

    def _meaning(self, tag: str, validates: bool) -> Meaning:
        for role, pattern in self._own:
            if match := pattern.fullmatch(tag):
                return _meaning(role, match) if role else Meaning("", judged=False)
        if self.logger.housekeeping and re.fullmatch(self.logger.housekeeping, tag):
            return Meaning("housekeeping")
        if is_on_another_axis(tag, self._tags):
            return Meaning("other_axis")
        meaning = _meaning_of(tag)
        if meaning.role not in LOSS_ROLES:
            return meaning
        if any(losses.fullmatch(words(tag)) for losses in self._need_not_fall):
            return Meaning("auxiliary_loss")
        if meaning.role in self._losses and is_criterion(tag):  # what is trained is called a loss there
            return Meaning("metric")
        if meaning.role == "loss" and validates:
            return Meaning("validation_loss")
        return meaning


@lru_cache(maxsize=256)  # the runs of a directory often have the same tags
def table_of(own: tuple[tuple[str, str], ...], tags: tuple[str, ...], logger: str) -> TagTable:
    """A `TagTable`, which is the same one for the same arguments."""
    return TagTable(own, tags, logger)


@lru_cache(maxsize=16)  # asked for each tag of a run
def is_validation(run: str) -> bool:
    """Whether the name of a run says that it holds a validation."""
    return _VALIDATION_RUN.fullmatch(run) is not None


@lru_cache(maxsize=1 << 14)
def _meaning_of(tag: str) -> Meaning:
    if len(tag) > _MOST_CHARACTERS:
        return Meaning("")
    for role, pattern in compiled(PATTERNS):
        if match := pattern.fullmatch(tag):
            return _meaning(role, match)
    named = words(re.split(r"[/:]", tag)[-1])  # a metric may stand below a heading of losses
    return Meaning(loss_role(tag) or ("" if "loss" in named.split() else role_by_words(tag)))


@lru_cache(maxsize=8)
def compiled(patterns: tuple[tuple[str, str], ...]) -> Sequence[tuple[str, re.Pattern[str]]]:
    """The patterns, compiled once.

    Raises:
        re.error: one is not a regular expression.
    """
    return [(role, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for role, pattern in patterns]


def _meaning(role: str, match: re.Match[str]) -> Meaning:
    groups = match.groupdict()
    variable = groups.get("variable") or (match[0] if role in _PER_VARIABLE else "")  # else all would be one variable
    return Meaning(role, variable, groups.get("slot") or "")


def network_order(names: Sequence[str]) -> list[int]:
    """The places of a run's variables in the order of the network: as they came, unless they came by the alphabet.

    Trees of JAX are sorted by letters, which says nothing of the network: then numbers in the names count.

    >>> network_order(["0.weight", "0.bias", "10.weight"])
    [0, 1, 2]
    >>> network_order(["layer_0", "layer_1", "layer_10", "layer_2"])
    [0, 1, 3, 2]
    """
    places = range(len(names))
    return sorted(places, key=lambda at: by_number(names[at])) if list(names) == sorted(names) else list(places)
