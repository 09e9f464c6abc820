"""What steps do: that parameters with a gradient and a rate change, and that the optimizer remembers the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.loop import rates
from optim.wiring.mistake import Check, Mistake
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["StateLost", "UpdatesLost"]

_ELEMENTS = 65_536  # of a parameter are copied at most
_FEWEST = 16  # elements with a gradient, else a sample says nothing
_SHARE = 0.9  # of the elements that have a gradient
_SAMPLES = 3  # parameters that have to agree
_LAST = 24  # steps in which it is looked at
_NOT_FIRST = 10  # a step that is no first one


class UpdatesLost(Check):
    """GL731: updates below half a unit in the last place of what they are added to."""

    def __init__(self) -> None:
        self._rate = 0.0
        self._sample: tuple[Any, Any, Any] | None = None  # the parameter, a copy of it, what has a gradient
        self._lost: dict[int, float] = {}  # by a parameter's id, the share of the elements that did not change

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        self._sample = None
        if loop.steps > _LAST or loop.closure or not _is_torchs(loop.optimizer):
            return
        rate = max(rates(loop))
        rises, self._rate = rate > self._rate, rate
        found_inf = getattr(loop.optimizer, "found_inf", None)
        if rises or rate <= 0 or (found_inf is not None and float(found_inf)):
            return  # in a warm-up updates may be as small
        candidates = [p for p in loop.with_gradients() if p.numel() >= _FEWEST and _dense(p)]
        candidates = [p for p in candidates if id(p) not in self._lost] or candidates
        if candidates:
            parameter = max(candidates, key=torch.Tensor.numel)
            self._sample = parameter, _some(parameter).clone(), _some(parameter.grad) != 0
        yield from ()

    def after_step(self, loop: Loop) -> Iterator[Mistake]:
        if self._sample is None:
            return
        parameter, before, has = self._sample
        self._sample = None
        count = int(has.sum())
        if count < _FEWEST:
            return
        self._lost[id(parameter)] = 1 - float((has & (_some(parameter) != before)).sum()) / count
        every = len([p for p in loop.with_gradients() if p.numel() >= _FEWEST and _dense(p)])
        enough = len(self._lost) >= min(_SAMPLES, every)
        if enough and min(self._lost.values()) >= _SHARE:
            names = loop.named(p for p in loop.stepped.values() if id(p) in self._lost)
            share, kind = min(self._lost.values()), str(parameter.dtype).removeprefix("torch.")
            message = f"{share:.0%} or more of the elements of {listed(names)} that have a gradient do not change in a "
            why = f"step at the rate {self._rate:g}: their updates are too small for {kind}"
            self._lost = {}
            self._rate = float("inf")
            yield Mistake("GL731", message + why, names)


def _is_torchs(optimizer: Any) -> bool:
    """Whether it is one of torch's, which keep no more exact weights elsewhere."""
    return type(optimizer).__module__.startswith("torch.optim")


def _dense(parameter: Any) -> bool:
    return parameter.is_contiguous() and not parameter.grad.is_sparse and parameter.is_floating_point()


def _some(tensor: Any) -> Any:
    return tensor.detach().reshape(-1)[:_ELEMENTS]


class StateLost(Check):
    """GL732: a run that goes on, with an optimizer that begins."""

    def __init__(self, *, first: bool) -> None:
        self._first = first  # whether this is the process's first loop: a later one may begin another phase
        self._at = 0

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps == 1:
            self._at = 0 if loop.optimizer.state or not self._first else loop.step
        elif loop.steps == 2:  # noqa: PLR2004 - the second number tells what is counted
            apart = loop.step - self._at
            if self._at >= _NOT_FIRST and self._at > 2 * apart > 0 and loop.optimizer.state:
                kind = type(loop.optimizer).__name__
                message = f"the run goes on at step {self._at}, and {kind} has just begun: its state was not restored"
                yield Mistake("GL732", message)
