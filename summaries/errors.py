"""Every way that an event file's bytes can be wrong: faults, which are values, and errors, which carry one.

A `Fault` says what a reader met, where, and what it cost. Readers hand faults to whoever asks for them; one that
nobody asked for is raised as a `FormatError`. Callers' own mistakes are Python's ValueError, TypeError and LookupError.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from summaries.words import counted

__all__ = [
    "DamagedLengthError",
    "DamagedPayloadError",
    "EmptyFileError",
    "Fault",
    "FaultKind",
    "FormatError",
    "NegativeStepError",
    "NoEventFileError",
    "NonFiniteWallTimeError",
    "UndecodableError",
    "UndecodableTextError",
    "UnfinishedTailError",
    "UnfinishedTailWarning",
    "ZeroFilledError",
    "raise_fault",
]


class FaultKind(StrEnum):
    """What is wrong with a stretch of bytes."""

    UNFINISHED_TAIL = "unfinished tail"
    """The bytes end inside a record: still being written, or cut short. Only its writer's end makes it damage."""

    DAMAGED_LENGTH = "damaged length"
    """No record starts here: the checksum of the length does not match, or the length is beyond any record's."""

    DAMAGED_PAYLOAD = "damaged payload"
    """The record's length is sound, its data is not."""

    ZERO_FILLED = "zero-filled"
    """Nothing but zero bytes where a record should be: seen after a power loss and on network disks."""

    UNDECODABLE = "undecodable"
    """Both checksums match, and the data is no Event all the same."""

    NO_EVENT_FILE = "no event file"
    """From the first byte to the last, no record: this is some other file."""

    UNDECODABLE_TEXT = "undecodable text"
    """A tag is no UTF-8. The event is kept; in its tag, bytes that are no text stand as ``\\xff``."""

    NEGATIVE_STEP = "negative step"
    """The event is kept as it is."""

    NON_FINITE_WALL_TIME = "non-finite wall time"
    """Not a moment: NaN or infinite. The event is kept as it is."""

    EMPTY_FILE = "empty file"
    """Not one byte: its writer has only just begun, or never got further."""

    @property
    def loses(self) -> bool:
        """Whether bytes were lost to this: no for a note on an event that was read and given as it is."""
        return self not in _NOTES


_NOTES = frozenset({FaultKind.NEGATIVE_STEP, FaultKind.NON_FINITE_WALL_TIME, FaultKind.EMPTY_FILE})


@dataclass(frozen=True, slots=True)
class Fault:
    """One stretch of bytes that gave no record, or one that needs a note.

    Attributes:
        kind: what is wrong, as one of a few kinds.
        reason: what is wrong, in the words of an error message.
        offset: where the stretch begins, in bytes from the start of the file or stream.
        length: how long the stretch is, in bytes. Reading goes on at `offset + length`.
        got: what the bytes say, ready to print.
        want: what would have been right, ready to print.
        record: how many records were read before this stretch.
        path: the file, or "" where the bytes came from no file.

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
        """The same fault, in the file `path`."""
        return replace(self, path=path)


class FormatError(ValueError):
    """An event file's bytes are wrong, in the way that `fault` tells."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault

    def __reduce__(self) -> tuple[type[FormatError], tuple[Fault]]:
        return type(self), (self.fault,)


class UnfinishedTailError(FormatError):
    """The bytes end inside a record."""


class DamagedLengthError(FormatError):
    """No record starts where one should."""


class DamagedPayloadError(FormatError):
    """A record's data does not match its checksum."""


class ZeroFilledError(FormatError):
    """Zero bytes stand where a record should."""


class UndecodableError(FormatError):
    """A record's data is whole, and is no Event."""


class NoEventFileError(FormatError):
    """A file has bytes, but not one record."""


class UndecodableTextError(FormatError):
    """A tag is no UTF-8."""


class NegativeStepError(FormatError):
    """An event's step is below zero."""


class NonFiniteWallTimeError(FormatError):
    """An event's wall time is NaN or infinite."""


class EmptyFileError(FormatError):
    """A file has no bytes."""


class UnfinishedTailWarning(UserWarning):
    """A file ended inside a record: whoever writes it has not finished, or never will."""


_ERRORS: dict[FaultKind, type[FormatError]] = {
    FaultKind.UNFINISHED_TAIL: UnfinishedTailError,
    FaultKind.DAMAGED_LENGTH: DamagedLengthError,
    FaultKind.DAMAGED_PAYLOAD: DamagedPayloadError,
    FaultKind.ZERO_FILLED: ZeroFilledError,
    FaultKind.UNDECODABLE: UndecodableError,
    FaultKind.NO_EVENT_FILE: NoEventFileError,
    FaultKind.UNDECODABLE_TEXT: UndecodableTextError,
    FaultKind.NEGATIVE_STEP: NegativeStepError,
    FaultKind.NON_FINITE_WALL_TIME: NonFiniteWallTimeError,
    FaultKind.EMPTY_FILE: EmptyFileError,
}


def raise_fault(fault: Fault) -> None:
    """Raise the `FormatError` of the fault's kind."""
    raise _ERRORS[fault.kind](fault)
