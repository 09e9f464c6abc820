"""A run and the run that validates it, as one: Keras, TF1 and `add_scalars` write the two side by side.

Rules that compare a training with its validation see them as in a run that logs both: `train/epoch_loss` and
`validation/epoch_loss`. What they find is told of the run that validates.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from summaries.auditing.claims import Claim
    from summaries.auditing.findings import Finding
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["Pair"]

_BY_ITERATIONS = re.compile(r"^evaluation_(.+)_vs_iterations$")


class Pair:
    """Two runs, seen as one.

    Args:
        validation: the run that validates.
        training: the other one, which is beside it, or above.

    Attributes:
        signals: both as one run, with the files of the training.
    """

    def __init__(self, validation: Signals, training: Signals) -> None:
        self._name = validation.name
        self._origin: dict[str, tuple[str, str]] = {}  # by tag: the run, and its tag there
        above = training.name == "." or validation.name.startswith(f"{training.name}/")
        both: dict[str, Signal] = {}
        for run, heading in (
            (training, "" if above else _heading(training.name)),
            (validation, _heading(validation.name)),
        ):
            for tag, signal in _without_copies(run).items():
                one = both[heading + tag] = copy(signal)
                one.tag, one.tags = heading + tag, (heading + tag,)
                self._origin[one.tag] = run.name, tag
                if run is validation:  # its points are in none of those files
                    one.file_starts = [len(signal)] * len(training.files)
        self.signals: Signals = training.with_signals(both)

    def told(self, found: Finding) -> list[Finding]:
        """What was found of both, told of the run that validates; nothing if it is about the other one alone."""
        shown = (self._origin[tag] for tag in (found.tag, *found.others))
        tags = [tag for run, tag in shown if run == self._name]
        if not tags or (self._origin[found.tag][0] != self._name and not self._compares(found)):
            return []
        claims = tuple(self._traced(claim, found.tag) for claim in found.claims)
        return [replace(found, run=self._name, tag=tags[0], others=tuple(tags[1:]), claims=claims)]

    def _compares(self, found: Finding) -> bool:
        """Whether what was found of the training is so because of its validation: else it was found there, too."""
        tags = {tag for claim in found.claims for tag in claim.tags or (found.tag,)}
        return not tags or any(self._origin[tag][0] == self._name for tag in tags)

    def _traced(self, claim: Claim, tag: str) -> Claim:
        """A claim with the run and the tags that prove it."""
        origins = [self._origin[one] for one in claim.tags or (tag,)]
        run = origins[0][0]
        return replace(claim, run="" if run == self._name else run, tags=tuple(tag for _, tag in origins))


def _without_copies(run: Signals) -> dict[str, Signal]:
    """The signals by tag, without those of Keras that are there by epochs, too."""
    kept = dict(run.all)
    for tag, signal in run.all.items():
        by_epochs = run.all.get(_BY_ITERATIONS.sub(r"epoch_\1", tag))
        if by_epochs is not None and by_epochs is not signal and len(by_epochs) == len(signal):
            del kept[tag]
    return kept


def _heading(name: str) -> str:
    return f"{name.rpartition('/')[2]}/"
