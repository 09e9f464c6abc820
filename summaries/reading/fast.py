"""Whether to read with compiled code."""

from __future__ import annotations

from summaries.native.library import is_available

__all__ = ["use_fast"]


def use_fast(size: int, fast: bool | None) -> bool:
    """Whether to read with compiled code: where there is any, unless the caller was told not to."""
    return fast is not False and is_available()
