"""GL208: a recorded incident."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Ruleset
from summaries.auditing.signals.incidents import has_incident, reasons

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_MOST = 120  # characters of a reason: messages of exceptions may be long


@RULES.add("GL208", "recorded-incident", Severity.INFO, of_moments=True)
def recorded_incident(run: Signals, _limit: Limits) -> Iterator[Hit]:
    """A flight recorder wrote every step around an incident."""
    if run.longest is None or not has_incident(run.run):
        return
    steps, causes = run.longest.series.step, reasons(run.run)
    first, last = steps.min(), steps.max()
    why = "; ".join(f"at step {step}, {_in_short(words)}" for step, words in causes)
    message = f"steps {first} to {last} are recorded, each of them: {why}"
    yield Hit(message, (), (first, last), {"points": len(steps)}, len(causes))


def _in_short(words: str) -> str:
    """The beginning of a reason's first line."""
    return textwrap.shorten(words.strip().partition("\n")[0], _MOST, placeholder="…")
