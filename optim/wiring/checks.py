"""All checks of one loop: what they are told, and how what they find is told.

None of them may raise into a training, or change what it computes. One that fails is left out from then on.
"""

from __future__ import annotations

import itertools
import logging
import math
import weakref
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from optim.wiring import scaling
from optim.wiring.backward import Backward
from optim.wiring.batches import BatchesOfOne, BatchesRepeat
from optim.wiring.clipping import Clipping
from optim.wiring.cuts import Cuts
from optim.wiring.effect import StateLost, UpdatesLost
from optim.wiring.health import NonFinite
from optim.wiring.loop import ALL_LOOKED_AT, Loop, sampled
from optim.wiring.losses import LossBelowBound
from optim.wiring.membership import Outside, RateZero, SteppedTwice, Untied, structural
from optim.wiring.mistake import Check
from optim.wiring.modes import EvaluationMode, told_of_evaluation
from optim.wiring.replicas import Replicas, is_replicated
from optim.wiring.schedules import Schedules

if TYPE_CHECKING:
    from collections.abc import Callable

    from optim.wiring.mistake import Mistake

__all__ = ["Checks", "before_training"]

_log = logging.getLogger("optim")
_EVENTS = ("before_step", "after_step", "clipping", "unscaled", "loss", "other_step", "end")
_NO_BOUND = 1e8  # who clips by more only wants to be told the norm
_loops = itertools.count()  # that this process has begun to train


