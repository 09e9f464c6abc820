"""What a rule sees of a run: its series by role, without superseded points, and its files and sessions."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.signals.loss_names import maybe_loss
from summaries.auditing.signals.objectives import (
    behaves_like_a_loss,
    main_loss,
    main_reward,
    parts,
    sum_of,
    trained_with,
)
from summaries.auditing.signals.settings import Setting, settings
from summaries.auditing.signals.tags import Meaning
from summaries.auditing.statistics.descent import Descent
from summaries.reading.restarts import Standing, standing
from summaries.reading.series import Series
from summaries.storage.names import whole_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from summaries.arrays import Bools, Floats, Ints
    from summaries.auditing.signals.loggers import Logger
    from summaries.auditing.signals.tags import TagTable
    from summaries.reading.run import Run

__all__ = ["Signal", "Signals", "common_points"]


_RATES, _FAR, _EVENLY = 20, 100.0, 0.05  # points of a range test, what it grows by, and how far it leaves a line
_UNTIMED = frozenset(("housekeeping", "other_axis", "steps_per_second"))


class Signal:
    """The series of a tag, and what the tag means.

    Attributes:
        tag: the tag.
        meaning: its role, variable and slot.
        series: all points, in the order they were written.
        file_starts: int64[files]: for each of `Signals.files`, how many of the points are in earlier files.
        tags: the tags that it is made of: its own, or those of the parts of a sum.
    """

    def __init__(
        self, series: Series, meaning: Meaning, file_starts: Sequence[int], tags: tuple[str, ...] = ()
    ) -> None:
        self.tag: str = series.tag
        self.meaning = meaning
        self.series = series
        self.file_starts = file_starts
        self.tags: tuple[str, ...] = tags or (series.tag,)

    def __len__(self) -> int:
        return len(self.series)

    @cached_property
    def latest(self) -> Series:
        """The points that stand after restarts."""
        step = self.series.step
        if not self.series.restarts and (step[1:] > step[:-1]).all():
            return self.series
        return self.series.latest()

    @cached_property
    def standing(self) -> Series:
        """The points that stand, including all of equal steps in a row, but no copies: rules look at every number."""
        step, value = self.series.step, self.series.value
        if not self.series.restarts and (step[1:] > step[:-1]).all():
            return self.series
        stands = standing(step, self.series.restarts, keep_repeats=True) == Standing.STANDS
        stands[1:] &= (step[1:] != step[:-1]) | (value[1:] != value[:-1])  # fastai writes a point again and again
        return _those(self.series, stands)

    @cached_property
    def finite(self) -> Series:
        """The points that stand and are finite."""
        return _those(self.standing, np.isfinite(self.standing.value))

    @cached_property
    def descent(self) -> Descent:
        """What rules of learning see of the finite points, of which there must be two: levels, and their trend."""
        return Descent(self.finite.value)


def _those(series: Series, chosen: Bools) -> Series:
    """Some points of a series."""
    if chosen.all():
        return series
    return Series(series.tag, series.step[chosen], series.wall_time[chosen], series.value[chosen])


def _whole(losses: Sequence[Signal], main: Signal) -> Signal:
    """The main one of these losses, or the sum of those of which it is one part."""
    summed = parts(losses, main)
    if len(summed) == 1:
        return main
    return Signal(sum_of(summed), main.meaning, main.file_starts, tuple(signal.tag for signal in summed))


def common_points(signal: Signal, divisor: Signal) -> tuple[Ints, Floats, Floats]:
    """The steps at which both signals are finite and the second is positive; and the values of each there.

    Returns:
        int64[n], float64[n], float64[n].
    """
    first, second = signal.latest, divisor.latest
    step, i, j = np.intersect1d(first.step, second.step, return_indices=True)
    a, b = first.value[i], second.value[j]
    fine = np.isfinite(a) & np.isfinite(b) & (b > 0)
    return step[fine], a[fine], b[fine]


class Signals:
    """A run as rules see it.

    Args:
        name: the run's name.
        run: its columns and faults.
        table: what its tags mean.
        baseline: the runs to compare it with.

    Attributes:
        name: the run's name.
        run: its columns and faults.
        files: its files; what a writer wrote to a store as several objects is one, by the name of the first of them.
        all: the signal of each tag, by tag.
        baseline: the runs to compare it with.
        ranks: if this run is the first rank of a job, all its ranks, in order.
        logger: what wrote the run.
        other_files: what those of its files are that are no event files: path → words.
    """

    def __init__(self, name: str, run: Run, table: TagTable, baseline: Sequence[Signals] = ()) -> None:
        self.name = name
        self.run = run
        self.baseline = baseline
        self._table = table
        self.ranks: Sequence[Signals] = ()
        self.logger: Logger = table.logger
        self.other_files: Mapping[str, str] = {}
        wholes = list(map(whole_name, run.files))
        begins = [i for i, whole in enumerate(wholes) if whole not in wholes[i - 1 : i]]  # of no file before the first
        self.files: tuple[str, ...] = tuple(run.files[i] for i in begins)
        self.all: dict[str, Signal] = {}
        for tag, series in run.scalars.items():
            starts = run.file_starts(tag)
            self.all[tag] = Signal(series, table.meaning(tag, name), [starts[i] for i in begins])
        self._sort()

    def with_signals(self, signals: Mapping[str, Signal]) -> Signals:
        """The same run with other signals, by tag."""
        other = Signals(self.name, self.run, self._table)
        other.all = dict(signals)
        other._sort()
        return other

    def _sort(self) -> None:
        """Sort the signals by role."""
        self._by_role: dict[str, list[Signal]] = defaultdict(list)
        for signal in self.all.values():
            if signal.meaning.judged:
                self._by_role[signal.meaning.role].append(signal)
        self._settle_likely_losses()

    def _settle_likely_losses(self) -> None:
        """Decide by behaviour what the losses are whose names contain unknown words.

        Without other losses, those that behave like one are the losses of the run. The others may be anything that is
        called a loss, but even then it should be a number.
        """
        kinds = {signal.tag: maybe_loss(signal.tag) for signal in self.of("")}
        for kind in ("loss", "validation_loss"):
            likely = [signal for signal in self.of("") if kinds[signal.tag] == kind]
            lacking = not self.of(kind) and not self.of("auxiliary_loss")
            for signal in likely:
                role = kind if lacking and behaves_like_a_loss(signal) else "auxiliary_loss"
                signal.meaning = Meaning(role)
                self._by_role[""].remove(signal)
                self._by_role[role].append(signal)

    def of(self, *roles: str) -> list[Signal]:
        """The signals with one of these roles, in the order of the roles."""
        return [signal for role in roles for signal in self._by_role.get(role, ())]

    @property
    def present(self) -> frozenset[str]:
        """What there is for rules to judge: roles of signals, and `baseline`, `ranks`, `faults` and `wiring`."""
        others = {"baseline": self.baseline, "ranks": self.ranks, "faults": self.run.faults, "wiring": self._wiring}
        return frozenset(name for name, there in chain(self._by_role.items(), others.items()) if there)

    @property
    def _wiring(self) -> bool:
        """Whether checks of the training loop have told something."""
        return any(tag.startswith("wiring/") for tag in self.run.tags)

    @cached_property
    def settings(self) -> list[Setting]:
        """What was set anew while the run trained."""
        return settings(self.of("", "housekeeping"))

    def for_variable(self, role: str) -> dict[str, Signal]:
        """The first signal of each variable, among those with this role."""
        first: dict[str, Signal] = {}
        for signal in self.of(role):
            first.setdefault(signal.meaning.variable, signal)
        return first

    @cached_property
    def timed(self) -> dict[str, Signal]:
        """By tag, the signals whose steps are those of the run: not counters, clocks, or values on a second axis."""
        return {signal.tag: signal for signal in self.judged if signal.meaning.role not in _UNTIMED}

    @property
    def judged(self) -> list[Signal]:
        """The signals that rules look at: all but those of tags that a configuration calls other."""
        return [signal for signal in self.all.values() if signal.meaning.judged]

    def meaning(self, tag: str) -> Meaning:
        """What a tag means, also one without scalars."""
        return self._table.meaning(tag, self.name)

    @cached_property
    def longest(self) -> Signal | None:
        """The signal with the most points: its steps and times represent the run."""
        return max(self.timed.values(), key=len, default=None)

    @cached_property
    def main_loss(self) -> Signal | None:
        """The loss that stands for the run; None if it has none that training has to bring down."""
        return main_loss(self.of("loss"), self.logger)

    @cached_property
    def main(self) -> Signal | None:
        """What to show of the run first: its main loss, or its reward, or a validation loss, or an auxiliary loss."""
        reward = main_reward(self.of("reward"), self.logger)
        if reward is not None:  # there, a loss says little
            return reward
        ranked = (main_loss(self.of(role), self.logger) for role in ("loss", "validation_loss", "auxiliary_loss"))
        return next(filter(None, ranked), None)

    @cached_property
    def objective(self) -> Signal | None:
        """What the run trains: its main loss, or the sum of its parts; None if its course says nothing."""
        main = self.main_loss
        if main is None or self.moving_target or self.tests_rates:
            return None
        return _whole(self.of("loss"), main)

    @cached_property
    def validation(self) -> Signal | None:
        """What validates the objective: the validation loss that stands for the run, or the sum of its parts."""
        main = main_loss(self.of("validation_loss"), self.logger)
        return None if main is None else _whole(self.of("validation_loss"), main)

    def trained_with(self, validation: Signal) -> Signal | None:
        """The loss that falls if the training goes on: the one of this validation, else the objective of the run."""
        return trained_with(validation, self.of("loss")) or self.objective

    @property
    def moving_target(self) -> bool:
        """Whether tags show that losses are measured against a moving target: own returns, or the skill of an opponent.

        Such losses may rise in a healthy run, so their course says nothing.
        """
        return self._table.moving_target

    @cached_property
    def tests_rates(self) -> bool:
        """Whether a learning rate grows by one factor from point to point, all along: a range test, and no training.

        Its loss blows up in the end, which is what the test is for.
        """
        rates = (signal.finite for signal in self.of("learning_rate"))
        return any(_grows_evenly(rate.step, rate.value) for rate in rates)

    def file_ranges(self, signal: Signal) -> list[tuple[int, int]]:
        """For each file, the range of the signal's points that it contains: start and stop."""
        starts = [*signal.file_starts, len(signal)]
        return list(pairwise(starts))

    @cached_property
    def concurrent_files(self) -> list[tuple[int, int]]:
        """Pairs of files that were written at the same time, by index: each has two points of a tag in the other."""
        numbers = range(len(self.files))
        if len(numbers) < 2:  # noqa: PLR2004 - a pair
            return []
        times = [self._times_in(file) for file in numbers]
        spans = [_span(np.concatenate(columns)) for columns in times]

        def overlap(i: int, j: int) -> bool:
            low, high = max(spans[i][0], spans[j][0]), min(spans[i][1], spans[j][1])
            return low < high and all(_most_within(times[file], low, high) > 1 for file in (i, j))

        return [pair for pair in combinations(numbers, 2) if overlap(*pair)]

    def _times_in(self, file: int) -> list[Floats]:
        """The wall times of each tag's points in a file, in seconds since the epoch."""
        parts = ((signal.series.wall_time, self.file_ranges(signal)[file]) for signal in self.all.values())
        return [np.empty(0), *(times[start:stop] for times, (start, stop) in parts)]

    def sessions(self, signal: Signal) -> Ints:
        """The indices at which a session of a tag begins: at session starts, and at files written at the same time."""
        cuts = {before for before, _ in signal.series.restarts}
        for pair in self.concurrent_files:
            cuts.update(signal.file_starts[file] for file in pair)
        return np.array(sorted(cut for cut in cuts if 0 < cut < len(signal)), np.int64)


def _grows_evenly(step: Ints, rate: Floats) -> bool:
    """Whether the logarithm of a rate is a line over the steps that rises far."""
    if len(rate) < _RATES or not rate.min() > 0 or rate[-1] < _FAR * rate[0]:
        return False
    grown = np.log(rate / rate[0])
    line = grown[-1] * (step - step[0]) / max(int(step[-1] - step[0]), 1)
    return bool(np.abs(grown - line).max() <= _EVENLY * grown[-1])


def _span(times: Floats) -> tuple[float, float]:
    """The earliest and the latest of the finite times; infinity and minus infinity if there are none."""
    times = times[np.isfinite(times)]
    return float(times.min(initial=np.inf)), float(times.max(initial=-np.inf))


def _most_within(columns: Iterable[Floats], low: float, high: float) -> int:
    """How many times lie between two, in the column that has the most there."""
    return max(int(np.count_nonzero((times >= low) & (times <= high))) for times in columns)
