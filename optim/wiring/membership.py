"""Which parameters the optimizer steps: those of the model, all that get gradients, each once."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.loop import alive, among, rates
from optim.wiring.mistake import Check, Mistake
from optim.wiring.versions import Version, is_same, version
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["Outside", "RateZero", "SteppedTwice", "Untied", "structural"]

_Gradients = dict[int, Version]
_ZERO_STEPS = 3  # a warm-up may begin at a rate of 0


class Outside(Check):
    """GL701, GL702: parameters that get gradients, and that no optimizer has."""

    def __init__(self) -> None:
        self._outside: dict[int, Any] = {}
        self._before: Any = None  # a copy of the first of them that had a gradient

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.changed:
            self._outside = outside(loop)
            self._before = None
        if not self._outside:
            return
        stuck = [p for p in self._outside.values() if p.grad is not None and not p.grad.is_sparse and p.grad.any()]
        if not stuck:
            return
        first, before = stuck[0], self._before
        self._before = first.detach().clone()
        if before is None:
            return  # the loop may step it by hand: then it differs at the next step
        if before.shape == first.shape and torch.equal(before, first) and not _owned(loop, stuck):
            yield _of_outside(loop, stuck)
        self._outside = {}


def outside(loop: Loop) -> dict[int, Any]:
    """The trainable parameters of the model that are not the optimizer's, by their ids."""
    return {key: p for key, p in loop.parameters.items() if p.requires_grad and key not in loop.stepped}


def _owned(loop: Loop, parameters: list[Any]) -> bool:
    """Whether another optimizer has one of them."""
    keys = set(map(id, parameters))
    others = [other for other in alive(torch.optim.Optimizer) if other is not loop.optimizer]
    groups = [group for other in others for group in getattr(other, "param_groups", ())]
    return any(id(parameter) in keys for group in groups for parameter in group["params"])


def _of_outside(loop: Loop, parameters: list[Any]) -> Mistake:
    names = loop.named(parameters)
    stale = [p for key, p in loop.stepped.items() if key not in loop.parameters and p.grad is None]
    if stale:
        return Mistake(
            "GL702",
            f"the optimizer has {counted(len(stale), 'parameter')} that the model no longer has, and {among(names)} not"
            " in it: make the optimizer after the last change of the model",
            names,
        )
    return not_in_optimizer(names, "though gradients are computed at each step")


def not_in_optimizer(names: tuple[str, ...], though: str) -> Mistake:
    """GL701 of parameters with these names."""
    return Mistake("GL701", f"{among(names)} trainable, and in no group of the optimizer, {though}", names)


class Untied(Check):
    """GL703: modules that shared a parameter, and no longer do."""

    def __init__(self, loop: Loop) -> None:
        self._ties = _ties(dict(loop.model.named_parameters(remove_duplicate=False)))

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if not loop.changed:
            return
        now = dict(loop.model.named_parameters(remove_duplicate=False))
        for names in self._ties:
            if len({id(now[name]) for name in names if name in now}) > 1:
                message = f"{listed(names)} were one parameter, and are several now: they are no longer tied"
                yield Mistake("GL703", message, names)
        self._ties = _ties(now)


def _ties(parameters: dict[str, Any]) -> list[tuple[str, ...]]:
    """The names that lead to one parameter."""
    by_id: dict[int, list[str]] = {}
    for name, parameter in parameters.items():
        by_id.setdefault(id(parameter), []).append(name)
    return [tuple(names) for names in by_id.values() if len(names) > 1]


class RateZero(Check):
    """GL704: a group whose rate is 0, and that no schedule can raise."""

    def __init__(self) -> None:
        self._steps: dict[int, float] = {}  # by the number of the group

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        for number, (group, rate) in enumerate(zip(loop.optimizer.param_groups, rates(loop), strict=True)):
            scheduled = bool(group.get("initial_lr"))  # of a first rate of 0 most schedules make 0
            meant = rate != 0 or scheduled or not any(p.grad is not None for p in group["params"])
            self._steps[number] = -math.inf if meant else self._steps.get(number, 0) + 1
            if self._steps[number] == _ZERO_STEPS:
                yield rate_zero(loop.named(group["params"]))


