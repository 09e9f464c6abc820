"""Plots of scalars with matplotlib, which is imported only when used: smoothed as in TensorBoard, restarts marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def plot_series(
    series: Series,
    ax: Any = None,
    *,
    x: str = "step",
    smoothing: float = 0.0,
    logy: bool = False,
    **style: Any,
) -> Any:
    """Draw one series; see `Series.plot`."""
    axes = needs("matplotlib.pyplot", "images").gca() if ax is None else ax
    _check(x, smoothing)
    _draw(axes, series, series.tag, x, smoothing, style)
    _finish(axes, x, logy=logy)
    return axes


def plot_scalars(
    scalars: Mapping[str, Series],
    tags: Patterns,
    ax: Any,
    *,
    subplots: bool,
    x: str = "step",
    smoothing: float = 0.0,
    logy: bool = False,
    **style: Any,
) -> Any:
    """Draw a run's series; see `Run.plot`."""
    chosen = _chosen(scalars, tags)
    _check(x, smoothing)
    plots = {tag: {tag: scalars[tag]} for tag in chosen} if subplots else {"": {tag: scalars[tag] for tag in chosen}}
    return _draw_all(plots, ax, x, smoothing, style, logy=logy, subplots=subplots)


def plot_runs(
    runs: Mapping[str, Mapping[str, Series]],
    tags: Patterns,
    ax: Any,
    *,
    subplots: bool,
    x: str = "step",
    smoothing: float = 0.0,
    logy: bool = False,
    **style: Any,
) -> Any:
    """Draw the series of several runs; see `Runs.plot`."""
    chosen = _chosen(dict.fromkeys(tag for scalars in runs.values() for tag in scalars), tags)
    _check(x, smoothing)
    of_tag = {tag: {name: runs[name][tag] for name in runs if tag in runs[name]} for tag in chosen}
    one = len(of_tag) == 1
    whole = {
        (name if one else f"{name}: {tag}"): series for tag, found in of_tag.items() for name, series in found.items()
    }
    plots = of_tag if subplots else {chosen[0] if one else "": whole}
    return _draw_all(plots, ax, x, smoothing, style, logy=logy, subplots=subplots)


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
    found = []
    for one, finite in zip(value.tolist(), np.isfinite(value).tolist(), strict=True):
        if finite:
            average = average * weight + (1 - weight) * one
            rest *= weight
        found.append(average / (1 - rest) if finite else one)
    return np.array(found)


def _check(x: str, smoothing: float) -> None:
    if x not in _LABELS:
        raise ValueError(f"x must be 'step', 'relative' or 'wall', got {x!r}")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must be at least 0 and less than 1, got {smoothing:g}")


def _chosen(known: Mapping[str, object], tags: Patterns) -> list[str]:
    """The tags that match; one that is spelled out is meant even if it looks like a pattern.

    Raises:
        KeyError: nothing matches one of the patterns; or there are no scalars.
    """
    given = several(tags)
    if not known or given == ():
        raise LookupError("there are no scalars to plot")
    for pattern in given or ():
        if pattern not in known and not any(map(matcher(pattern), known)):
            raise UnknownNameError(pattern, "no scalars are tagged", tuple(known))
    wanted = matcher(given)
    return [tag for tag in known if wanted(tag) or tag in (given or ())]


def _draw_all(
    plots: Mapping[str, Mapping[str, Series]],
    ax: Any,
    x: str,
    smoothing: float,
    style: Mapping[str, Any],
    *,
    logy: bool,
    subplots: bool,
) -> Any:
    """Draw title → label → series, each in a plot of its own; without `subplots`, there is one."""
    most = max(len(plots), *map(len, plots.values())) if plots else 0
    if most > _MOST:
        what = "plots" if len(plots) > _MOST else "lines"
        raise ValueError(f"a figure has room for {_MOST} {what}, got {most}: choose fewer tags, as in tags='loss*'")
    if subplots and ax is not None:
        raise ValueError("subplots=True makes a figure of its own: leave out ax")
    every = _figure(len(plots)) if ax is None else [ax]
    for axes, (title, lines) in zip(every, plots.items(), strict=True):
        for label, series in lines.items():
            _draw(axes, series, label, x, smoothing, style)
        if title:
            axes.set_title(_text(title), fontsize="medium", parse_math=False)
        _finish(axes, x, logy=logy, legend=list(lines) != [title])
    return np.array(every, dtype=object) if subplots else every[0]


def _figure(number: int) -> list[Any]:
    """The axes of a new figure, in rows."""
    pyplot = needs("matplotlib.pyplot", "images")
    if number == 1:
        return [pyplot.subplots(layout="constrained")[1]]
    columns = min(number, _COLUMNS)
    rows = -(-number // columns)
    size = columns * _SIZE[0], rows * _SIZE[1]
    _, axes = pyplot.subplots(rows, columns, squeeze=False, figsize=size, layout="constrained")
    every = list(axes.ravel())
    for unused in every[number:]:
        unused.remove()
    return every[:number]


def _draw(axes: Any, series: Series, label: str, x: str, smoothing: float, style: Mapping[str, Any]) -> None:
    """Draw the points that stand, fainter what smoothing or a restart replaced, and where restarts begin."""
    across = _across(series, x)
    stands = series.standing == Standing.STANDS
    if x == "step":
        along, value = across[stands], series.value[stands]
    else:  # in time, there is a gap where the superseded points are
        along, value = across, np.where(stands, series.value, np.nan)
    (line,) = axes.plot(along, smoothed(value, smoothing), **{**_dots(value), "label": _text(label), **style})
    faint = {**style, "label": "_", "color": line.get_color(), "alpha": _FAINT, "zorder": line.get_zorder() - 0.1}
    if smoothing:
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
    found = np.full(len(times), "NaT", "datetime64[us]")
    found[dated] = (1e6 * times[dated]).astype(np.int64).astype("datetime64[us]")
    return found


def _text(name: str) -> str:
    """A name as a label; matplotlib leaves labels out that begin with an underscore."""
    return f" {short(name)}" if name.startswith("_") else short(name)


def _finish(axes: Any, x: str, *, logy: bool, legend: bool = True) -> None:
    axes.set_xlabel(_LABELS[x])
    if logy:
        axes.set_yscale("log")
    if legend:
        for text in axes.legend(fontsize="small").get_texts():
            text.set_parse_math(False)
