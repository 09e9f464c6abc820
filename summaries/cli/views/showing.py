"""What `gradledger show` prints: statistics, texts and curves of runs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from summaries.auditing.curves import averages
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import TagTable
from summaries.cli.views.columns import TableColumn, bars_for, is_bounded, once, print_columns, told_apart
from summaries.cli.views.faults import Troubles
from summaries.cli.views.formats import (
    duration_text,
    kind_text,
    kinds_text,
    number_text,
    size_text,
    step_text,
    time_text,
    value_text,
)
from summaries.cli.views.plot import MARKS, STYLES, Line, plot, smoothed
from summaries.errors import FormatError
from summaries.patterns import demand_match
from summaries.presenting.sparklines import sparkline
from summaries.presenting.terminal import console, encodes, printable, progress_bar, shortened
from summaries.reading.annotations import ANNOTATIONS
from summaries.reading.kinds import KINDS
from summaries.tools.described import plain
from summaries.tools.listing import demand_runs
from summaries.tools.runs import read_places
from summaries.tools.showing import TagStatistics, ValueStatistics, show
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.reading.series import Series
    from summaries.storage.files import Access

__all__ = ["show_runs"]

_WIDTH = 100  # of plots in a pipe or a file
_WIDEST = 160
_MOST_PLOTS = 8
_MOST_CURVES = len(STYLES)
_MOST_TEXT = 400  # characters of a text
_SPARK = 16
_BRAILLE = "⣿"


@dataclass(frozen=True)
class _ShownRun:
    """A run that is shown; its name is what tells it apart from the others."""

    path: str
    name: str
    run: Run
    tags: list[TagStatistics]

    @cached_property
    def scalars(self) -> dict[str, TagStatistics]:
        return {tag.tag: tag for tag in self.tags if tag.values is not None}

    def series(self, tag: str, *, latest: bool) -> Series:
        series = self.run.scalars[tag]
        return series.latest() if latest else series


@dataclass(frozen=True, slots=True)
class _Options:
    """How curves and texts are shown."""

    latest: bool
    log: bool
    smooth: float
    height: int
    no_plot: bool
    full: bool


def show_runs(
    *, places: tuple[str, ...], runs: Patterns, tags: Patterns, as_json: bool, access: Access, **options: Any
) -> int:
    """Show the runs, and print what is wrong with them."""
    drawing = _Options(**options)
    shown: list[_ShownRun] = []
    troubles = Troubles()
    with progress_bar(None) as on_run:
        for path, run, failures in read_places(places, runs, tags, **access):
            on_run(path, None)
            troubles.tell(*failures)
            if run is not None:
                troubles.tell(*run.faults)
                shown.append(_ShownRun(path, path, run, show(run, tags, latest=drawing.latest)))
    if not shown and not troubles.status:
        demand_runs(places, runs, **access)
    if shown and tags and not any(run.tags for run in shown):
        every = [run for _, run, _ in read_places(places, runs, **access) if run is not None]
        demand_match("tag", tags, (tag.tag for run in every for tag in show(run)))
    names = told_apart([run.path for run in shown])
    shown = [replace(run, name=printable(name)) for run, name in zip(shown, names, strict=True)]
    if as_json:
        print(json.dumps([_as_dict(run) for run in shown], indent=1))
    else:
        _print(console(sys.stdout), shown, drawing, chosen=bool(tags))
    return troubles.status


def _as_dict(shown: _ShownRun) -> dict[str, Any]:
    return {
        "path": shown.path,
        "files": list(shown.run.files),
        "hyperparameters": plain(shown.run.hparams),
        "tags": [plain(asdict(tag)) for tag in shown.tags],
    }


def _print(console: Console, shown: list[_ShownRun], options: _Options, *, chosen: bool) -> None:
    for run in shown:
        _print_head(console, run)
    several = len(shown) > 1
    by_name: dict[str, list[tuple[_ShownRun, TagStatistics]]] = {}
    for run in shown:
        for name, statistics in run.scalars.items():
            by_name.setdefault(name, []).append((run, statistics))
    names, rows = list(by_name), list(chain.from_iterable(by_name.values()))
    if rows:
        console.print()
        print_columns(console, _columns(console, rows, several=several, latest=options.latest))
    others = [(run, tag) for run in shown for tag in run.tags if tag.values is None]
    if others:
        order = {name: i for i, name in enumerate(dict.fromkeys(tag.tag for _, tag in others))}
        others.sort(key=lambda row: order[row[1].tag])  # the runs of a tag beside each other
        console.print()
        print_columns(console, _other_columns(console, others, several=several))
    _print_texts(console, shown, options, several=several)
    if not options.no_plot:
        drawn = names if chosen else list(filter(None, (_main(shown),)))
        for tag in drawn[:_MOST_PLOTS]:
            _print_plot(console, [run for run in shown if tag in run.scalars], tag, options)
        if len(drawn) > _MOST_PLOTS:
            console.print(f"\n{len(drawn) - _MOST_PLOTS} more tags are not drawn", style="dim")


def _print_head(console: Console, shown: _ShownRun) -> None:
    """Print what the run is, in two lines."""
    run, tags = shown.run, shown.tags
    console.print(Text(printable(shown.path), "bold"), soft_wrap=True)
    if tags:
        measured = [tag for tag in tags if tag.tag not in ANNOTATIONS] or tags
        first, last = min(tag.steps[0] for tag in measured), max(tag.steps[1] for tag in measured)
        began, ended = min(tag.wall_times[0] for tag in measured), max(tag.wall_times[1] for tag in measured)
        parts = [f"steps {step_text(first)} to {step_text(last)}", kinds_text(Counter(tag.kind for tag in tags))]
        parts += [counted(len(run.files), "file"), f"began {time_text(began)}"]
        parts += [f"took {duration_text(ended - began)}"] if np.isfinite(ended - began) else []
    else:
        parts = ["no values", counted(len(run.files), "file")]
    _print_list(console, parts)
    _print_list(console, [printable(f"{name}={value_text(value)}") for name, value in run.hparams.items()])


def _print_list(console: Console, parts: Sequence[str]) -> None:
    """Print some parts with commas between them; no line breaks within a part if that can be avoided."""
    line = ""
    for part in parts:
        if line and cell_len(line) + 2 + cell_len(part) + 3 > console.width:
            console.print(Text(f"  {line},"), soft_wrap=True)
            line = ""
        line = f"{line}, {part}" if line else part
    if line:
        console.print(Text(f"  {line}"), soft_wrap=True)


def _columns(
    console: Console, rows: Sequence[tuple[_ShownRun, TagStatistics]], *, several: bool, latest: bool
) -> list[TableColumn]:
    def column(title: str, rank: int, text: Callable[[ValueStatistics], str]) -> TableColumn:
        return TableColumn(title, [text(tag.values) if tag.values else "" for _, tag in rows], right=True, rank=rank)

    bars = bars_for(console)
    curves = [sparkline(averages(run.series(tag.tag, latest=latest).value, _SPARK), bars) for run, tag in rows]
    return [
        *_names(rows, several=several),
        TableColumn("points", [step_text(tag.count) for _, tag in rows], right=True, rank=4),
        TableColumn("last step", [step_text(tag.steps[1]) for _, tag in rows], right=True, rank=5),
        column("first", 3, lambda values: number_text(values.first)),
        column("last", 0, lambda values: number_text(values.last)),
        column("min", 0, lambda values: number_text(values.min)),
        column("at", 6, lambda values: step_text(values.min_step)),
        column("max", 0, lambda values: number_text(values.max)),
        column("at", 6, lambda values: step_text(values.max_step)),
        column("mean", 2, lambda values: number_text(values.mean)),
        column("std", 8, lambda values: number_text(values.std)),
        column("5 %", 9, lambda values: number_text(values.quantiles[0.05])),
        column("median", 7, lambda values: number_text(values.quantiles[0.5])),
        column("95 %", 9, lambda values: number_text(values.quantiles[0.95])),
        TableColumn("curve", curves, rank=1),
        TableColumn("odd", [_odd(tag) for _, tag in rows], styles=["yellow"] * len(rows)),
    ]


def _names(rows: Sequence[tuple[_ShownRun, TagStatistics]], *, several: bool) -> list[TableColumn]:
    """The columns that say what a row is about: a tag stands once for all of its runs."""
    tags = once([tag.tag for _, tag in rows])
    names = [TableColumn("tag", list(map(printable, tags)), shrinks=32)]
    return [*names, TableColumn("run", [run.name for run, _ in rows], shrinks=24)] if several else names


def _odd(tag: TagStatistics) -> str:
    """What a user should know of the points of a tag."""
    parts = [f"{tag.values.nans} nan"] if tag.values and tag.values.nans else []
    parts += [f"{tag.values.infinities} inf"] if tag.values and tag.values.infinities else []
    parts += [f"{tag.superseded:,} superseded"] if tag.superseded else []
    parts += [counted(tag.restarts, "restart")] if tag.restarts and not tag.superseded else []
    return ", ".join(parts)


def _other_columns(
    console: Console, rows: Sequence[tuple[_ShownRun, TagStatistics]], *, several: bool
) -> list[TableColumn]:
    return [
        *_names(rows, several=several),
        TableColumn("kind", [kind_text(tag.kind) for _, tag in rows]),
        TableColumn("values", [step_text(tag.count) for _, tag in rows], right=True),
        TableColumn("last step", [step_text(tag.steps[1]) for _, tag in rows], right=True, rank=2),
        TableColumn("last value", [_last(console, run, tag) for run, tag in rows], rank=1),
    ]


def _last(console: Console, shown: _ShownRun, tag: TagStatistics) -> str:
    """What the last value of a tag is, in a few words."""
    shown_as = KINDS[tag.kind].shown_as
    if shown_as == "text":
        return ""  # printed below
    try:
        value = getattr(shown.run, tag.kind)[tag.tag][-1]
    except (FormatError, OSError) as error:
        return printable(error.fault.reason if isinstance(error, FormatError) else str(error))
    if shown_as == "histogram":
        return _histogram(console, value)
    if shown_as == "image":
        return f"{value.width} x {value.height}, {size_text(sum(map(len, value.encoded)))}"
    if shown_as == "audio":
        return size_text(sum(map(len, value.encoded)))
    return f"{value.dtype} {' x '.join(map(str, value.shape))}".rstrip() if isinstance(value, np.ndarray) else ""


def _histogram(console: Console, buckets: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """A histogram's range, count and shape."""
    if not len(buckets):
        return "no values"
    low, high, weights = buckets[0, 0], buckets[-1, 1], buckets[:, 2]
    edges = np.linspace(low, high, _SPARK + 1)
    middles = buckets[:, 0] / 2 + buckets[:, 1] / 2
    counts = np.histogram(middles, edges, weights=weights)[0] if edges[0] < edges[-1] else weights
    line = sparkline(np.append(counts, 0.0).astype(np.float64), bars_for(console))[:-1]  # drawn from 0
    return f"{number_text(low)} {line} {number_text(high)}, {number_text(float(weights.sum()))} values"


