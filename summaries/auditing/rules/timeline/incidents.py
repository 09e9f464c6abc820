"""GL208: runs `incident=<step>` below a run, with every step around an incident, as a flight recorder writes them.

A second one of the same step is `incident=<step>-1`.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Ruleset

if TYPE_CHECKING:
    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signals
    from summaries.reading.run import Run

__all__ = ["RULES", "has_incident", "run_of"]

RULES = Ruleset()
_TAG = "incident/text_summary"
_DIRECTORY = re.compile(r"(?:^|[/\\])incident=-?\d+(?:-\d+)?[/\\][^/\\]+$")
_NAME = re.compile(r"^(?:(.*)/)?incident=-?\d+(?:-\d+)?$")
_MOST = 120  # characters of a reason: messages of exceptions may be long


def has_incident(run: Run) -> bool:
    """Whether this run is the recording of an incident."""
    return _TAG in run.tags and bool(run.files) and _DIRECTORY.search(run.files[0]) is not None


def run_of(name: str) -> str:
    """The name of the run that a recorded incident is part of; "" if the name is not that of an incident.

    >>> run_of("a/incident=700"), run_of("incident=700"), run_of("incident=700-1"), run_of("a")
    ('a', '.', '.', '')
    """
    match = _NAME.match(name)
    return (match[1] or ".") if match else ""


@RULES.add("GL208", "recorded-incident", Severity.INFO, of_moments=True)
def recorded_incident(run: Signals, limit: Limits) -> Hits:
    """A flight recorder wrote every step around an incident."""
    if run.longest is None or not has_incident(run.run):
        return
    steps, texts = run.longest.series.step, run.run.texts[_TAG]
    written = zip(texts.step, texts, strict=True)
    reasons = [(step, str(text)) for step, of_step in written for text in np.atleast_1d(of_step)]
    why = "; ".join(f"at step {step}, {_in_short(reason)}" for step, reason in reasons)
    first, last = steps.min(), steps.max()
    message = f"steps {first} to {last} are recorded, each of them: {why}"
    yield Hit(message, (), (first, last), {"points": len(steps)}, len(reasons))


def _in_short(words: str) -> str:
    """The beginning of a reason's first line."""
    return textwrap.shorten(words.strip().partition("\n")[0], _MOST, placeholder="…")
