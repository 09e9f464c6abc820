"""What can be wrong with an event file's bytes: faults, which are values, and errors, which carry one.

A `Fault` says what a reader met, where, and what it cost. Readers hand faults to callers who ask for them. The fault's
kind says whether it is damage, and all ask there: damage that nobody asked for is raised as a `FormatError`, and makes
commands exit with 1; an unfinished tail is only a warning, and a note on an event that was read is neither. Mistakes of
the caller are ValueError, TypeError or LookupError, as everywhere in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DamagedLengthError",
    "DamagedPayloadError",
    "Fault",
    "FaultKind",
    "FormatError",
    "NoEventFileError",
    "UndecodableError",
    "UndecodableTextError",
    "UnfinishedTailWarning",
    "ZeroFilledError",
    "is_damaged",
    "raise_fault",
]


class FaultKind(StrEnum):
    """What is wrong with a stretch of bytes."""

    UNFINISHED_TAIL = "unfinished tail"
    """The bytes end inside a record. It is still being written, or its writer died and it was cut short."""

    DAMAGED_LENGTH = "damaged length"
    """No record starts here: the checksum of the length does not match, or the length is beyond any record's."""

    DAMAGED_PAYLOAD = "damaged payload"
    """The record's length matches its checksum; its data does not."""

    ZERO_FILLED = "zero-filled"
    """Only zero bytes where a record should be. This happens after a power loss and on network disks."""

    UNDECODABLE = "undecodable"
    """Both checksums match, but the data is not an Event."""

    NO_EVENT_FILE = "no event file"
    """The file does not contain a single record: it is some other kind of file."""

    UNDECODABLE_TEXT = "undecodable text"
    """A tag is not valid UTF-8. The event is kept; invalid bytes appear in its tag as ``\\xff``."""

    NEGATIVE_STEP = "negative step"
    """The step is below zero. The event is kept as it is."""

    NON_FINITE_WALL_TIME = "non-finite wall time"
    """The wall time is NaN or infinite. The event is kept as it is."""

    EMPTY_FILE = "empty file"
    """The file has no bytes. Its writer has only just started, or died before it wrote anything."""

    @property
    def is_damage(self) -> bool:
        """Whether no intact file has it: none that is still being written, and none whose writer was killed."""
        return self.is_data_loss and self is not FaultKind.UNFINISHED_TAIL

    @property
    def is_data_loss(self) -> bool:
        """Whether bytes could not be read: damage, or an unfinished tail. False for a note on what was read."""
        return self not in _NOTES

    @property
    def may_pass(self) -> bool:
        """Whether a file that is still being written may have it, until more bytes come."""
        return self in _PASSING


_NOTES = frozenset({FaultKind.NEGATIVE_STEP, FaultKind.NON_FINITE_WALL_TIME, FaultKind.EMPTY_FILE})
_PASSING = frozenset({FaultKind.UNFINISHED_TAIL, FaultKind.EMPTY_FILE, FaultKind.NO_EVENT_FILE})


@dataclass(frozen=True, slots=True)
class Fault:
    """A range of bytes that could not be read as a record, or a record that deserves a note.

    Attributes:
        kind: what is wrong; see `FaultKind`.
        reason: what is wrong, as the words of an error message.
        offset: where the range begins, in bytes from the start of the file or stream.
        length: size of the range in bytes. Reading continues at `offset + length`.
        got: what the bytes say, ready to print.
        want: what would have been right, ready to print.
        record: number of records read before this range.
        path: the file; "" if the bytes did not come from a file.

    >>> str(Fault(FaultKind.DAMAGED_PAYLOAD, "data checksum mismatch", 1048, 90, "0x01", "0x02", 7, "a.tfevents"))
    'data checksum mismatch: got 0x01, want 0x02 - at a.tfevents, record 7, offset 1048 (90 bytes)'
    """

    kind: FaultKind
    reason: str
    offset: int
    length: int
    got: str
    want: str
    record: int = 0
    path: str = ""

    def __str__(self) -> str:
        place = f"{self.path}, " if self.path else ""
        return (
            f"{self.reason}: got {self.got}, want {self.want}"
            f" - at {place}record {self.record}, offset {self.offset} ({counted(self.length, 'byte')})"
        )

    def located(self, path: str) -> Fault:
        """A copy of the fault that names its file.

        Args:
            path: the file's path.
        """
        return replace(self, path=path)


def is_damaged(faults: Iterable[Fault]) -> bool:
    """Whether one of the faults is damage; see `FaultKind.is_damage`.

    Args:
        faults: those of a file or of several.
    """
    return any(fault.kind.is_damage for fault in faults)


class FormatError(ValueError):
    """An event file is damaged.

    Attributes:
        fault: what is wrong, and where; `error.fault.kind` tells the kinds apart.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault

    def __reduce__(self) -> tuple[type[FormatError], tuple[Fault]]:
        return type(self), (self.fault,)


class DamagedLengthError(FormatError):
    """There is no valid record length where a record should start."""


class DamagedPayloadError(FormatError):
    """A record's data does not match its checksum."""


class ZeroFilledError(FormatError):
    """There are zero bytes where a record should be."""


class UndecodableError(FormatError):
    """A record matches its checksums, but is not an Event."""


class NoEventFileError(FormatError):
    """A file has bytes, but does not contain a single record."""


class UndecodableTextError(FormatError):
    """A tag is not valid UTF-8."""


class UnfinishedTailWarning(UserWarning):
    """A file ends inside a record: its writer has not finished, or died."""


# Readers raise damage only: the other kinds are notes, or the warning above, and have no exception of their own.
_ERRORS: dict[FaultKind, type[FormatError]] = {
    FaultKind.DAMAGED_LENGTH: DamagedLengthError,
    FaultKind.DAMAGED_PAYLOAD: DamagedPayloadError,
    FaultKind.ZERO_FILLED: ZeroFilledError,
    FaultKind.UNDECODABLE: UndecodableError,
    FaultKind.NO_EVENT_FILE: NoEventFileError,
    FaultKind.UNDECODABLE_TEXT: UndecodableTextError,
}


def raise_fault(fault: Fault) -> None:
    """Raise the fault as a `FormatError`: as the subclass for its kind, where there is one.

    Raises:
        FormatError: always.
    """
    raise _ERRORS.get(fault.kind, FormatError)(fault)
