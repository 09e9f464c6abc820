"""What can be read of the files of a run, and what is wrong with the others."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

from summaries.auditing.findings import Failure
from summaries.errors import FaultKind
from summaries.reading import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.reading.run import Run
    from summaries.storage.protocols import StoredFile

__all__ = ["contents", "read_readable", "reason_of"]

_HEAD_BYTES = 512
_OTHER_FILES = (
    (b"fileFormatVersion:", "metadata of Unity"),
    (b"version https://git-lfs.github.com", "a Git LFS pointer: `git lfs pull` fetches the file itself"),
    (b"#ifndef", "a C header"),
    (b"#pragma", "a C header"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "compressed by gzip"),
)


def read_readable(name: str, files: Sequence[StoredFile]) -> tuple[Run | None, tuple[Failure, ...]]:
    """Read the files that can be read, as one run, or None if none can; and say what is wrong with the others.

    Args:
        name: the run's name.
        files: its files.
    """
    run, unread = readable.read_readable(files)
    return run, tuple(Failure(name, *each) for each in unread)


def contents(files: Sequence[StoredFile], run: Run) -> dict[str, str]:
    """What the files are that are named like event files, and are something else by content: path → words."""
    other = {fault.path for fault in run.faults if fault.kind is FaultKind.NO_EVENT_FILE}
    sniffed = {file.path: _content(file) for file in files if file.path in other}
    return {path: what for path, what in sniffed.items() if what}


def _content(file: StoredFile) -> str:
    """What a file is, judging by its first bytes; "" if they do not tell."""
    try:
        with file.open() as opened:
            head = opened.read_range(0, _HEAD_BYTES)
    except OSError:  # it has gone since it was read
        return ""
    if content := next((what for start, what in _OTHER_FILES if head.lstrip().startswith(start)), ""):
        return content
    return "a text file" if head.isascii() and head.decode().replace("\n", " ").isprintable() else ""


def reason_of(error: BaseException) -> str:
    """Why something could not be audited, in words."""
    if isinstance(error, OSError):
        return readable.reason_of(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"{type(error).__name__} at {where}: {error} - this is a bug in gradledger, not in the run"
