"""Calls functions when the process is about to end by an exception or by SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["call_at_unusual_end", "forget", "words_of"]

_calls: list[Callable[[str], Any]] = []
_previous: dict[str, Any] = {}  # what was called at an exception, and at SIGTERM, before us


def call_at_unusual_end(call: Callable[[str], Any]) -> None:
    """Call a function with the reason, a few words, before the process ends by an exception or by SIGTERM.

    What handled them before still does, afterwards. SIGTERM is left alone if it is ignored, if its handler is not
    Python's, or if this is not called from the main thread.
    """
    _calls.append(call)
    if "exception" not in _previous:
        _previous["exception"] = sys.excepthook
        sys.excepthook = _at_exception
    if "SIGTERM" not in _previous and threading.current_thread() is threading.main_thread():
        handler = signal.getsignal(signal.SIGTERM)
        if handler is signal.SIG_DFL or callable(handler):
            _previous["SIGTERM"] = handler
            signal.signal(signal.SIGTERM, _at_sigterm)


def words_of(error: BaseException) -> str:
    """An exception as a reason.

    >>> words_of(RuntimeError("no more data")), words_of(KeyboardInterrupt())
    ('RuntimeError: no more data', 'KeyboardInterrupt')
    """
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def forget(call: Callable[[str], Any]) -> None:
    """No longer call this function; does nothing if it is not known."""
    if call in _calls:
        _calls.remove(call)
    if _calls:
        return
    if sys.excepthook is _at_exception:
        sys.excepthook = _previous.pop("exception")
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) is _at_sigterm:
        signal.signal(signal.SIGTERM, _previous.pop("SIGTERM"))


def _call_all(reason: str) -> None:
    for call in _calls:
        try:
            call(reason)
        except Exception as error:  # noqa: BLE001 - what ends the process matters more
            sys.stderr.write(f"gradledger: {error}\n")


def _at_exception(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    _call_all(words_of(error))
    _previous["exception"](kind, error, trace)


def _at_sigterm(number: int, frame: Any) -> None:
    _call_all("SIGTERM")
    handler = _previous["SIGTERM"]
    if callable(handler):
        handler(number, frame)
    else:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
