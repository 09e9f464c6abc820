"""Plots of scalars with matplotlib, which is imported only when used: smoothed as in TensorBoard, restarts marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.optional import needs
from summaries.patterns import matcher, several
from summaries.presenting.markup import short
from summaries.reading.by_name import UnknownNameError
from summaries.reading.restarts import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from summaries.patterns import Patterns
    from summaries.reading.series import Series

__all__ = ["plot_runs", "plot_scalars", "plot_series", "smoothed"]

_LABELS = {"step": "step", "relative": "hours since the first point", "wall": "time (UTC)"}
_FAINT = 0.3  # opacity of what smoothing or a restart replaced
_MOST = 50  # lines in a plot, and plots in a figure
_COLUMNS = 3
_SIZE = 4.8, 3.0  # of each of several plots, in inches
_LAST_YEAR = 1e11  # seconds since the epoch: later times have no date


class _Look(NamedTuple):
    """How series are drawn: the options that `Series.plot` takes."""

    x: str
    smoothing: float
    logy: bool
    style: Mapping[str, Any]


def plot_series(series: Series, ax: Any = None, **options: Any) -> Any:
    """Draw one series; see `Series.plot`."""
    axes = needs("matplotlib.pyplot", "images").gca() if ax is None else ax
    look = _look(**options)
    _draw(axes, series, series.tag, look)
    _finish(axes, look)
    return axes


def plot_scalars(scalars: Mapping[str, Series], tags: Patterns, ax: Any, *, subplots: bool, **options: Any) -> Any:
    """Draw a run's series; see `Run.plot`."""
    chosen = {tag: scalars[tag] for tag in _chosen(scalars, tags)}
    plots = {tag: {tag: series} for tag, series in chosen.items()} if subplots else {"": chosen}
    return _draw_all(plots, ax, _look(**options), subplots=subplots)


def plot_runs(
    runs: Mapping[str, Mapping[str, Series]], tags: Patterns, ax: Any, *, subplots: bool, **options: Any
) -> Any:
    """Draw the series of several runs; see `Runs.plot`."""
    chosen = _chosen(dict.fromkeys(tag for scalars in runs.values() for tag in scalars), tags)
    look = _look(**options)
    by_tag = {tag: {name: runs[name][tag] for name in runs if tag in runs[name]} for tag in chosen}
    if subplots or len(chosen) == 1:
        return _draw_all(by_tag, ax, look, subplots=subplots)
    lines = {f"{name}: {tag}": series for tag, by_run in by_tag.items() for name, series in by_run.items()}
    return _draw_all({"": lines}, ax, look, subplots=False)


