"""Compiling is announced, because a program waits for it: in the log, or to whoever asked for it and shows progress."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from logging import Logger

__all__ = ["announce", "announced_as", "announced_to"]

_listeners: list[Callable[[str], object]] = []  # of the process: threads of their own compile


def announce(title: str, logger: Logger) -> None:
    """Say that something is compiled now."""
    if _listeners:
        _listeners[-1](title)
    else:
        _log(title, logger)


@contextmanager
def announced_to(listener: Callable[[str], object]) -> Iterator[None]:
    """Within the block, in all threads, call `listener(title)` instead of writing to the log.

    >>> import logging
    >>> with announced_to(print):
    ...     announce("the scanner", logging.getLogger("summaries"))
    the scanner
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def announced_as(title: str, logger: Logger) -> Iterator[None]:
    """Within the block, what is compiled is one line in the log, however much it is; a listener still hears of each.

    >>> import logging
    >>> with announced_to(print), announced_as("the kernels", logging.getLogger("optim")):
    ...     announce("the kernel adam", logging.getLogger("optim"))
    the kernel adam
    """
    if _listeners:
        yield
        return
    unsaid = [title]

    def say_first(_title: str) -> None:
        if unsaid:
            _log(unsaid.pop(), logger)

    with announced_to(say_first):
        yield


def _log(title: str, logger: Logger) -> None:
    logger.warning("compiling %s, once per machine (`gradledger warm-up` does it ahead of time)", title)
