"""Verify: read every byte of an event file, and say what is whole and what is not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from summaries.errors import FaultKind
from summaries.reading.event_reader import read_events

if TYPE_CHECKING:
    from summaries.errors import Fault

__all__ = ["Verdict", "verify"]


@dataclass(frozen=True)
class Verdict:
    """What was found in one file.

    Attributes:
        path: the file.
        events: how many whole events it has.
        faults: everything else that it has.
    """

    path: str
    events: int
    faults: tuple[Fault, ...]

    @property
    def damaged(self) -> bool:
        """Whether there is a fault that a file still being written would not have."""
        return any(fault.kind.is_data_loss and fault.kind is not FaultKind.UNFINISHED_TAIL for fault in self.faults)


def verify(path: str | os.PathLike[str]) -> Verdict:
    """Read a whole event file, checksums and messages included.

    Raises:
        OSError: the file cannot be read.
    """
    faults: list[Fault] = []
    events = sum(1 for _ in read_events(path, on_fault=faults.append))
    return Verdict(os.fspath(path), events, tuple(faults))
