"""The viewer's page as one HTML file, with runs of a library in it.

The scripts are those that a server gives; what they would ask it, `page/saved.js` answers from the file:

    saved      JSON: the rows of the runs, the tags, how many points and values of media there are, and are here
    table      JSON, packed: hyperparameters, and the last, smallest and largest values of the tags
    run-K      of the run K: its findings, as the audit's page has them
    points-K   its curves, and which of them are statistics of which variable
    media-K    its images, texts, sounds, histograms and PR curves
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.engine import curves
from summaries.auditing.report.document import document
from summaries.auditing.report.html import rule_templates
from summaries.auditing.report.modules import asset
from summaries.auditing.report.packed import Arrays, as_text, body, to_json
from summaries.auditing.report.payload import bodies
from summaries.auditing.reports import Report
from summaries.auditing.rules.handbook import page
from summaries.integrations.tensorboard import layers, table
from summaries.integrations.tensorboard.answers import ANSWERS
from summaries.integrations.tensorboard.assets import PAGE, STYLES
from summaries.integrations.tensorboard.media import Content
from summaries.integrations.tensorboard.media_in_a_file import gathered
from summaries.presenting.thinning import thin

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.auditing.findings import RunReport
    from summaries.integrations.tensorboard.books import Book, Columns
    from summaries.integrations.tensorboard.library import Library
    from summaries.reading.series import Series

__all__ = ["MOST_MEDIA_BYTES", "MOST_POINTS", "answer", "even_share", "rendered", "tags_of"]

MOST_POINTS = 2_000_000
"""In a page; about 15 MB."""

MOST_MEDIA_BYTES = 10_000_000
"""Of images, sounds, texts, histograms and PR curves; a third more in the file."""

_STRETCHES = 400  # of the curves beside findings; the charts of tags have every point
_ENDS = ("last", "smallest", "largest")


def answer(library: Library, query: Mapping[str, str]) -> Content:
    """The file for the runs and the tags that a page asks for, each a JSON list of names; without them, all.

    It opens where the page is, `at`.

    Raises:
        ValueError: a list is none.
        LookupError: there is no such run.
        TimeoutError: a run is still being read.
    """
    runs, tags = _names(query, "runs"), _names(query, "tags")
    text = rendered(library, runs, tags, start=query.get("at", ""))
    return Content("text/html; charset=utf-8", text.encode())


def _names(query: Mapping[str, str], name: str) -> list[str] | None:
    try:
        names = json.loads(query.get(name, "null"))
    except ValueError:
        names = 0
    if names is None or (isinstance(names, list) and all(isinstance(one, str) for one in names)):
        return names
    raise ValueError(f"{name} must be a JSON list of names, got {query[name]!r}")


def tags_of(books: Iterable[Book]) -> Counter[str]:
    """The tags of scalars, and in how many runs each is."""
    return Counter(chain.from_iterable(book.tags for book in books))


def rendered(
    library: Library,
    runs: Collection[str] | None,
    tags: Collection[str] | None,
    *,
    most_points: int = MOST_POINTS,
    most_media_bytes: int = MOST_MEDIA_BYTES,
    start: str = "",
) -> str:
    """The text of the page.

    Args:
        library: where the runs are.
        runs: the names of those that are in the page; None for all.
        tags: the tags of scalars and of media that are in the page; None for all.
        most_points: how many points are in the page, about.
        most_media_bytes: how many bytes of media are in the page.
        start: the hash of the address with which the page opens.
    """
    readable = {name for name in (library.names() if runs is None else runs) if not _is_unreadable(library, name)}
    told = ANSWERS["runs"](library, {})
    assert isinstance(told, dict)
    places = {name: at for at, name in enumerate(told["order"] or ()) if runs is None or name in runs}
    rows = {row["name"]: row for row in told["runs"]}
    told |= {"order": list(places), "runs": [rows[name] for name in places], "reading": False}
    books = {book.name: book for book in library.since(-1)[0] if book.name in places}
    found = {tag: count for tag, count in tags_of(books.values()).items() if tags is None or tag in tags}
    counts = [len(one) for name in places if name in readable for one in _chosen(library.columns(name), found)]
    share = even_share(counts, most_points)
    blocks: dict[str, str] = {"table": as_text(to_json(_table(library, list(books.values()), list(found))).encode())}
    media = gathered(library, [name for name in places if name in readable], tags, most_media_bytes)
    reports, kept, superseded = {}, 0, 0
    for at, name in enumerate(places):
        if name not in readable:
            continue
        columns, report = library.columns(name), books[name].told()
        assert report is not None
        drawn = [one for one in curves(columns.signals, _STRETCHES) if one.tag in found]
        reports[at] = replace(report, curves=tuple(drawn))
        packed, count = _packed(columns, found, share)
        blocks[f"points-{at}"] = as_text(packed)
        kept += count
        signals = (one for one in columns.signals.all.values() if one.tag in found)
        superseded += sum(len(one.series) - len(one.standing) for one in signals)
        if name in media.bodies:
            blocks[f"media-{at}"] = as_text(media.bodies[name])
    packed_runs = bodies(Report(tuple(reports.values())))
    blocks |= {f"run-{at}": as_text(one) for at, one in zip(reports, packed_runs, strict=True)}
    saved = {
        "runs": told,
        "places": list(places.values()),
        "tags": list(found.items()),
        "points": sum(counts),
        "kept": kept,
        "superseded": superseded,
        "shelf": media.shelf,
        "media": [media.kept, media.all],
        "start": start,
    }
    return document(
        "view",
        f"{PAGE}saved.js",
        STYLES,
        licence=asset("uplot/LICENSE"),
        rules="\n".join(rule_templates({code: page(code) for code in _codes(reports.values())})),
        saved=to_json(saved),
        runs="\n".join(f'<script type="text/plain" id="{block}">{text}</script>' for block, text in blocks.items()),
    )


def _is_unreadable(library: Library, name: str) -> bool:
    try:
        return library.book(name).columns is None
    except OSError:
        return True


def _codes(runs: Iterable[RunReport]) -> list[str]:
    return sorted({finding.code for run in runs for finding in run.findings})


def _table(library: Library, books: Sequence[Book], tags: Sequence[str]) -> dict[str, Any]:
    """The parameters, and the cells of each run: of the parameters, and three of each tag, null if it has none."""
    parameters = table.parameters(books)
    stated = [table.Column("parameter", one["name"]) for one in parameters]
    cells = {}
    for book in books:
        ends = [[table.Column(end, tag) for end in _ENDS] if tag in book.ends else None for tag in tags]
        values = [columns and table.row(library, book, columns) for columns in ends]
        cells[book.name] = [table.row(library, book, stated), values]
    return {"parameters": parameters, "main": table.main_tags(books), "cells": list(cells.items())}


def _chosen(columns: Columns, tags: Collection[str]) -> list[Series]:
    return [signal.standing for signal in columns.signals.all.values() if signal.tag in tags]


def even_share(counts: Iterable[int], most: int) -> int:
    """How many points each curve may have, so that all have at most so many: what short ones leave, long ones have.

    >>> even_share([10, 10, 10], 100), even_share([10, 500, 700], 210)
    (10, 100)
    """
    lengths, left = sorted(counts), most
    for number, length in enumerate(lengths):
        even = left // (len(lengths) - number)
        if length > even:
            return even
        left -= length
    return max(lengths, default=0)


def _packed(columns: Columns, tags: Collection[str], share: int) -> tuple[bytes, int]:
    """The curves of a run, of at most so many points each; and how many points they have."""
    arrays, made, kept = Arrays(), [], 0
    for series in _chosen(columns, tags):
        at = thin(series.value, max(share // 2 - 1, 1)) if len(series) > share else np.arange(len(series))
        kept += len(at)
        made.append(
            {
                "tag": series.tag,
                "points": len(series),
                "step": arrays.add_rising(series.step[at]),
                "milliseconds": arrays.add_rising(_milliseconds(series.wall_time[at] - columns.start)),
                "value": arrays.add_floats(series.value[at]),
            }
        )
    return body({"curves": made, "kinds": _kinds(columns, tags)}, arrays), kept


def _kinds(columns: Columns, tags: Collection[str]) -> list[dict[str, Any]]:
    """The statistics of variables: each with its key, its title, and the tag and the variable of its rows."""
    found = []
    for kind in layers.kinds(columns.signals):
        rows = [{"tag": one.tag, "variable": one.meaning.variable} for one in kind.rows if one.tag in tags]
        if rows:
            found.append({"key": kind.key, "title": kind.title, "log": kind.log, "rows": rows})
    return found


def _milliseconds(seconds: NDArray[np.float64]) -> NDArray[Any]:
    """Whole milliseconds, as far as there are any."""
    rounded = np.round(seconds * 1000.0)
    return rounded.astype(np.int64) if np.all(np.abs(rounded) < 1 << 53) else rounded
