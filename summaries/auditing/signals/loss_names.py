"""Names of losses: which tags are losses, and of what kind, judging by the words in their names.

    metrics/eval/LanguageCrossEntropy  →  "metrics", "eval", "language cross entropy"  →  validation_loss

A loss is what training brings down. Terms that are added to it or play against it need not fall: those of regularizers,
actors and critics, generators and discriminators. They are auxiliary losses, and so are all losses of a run whose other
tags show reinforcement or adversarial learning. A tag that merely contains the word (packet loss, the best loss so far)
is not a loss. Neither is one with a word beside it that no list here contains, unless the tag mentions training or
validation: it is better to miss a loss than to judge something else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LOSS_ROLES", "VALIDATION", "context", "is_criterion", "is_plain", "loss_role", "maybe_loss", "words"]

LOSS_ROLES = frozenset({"loss", "validation_loss", "auxiliary_loss"})


def _any(alternatives: str) -> str:
    """A pattern for any of these words or phrases, which are separated by spaces; "_" is a space in a phrase."""
    return f"(?:{'|'.join(alternatives.split()).replace('_', ' ')})"


VALIDATION = _any("val valid validation eval evals evaluation test testing dev held_?out holdout")
_TRAINING = _any("train training trainer fit")
# Losses by definition, without the word; the second group only if there is no unknown word beside them.
_CRITERIA = _any("""
    cross_?entropy cross_ent xent xentropy nll neg(?:ative)?_log_likelihood neg(?:ative)?_elbo perplexity ppl
    info_?nce nt_?xent mse mae rmse msle rmsle (?:root_)?mean_(?:squared?|absolute)_error
    bits_per_(?:byte|char|character|dim|dimension|token|word) bpb bpc bpd""")
_BARE_CRITERIA = _any(
    "ce bce error err objective hinge log_?loss (?<!total_)cost(?!_per)"
)  # dollars are totals, or per token
# Words that may stand beside it: statistics, what they are taken over, what they are plotted against; kinds of loss.
_STATISTICS = _any(r"""
    \d+ epochs? steps? iter iters iterations? batch batches micro mini global local reduced avg averaged? mean total sum
    overall combined full final raw smooth smoothed ema running moving current last main per of on all target nonpadding
    non_?target tokens? samples? examples? words? vs set dataloader idx gigaflos metrics? stats? inner l""")
_KINDS = _any("""
    lm mlm clm nsp sop mtp ntp language model modeling masked causal task multi joint supervised unsupervised self seq s
    categorical sparse binary softmax sigmoid label smoothing huber smooth_l_1 charbonnier focal dice g?iou ciou diou
    tversky lovasz hinge triplet contrastive info nce infonce nt_?xent itc itm mim ctc rnnt transducer att attention
    encoder decoder decode seg segmentation semantic instance cls class classes classification classifier det detection
    box bbox rpn roi mask obj objectness dfl loc localization landmarks? keypoints? kp pose depth photometric ssim recon
    reconst reconstruction rec pix pixel image img text audio speech mel spec spectrogram stft duration pitch diffusion
    denoising score distill distillation kd student sft dpo simpo orpo kto ranking rank pairwise listwise bpr margin
    cosine embedding arcface center consistency cycle identity feature style content pde residual boundary elbo
    regression cbow skipgram ner pos qa span""")
_PARTS = _any(r"""
    policy values? actor critic vf pg qf td surrogate advantage (?<!cross_)ent(?:ropy)? kl kld curiosity icm rnd
    generator discriminator gen disc adv adversarial w?gan grad(?:ient)?_penalty penalty gp perceptual aux auxiliary
    load_balanc\w+ lb rout\w+ reg regulari[sz]\w* (?<!smooth_)l_[12] weight_decay commit commitment vq codebook
    orthogonal\w* diversity sparsity tv smoothness loss_(?:[acdgqvz]|pi|alpha|clip)
    (?:[acdgqvz]|pi|alpha|temperature|temp|gate|gating|balanc\w+|clip|baseline)(?:_\d+|_[ab])?_loss""")
_NO_LOSS = _any(r"""
    best lowest least min minimum max maximum worst weights?(?!_decay) (?<!ent_)coef coeff coefficient ratio scal\w+
    counts? num number time secs seconds std var variance delta diff difference change gap norm lr rate
    (?<!policy_)grad(?:ient)?s?(?!_penalty) patience threshold limit improved improvement since per_loss
    packets? frames? stop health life lives hearing hair blood heat power pressure energy water path insertion return
    transmission signal trades? trading profit portfolio stocks? market price wins? games? matches""")
# Tags of a run that say that some of its losses need not fall: a pattern for the tags, and one for those losses.
_RL = _any(r"""
    rewards? episod\w+ rollouts? ep_(?:rew|ret|len) ep(?:rew|ret|len)\w* advantages? td_(?:loss|error) q_values?
    (?:average|mean|cumulative|discounted)_returns? (?:policy|actor|critic|value|vf|pg|qf)(?:_\w+)?_loss
    loss(?:es)?_(?:policy|actor|critic|value|surrogate) explained_variance approx_kl exploration_rate ent_coef
    (?:avg|mean|average|max)_q epsilon(?!_share) replay_buffer\w*""")
_GAN = _any("discriminator w?gan_loss disc_loss d_loss loss_d")
_VQ = _any("codebook commit commitment vq")  # the perplexity of a codebook should rise
_CONTEXTS = (
    (rf"\b{_RL}\b(?! (?:accurac\w+|margins?|chosen|rejected))", ".*"),
    (rf"\b{_GAN}\b", ".*"),
    (rf"\b{_VQ}\b", r".*\b(?:perplexity|ppl)\b.*"),
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BREAK = re.compile(r"[/:|\\]|\.(?=[^\W\d])")
_GLUED = re.compile(r"\b([a-z]+)loss\b")
_CLEAR = re.compile(rf"\b(?:loss|{_CRITERIA})\b")
_NAMED = re.compile(rf"\b(?:loss|{_CRITERIA}|{_BARE_CRITERIA}|elbo)\b")
_BESIDE = f"(?:{VALIDATION}|{_TRAINING}|{_STATISTICS})"
_PLAIN = re.compile(rf"(?:{_BESIDE} )*(?:loss(?:es)?|objective|cost)(?: (?:{_BESIDE}|loss))*")
_HEADING = re.compile(rf"(?:{_BESIDE} )*(?:loss(?:es)?|{_CRITERIA})(?: {_BESIDE})*")
_KNOWN_WORD = f"(?:{_CRITERIA}|{_BARE_CRITERIA}|{_BESIDE}|{_KINDS}|loss)"
_KNOWN = re.compile(rf"(?:{_KNOWN_WORD}(?: |\Z))+")
_IS_NO_LOSS = re.compile(rf"\b{_NO_LOSS}\b")
_IS_PART = re.compile(rf"\b{_PARTS}\b")
_MEASURED_ON = re.compile(rf"\b(?:(?P<validation>{VALIDATION})|{_TRAINING})\b")
_OF_AN_OUTPUT = re.compile(r"(?:epoch|batch) .*loss")  # as in Keras, for models with several outputs
_MARKS = [(re.compile(marks), re.compile(losses)) for marks, losses in _CONTEXTS]


def loss_role(tag: str) -> str:
    """The role of a loss, one of `LOSS_ROLES`; "" if the tag is not a loss.

    >>> loss_role("val/loss_epoch"), loss_role("train/td_loss"), loss_role("best_loss")
    ('validation_loss', 'auxiliary_loss', '')
    """
    parts = _parts(tag)
    if not parts:
        return ""
    leaf, end, whole = parts[-1], " ".join(parts[-2:]), " ".join(parts)
    below_a_heading = any(map(_HEADING.fullmatch, parts[:-1]))  # as in losses/total
    if not (below_a_heading or _NAMED.search(leaf)) or _IS_NO_LOSS.search(end):
        return ""
    if _IS_PART.search(end) or leaf == "elbo":  # an ELBO goes up, unless its name says that it is a loss
        return "auxiliary_loss"
    on = [match["validation"] is not None for match in _MEASURED_ON.finditer(whole)]
    if not (_KNOWN.fullmatch(leaf) or (on and _CLEAR.search(leaf)) or _OF_AN_OUTPUT.fullmatch(leaf)):
        return ""
    return "validation_loss" if on and on[-1] else "loss"


def maybe_loss(tag: str) -> str:
    """The role of a tag that is a loss by its words, beside a word that is not known: its behaviour has to decide.

    >>> maybe_loss("losses/bounds_loss"), maybe_loss("val/foo_loss"), maybe_loss("best_loss")
    ('loss', 'validation_loss', '')
    """
    parts = _parts(tag)
    end = " ".join(parts[-2:])
    if not re.search(r"\bloss(?:es)?\b", end) or _IS_NO_LOSS.search(end):
        return ""
    on = [match["validation"] is not None for match in _MEASURED_ON.finditer(" ".join(parts))]
    return "validation_loss" if on and on[-1] else "loss"


def is_criterion(tag: str) -> bool:
    """Whether a tag names a criterion, such as MAE, without the word loss: beside a loss, it is a metric.

    >>> is_criterion("val/rmse"), is_criterion("train/cross_entropy_loss")
    (True, False)
    """
    return "loss" not in words(tag).split()


def is_plain(tag: str) -> bool:
    """Whether a tag names a loss, and nothing of which it would be a part.

    >>> is_plain("train/total_loss"), is_plain("train_loss_epoch"), is_plain("train/box_loss")
    (True, True, False)
    """
    return _PLAIN.fullmatch(words(tag)) is not None


def context(tags: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Patterns for the losses of a run that need not fall, judging by all its tags. They match the words of a tag.

    >>> [losses.pattern for losses in context(["train/loss", "rollout/ep_rew_mean"])]
    ['.*']
    """
    texts = [words(tag) for tag in tags]
    return tuple(losses for marks, losses in _MARKS if any(map(marks.search, texts)))


def words(tag: str) -> str:
    """The words of a tag, in lower case, separated by spaces.

    >>> words("metrics/eval/LanguageCrossEntropy")
    'metrics eval language cross entropy'
    """
    return " ".join(_parts(tag))


@lru_cache(maxsize=1 << 14)
def _parts(tag: str) -> tuple[str, ...]:
    """The words of each part of the path in a tag."""
    parts = (" ".join(_WORD.findall(part)).lower() for part in _BREAK.split(tag))
    return tuple(_GLUED.sub(r"\1 loss", part) for part in parts if part)