class Checks:
    """Watches a loop that steps an optimizer.

    Args:
        optimizer: a torch optimizer.
        model: the module that it trains.
        tell: called with each mistake, once.
        step: returns the number of the step that is being made; None to count them from 1.
    """

    def __init__(
        self, optimizer: Any, model: Any, tell: Callable[[Mistake], object], step: Callable[[], int] | None = None
    ) -> None:
        self._tell, self._step = tell, step
        self._told: set[str] = set()
        self._other_steps: Any = None  # the handle of a hook
        self._loop: Any = None
        self._asked: dict[str, list[Check]] = {}  # by event
        first = next(_loops) == 0
        with torch.no_grad():
            self._guarded(lambda: self._start(optimizer, model, first=first))

    def _start(self, optimizer: Any, model: Any, *, first: bool) -> None:
        loop = self._loop = Loop(model, optimizer)
        loop.arrivals.watch([p for p in loop.stepped.values() if p.requires_grad])
        stepped = bool(getattr(optimizer, "_opt_called", False))  # a schedule has torch keep it
        checks: list[Check] = [
            Untied(loop), RateZero(), Clipping(), Schedules(stepped=stepped), EvaluationMode(),
            scaling.EveryStepSkipped(), StateLost(first=first, begun=self._begun()), LossBelowBound(),
        ]  # fmt: skip
        if not loop.sharded:
            checks += [Outside(), SteppedTwice(), Backward(), Cuts(), UpdatesLost(), NonFinite()]
            checks += [BatchesOfOne(loop), BatchesRepeat(loop), *([Replicas()] if is_replicated(model) else [])]
        self._asked = {
            event: [c for c in checks if getattr(type(c), event) is not getattr(Check, event)] for event in _EVENTS
        }
        self._other_steps = register_optimizer_step_post_hook(_weakly(self._other_step))
        weakref.finalize(self, self._other_steps.remove)
        scaling.watch(self)

    def clipping(self, parameters: list[Any], bound: float, order: float) -> None:
        """The loop is about to clip gradients of these parameters: by a bound on their norm of this order, or values.

        Args:
            parameters: any parameters.
            bound: on their norm; infinite if values are clipped, or only the norm is asked for.
            order: of the norm; NaN if values are clipped.
        """
        if bound < _NO_BOUND or math.isnan(order):
            self._ask("clipping", parameters, bound)

    def loss(self, loss: Any) -> None:
        """The loop gives the loss of the coming step."""
        if self._loop is not None and sampled(self._loop):
            self._ask("loss", loss)

    def unscaled(self, optimizer: Any, scaler: Any) -> None:
        """A GradScaler has unscaled the gradients of an optimizer."""
        if self._loop is not None and optimizer is self._loop.optimizer:
            self._loop.scaled = True
            self._ask("unscaled", scaler)

    def remove(self) -> None:
        """End: the hooks are taken off."""
        if self._other_steps is not None:
            self._other_steps.remove()
        scaling.unwatch(self)
        self._ask("end")
        if self._loop is not None:
            self._loop.arrivals.stop()
        self._asked = {}

    def before_step(self, *, closure: bool) -> None:
        """The optimizer is about to step, unless it calls a closure that makes the gradients."""
        if self._loop is None:
            return
        self._loop.closure = closure
        if not closure:
            self._begin()

    def after_step(self) -> None:
        """The optimizer has stepped."""
        if self._loop is None:
            return
        if self._loop.closure:
            self._begin()
        with torch.no_grad():  # once a step's end, as entering it takes longer than most checks
            found = self._found("after_step")
            self._guarded(self._end_step)
        self._tell_new(found)

    def _begin(self) -> None:
        with torch.no_grad():
            self._guarded(self._look)
            found = self._found("before_step")
        self._tell_new(found)

    def _look(self) -> None:
        loop = self._loop
        loop.steps += 1
        loop.step = loop.steps if self._step is None else self._step()
        loop.look(anew=loop.steps == 1)

    def _begun(self) -> int | None:
        """The number at which the loop is before its first step; None if it does not know it yet."""
        try:
            return None if self._step is None else int(self._step())
        except Exception:  # noqa: BLE001 - whatever it is, the training goes on
            return None

    def _end_step(self) -> None:
        loop = self._loop
        if loop.changed or loop.steps == ALL_LOOKED_AT:
            telling = [p for p in loop.with_gradients() if p.requires_grad]  # those without gradients say nothing
            few = loop.steps >= ALL_LOOKED_AT
            loop.arrivals.watch(telling or [p for p in loop.stepped.values() if p.requires_grad], few=few)
        loop.arrivals.stepped()

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _other_step(self, optimizer: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if optimizer is not self._loop.optimizer and self._loop.optimizer is not None:
            self._ask("other_step", optimizer)

    def _ask(self, event: str, *arguments: Any) -> None:
        with torch.no_grad():
            found = self._found(event, *arguments)
        self._tell_new(found)

    def _found(self, event: str, *arguments: Any) -> list[Mistake]:
        found: list[Mistake] = []
        for check in self._asked.get(event, ()):
            try:
                found += getattr(check, event)(self._loop, *arguments)
            except Exception:  # noqa: BLE001 - whatever it is, the training goes on
                self._leave_out(check)
        return found

    def _tell_new(self, found: list[Mistake]) -> None:
        for mistake in found:
            if mistake.code not in self._told:
                self._told.add(mistake.code)
                self._tell(mistake._replace(step=self._loop.step))

    def _leave_out(self, *failed: Check) -> None:
        _log.debug("a check of the training loop failed, and is left out", exc_info=True)
        self._asked = {event: [c for c in checks if c not in failed] for event, checks in self._asked.items()}

    def _guarded(self, call: Callable[[], None]) -> None:
        """Call it; if it fails, the training goes on without checks."""
        try:
            call()
        except Exception:  # noqa: BLE001 - likewise
            self._leave_out(*chain.from_iterable(self._asked.values()))


def _weakly(method: Callable[..., None]) -> Callable[..., None]:
    """The method, as long as its object lives: torch keeps what is told of every optimizer."""
    reference = weakref.WeakMethod(method)

    def call(*arguments: Any) -> None:
        if (alive := reference()) is not None:
            alive(*arguments)

    return call


def before_training(model: Any, optimizers: tuple[Any, ...]) -> list[Mistake]:
    """What is wrong before the first step: see `optim.integrations.torch.check`."""
    fitting = all(hasattr(optimizer, "param_groups") for optimizer in optimizers)
    if not optimizers or not fitting or not hasattr(model, "named_parameters"):
        got = ", ".join(type(argument).__name__ for argument in (model, *optimizers))
        raise TypeError(f"check(model, optimizer, …) needs a torch module and torch optimizers, got {got}")
    loop = Loop(model, optimizers[0])
    return [*structural(loop, list(optimizers)), *told_of_evaluation(loop)]
