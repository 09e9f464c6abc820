"""How a step of an optimizer was called."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["Outermost", "has_closure", "level_of_loop"]


class Outermost:
    """Tells the steps of an optimizer from those of a base class that it makes within them: hooks hear of both."""

    def __init__(self) -> None:
        self._calling: FrameType | None = None  # the step that is being made
        self._within = 0  # steps of base classes

    def begins(self) -> bool:
        """Whether the step that begins is one of the optimizer's own."""
        outer = self._calling
        if outer is not None and _caller(lambda frame: frame is outer) is not None:  # it has not raised
            self._within += 1
            return False
        file = torch.optim.Optimizer.step.__code__.co_filename  # it has what calls the hooks and the step
        self._calling, self._within = _caller(lambda frame: frame.f_code.co_filename == file), 0
        return True

    def ends(self) -> bool:
        """Whether the step that ends is one of the optimizer's own."""
        if self._within:
            self._within -= 1
            return False
        self._calling = None
        return True


def _caller(wanted: Callable[[FrameType], bool]) -> FrameType | None:
    """The innermost of the functions that led here, for which this is true."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - it is public in all but its name
    while frame is not None and not wanted(frame):
        frame = frame.f_back
    return frame


def level_of_loop() -> int:
    """The `stacklevel` with which the caller of this warns at a line that is neither torch's nor this package's."""
    not_the_loop = tuple(os.path.dirname(file) + os.sep for file in (torch.__file__, os.path.dirname(__file__)))
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as above
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(not_the_loop):
        frame, level = frame.f_back, level + 1
    return 1 if frame is None else level


def has_closure(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether the gradients are computed within the step; the first argument is the optimizer."""
    return any(callable(argument) for argument in (*arguments[1:], named.get("closure")))
