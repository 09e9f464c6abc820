"""Runs and event files near a path that is being typed: a look at a bounded number of directory entries and bytes."""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from summaries.storage.local import LOCAL
from summaries.storage.names import is_event_file

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_ENTRIES", "head_of", "nearby"]

MOST_ENTRIES = 20_000
"""So many entries of directories are looked at."""


def nearby(beginning: str, *, files: bool = False) -> Iterator[str]:
    """Yield the runs whose paths begin with some characters, a level of directories at a time.

    Hidden directories are left out, unless the beginning names them. What cannot be listed is skipped.

    Args:
        beginning: the beginning of a path, such as "runs/a"; it may begin with "~".
        files: whether to yield event files instead of the directories that have them. Those in the directory of the
            beginning itself are always yielded.

    Yields:
        Paths that begin with `beginning`.
    """
    head, first = os.path.split(beginning)
    top = os.path.expanduser(head) or "."
    left = deque([(top, head)])
    room = MOST_ENTRIES
    while left and room > 0:
        directory, shown = left.popleft()
        at_top, has_files = directory is top, False
        entries = _entries(directory, room)
        room -= len(entries)
        for entry in entries:
            if at_top and not entry.name.startswith(first):
                continue
            if entry.name.startswith(".") and not (at_top and first):
                continue
            path = os.path.join(shown, entry.name)
            if _is_directory(entry):
                left.append((entry.path, path))
            elif is_event_file(entry.name):
                has_files = True
                if files or at_top:
                    yield path
        if has_files and not files and not at_top:
            yield shown


def head_of(path: str, size: int) -> bytes:
    """The first `size` bytes of a file; b"" if it cannot be read."""
    try:
        with LOCAL.open(path) as file:
            return file.read_range(0, size)
    except OSError:
        return b""


def _entries(directory: str, most: int) -> list[os.DirEntry[str]]:
    """At most so many entries of a directory, sorted; none if it cannot be listed."""
    with suppress(OSError), os.scandir(directory) as entries:
        return sorted(islice(entries, most), key=lambda entry: entry.name)
    return []


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
