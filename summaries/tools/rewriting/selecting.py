"""Selecting: runs with fewer tags, by patterns of what to drop or what to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.patterns import demand_match, matcher, several
from summaries.tools.rewriting.copying import copied
from summaries.tools.rewriting.rewriter import Edit

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.tools.rewriting.copying import CopyOptions, Rewritten
    from summaries.wire.index import Index, Tags

__all__ = ["ByNumber", "Patterns", "Selection", "drop", "keep"]

HPARAMS = "_hparams_/"
"""How the tags of the hparams dashboard begin: they say what a run is, and are not measured."""


class Patterns:
    """Patterns of tags, of which each must match one.

    Args:
        patterns: one pattern or several; None for every tag.
    """

    def __init__(self, patterns: str | Iterable[str] | None) -> None:
        self._patterns = several(patterns)
        self._matches = matcher(self._patterns)
        self._seen: dict[str, None] = {}

    def __call__(self, tag: str) -> bool:
        """Whether a tag matches one of the patterns."""
        self._seen[tag] = None
        return self._matches(tag)

    def check(self) -> None:
        """Raise a LookupError if a pattern matches no tag that was asked for."""
        demand_match("tag", self._patterns, self._seen)


class ByNumber:
    """A choice of tags by their numbers; each name is asked for once.

    Args:
        chosen: whether a tag is chosen, by its name.
    """

    def __init__(self, chosen: Callable[[str], bool]) -> None:
        self._chosen = chosen
        self._known = np.zeros(0, bool)

    def __call__(self, tags: Tags) -> NDArray[np.bool_]:
        """Whether each of the tags is chosen, which may be more than the last time."""
        new = [self._chosen(name) for name in tags.names[len(self._known) :]]
        if new:
            self._known = np.concatenate((self._known, np.array(new, bool)))
        return self._known


class Selection(Edit):
    """Keeps the values of some tags.

    Args:
        wanted: whether a tag is kept.
    """

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        self._wanted = ByNumber(wanted)

    def keeps(self, index: Index, tags: Tags) -> NDArray[np.bool_]:
        """Which values stay."""
        stays: NDArray[np.bool_] = self._wanted(tags)[index.values["tag"]]
        return stays


def drop(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tags: str | Iterable[str],
    **options: Unpack[CopyOptions],
) -> Rewritten:
    """Write runs without some of their tags.

    Everything else stays, byte for byte: other tags of any kind, graphs, session logs. The tags of the hparams
    dashboard stay too, unless a pattern begins with `_hparams_/`.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        path: a run's directory, a directory of runs, or an event file; a local path or an address.
        output: the new directory, which gets the same tree.
        tags: patterns of the tags to drop, as a shell knows them.
        **options: `runs`, patterns of the names of the runs to write (default: all); `on_run`, called with the name of
            each run when it is written; `on_error`, called with the error of each file and each directory that cannot
            be read, while the others are written all the same (default: the error is raised); `storage_options` and
            `cache` for addresses, as in `read_run`.

    Raises:
        LookupError: a pattern matches no tag, or no run.
        ValueError: nothing remains.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.

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
    patterns = several(tags) or ()
    unwanted = Patterns(patterns)
    is_named = matcher([pattern for pattern in patterns if pattern.startswith(HPARAMS)])

    def wanted(tag: str) -> bool:
        matches = unwanted(tag)
        return not (is_named(tag) if tag.startswith(HPARAMS) else matches)

    return copied(path, output, lambda _files, _source: Selection(wanted), check=unwanted.check, **options)


def keep(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tags: str | Iterable[str] | None = None,
    **options: Unpack[CopyOptions],
) -> Rewritten:
    """Write runs with only some of their tags.

    Graphs, session logs and other events without tags stay, and so do the tags of the hparams dashboard.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        path: as in `drop`.
        output: as in `drop`.
        tags: patterns of the tags to keep, as a shell knows them; None for all.
        **options: as in `drop`.

    Raises:
        LookupError: a pattern matches no tag, or no run.
        ValueError: nothing remains.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.

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

    return copied(path, output, lambda _files, _source: Selection(wanted), check=chosen.check, **options)
