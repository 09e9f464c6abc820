"""GradScaler: when it unscales an optimizer's gradients, and whether the optimizer then steps.

While somebody watches, torch's method `GradScaler.unscale_` tells so; `GradScaler.step` calls it, too.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Protocol

import torch

from optim.wiring.mistake import Check, Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["EveryStepSkipped", "unwatch", "watch"]

_SKIPPED = 3  # steps in a row: a scaler finds its scale by skipping some, but not below 1


class Watcher(Protocol):
    """Is told of unscaling."""

    def unscaled(self, optimizer: Any, scaler: Any) -> None:
        """The scaler has unscaled the gradients of this optimizer."""


_watchers: weakref.WeakSet[Any] = weakref.WeakSet()
_original: list[Any] = []


def watch(watcher: Watcher) -> None:
    """Tell this watcher until `unwatch`, or until nobody else refers to it."""
    if not _original:
        _original.append(torch.amp.GradScaler.unscale_)
        torch.amp.GradScaler.unscale_ = _telling(_original[0])
    _watchers.add(watcher)


def unwatch(watcher: Watcher) -> None:
    """No longer tell this watcher; after the last one torch's method is as it was."""
    _watchers.discard(watcher)
    if _original and not _watchers:
        torch.amp.GradScaler.unscale_ = _original.pop()


def _telling(original: Any) -> Any:
    @functools.wraps(original)
    def unscale_(self: Any, optimizer: Any) -> Any:
        result = original(self, optimizer)
        if self.is_enabled():
            for watcher in list(_watchers):
                watcher.unscaled(optimizer, self)
        return result

    return unscale_


class EveryStepSkipped(Check):
    """GL728: gradients are not finite at any scale, so that the scaler skips every step."""

    def __init__(self) -> None:
        self._skipped = 0

    def unscaled(self, loop: Loop, scaler: Any) -> Iterator[Mistake]:
        self._skipped += 1
        if self._skipped > _SKIPPED and scaler.get_scale() < 1:
            self._skipped = -(10**9)  # told
            message = (
                f"GradScaler skips every step, and its scale is down to {scaler.get_scale():g}: gradients are not "
            )
            yield Mistake("GL728", message + "finite at any scale")

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        self._skipped = min(self._skipped, 0)
        yield from ()
