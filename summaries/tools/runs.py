"""Places: the runs below several directories, by name; which of them are meant; each read when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Self

from summaries.patterns import matcher, several
from summaries.reading.run import Run, read_files
from summaries.storage.credentials import without_credentials
from summaries.storage.logdir import run_directories
from summaries.storage.names import join
from summaries.storage.protocols import expecting
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["RunsAt"]


class RunsAt(Mapping[str, Run]):
    """The runs at and below some places, by path; each is read when it is asked for, and not kept.

    Args:
        places: directories and event files; each stands for all runs at and below it.
        patterns: which runs are meant, by their names below the place; None for all.
        tags: which tags are read, as in `read_run`.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        ValueError: a run is in two of the places.
        LookupError: no run is meant.
        FileNotFoundError: a place does not exist, or there is no event file below it.
        OSError: a directory cannot be listed.
    """

    def __init__(
        self,
        places: Iterable[str | os.PathLike[str]],
        patterns: Patterns = None,
        *,
        tags: Patterns = None,
        **access: Unpack[Access],
    ) -> None:
        wanted = matcher(patterns)
        self._tags = several(tags)
        others = []
        self._files: dict[str, list[StoredFile]] = {}
        for given in places:
            place = os.fspath(given)
            for name, files in run_directories(place, lone=".", **access).items():
                path = without_credentials(place) if name == "." else join(without_credentials(place), name)
                if not wanted(name):
                    others.append(name)
                    continue
                if path in self._files:
                    raise ValueError(f"each run must be given once, got {path} twice")
                self._files[path] = files
        if others and not self._files:
            raise LookupError(f"no run has a name that matches; there are {listed(others)}")

    def __getitem__(self, name: str) -> Run:
        """Read a run.

        Raises:
            KeyError: there is no such run.
            OSError: a file cannot be read.
        """
        return read_files(self._files[name], tags=self._tags)

    def __iter__(self) -> Iterator[str]:
        """The paths, place after place."""
        return iter(self._files)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self._files)

    def among(self, names: Iterable[str]) -> Self:
        """Only these runs, in this order."""
        other = object.__new__(type(self))
        other._files = {name: self._files[name] for name in names}
        other._tags = self._tags
        return other

    def expecting(self) -> AbstractContextManager[object]:
        """While this context lasts, the runs will be read in order, so that those in a store may be fetched ahead."""
        return expecting(list(chain.from_iterable(self._files.values())))