def rate_zero(names: tuple[str, ...]) -> Mistake:
    """GL704 of a group with these parameters."""
    return Mistake("GL704", f"the learning rate of {listed(names)} is 0, and no schedule raises it", names)


class SteppedTwice(Check):
    """GL705: another optimizer that steps the same parameters by the same gradients."""

    def __init__(self) -> None:
        self._at: tuple[int, tuple[Any, ...], _Gradients] | None = None  # what had arrived when the other one stepped
        self._both: tuple[Any, ...] = ()  # what the other one was found to have after a step
        self._used: _Gradients = {}  # their gradients, as the last step has used them
        self._times = 0

    def other_step(self, loop: Loop, optimizer: Any) -> Iterator[Mistake]:
        both = tuple(p for p in shared(loop.optimizer, optimizer) if p.grad is not None)
        if both and loop.arrivals.seen and not loop.arrivals.count:
            same = _same(self._used, _gradients(self._both)) if self._both else True  # at first nobody has looked
            self._both = both
            self._times = self._times if same else 0
            if same:
                yield from self._again(loop, both)
        elif both:
            self._at = loop.arrivals.count, both, _gradients(both)

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        at, self._at = self._at, None
        if at is not None and at[0] == loop.arrivals.count and _same(at[2], _gradients(at[1])):
            yield from self._again(loop, at[1])

    def after_step(self, loop: Loop) -> Iterator[Mistake]:
        self._used = _gradients(self._both)
        yield from ()

    def _again(self, loop: Loop, both: tuple[Any, ...]) -> Iterator[Mistake]:
        self._times += 1
        if self._times == 2:  # noqa: PLR2004 - once may have been to try
            names = loop.named(both)
            yield Mistake("GL705", f"two optimizers step {listed(names)} by the same gradients", names)


def _gradients(parameters: tuple[Any, ...]) -> _Gradients:
    """Which gradients they have, and how often these have been changed, by the parameters' ids."""
    return {id(p): version(p.grad) for p in parameters if p.grad is not None}


def _same(before: _Gradients, now: _Gradients) -> bool:
    """Whether some gradients are still those that there were, and as they were."""
    return any(is_same(before[key], now[key]) for key in before.keys() & now.keys())


def shared(optimizer: Any, other: Any) -> tuple[Any, ...]:
    """The parameters that two optimizers have; none if one wraps the other: it has its groups, or has it as a part."""
    groups, others = optimizer.param_groups, other.param_groups
    if any(one is another for one in groups for another in others):
        return ()
    if any(part is one for whole, one in ((optimizer, other), (other, optimizer)) for part in vars(whole).values()):
        return ()
    keys = {id(parameter) for group in others for parameter in group["params"]}
    return tuple(p for group in groups for p in group["params"] if id(p) in keys)


def structural(loop: Loop, optimizers: list[Any]) -> Iterator[Mistake]:
    """What can be told before the first step."""
    owned = {id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    missing = loop.named(p for key, p in loop.parameters.items() if p.requires_grad and key not in owned)
    if missing and not owned & loop.parameters.keys():
        message = "the optimizer has none of the model's parameters: make it after the last change of the model"
        yield Mistake("GL702", message, missing)
    elif missing:
        yield not_in_optimizer(missing, "so that no step changes them")
    for one, other in combinations(optimizers, 2):
        if both := shared(one, other):
            names = loop.named(both)
            message = (
                f"two optimizers have {listed(names)}: each must step them by gradients of a backward pass of its own"
            )
            yield Mistake("GL705", message, names)
    for group in (group for optimizer in optimizers for group in optimizer.param_groups):
        if group.get("lr") == 0 and not group.get("initial_lr"):
            yield rate_zero(loop.named(group["params"]))