def smoothed(value: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """TensorBoard's smoothing: an exponential moving average, corrected for its beginning at 0.

    Args:
        value: float64[n]. Values that are not finite stay as they are, and count for nothing; equal values stay, too.
        weight: of the past, from 0 up to but not including 1.

    >>> smoothed(np.array([1.0, 0.0, 0.0]), 0.5).round(3)
    array([1.   , 0.333, 0.143])

    References: `resmoothDataset` in TensorBoard's vz_line_chart2.
    """
    if not weight or not len(value) or np.all(value == value[0]):
        return value
    average, rest = 0.0, 1.0
    averages = []
    for number, finite in zip(value.tolist(), np.isfinite(value).tolist(), strict=True):
        if finite:
            average = average * weight + (1 - weight) * number
            rest *= weight
        averages.append(average / (1 - rest) if finite else number)
    return np.array(averages)


def _look(x: str = "step", smoothing: float = 0.0, logy: bool = False, **style: Any) -> _Look:
    if x not in _LABELS:
        raise ValueError(f"x must be 'step', 'relative' or 'wall', got {x!r}")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must be at least 0 and less than 1, got {smoothing:g}")
    return _Look(x, smoothing, logy, style)


def _chosen(scalars: Mapping[str, object], tags: Patterns) -> list[str]:
    """The tags that match; one that is spelled out is meant even if it looks like a pattern.

    Raises:
        KeyError: nothing matches one of the patterns; or there are no scalars.
    """
    patterns = several(tags)
    if not scalars or patterns == ():
        raise LookupError("there are no scalars to plot")
    for pattern in patterns or ():
        if not any(map(matcher(pattern), scalars)):
            raise UnknownNameError(pattern, "no scalars are tagged", tuple(scalars))
    wanted = matcher(patterns)
    return [tag for tag in scalars if wanted(tag)]


def _draw_all(plots: Mapping[str, Mapping[str, Series]], ax: Any, look: _Look, *, subplots: bool) -> Any:
    """Draw title → label → series, each in a plot of its own; without `subplots`, there is one."""
    most = max(len(plots), *map(len, plots.values())) if plots else 0
    if most > _MOST:
        what = "plots" if len(plots) > _MOST else "lines"
        raise ValueError(f"a figure has room for {_MOST} {what}, got {most}: choose fewer tags, as in tags='loss*'")
    if subplots and ax is not None:
        raise ValueError("subplots=True makes a figure of its own: leave out ax")
    drawn = _figure(len(plots)) if ax is None else [ax]
    for axes, (title, lines) in zip(drawn, plots.items(), strict=True):
        for label, series in lines.items():
            _draw(axes, series, label, look)
        if title:
            axes.set_title(_text(title), fontsize="medium", parse_math=False)
        _finish(axes, look, legend=list(lines) != [title])
    return np.array(drawn, dtype=object) if subplots else drawn[0]


def _figure(number: int) -> list[Any]:
    """The axes of a new figure, in rows."""
    pyplot = needs("matplotlib.pyplot", "images")
    if number == 1:
        return [pyplot.subplots(layout="constrained")[1]]
    columns = min(number, _COLUMNS)
    rows = -(-number // columns)
    size = columns * _SIZE[0], rows * _SIZE[1]
    _, axes = pyplot.subplots(rows, columns, squeeze=False, figsize=size, layout="constrained")
    in_rows = list(axes.ravel())
    for unused in in_rows[number:]:
        unused.remove()
    return in_rows[:number]


def _draw(axes: Any, series: Series, label: str, look: _Look) -> None:
    """Draw the points that stand, fainter what smoothing or a restart replaced, and where restarts begin."""
    across = _across(series, look.x)
    stands = series.standing == Standing.STANDS
    if look.x == "step":
        along, value = across[stands], series.value[stands]
    else:  # in time, there is a gap where the superseded points are
        along, value = across, np.where(stands, series.value, np.nan)
    (line,) = axes.plot(along, smoothed(value, look.smoothing), **{**_dots(value), "label": _text(label), **look.style})
    faint = {**look.style, "label": "_", "color": line.get_color(), "alpha": _FAINT, "zorder": line.get_zorder() - 0.1}
    if look.smoothing:
        axes.plot(along, value, **faint)
    returns = _returns(series)
    if not stands.all():
        parts = np.insert(np.where(stands, np.nan, series.value), returns, np.nan)
        axes.plot(np.insert(across, returns, across[returns]), parts, **{**_dots(parts), **faint})
    if len(returns):
        whole = axes.get_xaxis_transform()  # from the bottom of the plot to its top
        color = line.get_color()
        axes.vlines(across[returns], 0, 1, color, "dotted", alpha=2 * _FAINT, linewidth=1, transform=whole)


def _dots(value: NDArray[np.float64]) -> dict[str, Any]:
    """The style that marks values without a neighbour, of which a line shows nothing."""
    there = np.concatenate([[False], np.isfinite(value), [False]])
    alone = np.flatnonzero(there[1:-1] & ~there[:-2] & ~there[2:]).tolist()
    return {"marker": ".", "markevery": alone} if alone else {}


def _returns(series: Series) -> NDArray[np.intp]:
    """The first point after each restart: after a session start, or at a lower step than the one before."""
    lower = np.flatnonzero(series.step[1:] < series.step[:-1]) + 1
    starts = [before for before, _ in series.restarts if 0 < before < len(series)]
    return np.union1d(lower, np.array(starts, np.intp))


def _across(series: Series, x: str) -> NDArray[Any]:
    if x == "step":
        return series.step
    times = series.wall_time
    if x == "relative":
        return (times - times[:1]) / 3600
    dated = np.abs(times) < _LAST_YEAR
    dates = np.full(len(times), "NaT", "datetime64[us]")
    dates[dated] = (1e6 * times[dated]).astype(np.int64).astype("datetime64[us]")
    return dates


def _text(name: str) -> str:
    """A name as a label; matplotlib leaves labels out that begin with an underscore."""
    return f" {short(name)}" if name.startswith("_") else short(name)


def _finish(axes: Any, look: _Look, *, legend: bool = True) -> None:
    axes.set_xlabel(_LABELS[look.x])
    if look.logy:
        axes.set_yscale("log")
    if legend:
        for text in axes.legend(fontsize="small").get_texts():
            text.set_parse_math(False)
