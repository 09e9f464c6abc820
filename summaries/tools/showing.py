"""Statistics of a run, tag by tag: counts, extremes, quantiles, and what is odd about the steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.patterns import matcher
from summaries.reading.kinds import NOUNS
from summaries.reading.restarts import Standing
from summaries.reading.run import Run, read_run
from summaries.reading.series import Series

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.patterns import Patterns
    from summaries.reading.series import Items
    from summaries.storage.files import Access

__all__ = ["QUANTILES", "TagStatistics", "ValueStatistics", "show"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class ValueStatistics:
    """Statistics of scalars. All but the counts, `first` and `last` leave out NaN and infinities; NaN if none is left.

    Attributes:
        nans: number of NaN.
        infinities: number of infinite values.
        first: the first value.
        last: the last value.
        min: the smallest value.
        min_step: its step; None if there is none.
        max: the largest value.
        max_step: its step; None if there is none.
        mean: the mean.
        std: the standard deviation, of these values and not of what they are a sample of.
        quantiles: 0.05, 0.25, 0.5, 0.75 and 0.95 → the quantile.
    """

    nans: int
    infinities: int
    first: float
    last: float
    min: float = math.nan
    min_step: int | None = None
    max: float = math.nan
    max_step: int | None = None
    mean: float = math.nan
    std: float = math.nan
    quantiles: Mapping[float, float] = field(default_factory=lambda: dict.fromkeys(QUANTILES, math.nan))


@dataclass(frozen=True, slots=True)
class TagStatistics:
    """What is known of the values of one tag.

    Attributes:
        tag: the tag.
        kind: the attribute of `Run` that has it: "scalars", "histograms", "images", …
        count: number of values.
        steps: the lowest and the highest step.
        wall_times: of the first and the last value, in the order they were written, in seconds since the epoch.
        superseded: how many values a restart of the run made invalid.
        restarts: how often the steps went back.
        values: statistics of scalars; None for other kinds.
    """

    tag: str
    kind: str
    count: int
    steps: tuple[int, int]
    wall_times: tuple[float, float]
    superseded: int
    restarts: int
    values: ValueStatistics | None = None


def show(
    run: Run | str | os.PathLike[str], tags: Patterns = None, *, latest: bool = False, **access: Unpack[Access]
) -> list[TagStatistics]:
    """Compute statistics of each tag of a run.

    Args:
        run: a Run, or a path as for `read_run`.
        tags: only tags that match one of these patterns; None means all.
        latest: whether to leave out values that a restart of the run superseded.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        The statistics: scalars first, each kind in order of first appearance.

    Raises:
        OSError: the files cannot be read.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step, loss in enumerate([4.0, 1.0, 2.0]):
    ...         writer.add_scalar("loss", loss, step)
    >>> [loss] = show(writer.log_dir)
    >>> loss.count, loss.values.min, loss.values.min_step, loss.values.quantiles[0.5]
    (3, 1.0, 1, 2.0)
    """
    run = run if isinstance(run, Run) else read_run(run, **access)
    wanted = matcher(tags)
    statistics: list[TagStatistics] = []
    for kind in NOUNS:
        every = [values for tag, values in getattr(run, kind).items() if wanted(tag) and len(values)]
        statistics += (_statistics(kind, values, latest=latest) for values in every)
    return statistics


def _statistics(kind: str, whole: Series | Items, *, latest: bool) -> TagStatistics:
    superseded = int(np.count_nonzero(whole.standing != Standing.STANDS))
    used = whole.latest() if latest else whole
    return TagStatistics(
        whole.tag,
        kind,
        len(used),
        (int(used.step.min()), int(used.step.max())),
        (float(used.wall_time[0]), float(used.wall_time[-1])),
        superseded,
        _restarts(whole),
        _of_values(used.step, used.value) if isinstance(used, Series) else None,
    )


def _restarts(values: Series | Items) -> int:
    """How often the steps went back, or a session that started made earlier values invalid."""
    back = set((np.flatnonzero(np.diff(values.step) < 0) + 1).tolist())
    highest = np.maximum.accumulate(values.step)
    return len(back | {before for before, start in values.restarts if before and start <= highest[before - 1]})


def _of_values(step: NDArray[np.int64], value: NDArray[np.float64]) -> ValueStatistics:
    nans, infinities = int(np.isnan(value).sum()), int(np.isinf(value).sum())
    statistics = ValueStatistics(nans, infinities, float(value[0]), float(value[-1]))
    finite = np.isfinite(value)
    if not finite.all():
        step, value = step[finite], value[finite]
    if not len(value):
        return statistics
    least, largest = int(value.argmin()), int(value.argmax())
    scale = max(abs(float(value[least])), abs(float(value[largest]))) or 1.0
    scaled = value / scale  # so that no sum or square overflows
    quantiles = (np.quantile(scaled, QUANTILES) * scale).tolist()
    return replace(
        statistics,
        min=float(value[least]),
        min_step=int(step[least]),
        max=float(value[largest]),
        max_step=int(step[largest]),
        mean=float(scaled.mean() * scale),
        std=float(scaled.std() * scale),
        quantiles=dict(zip(QUANTILES, quantiles, strict=True)),
    )
