"""Runs and series as a notebook shows them: a table, with a sparkline for each tag, bounded in size."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import is_damaged
from summaries.presenting.markup import amount, block, colored, line, short, sparkline, table
from summaries.reading.kinds import KINDS
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from summaries.errors import Fault
    from summaries.presenting.markup import Markup
    from summaries.reading.run import Run
    from summaries.reading.series import Series

__all__ = ["run_html", "runs_html", "scalars_html", "series_html", "series_text"]

_MOST_ROWS = 30
_MOST_FAULTS = 5
_TITLES = ("tag", "points", "steps", "last", "least", "largest", "")


def series_text(series: Series) -> str:
    """What a series is, in a line: its points, steps and values.

    >>> from summaries import Series
    >>> series_text(Series("loss", np.arange(3), np.arange(3.0), np.array([4.0, np.nan, 2.0])))
    '3 points, steps 0 to 2, last 2, least 2, largest 4, 1 not finite'
    """
    if not len(series):
        return "0 points"
    last, least, largest = _numbers(series)
    parts = [
        counted(len(series), "point"),
        f"steps {series.step.min()} to {series.step.max()}",
        f"last {last:.4g}, least {least:.4g}, largest {largest:.4g}",
    ]
    return ", ".join([*parts, *_oddities(series)])


def series_html(series: Series) -> str:
    """A series as a table of one row."""
    return block(table(_TITLES, [_row(series)]), *(line(text, note=True) for text in _oddities(series)))


def run_html(run: Run) -> str:
    """A run: its scalars, as many as a page holds; the tags of other kinds; the first faults."""
    counts = {"file": len(run.files), "tag": len(run.tags), "scalar": sum(map(len, run.scalars.values()))}
    heading = ", ".join(amount(number, noun) for noun, number in counts.items())
    return block(line(heading), *_scalars(run.scalars), *_others(run), *_faults(run))


def scalars_html(scalars: Mapping[str, Series]) -> str:
    """The scalars of a run, as many as a page holds."""
    return block(line(amount(len(scalars), "tag")), *_scalars(scalars))


def runs_html(runs: Mapping[str, Run]) -> str:
    """Runs, as many as a page holds, each with a sparkline of the tag that most of them have, a loss if any has one."""
    shown = dict(islice(runs.items(), _MOST_ROWS))
    tag = _common(shown)
    rows = [
        (short(name), len(run.tags), sum(map(len, run.scalars.values())), _steps(run), *_of_tag(run, tag), _faulty(run))
        for name, run in shown.items()
    ]
    titles = ("run", "tags", "scalars", "steps", f"last {short(tag)}" if tag else "", short(tag), "")
    return block(line(amount(len(runs), "run")), table(titles, rows, _more(len(runs), "run")))


def _scalars(scalars: Mapping[str, Series]) -> Iterator[Markup]:
    if scalars:
        rows = [_row(series) for series in islice(scalars.values(), _MOST_ROWS)]
        yield table(_TITLES, rows, _more(len(scalars), "tag", "with scalars"))


def _row(series: Series) -> tuple[object, ...]:
    if not len(series):
        return short(series.tag), 0, None, None, None, None, None
    steps = f"{series.step.min():,} to {series.step.max():,}"
    return short(series.tag), len(series), steps, *_numbers(series), sparkline(series.latest().value)


def _numbers(series: Series) -> tuple[float, float, float]:
    """The last value, and the least and the largest of those that are finite; NaN if none is."""
    finite = series.value[np.isfinite(series.value)]
    least, largest = (float(finite.min()), float(finite.max())) if len(finite) else (np.nan, np.nan)
    return float(series.value[-1]), least, largest


def _oddities(series: Series) -> list[str]:
    """How many values are not finite, and how many points do not stand."""
    odd = int(np.count_nonzero(~np.isfinite(series.value)))
    fallen = int(np.count_nonzero(series.standing))
    counts = {f"{odd} not finite": odd, f"{fallen} superseded after restarts": fallen}
    return [text for text, number in counts.items() if number]


def _others(run: Run) -> Iterator[Markup]:
    """The tags that are no scalars, by kind."""
    for name, kind in KINDS.items():
        if tags := getattr(run, name):
            yield line(f"{kind.nouns}: {listed([short(tag) for tag in tags])}", note=True)


def _faults(run: Run) -> Iterator[Markup]:
    for fault in run.faults[:_MOST_FAULTS]:
        yield line(colored(short(str(fault), 300), _color([fault])))
    if len(run.faults) > _MOST_FAULTS:
        yield line(f"and {amount(len(run.faults) - _MOST_FAULTS, 'more fault')}", note=True)


def _faulty(run: Run) -> Markup | None:
    return colored(amount(len(run.faults), "fault"), _color(run.faults)) if run.faults else None


def _color(faults: Sequence[Fault]) -> str:
    return "error" if is_damaged(faults) else "info"


def _steps(run: Run) -> str:
    steps = [series.step for series in run.scalars.values() if len(series)]
    return f"{min(map(np.min, steps)):,} to {max(map(np.max, steps)):,}" if steps else ""


def _of_tag(run: Run, tag: str) -> tuple[object, object]:
    series = run.scalars.get(tag)
    return (None, None) if series is None else (float(series.value[-1]), sparkline(series.latest().value))


def _common(runs: Mapping[str, Run]) -> str:
    """The tag that most runs have, of the losses if there are any; "" if there are no scalars."""
    runs_with = Counter(tag for run in runs.values() for tag in run.scalars)
    return max(runs_with, key=lambda tag: ("loss" in tag.lower(), runs_with[tag]), default="")


def _more(number: int, noun: str, which: str = "") -> str:
    """How many rows were left out."""
    return " ".join(["and", amount(number - _MOST_ROWS, f"more {noun}"), which]).strip() if number > _MOST_ROWS else ""
