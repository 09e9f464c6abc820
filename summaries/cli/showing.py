"""What `gradledger show` prints: statistics, texts and curves of runs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from summaries.auditing.curves import averages
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import TagTable
from summaries.cli.columns import Column, is_bounded, print_columns, told_apart
from summaries.cli.faults import Troubles
from summaries.cli.formats import (
    duration_text,
    kind_text,
    kinds_text,
    number_text,
    size_text,
    step_text,
    time_text,
)
from summaries.cli.plot import MARKS, STYLES, Curve, plot, smoothed
from summaries.errors import FormatError
from summaries.reading.annotations import ANNOTATIONS
from summaries.terminal import BARS, PLAIN_BARS, console, encodes, printable, progress_bar, shortened, sparkline
from summaries.tools.described import plain
from summaries.tools.listing import demand_runs
from summaries.tools.readable import read_places
from summaries.tools.showing import TagStatistics, show
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

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


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run that is shown; its name is what tells it apart from the others."""

    path: str
    name: str
    run: Run
    statistics: list[TagStatistics]

    @property
    def scalars(self) -> dict[str, TagStatistics]:
        return {one.tag: one for one in self.statistics if one.values is not None}

    def series(self, tag: str, *, latest: bool) -> Series:
        series = self.run.scalars[tag]
        return series.latest() if latest else series


@dataclass(frozen=True, slots=True)
class _Options:
    """How curves are drawn."""

    latest: bool
    log: bool
    smooth: float
    height: int
    full: bool
    drawn: bool


def show_runs(
    places: tuple[str, ...],
    latest: bool,
    log: bool,
    smooth: float,
    height: int,
    no_plot: bool,
    full: bool,
    runs: tuple[str, ...],
    tags: tuple[str, ...],
    as_json: bool,
    access: Access,
) -> int:
    """Show the runs, and print what is wrong with them."""
    shown: list[_Shown] = []
    troubles = Troubles()
    with progress_bar(None) as on_run:
        for path, run, failures in read_places(places, runs or None, tags or None, **access):
            on_run(path, None)
            troubles.tell(*failures)
            if run is not None:
                troubles.tell_first(run.faults)
                shown.append(_Shown(path, path, run, show(run, tags or None, latest=latest)))
    if not shown and not troubles.status:
        demand_runs(places, runs or None, **access)
    if shown and tags and not any(one.statistics for one in shown):
        every = [run for _, run, _ in read_places(places, runs or None, **access) if run is not None]
        known = dict.fromkeys(found.tag for run in every for found in show(run))
        raise LookupError(f"no tag matches {' or '.join(map(repr, tags))}; there are {', '.join(known) or 'none'}")
    names = told_apart([one.path for one in shown])
    shown = [replace(one, name=printable(name)) for one, name in zip(shown, names, strict=True)]
    if as_json:
        print(json.dumps([_as_dict(one) for one in shown], indent=1))
    else:
        options = _Options(latest, log, smooth, height, full, not no_plot)
        _print(console(sys.stdout), shown, options, chosen=bool(tags))
    return troubles.status


def _as_dict(shown: _Shown) -> dict[str, Any]:
    return {
        "path": shown.path,
        "files": list(shown.run.files),
        "hyperparameters": plain(shown.run.hparams),
        "tags": [plain(asdict(one)) for one in shown.statistics],
    }


def _print(console: Console, shown: list[_Shown], options: _Options, *, chosen: bool) -> None:
    for one in shown:
        _print_head(console, one)
    names = list(dict.fromkeys(tag for one in shown for tag in one.scalars))
    rows = [(one, one.scalars[tag]) for tag in names for one in shown if tag in one.scalars]
    if rows:
        console.print()
        print_columns(console, _columns(console, rows, several=len(shown) > 1, latest=options.latest))
    others = [(one, statistics) for one in shown for statistics in one.statistics if statistics.values is None]
    if others:
        order = list(dict.fromkeys(statistics.tag for _, statistics in others))
        others.sort(key=lambda pair: order.index(pair[1].tag))  # the runs of a tag beside each other
        console.print()
        print_columns(console, _other_columns(console, others, several=len(shown) > 1))
    _print_texts(console, shown, options, several=len(shown) > 1)
    if options.drawn:
        drawn = names if chosen else list(filter(None, (_main(shown),)))
        for tag in drawn[:_MOST_PLOTS]:
            _print_plot(console, [one for one in shown if tag in one.scalars], tag, options)
        if len(drawn) > _MOST_PLOTS:
            console.print(f"\n{len(drawn) - _MOST_PLOTS} more tags are not drawn", style="dim")


