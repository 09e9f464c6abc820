"""How many threads share a step, and locks that outlive a fork.

Compiled kernels release the GIL, so Python's threads are enough: see `summaries.execution.sharing`.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from functools import cache
from typing import Any

from optim import checks
from summaries.execution.sharing import processors

__all__ = ["ProcessLock", "get_num_threads", "set_num_threads"]

_setting: list[int] = []  # the setting of set_num_threads, at most one


def set_num_threads(number: int | None) -> None:
    """Set the number of threads that share a step's work, including the caller's.

    Args:
        number: at least 1. None follows the environment variable GRADLEDGER_NUM_THREADS, read on first use; if it is
            not set, the number of processors that this process may use.

    Raises:
        TypeError: `number` is not an integer.
        ValueError: `number` is less than 1.
    """
    _setting[:] = [] if number is None else [checks.positive_integer("the number of threads", number)]


def get_num_threads() -> int:
    """The number of threads that share a step's work.

    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(None)
    """
    return _setting[0] if _setting else _number_by_default()


@cache
def _number_by_default() -> int:
    """The number in the environment, or else the number of processors that this process may use; read once."""
    text = os.environ.get("GRADLEDGER_NUM_THREADS", "")
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text:
        warnings.warn(f"GRADLEDGER_NUM_THREADS must be a positive number, got {text!r}, which is ignored", stacklevel=2)
    return processors()


class ProcessLock:
    """A re-entrant lock. A copy, by pickling or by a fork, is not held.

    Attributes:
        held: enter it with `with`. It is written in C, so an interrupt comes either before it is acquired or after the
            `with` block has begun, which releases it.
    """

    def __init__(self) -> None:
        self.held: threading.RLock = threading.RLock()
        _locks.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProcessLock, ()


_locks: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def _forget() -> None:
    for lock in _locks:
        lock.held = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
