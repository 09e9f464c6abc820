"""Tags → roles: which is a loss, a norm, a learning rate, whoever wrote it.

One table of patterns, tried in order; the first that matches a whole tag, ignoring case, decides. The named groups
`variable`, `slot` and `stat` say what the tag is about. A configuration's patterns are tried before these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["PATTERNS", "ROLES", "Meaning", "TagTable", "is_validation"]

_ANY = r"(?:.*[/_.: -])?"  # whatever stands before, up to a separator
_VAL = r"(?:val|valid|validation|eval|evaluation|test|dev|heldout|held_out)"
_VARIABLE = r"(?P<variable>.+)"
_GRADIENT = r"(?:grad|gradient)s?"
_LOSS = r"(?:(?:lm|ce|nll|bce|mse|cross_?entropy|train|total)[_ ]?)?loss|nll|cross_?entropy|objective|negative_elbo"
_OVER = r"(?:[_/ -](?:epoch|step|iter|iteration|batch|train|training|total|avg|mean|raw))?(?: vs samples)?"
# Losses that are not minimized alone: of actors and critics, of generators, of regularizers and routers.
_PARTS = (
    r"(?:policy|value|actor|critic|(?<!cross[_ -])entropy|kl|approx_kl|vf|pg|q|qf\d*|ent_coef|policy_gradient|alpha|"
    r"clip|generator|discriminator|gen|disc|adv|adversarial|g|d|gradient_penalty|gp|"
    r"z|aux|auxiliary|load_balanc\w*|router|reg|regularization|l1|l2|weight_decay|commitment|vq|perceptual)"
)

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
    ("steps_per_second", r"(?:.*/)?(?:global_step|steps?|iters?|iterations?|batches)[_-]?(?:/|per_?)(?:sec|second|s)"),
    # clipping: OLMo's optim/clipping_rate, metaseq's clip, fairseq's
    ("clipped_fraction", rf"{_ANY}(?:clipping_rate|clip_rate|clipped_fraction|clip_frac)"),
    ("clip_norm", rf"{_ANY}(?:clip_norm|max_grad_norm|clip_grad_norm|clip_threshold)"),
    # loss scaling of mixed precision: its overflows are no fault
    ("loss_scale", rf"{_ANY}(?:loss[_-]scale|loss scale|grad[_-]scale|scaler)"),
    # per-parameter norms: Lightning grad_2.0_norm/<p>, OLMo grad/<p>.norm, llm-foundry l2_norm/grad/<p>, metaseq, Keras
    ("global_norm", rf"{_ANY}l2_norm/grad/global|{_ANY}grad_[\d.]+_norm_total|{_ANY}grad_[\d.]+_norm/total"),
    ("gradient_norm", rf"(?:.*/)?l2_norm/grad/{_VARIABLE}"),
    ("weight_norm", rf"(?:.*/)?l2_norm/param/{_VARIABLE}"),
    ("update_norm", rf"(?:.*/)?l2_norm/(?:update|param_update)/{_VARIABLE}"),
    ("slot_norm", rf"(?:.*/)?l2_norm/(?P<slot>moment|second_moment(?:_sqrt)?)/{_VARIABLE}"),
    ("gradient_norm", rf"grad_[\d.]+_norm[/_]{_VARIABLE}"),
    ("gradient_norm", rf"(?:.*/)?gradient_norm/{_VARIABLE}"),
    ("gradient_norm", rf"(?:optim/)?(?:train/)?grads?/{_VARIABLE}[./]norm"),
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
    ("global_norm", rf"{_ANY}(?:(?:total|global|pre_?clip|unclipped)[_-])?{_GRADIENT}[_-]?norm(?: vs samples)?"),
    ("global_norm", rf"{_ANY}{_GRADIENT}[_-]norm[_-](?:total|global|unclipped|pre_clip|before_clip\w*)"),
    ("global_norm", rf"{_ANY}(?:gnorm|global_norm)|(?:.*/)?global_norm/gradient_norm"),
    ("learning_rate", rf"{_ANY}(?:learning[_ -]?rate|lr)(?: vs samples)?(?:[/_-](?:pg|group|param_group)?_?\d+)?"),
    ("learning_rate", r"(?:optim/)?lr[ _-]?\(?group[ _]?\d+\)?|(?:lr|learning_rate)-\w+(?:/pg\d+)?(?:-\w+)?"),
    ("learning_rate", r"(?:optim|optimizer|train|training|lr)/(?:learning_rate|lr)[/_]\w+"),
    # losses, and what they are measured on
    ("validation_loss", rf"{_ANY}{_VAL}(?:_?(?:set|epoch))?[/_. -]{_ANY}(?:{_LOSS})(?:_epoch|_step)?"),
    ("validation_loss", rf"{_ANY}loss[/_. -]{_VAL}(?: vs samples)?|(?:eval|evaluation)_loss_vs_\w+"),
    ("", rf"{_ANY}{_PARTS}[_ -]?loss(?:[_/].*)?|{_ANY}loss[/_]{_PARTS}(?:[_/].*)?"),
    ("loss", rf"{_ANY}(?:{_LOSS}){_OVER}|{_ANY}loss/train(?:ing)?/total|loss_\d+|loss_vs_(?:iterations|epochs)"),
)
ROLES = frozenset(role for role, _ in PATTERNS if role)
"""Every role that a tag can have."""

_VALIDATION_RUN = re.compile(rf"(?:.*[/_.-])?{_VAL}(?:_?set)?\d*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a tag is taken for.

    Attributes:
        role: one of `ROLES`; "" where no pattern knows the tag.
        variable: the variable that it is about; "" where it is about all, or none.
        slot: the optimizer's slot that it is about, or "".
    """

    role: str
    variable: str = ""
    slot: str = ""


class TagTable:
    """Decides what tags mean.

    Args:
        own: (role, pattern) pairs that are tried before the table's.

    >>> TagTable().meaning("train/grad_norm").role
    'global_norm'
    >>> TagTable().meaning("slots/v/mean/layer1/kernel")
    Meaning(role='slot_mean', variable='layer1/kernel', slot='v')
    """

    def __init__(self, own: Iterable[tuple[str, str]] = ()) -> None:
        self._own = compiled(tuple(own))

    def meaning(self, tag: str, run: str = "") -> Meaning:
        """What a tag is, in a run of this name: a loss in a run called `…/validation`, as Keras has, is one of it."""
        for role, pattern in self._own:
            if match := pattern.fullmatch(tag):
                return _meaning(role, match)
        found = _meaning_of(tag)
        if found.role == "loss" and is_validation(run):
            return Meaning("validation_loss")
        return found


def is_validation(run: str) -> bool:
    """Whether a run's name says that it validates a model."""
    return _VALIDATION_RUN.fullmatch(run) is not None


@lru_cache(maxsize=1 << 14)
def _meaning_of(tag: str) -> Meaning:
    for role, pattern in compiled(PATTERNS):
        if match := pattern.fullmatch(tag):
            return _meaning(role, match)
    return Meaning("")


@lru_cache(maxsize=8)
def compiled(patterns: tuple[tuple[str, str], ...]) -> Sequence[tuple[str, re.Pattern[str]]]:
    """The patterns, compiled once.

    Raises:
        re.error: one is no regular expression.
    """
    return [(role, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for role, pattern in patterns]


def _meaning(role: str, match: re.Match[str]) -> Meaning:
    groups = match.groupdict()
    return Meaning(role, groups.get("variable") or "", groups.get("slot") or "")