def _print_head(console: Console, shown: _Shown) -> None:
    """Print what the run is, in two lines."""
    run, found = shown.run, shown.statistics
    console.print(Text(printable(shown.path), "bold"), soft_wrap=True)
    if found:
        measured = [one for one in found if one.tag not in ANNOTATIONS] or found
        first, last = min(one.steps[0] for one in measured), max(one.steps[1] for one in measured)
        began, ended = min(one.wall_times[0] for one in measured), max(one.wall_times[1] for one in measured)
        kinds: dict[str, int] = {}
        for one in found:
            kinds[one.kind] = kinds.get(one.kind, 0) + 1
        told = [f"steps {step_text(first)} to {step_text(last)}", kinds_text(kinds)]
        told += [counted(len(run.files), "file"), f"began {time_text(began)}"]
        told += [f"took {duration_text(ended - began)}"] if np.isfinite(ended - began) else []
    else:
        told = ["no values", counted(len(run.files), "file")]
    _print_list(console, told)
    _print_list(console, [printable(f"{name}={_plainly(value)}") for name, value in run.hparams.items()])


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


def _plainly(value: bool | float | str) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


def _columns(
    console: Console, rows: Sequence[tuple[_Shown, TagStatistics]], *, several: bool, latest: bool
) -> list[Column]:
    bars = BARS if encodes(console, BARS) else PLAIN_BARS
    values = [statistics.values for _, statistics in rows]

    def numbers(title: str, name: str, rank: int) -> Column:
        return Column(title, [number_text(getattr(one, name)) for one in values], right=True, rank=rank)

    def quantiles(title: str, of: float, rank: int) -> Column:
        return Column(title, [number_text(one.quantiles[of]) if one else "" for one in values], right=True, rank=rank)

    def steps(name: str) -> Column:
        return Column("at", [step_text(getattr(one, name)) for one in values], right=True, rank=6)

    lines = [sparkline(averages(one.series(found.tag, latest=latest).value, _SPARK), bars) for one, found in rows]
    return [
        *_names(rows, several=several),
        Column("points", [step_text(found.count) for _, found in rows], right=True, rank=4),
        Column("last step", [step_text(found.steps[1]) for _, found in rows], right=True, rank=5),
        numbers("first", "first", 3),
        numbers("last", "last", 0),
        numbers("min", "min", 0),
        steps("min_step"),
        numbers("max", "max", 0),
        steps("max_step"),
        numbers("mean", "mean", 2),
        numbers("std", "std", 8),
        quantiles("5 %", 0.05, 9),
        quantiles("median", 0.5, 7),
        quantiles("95 %", 0.95, 9),
        Column("curve", lines, rank=1),
        Column("odd", [_odd(found) for _, found in rows], styles=["yellow"] * len(rows)),
    ]


def _names(rows: Sequence[tuple[_Shown, TagStatistics]], *, several: bool) -> list[Column]:
    """The columns that say what a row is about: a tag is told once for all of its runs."""
    tags = [found.tag for _, found in rows]
    firsts = [tag if i == 0 or tag != tags[i - 1] else "" for i, tag in enumerate(tags)]
    names = [Column("tag", list(map(printable, firsts)), shrinks=32)]
    return [*names, Column("run", [one.name for one, _ in rows], shrinks=24)] if several else names


def _odd(found: TagStatistics) -> str:
    """What a user should know of the points of a tag."""
    values = found.values
    told = [f"{values.nans} nan"] if values and values.nans else []
    told += [f"{values.infinities} inf"] if values and values.infinities else []
    told += [f"{found.superseded:,} superseded"] if found.superseded else []
    told += [counted(found.restarts, "restart")] if found.restarts and not found.superseded else []
    return ", ".join(told)


def _other_columns(console: Console, rows: Sequence[tuple[_Shown, TagStatistics]], *, several: bool) -> list[Column]:
    return [
        *_names(rows, several=several),
        Column("kind", [kind_text(found.kind) for _, found in rows]),
        Column("values", [step_text(found.count) for _, found in rows], right=True),
        Column("last step", [step_text(found.steps[1]) for _, found in rows], right=True, rank=2),
        Column("last value", [_last(console, one, found) for one, found in rows], rank=1),
    ]


