"""A directory → its event files, in reading order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from summaries.files import is_event_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["event_files"]


def event_files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Every event file that the paths name: a file is itself, a directory all event files below it, sorted.

    Raises:
        FileNotFoundError: there is no such path, or no event file below a directory.
    """
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise FileNotFoundError(f"no such file or directory: {path}")
            yield os.fspath(path)
            continue
        found = False
        for directory, subdirectories, names in os.walk(path, onerror=_raise):
            subdirectories.sort()
            for name in sorted(filter(is_event_file, names)):
                found = True
                yield os.path.join(directory, name)
        if not found:
            raise FileNotFoundError(f"no event file (a name with 'tfevents' in it) below {path}")


def _raise(error: OSError) -> None:
    """What cannot be read is not passed over."""
    raise error
