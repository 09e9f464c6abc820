"""How a step of an optimizer was called."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["caller", "has_closure", "level_of_loop"]


def caller(wanted: Callable[[FrameType], bool]) -> FrameType | None:
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
