"""Verify: read every byte of an event file, and report what is damaged."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from summaries.errors import FaultKind
from summaries.reading.event_iterator import events_at, events_of
from summaries.storage.credentials import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.errors import Fault
    from summaries.storage.protocols import StoredFile

__all__ = ["Verdict", "verify", "verify_file"]


@dataclass(frozen=True)
class Verdict:
    """What was found in an event file.

    Attributes:
        path: the file.
        events: number of whole events.
        faults: everything else in the file.
    """

    path: str
    events: int
    faults: tuple[Fault, ...]

    @property
    def damaged(self) -> bool:
        """Whether there is a fault that does not occur in an intact file, even while it is being written."""
        return any(fault.kind.is_data_loss and fault.kind is not FaultKind.UNFINISHED_TAIL for fault in self.faults)


def verify(
    path: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, object] | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Verdict:
    """Read a whole event file, and check every checksum and every message.

    Args:
        path: the file; a local path, or an address that fsspec knows, such as `s3://…`.
        storage_options: for an address, the options of its file system, as fsspec takes them.
        cache: for an address, as in `read_run`.

    Returns:
        The number of events, and the faults. Damage is not raised.

    Raises:
        OSError: the file cannot be read.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    >>> verdict = verify(writer.path)
    >>> verdict.events, verdict.damaged
    (2, False)
    """
    faults: list[Fault] = []
    events = sum(1 for _ in events_at(path, faults.append, storage_options=storage_options, cache=cache))
    return Verdict(without_credentials(os.fspath(path)), events, tuple(faults))


def verify_file(file: StoredFile) -> Verdict:
    """`verify` for a file that was listed.

    Raises:
        OSError: the file cannot be read.
    """
    faults: list[Fault] = []
    events = sum(1 for _ in events_of(file, faults.append))
    return Verdict(file.path, events, tuple(faults))
