"""Values that are not finite, in parameters, buffers and the optimizer's state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from optim.telemetry.arriving import numbers_of
from optim.wiring.loop import sampled
from optim.wiring.mistake import Check, Mistake
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.telemetry.arriving import Arriving
    from optim.wiring.loop import Loop

    _Shapes = dict[str, tuple[int, ...]]  # of buffers, by their names

__all__ = ["NonFinite"]

_SMALL = 65_536  # elements: of more only so many at a time
_EACH = 4  # parameters and slots looked at in one step
_AT_ONCE = 16  # steps that wait for what a GPU finds; in later ones it is told as it comes


class NonFinite(Check):
    """GL741. What was not finite at first is left alone, since masks are so: buffers, in each shape, and parameters."""

    def __init__(self) -> None:
        self._finite: dict[tuple[str, tuple[int, ...]], bool] = {}  # of each buffer, when it first had this shape
        self._infinite: set[str] = set()  # parameters that had infinite elements at first, and no NaN
        self._asked: list[Arriving[tuple[_Shapes, dict[str, Any], set[str]]]] = []
        self._next = 0
        self._told: set[str] = set()

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps == 1:
            self._infinite = _infinite(loop)
        if sampled(loop):
            self._asked.append(self._question(loop))
        while self._asked and (loop.steps <= _AT_ONCE or self._asked[0].has_arrived):
            if new := sorted(self._bad(*self._asked.pop(0).value()) - self._told):
                self._told.update(new)
                message = f"{listed(new)} {'has' if len(new) == 1 else 'have'} NaN or infinite elements"
                yield Mistake("GL741", message, tuple(new))

    def _question(self, loop: Loop) -> Arriving[tuple[_Shapes, dict[str, Any], set[str]]]:
        """What is looked at in this step: buffers, parameters and slots, and which of all are not finite."""
        buffers = {f"buffer {name}": buffer for name, buffer in loop.model.named_buffers() if _is_checked(buffer)}
        others = self._others(loop)
        shapes = {name: tuple(buffer.shape) for name, buffer in buffers.items()}
        return _not_finite(buffers | others).then(lambda bad: (shapes, others, bad))

    def _bad(self, buffers: _Shapes, others: dict[str, Any], bad: set[str]) -> set[str]:
        """Those of the names that are wrong."""
        was_finite = {name: self._finite.setdefault((name, shape), name not in bad) for name, shape in buffers.items()}
        of_others = {name for name in bad - buffers.keys() if name not in self._infinite or _has_nan(others[name])}
        return of_others | {name for name in bad & buffers.keys() if was_finite[name]}

    def _others(self, loop: Loop) -> dict[str, Any]:
        """Some of the parameters and of the optimizer's slots, others at each step."""
        parameters = [p for p in loop.stepped.values() if p.is_floating_point()]
        found: dict[str, Any] = {}
        for _ in range(min(_EACH, len(parameters))):
            parameter = parameters[self._next % len(parameters)]
            self._next += 1
            (name,) = loop.named([parameter])
            found[name] = parameter
            slots = loop.optimizer.state.get(parameter, {})
            found.update((f"{slot} of {name}", value) for slot, value in slots.items() if _is_checked(value))
        return found


def _infinite(loop: Loop) -> set[str]:
    """The parameters with infinite elements and no NaN, as of transitions that are forbidden."""
    parameters = [p for p in loop.stepped.values() if p.is_floating_point() and p.numel() > 0]
    named = dict(zip(loop.named(parameters), parameters, strict=True))
    return {name for name in _not_finite(named).value() if not _has_nan(named[name])}


def _has_nan(value: Any) -> bool:
    return bool(value.detach().reshape(-1)[:_SMALL].isnan().any())


def _is_checked(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 0 and not value.is_sparse


def _not_finite(named: dict[str, Any]) -> Arriving[set[str]]:
    """Names of those with elements that are not finite: of large ones, of their beginnings."""
    parts = [value.detach().reshape(-1)[:_SMALL] for value in named.values()]
    sums = numbers_of([part.sum(dtype=torch.float32 if part.device.type == "mps" else torch.float64) for part in parts])

    def names(sums: list[float]) -> set[str]:
        suspects = [
            (name, part) for name, part, each in zip(named, parts, sums, strict=True) if not math.isfinite(each)
        ]
        return {name for name, part in suspects if not bool(part.isfinite().all())}

    return sums.then(names)
