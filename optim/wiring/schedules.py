"""The schedules of the learning rate: stepped after the optimizer, as often as they are made for, and at all."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.loop import alive, rates
from optim.wiring.membership import shared
from optim.wiring.mistake import Check, Mistake
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from optim.wiring.loop import Loop

__all__ = ["Schedules"]

_GONE = 1e-6  # of the highest rate: nothing is learnt any more
_LOST = 1e-4  # of the first rate: by then a schedule for epochs shows, if it decays by factors
_LATE_SHARE = 0.05  # of the steps so far; the last steps of a cosine are as low
_LATE_STEPS = 3
_SHORT = 200  # steps of a schedule that counts epochs rather than batches
_EPOCHS = 2  # without a step of any schedule
_EVALUATIONS = 10  # the same of one that waits for evaluations, which may be rare
_SETTLED = 3  # steps after which it is seen how often a schedule steps
_OTHERS = 2  # the step at which schedules of other optimizers are looked for


class Schedules(Check):
    """GL724, GL725, GL726."""

    def __init__(self, *, stepped: bool = False) -> None:
        self._stepped = stepped  # whether the optimizer had stepped before anybody watched
        self._schedules: list[Any] | None = None
        self._epochs: list[int] = []  # batches of the data loaders
        self._batches = 0  # so far
        self._highest = self._gone = 0.0
        self._counts: list[int] = []  # how often the schedule has stepped, at the last steps of the optimizer
        self._others: list[
            tuple[weakref.ref[Any], int]
        ] = []  # of other optimizers of the same parameters, and their counts at first
        self._stepping: set[int] = set()  # the ids of other optimizers that step
        self._told = False

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        self._batches += max(1, loop.arrivals.count)
        if self._schedules is None and "initial_lr" in loop.optimizer.param_groups[0]:
            self._look(schedules_of(loop.optimizer))
            if loop.steps == 1 and not loop.scaled and not self._stepped:
                yield from self._first(loop)
        if not self._told:
            for mistake in self._ended(loop):
                self._told = True
                yield mistake
        if self._schedules is None:
            yield from self._elsewhere(loop)

    def other_step(self, loop: Loop, optimizer: Any) -> Iterable[Mistake]:
        self._stepping.add(id(optimizer))
        return ()

    def _look(self, schedules: list[Any]) -> None:
        """Watch these schedules of the optimizer."""
        self._schedules = schedules
        self._epochs = [n for n in map(_batches, alive(torch.utils.data.DataLoader)) if n > 1]

    def _elsewhere(self, loop: Loop) -> Iterator[Mistake]:
        """GL726 of a schedule that sets the rates of an optimizer which nobody steps any more."""
        if loop.steps == _OTHERS:
            every = [s for s in alive(torch.optim.lr_scheduler.LRScheduler) if hasattr(s, "optimizer")]
            if own := [s for s in every if s.optimizer is loop.optimizer]:  # torch's one for plateaus leaves no trace
                self._look(own)
                return
            self._others = [(weakref.ref(s), _count(s)) for s in every if shared(loop.optimizer, s.optimizer)]
        for reference, first in self._others:
            schedule = reference()
            idle = schedule is not None and id(schedule.optimizer) not in self._stepping
            if idle and _count(schedule) == first + _OTHERS:
                message = f"{_name(schedule)} steps, and the rates that it sets are those of another optimizer, which "
                yield Mistake("GL726", f"{message}does not step: make it of the one that does")

    def _first(self, loop: Loop) -> Iterator[Mistake]:
        first = [schedule for schedule in self._schedules or () if _count(schedule) == 1]
        if first and not loop.optimizer.state and loop.arrivals.count <= 1:
            message = f"{_name(first[0])} steps before the optimizer does: the first rate of the schedule is left out"
            yield Mistake("GL724", message)

    def _ended(self, loop: Loop) -> Iterator[Mistake]:
        rate = max(rates(loop))
        self._highest = max(self._highest, rate)
        self._gone = self._gone + 1 if rate <= _GONE * self._highest else 0
        at_once = bool(self._schedules) and self._gone >= max(_LATE_STEPS, _LATE_SHARE * loop.steps)
        if at_once and self._highest:
            yield Mistake("GL725", f"the learning rate is down to {rate:.3g}, and the training goes on{self._hint()}")
        for schedule in (self._schedules or ())[:1]:
            self._counts = [*self._counts[-_SETTLED + 1 :], _count(schedule)]
            each = len(self._counts) == _SETTLED and self._counts[-1] - self._counts[0] == _SETTLED - 1
            what = too_fast(schedule, min(self._epochs, default=0))
            if self._epochs and loop.arrivals.count == 1 and loop.steps == max(self._epochs) + 2:
                what = what or all_early(schedule, max(self._epochs))
            if each and what:
                as_if = ", as if it were an epoch" if self._epochs else ""
                yield Mistake("GL725", f"{_name(schedule)} steps at each batch{as_if}: {what}")
            epochs = _EVALUATIONS if isinstance(schedule, torch.optim.lr_scheduler.ReduceLROnPlateau) else _EPOCHS
            if self._epochs and self._batches >= epochs * max(self._epochs) + 2 and self._unused():
                yield _unused(schedule, loop)

    def _hint(self) -> str:
        return f": {_name(self._schedules[0])} is at its end" if self._schedules else ""

    def end(self, loop: Loop) -> Iterable[Mistake]:
        if self._schedules and self._batches > max(self._epochs, default=1) and self._unused():
            yield _unused(self._schedules[0], loop)

    def _unused(self) -> bool:
        return not any(map(_count, self._schedules or ()))


def _unused(schedule: Any, loop: Loop) -> Mistake:
    return Mistake("GL726", f"{_name(schedule)} was made, and has not stepped once in {counted(loop.steps, 'step')}")


def schedules_of(optimizer: Any) -> list[Any]:
    """The schedules of an optimizer that are no parts of others."""
    found = [s for s in alive(torch.optim.lr_scheduler.LRScheduler) if getattr(s, "optimizer", None) is optimizer]
    parts = {id(part) for schedule in found for part in getattr(schedule, "_schedulers", ())}
    return [schedule for schedule in found if id(schedule) not in parts]


def too_fast(schedule: Any, of_epoch: int) -> str:
    """What shows that a schedule that steps at each batch is made for epochs; "" if nothing does.

    Args:
        schedule: one of torch's.
        of_epoch: how many batches an epoch has at least; 0 if that is not known.
    """
    kind, count = type(schedule).__name__, _count(schedule)
    if kind == "CosineAnnealingLR":
        horizon = schedule.T_max
        cycles = of_epoch > 0 and horizon % of_epoch == 0  # it falls and rises with the epochs, as it is meant to
        if count > horizon and horizon <= _SHORT and not cycles:
            return f"its rate is lowest at step {horizon}, and then rises again"
    gamma, size = getattr(schedule, "gamma", 1.0), getattr(schedule, "step_size", 1)
    if kind not in {"ExponentialLR", "StepLR"} or not 0 < gamma < 1:
        return ""
    horizon = math.ceil(math.log(_GONE) / math.log(gamma)) * size
    lost = math.log(_LOST) / math.log(gamma) * size
    if lost < min(of_epoch, _SHORT) or (count >= lost and horizon <= 2 * _SHORT):
        return f"at step {horizon:,} its rate is a millionth of the first"
    return ""


def all_early(schedule: Any, of_epoch: int) -> str:
    """What shows the same of milestones that all lie in the first epoch, once there is a second one; "" if not."""
    milestones = sorted(getattr(schedule, "milestones", ()))
    falls = type(schedule).__name__ == "MultiStepLR" and schedule.gamma < 1
    if not falls or not milestones or milestones[-1] > of_epoch or milestones[-1] > _SHORT:
        return ""
    return f"its last milestone, {milestones[-1]}, lies within the first epoch of {of_epoch:,} batches"


def _count(schedule: Any) -> int:
    parts = getattr(schedule, "_schedulers", ()) if type(schedule).__name__ == "ChainedScheduler" else ()
    return max(int(getattr(schedule, "last_epoch", 0)), *map(_count, parts), 0)


def _name(schedule: Any) -> str:
    return type(schedule).__name__


def _batches(loader: Any) -> int:
    """How many batches a loader has; 0 if it does not know."""
    try:
        return len(loader)
    except TypeError:
        return 0
