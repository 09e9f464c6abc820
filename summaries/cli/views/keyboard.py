"""Keys as they are pressed: the terminal gives them at once, and does not show them."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["keyboard", "names"]

_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;]*|O)[A-Za-z~]|.", re.DOTALL)
_NAMES = {
    **{
        f"\x1b{start}{end}": name
        for start in "[O"
        for end, name in zip("ABCD", ("up", "down", "right", "left"), strict=True)
    },
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\t": "tab",
}
_WINDOWS = {"H": "up", "P": "down", "M": "right", "K": "left", "I": "page up", "Q": "page down"}
_PRESSED_SECS = 0.05  # how often Windows is asked, which cannot wait for keys with a time limit


def names(typed: str) -> list[str]:
    r"""What was typed as names of keys: a letter is its own name; sequences that are not known have none.

    >>> names("q\x1b[A\x1bOB\x1b[200~\t")
    ['q', 'up', 'down', 'tab']
    """
    sequences = _SEQUENCE.findall(typed)
    return [name for one in sequences if (name := _NAMES.get(one, one if one.isprintable() else ""))]


@contextmanager
def keyboard() -> Iterator[Callable[[float], list[str]]]:
    """Read the keys of the terminal that standard input is, which is given back as it was.

    Yields:
        A function of seconds that waits for a key, but not longer than these, and returns the names of those that were
        pressed. It raises EOFError if the terminal has gone.

    Raises:
        OSError: standard input is no terminal.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise OSError("standard input must be a terminal, whose keys can be read")
    if sys.platform == "win32":
        yield _pressed_on_windows
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd, termios.TCSANOW)  # Ctrl-C still interrupts
    try:
        yield partial(_pressed, fd)
    finally:
        with suppress(termios.error):  # the terminal has gone
            termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _pressed(fd: int, timeout_secs: float) -> list[str]:
    if not select.select([fd], [], [], timeout_secs)[0]:
        return []
    try:
        typed = os.read(fd, 1024)
    except OSError as error:
        raise EOFError("the terminal has gone") from error
    if not typed:
        raise EOFError("the terminal has gone")
    return names(typed.decode(errors="ignore"))


def _pressed_on_windows(timeout_secs: float) -> list[str]:
    if sys.platform != "win32":
        raise NotImplementedError  # nobody calls it elsewhere; a type checker has to know that msvcrt is there
    import msvcrt

    until = time.monotonic() + timeout_secs
    while not msvcrt.kbhit() and time.monotonic() < until:
        time.sleep(_PRESSED_SECS)
    found = []
    while msvcrt.kbhit():
        typed = msvcrt.getwch()
        if typed == "\x03":  # Ctrl-C, which is a key here
            raise KeyboardInterrupt
        found += [_WINDOWS.get(msvcrt.getwch(), "")] if typed in "\x00\xe0" else names(typed)
    return list(filter(None, found))