def _print_texts(console: Console, shown: Sequence[_ShownRun], options: _Options, *, several: bool) -> None:
    """Print the last text of each tag."""
    for run in shown:
        for tag in (tag for tag in run.tags if tag.kind == "texts"):
            name = f"{run.name}: " if several else ""
            console.print(Text(f"\n{name}{printable(tag.tag)}, step {step_text(tag.steps[1])}", "bold"))
            for line in _text_lines(run, tag.tag, options):
                console.print(Text(f"  {line}"), soft_wrap=not is_bounded(console))


def _text_lines(shown: _ShownRun, tag: str, options: _Options) -> Iterator[str]:
    try:
        value = shown.run.texts[tag][-1]
    except (FormatError, OSError) as error:
        yield printable(str(error))
        return
    text = value if isinstance(value, str) else "\n".join(map(str, value.flat))
    cut = not options.full and len(text) > _MOST_TEXT
    for line in (text[:_MOST_TEXT] if cut else text).splitlines():
        yield printable(line, None)
    if cut:
        yield f"… {len(text) - _MOST_TEXT} more characters: --full prints them"


def _main(shown: Sequence[_ShownRun]) -> str:
    """The tag to draw if none is chosen: what the audit takes for the main loss, else the first scalar; "" for none."""
    for run in shown:
        main = Signals(run.path, run.run, TagTable()).main
        if main is not None and main.tag in run.scalars:
            return main.tag
    return next((tag for run in shown for tag in run.scalars), "")


