"""Selecting: runs with fewer tags, by patterns of what to drop or what to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.patterns import matcher
from summaries.tools.copying import copied
from summaries.tools.rewriting import Edit
from summaries.words import listed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.storage.files import Access
    from summaries.tools.copying import Rewritten
    from summaries.wire.index import Index, Tags

__all__ = ["Patterns", "Selection", "drop", "keep"]

HPARAMS = "_hparams_/"
"""How the tags of the hparams dashboard begin: they say what a run is, and are not measured."""


class Patterns:
    """Patterns of tags, of which each must match one.

    Args:
        patterns: one pattern or several; None for every tag.
    """

    def __init__(self, patterns: str | Iterable[str] | None) -> None:
        given = [patterns] if isinstance(patterns, str) else patterns
        self._patterns = None if given is None else {pattern: matcher(pattern) for pattern in given}
        self._unmatched = set(self._patterns or ())
        self._seen: dict[str, None] = {}

    def __call__(self, tag: str) -> bool:
        """Whether a tag matches one of the patterns."""
        if self._patterns is None:
            return True
        self._seen[tag] = None
        matching = [pattern for pattern, matches in self._patterns.items() if matches(tag)]
        self._unmatched.difference_update(matching)
        return bool(matching)

    def named(self, tag: str) -> bool:
        """Whether a pattern that begins like a tag of the hparams dashboard matches."""
        own = {pattern: matches for pattern, matches in (self._patterns or {}).items() if pattern.startswith(HPARAMS)}
        return any(matches(tag) for matches in own.values())

    def check(self) -> None:
        """Raise a LookupError if a pattern matched no tag that was asked for."""
        for pattern in self._patterns or ():
            if pattern in self._unmatched:
                there = f"there are {listed(list(self._seen))}" if self._seen else "there is none"
                raise LookupError(f"no tag matches {pattern!r}; {there}")


class Selection(Edit):
    """Keeps the values of some tags.

    Args:
        wanted: whether a tag is kept.
    """

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        self._wanted = wanted
        self._stays = np.zeros(0, bool)  # by tag

    def keeps(self, index: Index, tags: Tags) -> NDArray[np.bool_]:
        """Which values stay."""
        new = [self._wanted(name) for name in tags.names[len(self._stays) :]]
        if new:
            self._stays = np.concatenate((self._stays, np.array(new, bool)))
        stays: NDArray[np.bool_] = self._stays[index.values["tag"]]
        return stays


def drop(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tags: str | Iterable[str],
    runs: str | Iterable[str] | None = None,
    on_run: Callable[[str], object] = lambda _name: None,
    **access: Unpack[Access],
) -> Rewritten:
    """Write runs without some of their tags.

    Everything else stays, byte for byte: other tags of any kind, graphs, session logs. The tags of the hparams
    dashboard stay too, unless a pattern begins with `_hparams_/`.

    Args:
        path: a run's directory, a directory of runs, or an event file; a local path or an address.
        output: the new directory, which gets the same tree.
        tags: patterns of the tags to drop, as a shell knows them.
        runs: patterns of the names of the runs to write; None for all.
        on_run: called with the name of each run when it is written.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        LookupError: a pattern matches no tag, or no run.
        ValueError: nothing remains.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be read or written.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> place = tempfile.mkdtemp()
    >>> with SummaryWriter(os.path.join(place, "run")) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    ...     writer.add_scalar("grad/norm", 2.0, 0)
    >>> drop(os.path.join(place, "run"), os.path.join(place, "small"), tags="grad/*").dropped
    1
    >>> read_run(os.path.join(place, "small")).tags
    ('loss',)
    """
    unwanted = Patterns(tags)

    def wanted(tag: str) -> bool:
        matches = unwanted(tag)
        return not (unwanted.named(tag) if tag.startswith(HPARAMS) else matches)

    return copied(
        path,
        output,
        lambda _files, _source: Selection(wanted),
        runs=runs,
        check=unwanted.check,
        on_run=on_run,
        **access,
    )


def keep(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tags: str | Iterable[str] | None = None,
    runs: str | Iterable[str] | None = None,
    on_run: Callable[[str], object] = lambda _name: None,
    **access: Unpack[Access],
) -> Rewritten:
    """Write runs with only some of their tags.

    Graphs, session logs and other events without tags stay, and so do the tags of the hparams dashboard.

    Args:
        path: as in `drop`.
        output: as in `drop`.
        tags: patterns of the tags to keep, as a shell knows them; None for all.
        runs: as in `drop`.
        on_run: as in `drop`.
        **access: as in `drop`.

    Raises:
        LookupError: a pattern matches no tag, or no run.
        ValueError: nothing remains.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be read or written.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> place = tempfile.mkdtemp()
    >>> with SummaryWriter(os.path.join(place, "run")) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    ...     writer.add_scalar("grad/norm", 2.0, 0)
    >>> _ = keep(os.path.join(place, "run"), os.path.join(place, "small"), tags=["loss*", "accuracy"])
    Traceback (most recent call last):
        ...
    LookupError: no tag matches 'accuracy'; there are loss and grad/norm
    """
    chosen = Patterns(tags)

    def wanted(tag: str) -> bool:
        return chosen(tag) or tag.startswith(HPARAMS)

    return copied(
        path, output, lambda _files, _source: Selection(wanted), runs=runs, check=chosen.check, on_run=on_run, **access
    )
