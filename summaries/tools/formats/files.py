"""Files of a format, where a path is one of them or a directory of many; and the run that each is named for."""

from __future__ import annotations

import os
from collections import Counter
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from summaries.storage.plain import files_below, is_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from summaries.tools.formats.points import LeftOut

__all__ = ["matches", "run_files", "whole"]


def run_files(
    path: str, pattern: str, left_out: LeftOut, fits: Callable[[str], bool] = lambda _file: True
) -> list[tuple[str, str]]:
    """(run, file) of a file itself, or of all files of a directory whose names match, sorted.

    A run is named as its folder is, relative to the directory; where a folder has several files, as its file, too.

    Args:
        path: the file or directory.
        pattern: what the names of files are like.
        left_out: counts files of a directory that have such a name, and are of another format; keeps broken ones.
        fits: whether a file is of the format; raises ValueError or OSError if it is broken.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there are, and all of them are broken.
    """
    if not is_directory(path):
        return [(".", path)]
    named = [file for file in _below(path) if matches(file, pattern)]
    files = whole(named, left_out, fits)
    if not files:
        raise FileNotFoundError(f"no file {pattern} of this format below {path}")
    left_out[f"files {pattern} of another format"] += len(named) - len(files) - len(left_out.broken)
    many = Counter(map(os.path.dirname, files))
    return [(_run(path, file, alone=many[os.path.dirname(file)] == 1), file) for file in files]


def whole(files: Sequence[str], left_out: LeftOut, fits: Callable[[str], bool]) -> list[str]:
    """The files that fit.

    Args:
        files: the files.
        left_out: keeps those that are broken.
        fits: whether a file is one of these; raises ValueError or OSError if it is broken.

    Raises:
        ValueError: none fits, and one is broken.
    """
    found = []
    for file in files:
        try:
            if fits(file):
                found.append(file)
        except (OSError, ValueError) as error:
            left_out.broken[file] = str(error)
    if left_out.broken and not found:
        raise ValueError(next(iter(left_out.broken.values())))
    return found


def matches(file: str, pattern: str) -> bool:
    """Whether the name of a file matches a pattern, in any case of its letters."""
    return fnmatch(os.path.basename(file).lower(), pattern)


def _below(path: str) -> Iterator[str]:
    return (os.path.join(folder, name) for folder, _, names in files_below(path) for name in names)


def _run(directory: str, file: str, *, alone: bool) -> str:
    place = os.path.dirname(file) if alone else os.path.splitext(file)[0]
    return os.path.relpath(place, directory).replace(os.sep, "/")
