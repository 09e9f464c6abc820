"""The page of the viewer as one HTML file, with the runs in it: for a mail, a report or a bucket."""

from __future__ import annotations

from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

from summaries.auditing.config import as_config
from summaries.integrations.tensorboard.in_a_file import MOST_MEDIA_BYTES, MOST_POINTS, rendered, tags_of
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import existing_places
from summaries.patterns import demand_match, matcher
from summaries.storage.names import by_number

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from summaries.auditing.config import Config
    from summaries.patterns import Patterns

__all__ = ["MOST_MEDIA_BYTES", "MOST_POINTS", "saved_page"]


def saved_page(
    places: Sequence[str],
    *,
    runs: Patterns = None,
    tags: Patterns = None,
    config: Config | str | os.PathLike[str] | None = None,
    most_points: int = MOST_POINTS,
    most_media_bytes: int = MOST_MEDIA_BYTES,
) -> str:
    """Read and audit the runs below some places, and render the page.

    Args:
        places: directories of runs, or event files: local paths, or addresses that fsspec knows.
        runs: patterns of the names of runs that are in the page; None for all.
        tags: patterns of the tags that are in the page, of scalars and of media; None for all.
        config: what the audit looks for, as in `audit`.
        most_points: how many points are in the page, about: of longer curves, the least and the largest value of each
            stretch; at least two points of each curve.
        most_media_bytes: how many bytes of images, sounds, texts, histograms and PR curves are in the page: the last
            value of each tag first, then values between.

    Returns:
        The text of the file, to be written as UTF-8.

    Raises:
        FileNotFoundError: a place does not exist.
        LookupError: there are no event files, or a pattern matches nothing.
        ConfigError: the configuration is invalid.
    """
    with closing(Library(existing_places(places), as_config(config), 1 << 30)) as library:
        library.settled()
        names = sorted(library.names(), key=by_number)
        if not names:
            raise LookupError(f"there are no event files below {' or '.join(map(repr, places))}")
        demand_match("run", runs, names)
        is_chosen, is_wanted = matcher(runs), matcher(tags)
        books = [book for book in library.since(-1)[0] if is_chosen(book.name)]
        known = [*tags_of(books), *chain.from_iterable(chain.from_iterable(book.media.values()) for book in books)]
        demand_match("tag", tags, known)
        chosen = None if runs is None else {book.name for book in books}
        wanted = None if tags is None else set(filter(is_wanted, known))
        return rendered(library, chosen, wanted, most_points=most_points, most_media_bytes=most_media_bytes)
