"""Reads what can be read of a run, and tells which of its files cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.reading.run import Run, read_files
from summaries.storage.protocols import UnreachableError
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.storage.protocols import StoredFile

__all__ = ["read_readable", "reason_of"]


def read_readable(files: Sequence[StoredFile], total_bytes: int = 0) -> tuple[Run | None, tuple[str, ...]]:
    """Read a run without those of its files that cannot be read.

    Args:
        files: the files of the run, in reading order.
        total_bytes: as in `read_files`; at least the size of these files is assumed.

    Returns:
        The run, or None if no file can be read; and for each file that cannot, its path and the reason.
    """
    left = list(files)
    failures: list[str] = []
    while left:
        try:
            return read_files(left, max(total_bytes, sum(file.size for file in left))), tuple(failures)
        except UnreachableError as error:
            return None, (*failures, f"{reason_of(error)}; {counted(len(left), 'file')} not read")
        except OSError as error:
            closed = {file: reason for file in left if (reason := _closed(file))}
            # A store's file can always be opened; what fails is reading it.
            closed |= {file: reason_of(error) for file in left if file.path == error.filename}
            if not closed:  # they can be opened, but one of them cannot be read
                return None, (*failures, f"{left[0].path}: {reason_of(error)}")
            failures += (f"{file.path}: {reason}" for file, reason in closed.items())
            left = [file for file in left if file not in closed]
    return None, tuple(failures)


def reason_of(error: OSError) -> str:
    """Why a file cannot be read, in words."""
    return error.strerror or str(error)


def _closed(file: StoredFile) -> str:
    """Why a file cannot be opened; "" if it can."""
    try:
        file.open().close()
    except OSError as error:
        return reason_of(error)
    return ""
