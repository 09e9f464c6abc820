"""What is different between two runs, or between the runs of the same names in two directories."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.errors import FormatError
from summaries.patterns import demand_match, matcher, several
from summaries.reading.kinds import NOUNS
from summaries.reading.run import Run
from summaries.reading.series import Series
from summaries.tools.runs import runs_below

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.patterns import Patterns
    from summaries.reading.series import Items
    from summaries.storage.files import Access

    Hyperparameter = bool | float | str

__all__ = ["Diff", "Distance", "RunDiff", "TagDiff", "diff"]

# Speed, duration, and what the hardware says: of the machine, and never the same twice.
_OF_THE_MACHINE = re.compile(
    r"(?:.*[/_. -])?(?:"
    r"(?:\w+[_ -])?(?:per_?sec(?:ond)?s?|throughput|runtime|elapsed)|(?:it|steps|samples|tokens)/s(?:ec)?|fps|sps|mfu"
    r"|(?:step|iter|iteration|batch|epoch|data)[_-]time(?:_\w+)?"
    r"|(?:gpu|cuda|cpu|ram)[_/.-].+|\w+_(?:gpu|cpu)_\w+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two curves are apart, at the steps that both have and where both are finite.

    Attributes:
        max: the largest absolute difference.
        max_step: its step; None if there is no such step.
        mean: the mean absolute difference.
        max_relative: the largest difference relative to the larger of the two magnitudes: 0 to 2.
        mean_relative: the mean of these.
        last: the last value of each curve, whatever its step.
    """

    max: float
    max_step: int | None
    mean: float
    max_relative: float
    mean_relative: float
    last: tuple[float, float]


