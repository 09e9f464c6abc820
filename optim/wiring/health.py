"""Values that are not finite, in parameters, buffers and the optimizer's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.loop import sampled
from optim.wiring.mistake import Check, Mistake
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from optim.wiring.loop import Loop

__all__ = ["NonFinite"]

_SMALL = 65_536  # elements: of more only so many at a time
_EACH = 4  # parameters and slots looked at in one step


class NonFinite(Check):
    """GL741. Buffers that were not finite at first are left alone, and infinities of parameters: masks have such."""

    def __init__(self) -> None:
        self._finite: dict[str, bool] = {}  # of each buffer, at first
        self._infinite: set[str] = set()  # parameters that had infinite elements at first, and no NaN
        self._next = 0
        self._told: set[str] = set()

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if not sampled(loop):
            return
        buffers = {f"buffer {name}": buffer for name, buffer in loop.model.named_buffers() if _is_checked(buffer)}
        bad = set(_not_finite(buffers))
        for name in buffers:
            self._finite.setdefault(name, name not in bad)
        bad = {name for name in bad if self._finite[name]}
        others = self._others(loop)
        if loop.steps == 1:
            self._infinite = _infinite(loop)
        bad |= {name for name in _not_finite(others) if name not in self._infinite or _has_nan(others[name])}
        if new := sorted(bad - self._told):
            self._told |= bad
            yield Mistake(
                "GL741", f"{listed(new)} {'has' if len(new) == 1 else 'have'} NaN or infinite elements", tuple(new)
            )

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
    return {name for name in _not_finite(named) if not _has_nan(named[name])}


def _has_nan(value: Any) -> bool:
    return bool(value.detach().reshape(-1)[:_SMALL].isnan().any())


def _is_checked(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 0 and not value.is_sparse


def _not_finite(named: dict[str, Any]) -> Iterable[str]:
    """Names of those with elements that are not finite: of large ones, of their beginnings."""
    if not named:
        return
    parts = [value.detach().reshape(-1)[:_SMALL] for value in named.values()]
    if bool(torch.stack([part.sum(dtype=torch.float64) for part in parts]).isfinite().all()):
        return
    yield from (name for name, part in zip(named, parts, strict=True) if not bool(part.isfinite().all()))
