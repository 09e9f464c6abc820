"""Whether to read with compiled code: what it saves is weighed against loading it, and against compiling it first."""

from __future__ import annotations

import logging
from functools import cache

from summaries.native.library import Library, has_compiler
from summaries.wire.compiled.state import SCANNER

__all__ = ["use_fast"]

# A MB takes 1 ms with compiled code, and 20 ms or more without. Loading the code takes 40 ms, compiling it 2 s.
_LOAD_BYTES = 3 << 20
_COMPILE_BYTES = 160 << 20
_HINT_BYTES = 64 << 20
_logger = logging.getLogger("summaries")


def use_fast(size: int, fast: bool | None, library: Library = SCANNER) -> bool:
    """Whether to read with compiled code, which is then loaded; logs a hint once if it would help and is not there.

    Args:
        size: how many bytes are to be read in all.
        fast: what the caller was told: True to use compiled code, False not to, None to decide by the size. It is not
            used if that would take longer than reading without it: with few bytes, or if there is more to compile than
            to read.
        library: the compiled code in question.

    Raises:
        ImportError: `fast` is True, and numba is missing.
    """
    if fast is False:
        return False
    if fast:
        if not has_compiler():
            raise ImportError("the compiled scanner needs numba: pip install 'gradledger[fast]'")
        return True
    if library.is_loaded:
        return True
    if size < _LOAD_BYTES:
        return False
    worth_it = size >= _COMPILE_BYTES or (has_compiler() and library.is_kept())
    ready = worth_it and library.can_be_called()
    if not ready and size >= _HINT_BYTES:
        _hint()
    return ready


@cache
def _hint() -> None:
    if has_compiler():
        _logger.warning("reading is many times faster after `gradledger warm-up`, which compiles the scanner once")
    else:
        _logger.warning("reading is many times faster with numba: pip install 'gradledger[fast]'")