@dataclass(frozen=True, slots=True)
class TagDiff:
    """A tag that both runs have. Values that a restart superseded do not count.

    Attributes:
        tag: the tag.
        kind: the attribute of `Run` that has it: "scalars", "images", …
        common: number of steps that both have.
        only: number of steps that only the first and only the second run has.
        unequal: number of common steps at which the values differ.
        first_step: the first of these; None if there is none.
        distance: of scalars; None for other kinds.
    """

    tag: str
    kind: str
    common: int
    only: tuple[int, int]
    unequal: int
    first_step: int | None
    distance: Distance | None = None


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Two runs beside each other.

    Attributes:
        tags: the tags that both have, also those without a difference.
        only: the tags that only the first and only the second run has.
        hyperparameters: name → its values in the two runs, None where it is missing; only those that differ.
        ignores_only: whether steps that only one run has count as no difference.
        of_machine: the tags of either run that measure the machine, and were not compared.
    """

    tags: tuple[TagDiff, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    hyperparameters: Mapping[str, tuple[Hyperparameter | None, Hyperparameter | None]]
    ignores_only: bool = False
    of_machine: tuple[str, ...] = ()

    @property
    def different_tags(self) -> tuple[TagDiff, ...]:
        """The tags that both have, and that differ."""
        return tuple(tag for tag in self.tags if tag.unequal or (any(tag.only) and not self.ignores_only))

    @property
    def different(self) -> bool:
        """Whether there is any difference."""
        return bool(any(self.only) or self.hyperparameters or self.different_tags)

    @property
    def first_step(self) -> int | None:
        """The first step at which a value of any tag differs; None if there is none."""
        return min((tag.first_step for tag in self.tags if tag.first_step is not None), default=None)


@dataclass(frozen=True, slots=True)
class Diff:
    """Two places beside each other.

    Attributes:
        runs: name → the difference, for each run that both have. Two places with one run each have it as ".".
        only: the names of the runs that only the first and only the second place has.
    """

    runs: Mapping[str, RunDiff]
    only: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def different(self) -> bool:
        """Whether there is any difference."""
        return any(self.only) or any(run.different for run in self.runs.values())


def diff(
    a: Run | Mapping[str, Run] | str | os.PathLike[str],
    b: Run | Mapping[str, Run] | str | os.PathLike[str],
    *,
    runs: Patterns = None,
    tags: Patterns = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    common_steps: bool = False,
    on_run: Callable[[str, tuple[Run, Run]], object] | None = None,
    **access: Unpack[Access],
) -> Diff:
    """Compare two runs, or the runs of the same names in two directories.

    Values are compared at the same steps; wall times are not compared, nor are tags that measure the machine, such as
    `train/global_step_per_sec`, unless `tags` asks for them. Two values are the same if they differ by at
    most `atol + rtol * m`, where m is the larger magnitude of the two; NaN is the same as NaN.

    Args:
        a: a run, runs by name, or a path: of a run, of a directory of runs, or of an event file.
        b: what to compare it with, likewise.
        runs: only runs whose names match one of these patterns; None means all.
        tags: only tags that match one of these patterns; None means all.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        common_steps: whether steps that only one of two runs has are no difference.
        on_run: called as `on_run(name, (run, other))` after two runs were read, for example to show faults.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        What is different, and how far curves are apart.

    Raises:
        ValueError: a tolerance is negative or not a number.
        LookupError: a pattern matches no run, or no tag of the runs that both have.
        FileNotFoundError: a path does not exist, or has no event file.
        OSError: a file cannot be read.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> places = tempfile.mkdtemp(), tempfile.mkdtemp()
    >>> for place, rate in zip(places, [0.5, 0.25]):
    ...     with SummaryWriter(place) as writer:
    ...         for step in range(3):
    ...             writer.add_scalar("loss", 1 - rate * step, step)
    >>> found = diff(*places).runs["."]
    >>> found.first_step, found.tags[0].distance.max, found.tags[0].distance.last
    (1, 0.5, (0.0, 0.5))
    """
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise ValueError(f"{name} must be at least 0, got {tolerance}")
    runs, tags = several(runs), several(tags)
    ours, theirs = _runs(a, tags, access), _runs(b, tags, access)
    demand_match("run", runs, chain(ours, theirs))
    wanted = matcher(tags) if tags else _is_of_the_model
    pairs, only = _paired(ours, theirs, matcher(runs))
    differences: dict[str, RunDiff] = {}
    for name, (first, second) in pairs.items():
        both = ours[first], theirs[second]
        if on_run is not None:
            on_run(name, both)
        differences[name] = _run_diff(*both, wanted, (rtol, atol), common_steps=common_steps)
    compared = {tag for run in differences.values() for tag in (*(diff.tag for diff in run.tags), *chain(*run.only))}
    if differences and not all(any(map(matcher(pattern), compared)) for pattern in tags or ()):
        whole = _runs(a, None, access), _runs(b, None, access)  # with the tags that were not read
        every = (side[name] for pair in pairs.values() for side, name in zip(whole, pair, strict=True))
        demand_match("tag", tags, chain.from_iterable(map(_tags_with_values, every)))
    return Diff(differences, only)


def _paired(
    ours: Iterable[str], theirs: Iterable[str], chosen: Callable[[str], bool]
) -> tuple[dict[str, tuple[str, str]], tuple[tuple[str, ...], tuple[str, ...]]]:
    """The names of the runs to compare, by how the pair is called; and the names that only one side has."""
    ours, theirs = list(ours), list(theirs)
    if len(ours) == len(theirs) == 1:
        return {".": (ours[0], theirs[0])}, ((), ())
    first, second = dict.fromkeys(filter(chosen, ours)), dict.fromkeys(filter(chosen, theirs))
    return {name: (name, name) for name in first if name in second}, _only(first, second)


def _runs(side: Run | Mapping[str, Run] | str | os.PathLike[str], tags: Patterns, access: Access) -> Mapping[str, Run]:
    if isinstance(side, Run):
        return {".": side}
    return side if isinstance(side, Mapping) else runs_below(side, tags=tags, **access)


def _only(a: Iterable[str], b: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that only the first and only the second have."""
    first, second = dict.fromkeys(a), dict.fromkeys(b)
    return tuple(name for name in first if name not in second), tuple(name for name in second if name not in first)


