"""Settings that are logged: what somebody, or a schedule, sets while a run trains, such as a batch size or a KL weight.

What is measured changes from point to point. What is set stays as it is, and changes in a few steps; or, if its name is
known, in a ramp without noise. Learning rates are signals of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.signals.loss_names import VALIDATION, words
from summaries.robust import changes, median

if TYPE_CHECKING:
    from collections.abc import Iterable

    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signal
    from summaries.reading.series import Series

__all__ = ["Setting", "settings"]

_LASTS = 5  # points for which a value that is set stays, in the mean
_SMOOTH = 0.1  # of a change: how much changes of a ramp differ from one to the next; those of noise, more than all
_KNOWN = re.compile(
    r"\b(?:(?:batch|image|img|input|crop|patch|chunk|window) ?size|batchsize|resolution|seq(?:uence)? ?len(?:gth)?|"
    r"context|max len(?:gth)?|curriculum\w*|lesson|stage|phase|level|difficulty|task|domain|data ?set|mixture|bucket|"
    r"opponent|drop ?out|drop ?path|mixup|cutmix|smoothing|aug\w*|magnitude|noise|sigma|temperature|temp|beta|alpha|"
    r"(?:loss|kl|[a-z]+) (?:weight|coef\w*)|weight|lambda|fraction|ratio|prob\w*|teacher forcing|sparsity|prun\w*|bits|"
    r"(?:un ?)?frozen|(?:un)?freez\w*)\b"
)
_RESULT = re.compile(  # what follows from a training, counts it, or brings no loss up
    rf"\b(?:best|worst|counts?|counter|patience|bad|skipped|overflows?|nans?|infs?|epochs?|iters?|iterations?|steps?|"
    r"scores?|acc(?:uracy)?|f1|auc|r2|recall|precision|success(?:es)?|wins?|solved|correct|"
    rf"time|elapsed|seen|done|failed|failures|errors?|wd|weight decay|ema|momentum|eps|epsilon|norm|{VALIDATION})\b"
)


class Setting(NamedTuple):
    """A setting that changes.

    Attributes:
        tag: its tag.
        series: its points.
        at: the points whose value is another than the one before, by index.
    """

    tag: str
    series: Series
    at: Ints


def settings(signals: Iterable[Signal]) -> list[Setting]:
    """What of these signals is a setting that changes; those whose names are known first."""
    found = [(not known, Setting(signal.tag, signal.finite, at)) for signal in signals
             for known in (_KNOWN.search(words(signal.tag)) is not None,)
             if len(at := _changes(signal, known=known))]  # fmt: skip
    return [setting for _, setting in sorted(found, key=lambda pair: pair[0])]


def _changes(signal: Signal, *, known: bool) -> Ints:
    """Where a signal takes another value, if it is a setting; else nothing."""
    value = signal.finite.value
    at = np.flatnonzero(changes(value)) + 1 if len(value) > 1 else np.empty(0, np.int64)
    if not len(at) or _RESULT.search(words(signal.tag)):
        return at[:0]
    is_set = len(at) * _LASTS <= len(value) or (known and _is_smooth(value[np.append(at[0] - 1, at)]))
    return at if is_set else at[:0]


def _is_smooth(value: Floats) -> bool:
    """Whether n ≥ 2 values without repetitions follow a ramp, or are a few steps."""
    step = changes(value)
    return len(step) < _LASTS or median(np.abs(changes(step))) <= _SMOOTH * median(np.abs(step))
