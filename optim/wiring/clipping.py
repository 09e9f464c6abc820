"""When gradients are clipped: after backward and unscaling, before the step; and whether anything is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optim.wiring.mistake import Check, Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["Clipping"]

_SURE = 2  # steps in a row
_ITS_SHARE = 0.01  # of GradScaler's scale: a bound that is larger has been multiplied by it


class Clipping(Check):
    """GL721, GL722, GL723."""

    def __init__(self) -> None:
        self._since = set[str]()  # what has happened since the last step
        self._times = dict.fromkeys(("late", "scaled", "nothing"), 0)
        self._scale = self._bound = math.nan

    def clipping(self, loop: Loop, parameters: list[Any], bound: float) -> Iterator[Mistake]:
        self._bound = bound
        stepped = [parameter for parameter in parameters if id(parameter) in loop.stepped]
        if any(parameter.grad is not None for parameter in stepped):
            self._since.add("late" if self._is_late(loop) else "clipped")
        elif not stepped and not any(parameter.grad is not None for parameter in parameters):
            self._since.add("nothing")  # what is stepped may have lost its gradients: GL713, GL714
        yield from ()

    def _is_late(self, loop: Loop) -> bool:
        """Whether these are the gradients of the last step; what is not watched may have got new ones."""
        used = loop.arrivals.some_left or "late" in self._since  # a clipping changes them
        return bool(loop.steps) and not loop.arrivals.count and used

    def unscaled(self, loop: Loop, scaler: Any) -> Iterator[Mistake]:
        self._since.add("unscaled")
        if "clipped" in self._since and (scale := scaler.get_scale()) != 1:
            self._since.add("scaled")
            self._scale = scale
        yield from ()

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        fused = getattr(loop.optimizer, "grad_scale", None)  # a fused optimizer unscales in its step
        if fused is not None and "clipped" in self._since and "unscaled" not in self._since and float(fused) != 1:
            self._since.add("scaled")
            self._scale = float(fused)
        if not loop.arrivals.seen:
            self._since -= {"late", "nothing"}
        if self._sure("late", "clipped" not in self._since):
            message = "gradients are clipped after the step that uses them, so that no step is clipped"
            yield Mistake("GL721", message)
        if self._sure("scaled", not _ITS_SHARE * self._scale <= self._bound < math.inf):
            message = f"gradients are clipped while GradScaler has them {self._scale:,.0f} times as large"
            yield Mistake("GL722", f"{message}: call scaler.unscale_(optimizer) before")
        if self._sure("nothing", not self._since & {"clipped", "late"}):
            message = "the loop clips a list of parameters none of which has a gradient: it clips nothing"
            yield Mistake("GL723", message)
        self._since.clear()

    def _sure(self, what: str, really: bool) -> bool:
        self._times[what] = self._times[what] + 1 if what in self._since and really else 0
        return self._times[what] == _SURE
