"""How a step of an optimizer was called."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["caller", "has_closure"]


def caller(wanted: Callable[[FrameType], bool]) -> FrameType | None:
    """The innermost of the functions that led here, for which this is true."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - it is public in all but its name
    while frame is not None and not wanted(frame):
        frame = frame.f_back
    return frame


def has_closure(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether the gradients are computed within the step; the first argument is the optimizer."""
    return any(callable(argument) for argument in (*arguments[1:], named.get("closure")))
