"""The page of the viewer as one HTML file, with the runs in it: for a mail, a report or a bucket.

The scripts are those that a server gives; what they would ask it, `page/saved.js` answers from the file: the rows of
the runs, their findings, and every point of their curves, up to a number of points.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.config import as_config
from summaries.auditing.engine import curves
from summaries.auditing.report.document import document
from summaries.auditing.report.html import rule_templates
from summaries.auditing.report.modules import asset
from summaries.auditing.report.packed import Arrays, as_text, body, to_json
from summaries.auditing.report.payload import bodies
from summaries.auditing.reports import Report
from summaries.auditing.rules.handbook import page
from summaries.integrations.tensorboard.answers import ANSWERS
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import existing_places
from summaries.patterns import demand_match, matcher
from summaries.presenting.thinning import thin

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from summaries.auditing.config import Config
    from summaries.auditing.findings import RunReport
    from summaries.integrations.tensorboard.books import Columns
    from summaries.patterns import Patterns
    from summaries.reading.series import Series

__all__ = ["MOST_POINTS", "saved_page"]

MOST_POINTS = 2_000_000
"""In a page; about 15 MB."""

_PAGE = "../../../integrations/tensorboard/page/"  # from the audit's page
_STYLES = ("uplot/uPlot.min.css", "page.css", _PAGE + "plugin.css", _PAGE + "table.css")
_STRETCHES = 400  # of the curves beside findings; the charts of tags have every point


def saved_page(
    places: Sequence[str],
    *,
    runs: Patterns = None,
    tags: Patterns = None,
    config: Config | str | os.PathLike[str] | None = None,
    most_points: int = MOST_POINTS,
) -> str:
    """Read and audit the runs below some places, and render the page.

    Args:
        places: directories of runs, or event files: local paths, or addresses that fsspec knows.
        runs: patterns of the names of runs that are in the page; None for all.
        tags: patterns of the tags of scalars that are in the page; None for all.
        config: what the audit looks for, as in `audit`.
        most_points: how many points are in the page, about: of longer curves, the least and the largest value of each
            stretch; at least two points of each curve.

    Returns:
        The text of the file, to be written as UTF-8.

    Raises:
        FileNotFoundError: a place does not exist.
        LookupError: there are no event files, or a pattern matches nothing.
        ConfigError: the configuration is invalid.
    """
    library = Library(existing_places(places), as_config(config), 1 << 30)
    library.finish()
    told = ANSWERS["runs"](library, {})
    assert isinstance(told, dict)
    if not told["order"]:
        raise LookupError(f"there are no event files below {' or '.join(map(repr, places))}")
    chosen, wanted = matcher(runs), matcher(tags)
    demand_match("run", runs, told["order"] or ())
    places_of = {name: at for at, name in enumerate(told["order"])}
    told["order"] = [name for name in told["order"] if chosen(name)]
    rows = {row["name"]: row for row in told["runs"]}
    told["runs"] = [rows[name] for name in told["order"]]
    books = [book for book in library.since(-1)[0] if book.name in told["order"]]
    found = Counter(tag for book in books for tag in book.tags)
    demand_match("tag", tags, found)
    saved = {
        "runs": told,
        "places": [places_of[name] for name in told["order"]],
        "tags": [[tag, count] for tag, count in found.items() if wanted(tag)],
    }
    return _rendered(library, saved, most_points)


def _rendered(library: Library, saved: dict[str, Any], most_points: int) -> str:
    """The page of these runs and tags."""
    names, tags = saved["runs"]["order"], {tag for tag, _ in saved["tags"]}
    readable = [name for name in names if not _is_unreadable(library, name)]
    counts = [len(one) for name in readable for one in _chosen(library.book(name).columns, tags)]
    share = even_share(counts, most_points)
    parts, reports, kept = {}, {}, 0
    for name in readable:
        book = library.book(name)
        assert book.columns is not None
        drawn = [one for one in curves(book.columns.signals, _STRETCHES) if one.tag in tags]
        report = book.told()
        assert report is not None
        reports[name] = replace(report, curves=tuple(drawn))
        parts[name], count = _packed(_chosen(book.columns, tags), book.columns.start, share)
        kept += count
    blocks = dict(zip(readable, bodies(Report(tuple(reports.values()))), strict=True))
    saved |= {"points": sum(counts), "kept": kept}
    return document(
        "view",
        _PAGE + "saved.js",
        _STYLES,
        licence=asset("uplot/LICENSE"),
        rules="\n".join(rule_templates({code: page(code) for code in _codes(reports.values())})),
        saved=to_json(saved),
        runs="\n".join(
            f'<script type="text/plain" id="{kind}-{at}">{as_text(packed[name])}</script>'
            for at, name in enumerate(names)
            if name in parts
            for kind, packed in (("run", blocks), ("points", parts))
        ),
    )


def _is_unreadable(library: Library, name: str) -> bool:
    try:
        return library.book(name).columns is None
    except OSError:
        return True


def _codes(runs: Iterable[RunReport]) -> list[str]:
    return sorted({finding.code for run in runs for finding in run.findings})


def _chosen(columns: Columns | None, tags: set[str]) -> list[Series]:
    signals = columns.signals.all.values() if columns is not None else ()
    return [signal.standing for signal in signals if signal.tag in tags]


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


def _packed(chosen: Sequence[Series], start: float, share: int) -> tuple[bytes, int]:
    """The curves of a run, of at most so many points each; and how many points they have."""
    arrays, made, kept = Arrays(), [], 0
    for series in chosen:
        at = thin(series.value, max(share // 2 - 1, 1)) if len(series) > share else np.arange(len(series))
        kept += len(at)
        made.append(
            {
                "tag": series.tag,
                "points": len(series),
                "step": arrays.add_rising(series.step[at]),
                "milliseconds": arrays.add_rising(_milliseconds(series.wall_time[at] - start)),
                "value": arrays.add_floats(series.value[at]),
            }
        )
    return body({"curves": made}, arrays), kept


def _milliseconds(seconds: NDArray[np.float64]) -> NDArray[Any]:
    """Whole milliseconds, as far as there are any."""
    rounded = np.round(seconds * 1000.0)
    return rounded.astype(np.int64) if np.all(np.abs(rounded) < 1 << 53) else rounded
