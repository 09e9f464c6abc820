"""The terminal while `gradledger top` runs: a screen of its own, drawn when something has changed, and its keys.

textual was weighed: a framework with an event loop and widgets, which takes as long to import as the first frame may
take, for a page of lines. rich, which is here anyway, draws them; the keys are forty lines of our own.
"""

from __future__ import annotations

import errno
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from summaries.cli.views.keyboard import keyboard
from summaries.presenting.terminal import console, printable
from summaries.storage.credentials import without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import Console


__all__ = ["watch_runs"]

_WAIT_SECS = 0.25  # for a key; a changed size is seen as late
_FRAME_SECS = 1.0  # between two frames, unless a key was pressed, or runs are being read
_AGE_SECS = 5.0  # ages are drawn anew
_SHARE = 0.03  # of a processor, for reading and auditing
_AUDIT_SECS = 60.0


def watch_runs(places: tuple[str, ...], *, config: str | None, memory: int) -> int:
    """Show the page until a key ends it; returns 0.

    Raises:
        BrokenPipeError: the terminal has gone.
        OSError: standard input or output is no terminal; or a place does not exist.
        ValueError: the configuration is invalid.
    """
    printing = console(sys.stdout)
    if not printing.is_terminal:
        raise OSError("standard output must be a terminal: `gradledger ls` and `tail` print lines")
    try:
        with keyboard() as pressed, Live(console=printing, screen=True, auto_refresh=False) as live:
            _watch(printing, live, pressed, places, config, memory)
    except (EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EIO:
            raise
        raise BrokenPipeError from error  # nobody can be told any more
    return 0


def _watch(
    printing: Console,
    live: Live,
    pressed: Callable[[float], list[str]],
    places: tuple[str, ...],
    config: str | None,
    memory: int,
) -> None:
    title = " ".join(map(without_credentials, places))
    _draw(live, [Text(f"{printable(title)}  reading", "bold")])
    from summaries.auditing.config import as_config  # after the first frame: they take longer than it
    from summaries.cli.views.board import Board
    from summaries.integrations.tensorboard.library import Library
    from summaries.integrations.tensorboard.places import existing_places

    library = Library(existing_places(places), as_config(config), memory << 20, share=_SHARE, audit_secs=_AUDIT_SECS)
    with closing(library):
        library.start()
        board = Board(library, title)
        drawn, when = None, 0.0
        while True:
            state = library.version, printing.size, library.is_reading
            now = time.monotonic()
            pause = _WAIT_SECS if library.is_reading else _FRAME_SECS
            if (state != drawn and now - when >= pause) or now - when >= _AGE_SECS:
                _draw(live, board.lines(printing))
                drawn, when = state, now
            for key in pressed(_WAIT_SECS):
                if key == "q":
                    return
                board.press(key)
                drawn, when = None, 0.0


def _draw(live: Live, lines: Iterable[Text]) -> None:
    page = Text("\n").join(lines)
    page.no_wrap, page.overflow = True, "crop"
    live.update(page, refresh=True)