def _run_diff(
    a: Run, b: Run, wanted: Callable[[str], bool], tolerances: tuple[float, float], *, common_steps: bool
) -> RunDiff:
    tags: list[TagDiff] = []
    for kind in NOUNS:
        first, second = getattr(a, kind), getattr(b, kind)
        tags += (
            _tag_diff(kind, values.latest(), second[tag].latest(), tolerances)
            for tag, values in first.items()
            if tag in second and wanted(tag)
        )
    compared = {tag.tag for tag in tags}
    only = _only(*(filter(wanted, _tags_with_values(run)) for run in (a, b)))
    for tag in dict.fromkeys(filter(wanted, _tags_with_values(a))):
        if tag not in compared and tag not in only[0]:  # both have it, as another kind
            only = (*only[0], tag), (*only[1], tag)
    hyperparameters = {
        name: (a.hparams.get(name), b.hparams.get(name))
        for name in dict.fromkeys([*a.hparams, *b.hparams])
        if a.hparams.get(name) != b.hparams.get(name)
    }
    of_machine = [tag for run in (a, b) for tag in _tags_with_values(run) if not (wanted(tag) or _is_of_the_model(tag))]
    return RunDiff(tuple(tags), only, hyperparameters, common_steps, tuple(dict.fromkeys(of_machine)))


def _is_of_the_model(tag: str) -> bool:
    """Whether a tag tells of the training, and not of the machine."""
    return _OF_THE_MACHINE.fullmatch(tag) is None


def _tags_with_values(run: Run) -> list[str]:
    return [tag for kind in NOUNS for tag in getattr(run, kind)]


def _tag_diff(kind: str, a: Series | Items, b: Series | Items, tolerances: tuple[float, float]) -> TagDiff:
    step, in_a, in_b = np.intersect1d(a.step, b.step, assume_unique=True, return_indices=True)
    distance = None
    if isinstance(a, Series) and isinstance(b, Series):
        first, second = a.value[in_a], b.value[in_b]
        unequal = step[~_close(first, second, tolerances)].tolist()
        distance = _distance(step, first, second, (_last(a), _last(b)))
    else:
        pairs = zip(step.tolist(), in_a.tolist(), in_b.tolist(), strict=True)
        unequal = [at for at, i, j in pairs if not _same(_value(a, i), _value(b, j), tolerances)]
    only = len(a) - len(step), len(b) - len(step)
    return TagDiff(a.tag, kind, len(step), only, len(unequal), unequal[0] if unequal else None, distance)


def _last(series: Series) -> float:
    return float(series.value[-1]) if len(series) else math.nan


def _close(a: NDArray[Any], b: NDArray[Any], tolerances: tuple[float, float]) -> NDArray[np.bool_]:
    """bool[n]: which values are the same within the tolerances, relative and absolute."""
    rtol, atol = tolerances
    with np.errstate(over="ignore", invalid="ignore"):
        bound = atol + rtol * np.maximum(np.abs(a), np.abs(b))
        near = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= bound)
    same: NDArray[np.bool_] = (a == b) | near | (np.isnan(a) & np.isnan(b))
    return same


def _distance(
    step: NDArray[np.int64], a: NDArray[np.float64], b: NDArray[np.float64], last: tuple[float, float]
) -> Distance:
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return Distance(math.nan, None, math.nan, math.nan, math.nan, last)
    step, a, b = step[finite], a[finite], b[finite]
    with np.errstate(over="ignore"):
        apart = np.abs(a - b)
        scale = np.maximum(np.abs(a), np.abs(b))
        relative = np.divide(apart, scale, out=np.zeros_like(apart), where=scale > 0)
        farthest = int(apart.argmax())
        return Distance(
            float(apart[farthest]),
            int(step[farthest]) if apart[farthest] else None,
            float(apart.mean()),
            float(relative.max()),
            float(relative.mean()),
            last,
        )


def _value(items: Any, index: int) -> Any:
    """A decoded value; what is wrong with it, if it cannot be decoded."""
    try:
        return items[index]
    except FormatError as error:
        return error.fault.got


def _same(a: Any, b: Any, tolerances: tuple[float, float]) -> bool:
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return type(a) is type(b) and bool(a == b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    return bool(_close(a, b, tolerances).all())
