"""Whether to read with the compiled scanner, which is many times faster and takes a second to load."""

from __future__ import annotations

import logging
import sys
from functools import cache
from importlib.util import find_spec

__all__ = ["use_fast"]

_FAST_BYTES = 8 << 20  # below this, loading the compiled scanner takes longer than it saves
_HINT_BYTES = 64 << 20
_logger = logging.getLogger("summaries")


def use_fast(size: int, fast: bool | None) -> bool:
    """Whether to use the compiled scanner for `size` bytes; logs a hint once if numba is missing and would help.

    Raises:
        ImportError: `fast` is True, and numba is missing.
    """
    if fast is False:
        return False
    installed = _has_numba()
    if fast and not installed:
        raise ImportError("the compiled scanner needs numba: pip install 'gradledger[fast]'")
    if not installed and size >= _HINT_BYTES:
        _hint()
    return bool(fast) or (installed and (size >= _FAST_BYTES or "summaries.wire.compiled.scan" in sys.modules))


@cache
def _has_numba() -> bool:
    return find_spec("numba") is not None


@cache
def _hint() -> None:
    _logger.warning("reading is many times faster with numba: pip install 'gradledger[fast]'")
