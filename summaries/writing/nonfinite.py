"""Warns of values that float32 cannot hold, once per tag; they are written all the same."""

from __future__ import annotations

import math
import warnings
from typing import Any

from summaries.values import as_step
from summaries.wire.scalars import as_float32

__all__ = ["NonFiniteWarning", "NonFiniteWarnings"]


class NonFiniteWarning(UserWarning):
    """A value was logged that float32 cannot hold: it is written as NaN or infinity."""


class NonFiniteWarnings:
    """Warns of values that are not finite, once per tag."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def check(self, tag: str, got: float, step: Any, *, double_precision: bool = False) -> None:
        """Warn if `got` is not finite as written; the warning names the line that called the calling method."""
        written = got if double_precision else as_float32(got)
        if not math.isfinite(written):
            self.warn(tag, got, step, written, stacklevel=4)

    def warn(self, tag: str, got: Any, step: Any, written: Any, stacklevel: int = 3) -> None:
        """Warn, if this is the first time for the tag."""
        if tag not in self._warned:
            self._warned.add(tag)
            message = f"tag {tag!r} got {got} at step {as_step(step)}: written as {written}; warned once per tag"
            warnings.warn(message, NonFiniteWarning, stacklevel=stacklevel)