def _print_plot(console: Console, shown: Sequence[_ShownRun], tag: str, options: _Options) -> None:
    """Draw one tag of some runs."""
    left_out = len(shown) - _MOST_CURVES
    shown = shown[:_MOST_CURVES]
    width = min(console.width, _WIDEST) if is_bounded(console) else _WIDTH
    plain_colours = console.color_system is None or console.no_color
    marks = not encodes(console, _BRAILLE + "│┤└─") or (plain_colours and len(shown) > 1)
    lines = []
    for run in shown:
        series = run.series(tag, latest=options.latest)
        value = smoothed(series.value, options.smooth) if options.smooth else series.value
        lines.append(Line(series.step, value))
    notes = [f"smoothed {options.smooth:g}"] if options.smooth else []
    notes += ["logarithmic"] if options.log else []
    console.print()
    title = Text(printable(tag), "bold")
    console.print(title.append(f"  {', '.join(notes)}" if notes else "", "dim"), soft_wrap=True)
    for row in plot(lines, width, options.height, log=options.log, marks=marks):
        console.print(row, soft_wrap=True)
    if len(shown) > 1:
        for i, run in enumerate(shown):
            mark = Text(f"  {MARKS[i] if marks else '━━'} ", "" if marks else STYLES[i])
            console.print(mark.append(shortened(run.name, width - 5), "default"), soft_wrap=True)
    if left_out > 0:
        console.print(f"  {counted(left_out, 'more run')}: choose with --runs", style="dim")
