"""Recorded incidents: runs `incident=<step>` below a run, with every step around an incident, by a flight recorder.

A second one of the same step is `incident=<step>-1`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from summaries.reading.run import Run

__all__ = ["has_incident", "reasons", "run_of"]

_TAG = "incident/text_summary"
_DIRECTORY = re.compile(r"(?:^|[/\\])incident=-?\d+(?:-\d+)?[/\\][^/\\]+$")
_NAME = re.compile(r"^(?:(.*)/)?incident=-?\d+(?:-\d+)?$")


def has_incident(run: Run) -> bool:
    """Whether this run is the recording of an incident."""
    return _TAG in run.tags and bool(run.files) and _DIRECTORY.search(run.files[0]) is not None


def reasons(run: Run) -> list[tuple[int, str]]:
    """Why an incident was recorded: the step and the words of each reason."""
    texts = run.texts[_TAG]
    found = zip(texts.step.tolist(), texts, strict=True)
    return [(step, str(text)) for step, of_step in found for text in np.atleast_1d(of_step)]


def run_of(name: str) -> str:
    """The name of the run that a recorded incident is part of; "" if the name is not that of an incident.

    >>> run_of("a/incident=700"), run_of("incident=700"), run_of("incident=700-1"), run_of("a")
    ('a', '.', '.', '')
    """
    match = _NAME.match(name)
    return (match[1] or ".") if match else ""
