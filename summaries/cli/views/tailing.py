"""What `gradledger tail` prints: points as they come, as lines or in a table."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from rich.cells import cell_len
from rich.live import Live
from rich.text import Text

from summaries.auditing.curves import averages
from summaries.cli.views.columns import TableColumn, bars_for, lines_of, once, told_apart
from summaries.cli.views.faults import Troubles
from summaries.cli.views.formats import duration_text, kind_text, number_text, step_text, time_text
from summaries.errors import FormatError
from summaries.patterns import demand_match, matcher
from summaries.presenting.sparklines import sparkline
from summaries.presenting.terminal import console, encodes, printable
from summaries.tools.described import plain_number
from summaries.tools.listing import demand_runs
from summaries.tools.tailing import Point, Tailed, looking_at, steps_a_second

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from summaries.patterns import Patterns
    from summaries.reading.series import Series
    from summaries.storage.files import Access

__all__ = ["follow_runs", "table"]

_INTERRUPTED = 130
_SPARK = 16
_FRESH_SECS = 2.0  # so long a new value is highlighted
_NARROWEST = 16  # cells that a text has at least, however long the names before it are
_BELOW = 3  # lines of the terminal that the table leaves free


def follow_runs(
    *, places: tuple[str, ...], follow: bool, count: int, lines: bool, as_json: bool, access: Access, **chosen: Any
) -> int:
    """Print points, and what is wrong with the files."""
    troubles = Troubles()
    printing = console(sys.stdout)
    with looking_at(places, access, follow=follow, on_trouble=troubles.tell, **chosen) as tailed:
        try:
            if follow and printing.is_terminal and not (lines or as_json):
                _live(printing, tailed)
            _print(printing, tailed.look(count), as_json=as_json)
            if not (follow or troubles.status):
                _demand(tailed, places or (".",), **chosen, access=access)
            while follow:
                sys.stdout.flush()
                time.sleep(tailed.pause_secs)
                _print(printing, tailed.look(), as_json=as_json)
        except KeyboardInterrupt:
            if not follow:
                raise
            return _INTERRUPTED
    return troubles.status


def _demand(tailed: Tailed, places: Sequence[str], runs: Patterns, tags: Patterns, access: Access) -> None:
    """Raise an error if no run, or no tag of the runs, is meant; with --follow, they may come later."""
    if not tailed.runs:
        demand_runs(places, runs, **access)
    names = [tag for run in tailed.runs.values() for tag in run.tags]
    if tags and not any(map(matcher(tags), names)):
        demand_match("tag", tags, names)


def _print(printing: Console, points: Sequence[Point], *, as_json: bool) -> None:
    """Print points, a line each."""
    if as_json:
        for point in points:
            print(json.dumps(_as_dict(point)))
        return
    for point in points:
        when = time_text(point.wall_time, millis=True)
        head = f"{when}  {printable(point.run)}  step {point.step}  {printable(point.tag)}  "
        print(f"{head}{_value_text(point, printing, max(printing.width - cell_len(head), _NARROWEST))}")


def _value_text(point: Point, printing: Console, room: int) -> str:
    """The number; of a text its first line, in at most `room` cells; of other values their kind."""
    if point.value is not None:
        return number_text(point.value)
    with suppress(FormatError, OSError):  # the file was replaced: a fault in it is told at the next look
        if lines := (point.text or "").strip().splitlines():
            line = Text(printable(lines[0]))
            line.truncate(room, overflow="ellipsis" if encodes(printing, "…") else "crop")
            return line.plain
    return f"<{kind_text(point.kind)}>"


def _as_dict(point: Point) -> dict[str, object]:
    return {
        "run": point.run,
        "tag": point.tag,
        "kind": point.kind,
        "step": point.step,
        "wall_time": plain_number(point.wall_time),
        "value": None if point.value is None else plain_number(point.value),
    }


def _live(printing: Console, tailed: Tailed) -> NoReturn:
    """Keep a table of the tags up to date, until interrupted."""
    changed: dict[tuple[str, str], float] = {}
    tailed.look(0)
    with Live(console=printing, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            live.update(table(printing, tailed, changed), refresh=True)
            time.sleep(tailed.pause_secs)
            now = time.monotonic()
            changed |= {(point.run, point.tag): now for point in tailed.look()}


def table(printing: Console, tailed: Tailed, changed: dict[tuple[str, str], float]) -> Text:
    """A line for each tag; those that changed last stay if there is too little room."""
    rows = tailed.scalars()
    room = max(printing.height - _BELOW, 1)
    left_out = len(rows) - room
    if left_out > 0:
        rows.sort(key=lambda row: changed.get((row[0], row[1].tag), 0.0), reverse=True)
        newest = {(path, series.tag) for path, series in rows[:room]}
        rows = [row for row in tailed.scalars() if (row[0], row[1].tag) in newest]
    lines = lines_of(printing, _columns(printing, rows, changed))
    if left_out > 0:
        lines.append(Text(f"{left_out} more tags: choose with --tags and --runs", "dim"))
    table = Text("\n").join(lines) if rows else Text("waiting for points", "dim")
    table.no_wrap, table.overflow = True, "crop"
    return table


def _columns(
    printing: Console, rows: Sequence[tuple[str, Series]], changed: dict[tuple[str, str], float]
) -> list[TableColumn]:
    bars = bars_for(printing)
    now, wall_now = time.monotonic(), time.time()
    fresh = [now - changed.get((path, series.tag), -9.0) < _FRESH_SECS for path, series in rows]
    paths = told_apart([path for path, _ in rows])
    names = list(map(printable, once(paths))) if len(set(paths)) > 1 else [""] * len(rows)
    every = [series for _, series in rows]
    return [
        TableColumn("run", names, shrinks=24),
        TableColumn("tag", [printable(series.tag) for series in every], shrinks=32),
        TableColumn("step", [step_text(int(series.step[-1])) for series in every], right=True),
        TableColumn(
            "value",
            [number_text(float(series.value[-1])) for series in every],
            right=True,
            styles=["bold green" if is_fresh else "" for is_fresh in fresh],
        ),
        TableColumn("curve", [sparkline(averages(series.value, _SPARK), bars) for series in every], rank=1),
        TableColumn("min", [_extreme(series, "min") for series in every], right=True, rank=4),
        TableColumn("max", [_extreme(series, "max") for series in every], right=True, rank=4),
        TableColumn("steps/s", [_rate(series) for series in every], right=True, rank=3),
        TableColumn("age", [_age(series, wall_now) for series in every], right=True, rank=2),
    ]


def _extreme(series: Series, which: str) -> str:
    finite = series.value[abs(series.value) < float("inf")]
    return number_text(float(getattr(finite, which)())) if len(finite) else "-"


def _rate(series: Series) -> str:
    rate = steps_a_second(series)
    return f"{rate:.3g}" if rate > 0 else "-"


def _age(series: Series, now: float) -> str:
    """How long ago the last point was written."""
    secs = now - float(series.wall_time[-1])
    return duration_text(secs) if 0 <= secs < float("inf") else "-"