def _last(console: Console, shown: _Shown, found: TagStatistics) -> str:
    """What the last value of a tag is, in a few words."""
    if found.kind == "texts":
        return ""  # printed below
    try:
        value = getattr(shown.run, found.kind)[found.tag][-1]
    except (FormatError, OSError) as error:
        return printable(error.fault.reason if isinstance(error, FormatError) else str(error))
    if found.kind == "histograms":
        return _histogram(console, value)
    if found.kind == "images":
        return f"{value.width} x {value.height}, {size_text(sum(map(len, value.encoded)))}"
    if found.kind == "audio":
        return size_text(sum(map(len, value.encoded)))
    return f"{value.dtype} {' x '.join(map(str, value.shape))}".rstrip() if isinstance(value, np.ndarray) else ""


def _histogram(console: Console, buckets: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """A histogram's range, count and shape."""
    if not len(buckets):
        return "no values"
    bars = BARS if encodes(console, BARS) else PLAIN_BARS
    edges = np.linspace(buckets[0, 0], buckets[-1, 1], _SPARK + 1)
    middles = buckets[:, 0] / 2 + buckets[:, 1] / 2
    counts, _ = np.histogram(middles, edges, weights=buckets[:, 2]) if edges[0] < edges[-1] else (buckets[:, 2], None)
    low, high, count = buckets[0, 0], buckets[-1, 1], buckets[:, 2].sum()
    line = sparkline(np.append(counts, 0.0).astype(np.float64), bars)[:-1]  # drawn from 0
    return f"{number_text(low)} {line} {number_text(high)}, {number_text(float(count))} values"


def _print_texts(console: Console, shown: Sequence[_Shown], options: _Options, *, several: bool) -> None:
    """Print the last text of each tag."""
    for one in shown:
        for found in (found for found in one.statistics if found.kind == "texts"):
            place = f"{one.name}: " if several else ""
            console.print(Text(f"\n{place}{printable(found.tag)}, step {step_text(found.steps[1])}", "bold"))
            for line in _text_lines(one, found.tag, options):
                console.print(Text(f"  {line}"), soft_wrap=not is_bounded(console))


def _text_lines(shown: _Shown, tag: str, options: _Options) -> Iterator[str]:
    try:
        value = shown.run.texts[tag][-1]
    except (FormatError, OSError) as error:
        yield printable(str(error))
        return
    text = value if isinstance(value, str) else "\n".join(map(str, value.flat))
    cut = not options.full and len(text) > _MOST_TEXT
    yield from map(printable, (text[:_MOST_TEXT] if cut else text).splitlines())
    if cut:
        yield f"… {len(text) - _MOST_TEXT} more characters: --full prints them"


def _main(shown: Sequence[_Shown]) -> str:
    """The tag to draw if none is chosen: what the audit takes for the main loss, else the first scalar; "" for none."""
    for one in shown:
        main = Signals(one.path, one.run, TagTable()).main
        if main is not None and main.tag in one.scalars:
            return main.tag
    return next((tag for one in shown for tag in one.scalars), "")


def _print_plot(console: Console, shown: Sequence[_Shown], tag: str, options: _Options) -> None:
    """Draw one tag of some runs."""
    left_out = len(shown) - _MOST_CURVES
    shown = shown[:_MOST_CURVES]
    width = min(console.width, _WIDEST) if is_bounded(console) else _WIDTH
    plain_colours = console.color_system is None or console.no_color
    marks = not encodes(console, _BRAILLE + "│┤└─") or (plain_colours and len(shown) > 1)
    curves = []
    for one in shown:
        series = one.series(tag, latest=options.latest)
        value = smoothed(series.value, options.smooth) if options.smooth else series.value
        curves.append(Curve(series.step, value))
    told = [f"smoothed {options.smooth:g}"] if options.smooth else []
    told += ["logarithmic"] if options.log else []
    console.print()
    title = Text(printable(tag), "bold")
    console.print(title.append(f"  {', '.join(told)}" if told else "", "dim"), soft_wrap=True)
    for line in plot(curves, width, options.height, log=options.log, marks=marks):
        console.print(line, soft_wrap=True)
    if len(shown) > 1:
        for i, one in enumerate(shown):
            mark = Text(f"  {MARKS[i] if marks else '━━'} ", "" if marks else STYLES[i])
            console.print(mark.append(shortened(one.name, width - 5), "default"), soft_wrap=True)
    if left_out > 0:
        console.print(f"  {counted(left_out, 'more run')}: choose with --runs", style="dim")
