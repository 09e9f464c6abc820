"""Deadlines: nothing that a store does, or never does, is waited for without end.

GRADLEDGER_STORE_SECS is how long one request may take, and GRADLEDGER_EXIT_SECS how long all requests together may take
when the process ends. A request that has not ended by then is left behind in its thread, and counts as failed.
"""

from __future__ import annotations

import errno
import math
import os
import threading
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["end_soon", "secs_for", "within"]

Result = TypeVar("Result")

_STORE_SECS, _EXIT_SECS = 60.0, 30.0
_SLOWEST = 100_000  # bytes a second: a request that sends or fetches much may take as much longer
_until: list[float] = []  # when the process must have ended its requests; empty while it goes on


def end_soon() -> None:
    """Begin the time that requests have at the end of the process."""
    _until.append(time.monotonic() + _secs("GRADLEDGER_EXIT_SECS", _EXIT_SECS))


def secs_for(size: int = 0) -> float:
    """How many seconds a request may take, for so many bytes; 0 if the process should have ended."""
    secs = _secs("GRADLEDGER_STORE_SECS", _STORE_SECS) + size / _SLOWEST
    return min(secs, max(0.0, _until[0] - time.monotonic())) if _until else secs


def within(secs: float, call: Callable[[], Result]) -> Result:
    """What a call returns, or raises; it goes on in a thread, where it is left alone after so many seconds.

    Raises:
        TimeoutError: it did not end in time.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            errors.append(error)

    if secs > 0:
        thread = threading.Thread(target=run, name="gradledger-request", daemon=True)
        thread.start()
        thread.join(min(secs, threading.TIMEOUT_MAX))
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(errno.ETIMEDOUT, f"the store did not answer within {secs:.0f} s")
    return results[0]


def _secs(name: str, default: float) -> float:
    """A number of seconds from the environment; the default if it is none, or not positive."""
    try:
        secs = float(os.environ.get(name, ""))
    except ValueError:
        return default
    return secs if secs > 0 and not math.isnan(secs) else default
