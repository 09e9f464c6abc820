"""Runs of which not every file can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from summaries.reading.run import read_files
from summaries.storage.protocols import UnreachableError
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.storage.protocols import StoredFile

__all__ = ["Unread", "read_readable", "reason_of", "unopened"]


class Unread(NamedTuple):
    """What could not be read.

    Attributes:
        path: the file; "" if it is not known which of several.
        reason: why.
    """

    path: str
    reason: str

    def __str__(self) -> str:
        """Both."""
        return f"{self.path}: {self.reason}" if self.path else self.reason


def read_readable(files: Sequence[StoredFile], tags: Patterns = None) -> tuple[Run | None, tuple[Unread, ...]]:
    """Read a run without those of its files that cannot be read.

    Args:
        files: the files of the run, in reading order.
        tags: which tags to read, as in `read_run`.

    Returns:
        The run, or None if no file can be read; and what could not be.
    """
    left = list(files)
    failures: list[Unread] = []
    while left:
        try:
            return read_files(left, tags=tags), tuple(failures)
        except UnreachableError as error:
            return None, (*failures, Unread("", f"{reason_of(error)}; {counted(len(left), 'file')} not read"))
        except OSError as error:
            # A store's file can always be opened; what fails is reading it.
            broken = [Unread(file.path, reason_of(error)) for file in left if file.path == error.filename]
            unread = {each.path: each for each in (*unopened(left), *broken)}
            if not unread:  # they can be opened, but one of them cannot be read
                return None, (*failures, Unread(left[0].path if len(left) == 1 else "", reason_of(error)))
            failures += unread.values()
            left = [file for file in left if file.path not in unread]
    return None, tuple(failures)


def unopened(files: Sequence[StoredFile]) -> list[Unread]:
    """The files that cannot be opened."""
    unread = []
    for file in files:
        try:
            file.open().close()
        except OSError as error:
            unread.append(Unread(file.path, reason_of(error)))
    return unread


def reason_of(error: OSError) -> str:
    """Why a file cannot be read, in words."""
    return error.strerror or str(error)
