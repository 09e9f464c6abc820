"""Whether each step has gradients of its own: zeroed before they come, there when it steps, used once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.loop import sampled
from optim.wiring.mistake import Check, Mistake
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["Backward"]

_SURE = 2  # times in a row; once may be meant
_SURE_BESIDE = 8  # the same, if other parameters have gradients: optimizers may take turns of several steps
_SURE_LATER = 16  # the same, once steps have had gradients: the loop may zero those of a bad batch
_IDLE = 3  # steps without gradients: an optimizer of a part may have to wait for its turn


class Backward(Check):
    """GL712, GL713, GL714."""

    def __init__(self) -> None:
        self._times = dict.fromkeys(("piled", "zeroed", "idle", "gone", "used"), 0)
        self._had = False  # whether a step has had gradients of its own
        self._values: Any = None  # of the smallest watched one, once they seem to be used again

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        arrivals = loop.arrivals
        some = any(p.grad is not None for p in loop.stepped.values())
        elsewhere = not some and any(p.grad is not None for p in loop.parameters.values())
        none = not some and not elsewhere
        if self._sure("gone", not some and arrivals.count > 0) >= self._enough(_SURE_BESIDE if elsewhere else _SURE):
            yield _zeroed("None")
        if loop.closure:
            return
        if self._sure("idle", none and not arrivals.count) == _IDLE:
            yield Mistake("GL714", f"{counted(_IDLE, 'step')} were made without a gradient: nothing calls backward")
        if self._sure("piled", arrivals.on_leftovers) == _SURE:
            message = "the gradients of the last step are still there when new ones are added, so they pile up: call "
            yield Mistake("GL712", message + "optimizer.zero_grad() before backward")
        looks = some and arrivals.count and sampled(loop)
        if looks and self._sure("zeroed", arrivals.lost()) == self._enough(1):
            yield _zeroed("zero")
        self._had |= bool(looks and not arrivals.zero)
        if some and self._again(loop):
            message = "a step uses the same gradients as the step before: there was no backward pass between them"
            yield Mistake("GL714", message)

    def after_step(self, loop: Loop) -> Iterator[Mistake]:
        self._values = None
        if self._times["used"] and (smallest := loop.arrivals.smallest()) is not None:
            self._values = smallest.detach().clone()
        yield from ()

    def _again(self, loop: Loop) -> bool:
        """Whether it is sure that gradients are used a second time; they can also be changed by way of `data`."""
        if not loop.arrivals.seen or loop.arrivals.count or not loop.arrivals.unchanged:
            return False
        first = self._times["used"] == 0
        self._times["used"] = max(self._times["used"], 1)
        smallest = loop.arrivals.smallest()
        if first or self._values is None or smallest is None or not torch.equal(self._values, smallest.detach()):
            return False
        self._times["used"] += 1
        return self._times["used"] == _SURE

    def _enough(self, at_first: int) -> int:
        return _SURE_LATER if self._had else at_first

    def _sure(self, what: str, seen: bool) -> int:
        """How many times in a row it was seen; once it was told, it goes on counting."""
        self._times[what] = self._times[what] + 1 if seen else 0
        return self._times[what]


def _zeroed(what: str) -> Mistake:
    message = f"gradients are {what} when the step is made, though a backward pass has made some: they are zeroed "
    return Mistake("GL713", message + "between backward and step")
