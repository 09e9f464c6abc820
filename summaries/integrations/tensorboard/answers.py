"""What each address of the page's data answers.

Every address is below `data/plugin/gradledger/data/`, and takes its arguments from the query. A JSON answer is an
object. A binary answer is a body as `summaries.auditing.report.packed` describes it: a header in JSON, and arrays that
the header refers to as [type, offset, count]. Numbers that JSON cannot hold are "NaN", "Infinity" and "-Infinity".

    runs?since=V&wait=S
        JSON, once the version is not V, or after S seconds: `version`; `reading`, whether anything is left to read;
        `failures`; `memory`, in bytes, [used, most];
        `runs`, those that changed since version V, or all: each `name`; `reading`; `grown`, the version in which its
        points changed last; of what `payload.row` says, `steps` and `seconds` once its points are there, and all once
        it is audited; then also `matrices`, whether it logged any; `gone`, the names of those that went; `tagged`,
        which is another number once `tags` or `shelf` have another answer; `order`, the names of all, or null if none
        came or went.
    run?run=R
        binary: what the audit's page has of a run: findings, panels, and curves that are thinned for drawing.
    layers?run=R&kind=K&from=S&to=S&width=W
        binary: `kinds` (key, title, log, rows: how many); `kind`, the one that is shown, or null; `findings` that have
        steps; `rows` (tag, variable); `steps`, the first and the last; `from`, `to`, `width`; `cells`, row after row,
        infinite where a value is not finite, and NaN where there is none.
    curve?run=R&tag=T&from=S&to=S&stretches=N
        binary: `tag`; `points`, how many there are; `step`, `value`: thinned to that many stretches.
    tags?
        JSON: `tags`, of all runs that were read: [tag, the number of runs that have it], in order of first appearance.
    curves?tag=T&runs=RR&x=X&from=A&to=B&stretches=N&smooth=W
        binary: `curves` of one tag, of those runs RR (a JSON list) that have it: each `run`; `points`, how many there
        are; `step`, `seconds` since the run began, `value`: thinned to that many stretches between A and B, or all of
        them for 0; A and B are steps, or seconds if X is "time"; `smooth`, the moving average of all points, there, or
        null without W.
    bands?tag=T&groups=GG&from=A&to=B&stretches=N&smooth=W
        binary: `bands` of one tag, for each of the groups GG (a JSON object: name → list of runs) in which some run has
        it: `group`; `runs`, how many have it; `points`, how many steps there are; `step`; `mean`, `low` and `high`
        over the runs, with straight lines between a run's points, as `reduce` has them: thinned as curves are.
    table?columns=CC&since=V
        JSON: `version`; `parameters`, as `table.parameters` returns them; `rows`, of the runs that changed since
        version V, or of all: [run, cells], for each of the columns CC (a JSON list, see `table.columns_of`) or null.
    shelf?
        JSON: `kinds`, those that runs have: each `kind`, `noun`, and `tags`: [tag, the number of runs that have it];
        `command`, which shows the rest in TensorBoard.
    steps?kind=K&tag=T&runs=RR&most=N
        JSON: `runs`, the first N of RR that have values of this kind and tag: each `run`, and `steps` of those that
        stand.
    value?kind=K&run=R&tag=T&index=N
        JSON: `step`, and what `media.told` says of the value.
    media?kind=K&run=R&tag=T&index=N&item=I
        the bytes of an image or of a sound, with its type.
    histograms?run=R&tag=T&stretches=N
        binary: `tag`, `points`, and what `media.stacked` returns: `steps`, `low`, `high`, `bins`; `cells`, bin after
        bin from the lowest, the share of each histogram that lies in it.
    norms?run=R&tag=T
        JSON: what `norms` returns.
    matrices?run=R
        JSON: `tags`, as `matrix_tags` returns them.
    matrix?run=R&tag=T&index=N
        binary: `step`; `shape` of the whole matrix; `size` of the one that is given; `range`, the least and the largest
        value at some steps, for colors that stay the same; `values`, row after row.
    rule?code=C
        JSON: `html`, our own page of a rule.
    page?runs=RR&tags=TT&at=H
        HTML: the page as one file with the runs RR and the tags TT in it (JSON lists; all without them), which opens at
        the hash H: `in_a_file.answer`.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from summaries.auditing.engine import curves
from summaries.auditing.report.html import rule_markup
from summaries.auditing.report.packed import Arrays, body, plain
from summaries.auditing.report.payload import bodies, finding_data
from summaries.auditing.reports import Report
from summaries.auditing.rules.handbook import page
from summaries.integrations.tensorboard import layers, media, table
from summaries.integrations.tensorboard.matrices import level_range, matrix_at, matrix_tags, shown
from summaries.integrations.tensorboard.norms import norms
from summaries.presenting.plots import smoothed
from summaries.presenting.thinning import Zoomable
from summaries.storage.names import by_number
from summaries.tools.reducing.alignment import aligned
from summaries.tools.reducing.statistics import over_runs, statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from summaries.integrations.tensorboard.books import Book
    from summaries.integrations.tensorboard.library import Library
    from summaries.reading.series import Items

    Query = Mapping[str, str]
    Answer = Callable[[Library, Query], dict[str, Any] | bytes | media.Content]

__all__ = ["ANSWERS"]

_MOST_CELLS = 4096  # in a row: more than a screen has pixels
_MOST_STRETCHES = 4000
_POINTS = 400_000  # of all curves of a run, of which `payload` takes what it needs
_FEWEST_STRETCHES = 60
_MOST_WAIT_SECS = 30.0


def _runs(library: Library, query: Query) -> dict[str, Any]:
    library.start()
    since = _integer(query, "since", -1)
    library.changed(since, min(max(_number(query, "wait", 0.0), 0.0), _MOST_WAIT_SECS))
    version = library.version
    changed, gone = library.since(since)
    return {
        "version": version,
        "reading": library.is_reading,
        "failures": [": ".join(filter(None, (one.path, one.reason))) for one in library.failures],
        "memory": [library.bytes, library.most_bytes],
        "runs": [_row(book) for book in changed],
        "gone": gone,
        "tagged": library.tagged,
        "order": sorted(library.names(), key=by_number) if changed or gone else None,
    }


def _row(book: Book) -> dict[str, Any]:
    row = book.row()
    if row is None:
        steps, seconds = book.extent or (None, None)
        found = {"steps": steps, "seconds": plain(seconds) if steps else None}
        return {"name": book.name, "reading": True, "grown": book.grown, **found}
    return {**row, "name": book.name, "reading": False, "grown": book.grown, "matrices": book.has_matrices}


def _run(library: Library, query: Query) -> bytes:
    book = library.book(_text(query, "run"))
    columns, report = book.held, book.told()
    assert report is not None
    stretches = max(_POINTS // (2 * max(len(columns.signals.all), 1)), _FEWEST_STRETCHES)
    drawn = replace(report, curves=curves(columns.signals, min(stretches, 1000)))
    return bodies(Report((drawn,)))[0]


def _layers(library: Library, query: Query) -> bytes:
    book = library.book(_text(query, "run"))
    columns, report = book.held, book.told()
    found = layers.kinds(columns.signals)
    wanted = query.get("kind", found[0].key if found else "")
    kind = next((kind for kind in found if kind.key == wanted), None)
    head: dict[str, Any] = {
        "kinds": [{"key": one.key, "title": one.title, "log": one.log, "rows": len(one.rows)} for one in found],
        "kind": kind and kind.key,
        "findings": [finding_data(one) for one in (report.findings if report else ()) if one.steps],
    }
    arrays = Arrays()
    if kind is not None:
        first, last = layers.extent(kind.rows)
        low, high = _number(query, "from", first), _number(query, "to", last)
        high = high if high > low else low + 1.0
        width = min(max(_integer(query, "width", 1000), 1), _MOST_CELLS)
        matrix = layers.matrix(kind.rows, low, high, width)
        rows = [{"tag": signal.tag, "variable": signal.meaning.variable} for signal in kind.rows]
        head |= {"rows": rows, "steps": [first, last], "from": low, "to": high, "width": width}
        head["cells"] = arrays.add_floats(matrix.ravel())
    return body(head, arrays)


def _curve(library: Library, query: Query) -> bytes:
    columns, tag = library.columns(_text(query, "run")), _text(query, "tag")
    curve = columns.curve(tag)
    if curve is None:
        raise LookupError(f"run {columns.name!r} has no scalars with tag {tag!r}")
    series = curve.standing
    kept = _drawn(series.step, columns.zoomable(curve), query)
    arrays = Arrays()
    step, value = arrays.add(series.step[kept].astype(np.float64)), arrays.add_floats(series.value[kept])
    return body({"tag": tag, "points": len(series), "step": step, "value": value}, arrays)


def _drawn(x: NDArray[Any], value: Zoomable, query: Query) -> NDArray[np.intp]:
    """Which points between `from` and `to` are drawn, with one on both sides, for a line to the edge; x rises.

    All of them for `stretches=0`.
    """
    low, high = _number(query, "from", -math.inf), _number(query, "to", math.inf)
    # NumPy's search would make floats of all integers first.
    start = max(bisect_left(x, low) - 1, 0) if low > -math.inf else 0
    stop = bisect_right(x, high) + 1 if high < math.inf else len(x)
    stretches = _integer(query, "stretches", 1000)
    if stretches == 0:
        return np.arange(start, min(stop, len(x)))
    return value.thin(start, stop, min(max(stretches, 1), _MOST_STRETCHES))


def _tags(library: Library, query: Query) -> dict[str, Any]:
    books, _ = library.since(-1)
    return {"tags": list(Counter(chain.from_iterable(book.tags for book in books)).items())}


def _curves(library: Library, query: Query) -> bytes:
    tag, by_time, weight = _text(query, "tag"), query.get("x") == "time", _weight(query)
    arrays, found = Arrays(), []
    for columns in library.readable(_names(query, "runs")):
        points = columns.curve(tag)
        if points is None:
            continue
        series = points.standing
        x = np.maximum.accumulate(series.wall_time - columns.start) if by_time else series.step
        kept = _drawn(x, columns.zoomable(points), query)
        seconds = series.wall_time[kept] - columns.start
        curve = {"run": columns.name, "points": len(series), "step": arrays.add(series.step[kept].astype(np.float64))}
        curve |= {"seconds": arrays.add(seconds), "value": arrays.add_floats(series.value[kept])}
        average = arrays.add_floats(smoothed(series.value, weight)[kept]) if weight else None
        found.append(curve | {"smooth": average})
    return body({"tag": tag, "curves": found}, arrays)


def _bands(library: Library, query: Query) -> bytes:
    tag, weight, arrays, found = _text(query, "tag"), _weight(query), Arrays(), []
    for name, runs in _groups(query, "groups").items():
        having = [columns.curve(tag) for columns in library.readable(runs)]
        series = [curve.latest for curve in having if curve is not None]
        if not series:
            continue
        together = aligned(series, "interpolate", bridge_nan=True)
        has_value = ~np.isnan(together.value).all(axis=1)
        step, values = together.step[has_value], together.value[has_value]
        present = (~np.isnan(values)).sum(axis=1)  # a run that has ended, or has no number any more, is in no mean
        statistics = over_runs(values, [statistic("mean"), statistic("min"), statistic("max")])
        statistics = [smoothed(one, weight) for one in statistics]
        kept = np.unique(np.concatenate([_drawn(step, Zoomable(one), query) for one in statistics]))
        band = {
            "group": name,
            "runs": len(series),
            "points": len(step),
            "step": arrays.add(step[kept].astype(np.float64)),
            "present": arrays.add(present[kept].astype(np.float64)),
        }
        drawn = zip(("mean", "low", "high"), statistics, strict=True)
        found.append(band | {which: arrays.add_floats(one[kept]) for which, one in drawn})
    return body({"tag": tag, "bands": found}, arrays)


def _table(library: Library, query: Query) -> dict[str, Any]:
    columns, version = table.columns_of(_json(query, "columns")), library.version
    books, _ = library.since(-1)
    since = _integer(query, "since", -1)
    rows = [[book.name, table.row(library, book, columns)] for book in books if book.version > since]
    return {"version": version, "parameters": table.parameters(books), "main": table.main_tags(books), "rows": rows}


def _shelf(library: Library, query: Query) -> dict[str, Any]:
    books, _ = library.since(-1)
    return {"kinds": media.shelf(books), "command": f"tensorboard --logdir {' '.join(library.shown_places)}"}


def _steps(library: Library, query: Query) -> dict[str, Any]:
    kind, tag, names = _text(query, "kind"), _text(query, "tag"), set(_names(query, "runs"))
    books, _ = library.since(-1)
    having = [book.name for book in books if book.name in names and tag in book.media.get(kind, ())]
    found = []
    for name in sorted(having, key=by_number)[: max(_integer(query, "most", len(having)), 0)]:
        items = media.items_of(library.columns(name).run, kind, tag)
        found.append({"run": name, "steps": items.step.tolist()})
    return {"runs": found}


def _items(library: Library, query: Query) -> Items:
    return media.items_of(library.columns(_text(query, "run")).run, _text(query, "kind"), _text(query, "tag"))


def _value(library: Library, query: Query) -> dict[str, Any]:
    return media.told(_text(query, "kind"), _items(library, query), _integer(query, "index", 0))


def _media(library: Library, query: Query) -> media.Content:
    return media.content(_items(library, query), _integer(query, "index", 0), _integer(query, "item", 0))


def _histograms(library: Library, query: Query) -> bytes:
    items = _items(library, {**query, "kind": "histograms"})
    stacked, arrays = media.stacked(items, min(max(_integer(query, "stretches", 200), 1), _MOST_STRETCHES)), Arrays()
    head = {"tag": items.tag, "steps": arrays.add(stacked.step.astype(np.float64)), "bins": stacked.cells.shape[0]}
    head |= {"low": plain(stacked.low), "high": plain(stacked.high), "points": len(items)}
    return body(head | {"cells": arrays.add(stacked.cells.astype(np.float32).ravel())}, arrays)


def _norms(library: Library, query: Query) -> dict[str, Any]:
    columns = library.book(_text(query, "run")).held
    return norms(columns.signals, query.get("tag"))


def _matrices(library: Library, query: Query) -> dict[str, Any]:
    columns = library.book(_text(query, "run")).held
    return {"tags": matrix_tags(columns.run)}


def _matrix(library: Library, query: Query) -> bytes:
    columns, tag = library.book(_text(query, "run")).held, _text(query, "tag")
    step, matrix = matrix_at(columns.run, tag, _integer(query, "index", 0))
    drawn, arrays = shown(matrix), Arrays()
    head = {"step": step, "shape": list(matrix.shape), "size": list(drawn.shape)}
    levels = {
        "range": [plain(level) for level in level_range(columns.run, tag)],
        "values": arrays.add_floats(drawn.ravel()),
    }
    return body(head | levels, arrays)


def _rule(library: Library, query: Query) -> dict[str, Any]:
    return {"html": rule_markup(page(_text(query, "code")))}


ANSWERS: Mapping[str, Answer] = {
    "runs": _runs,
    "run": _run,
    "layers": _layers,
    "curve": _curve,
    "tags": _tags,
    "curves": _curves,
    "bands": _bands,
    "table": _table,
    "shelf": _shelf,
    "steps": _steps,
    "value": _value,
    "media": _media,
    "histograms": _histograms,
    "norms": _norms,
    "matrices": _matrices,
    "matrix": _matrix,
    "rule": _rule,
}
"""Name of an address → what answers it; raises LookupError, ValueError, OSError or TimeoutError."""


def _text(query: Query, name: str) -> str:
    if name not in query:
        raise ValueError(f"the query must have {name}=, got {', '.join(f'{one}=' for one in query) or 'nothing'}")
    return query[name]


def _weight(query: Query) -> float:
    weight = _number(query, "smooth", 0.0)
    if not 0 <= weight < 1:
        raise ValueError(f"smooth must be at least 0 and less than 1, got {weight:g}")
    return weight


def _names(query: Query, name: str) -> list[str]:
    names = _json(query, name)
    if not _are_names(names):
        raise ValueError(f"{name} must be a JSON list of names, got {query[name]!r}")
    return names


def _groups(query: Query, name: str) -> dict[str, list[str]]:
    groups = _json(query, name)
    if not isinstance(groups, dict) or not all(map(_are_names, groups.values())):
        raise ValueError(f"{name} must be a JSON object of lists of names, got {query[name]!r}")
    return groups


def _json(query: Query, name: str) -> Any:
    """What the query says in JSON; None if it is none."""
    text = _text(query, name)
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _are_names(names: object) -> TypeGuard[list[str]]:
    return isinstance(names, list) and all(isinstance(one, str) for one in names)


def _integer(query: Query, name: str, otherwise: int) -> int:
    try:
        return int(query.get(name, otherwise))
    except ValueError:
        raise ValueError(f"{name} must be an integer, got {query[name]!r}") from None


def _number(query: Query, name: str, otherwise: float) -> float:
    try:
        number = float(query.get(name, otherwise))
    except ValueError:
        raise ValueError(f"{name} must be a number, got {query[name]!r}") from None
    if math.isnan(number) or (name in query and math.isinf(number)):
        raise ValueError(f"{name} must be finite, got {query[name]!r}")
    return number
