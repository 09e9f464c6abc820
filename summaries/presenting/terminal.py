"""What is printed on a terminal: consoles, progress, names that no terminal obeys, lines of a width."""

from __future__ import annotations

import io
import os
import sys
from bisect import bisect_right
from collections import Counter
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from rich.console import Console

__all__ = [
    "broken", "console", "encodes", "escape_what_cannot_be_encoded", "printable", "progress_bar", "shortened",
    "shortened_apart",
]  # fmt: skip

_UNBOUNDED = 1 << 20
_MOST = 1 << 16  # characters of a text that is shown: a name or a message may be a gigabyte
_SEPARATORS = (" ", "/", "_-=,:", ".")  # where lines are wrapped if possible, best first


def console(file: TextIO) -> Console:
    """A rich console that prints to a file; in colour, if that is a terminal.

    Lines are wrapped to the width of a terminal, or to COLUMNS; in a pipe or a file they have any length.
    """
    from rich.console import Console  # noqa: PLC0415 - importing it takes as long as many a command

    columns = os.environ.get("COLUMNS", "")
    has_columns = columns.isdigit() and int(columns) > 0  # some environments set 0, where nobody knows the width
    width = None if file.isatty() or has_columns else _UNBOUNDED
    environment = {name: value for name, value in os.environ.items() if has_columns or name != "COLUMNS"}
    made = Console(file=file, width=width, highlight=False, markup=False, emoji=False, _environ=environment)
    # By default rich ends the program with status 1, which here means that something was found.
    made.on_broken_pipe = _raise_again  # type: ignore[method-assign]
    return made


def escape_what_cannot_be_encoded(file: TextIO) -> None:
    """Let a text that the file's encoding lacks be written as escapes, instead of ending the program with an error.

    What prints for people calls this first: a pipe on Windows is in cp1252, which has no arrow, and a file's name may
    have bytes that are not Unicode text.
    """
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(errors="backslashreplace")


def _raise_again() -> None:
    raise  # noqa: PLE0704 - called while the error is being handled


@contextmanager
def progress_bar(total: int | None) -> Iterator[Callable[[str, object], object]]:
    """Show a progress bar on standard error, if that is a terminal.

    Args:
        total: number of runs; None if it is not known yet.

    Yields:
        The callback `on_run(name, result)`: call it after each run. It shows the name and ignores the result.

    >>> with progress_bar(2) as on_run:
    ...     for name in ("first", "second"):
    ...         _ = on_run(name, None)
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _name, _result: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415 - as above

    columns = BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=console(sys.stderr), transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda name, _result: progress.update(task, advance=1, description=printable(name))


def printable(text: str, most: int | None = _MOST) -> str:
    r"""The text as a terminal, a log or an annotation may show it, on one line: all that is not ours goes through here.

    Control characters, ends of lines and marks that turn the direction of text, which a terminal or a reader would
    obey, are written as escape sequences; of a text of more than `most` characters, the middle is left out.

    >>> printable("a\x1b[31mred"), printable("abcdefgh", 4)
    ('a\\x1b[31mred', 'ab… 4 more characters …gh')
    """
    if most is not None and len(text) > most:
        text = f"{text[: most // 2]}… {len(text) - most} more characters …{text[len(text) - most // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shortened(name: str, width: int, begin: float = 0.5) -> str:
    """A name of at most `width` cells: the middle of a longer one is left out, because runs differ at their ends.

    Args:
        name: the name.
        width: in cells.
        begin: the share of what is left that stands before the gap.

    >>> shortened("sweep/learning_rate=0.001/seed=1", 16)
    'sweep/le…/seed=1'
    """
    from rich.cells import cell_len  # noqa: PLC0415

    if cell_len(name) <= width:
        return name
    ends = max(width - 1, 1)
    after = int(ends * (1 - begin))
    first, last = name[: ends - after], name[len(name) - after :]
    while cell_len(first) + cell_len(last) > ends and (first or last):  # a character may take two cells
        first, last = (first[:-1], last) if len(first) > len(last) else (first, last[1:])
    return f"{first}…{last}"


def shortened_apart(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` cells; of those that would look alike, layers of a network say, more of the end is left.

    >>> shortened_apart(["net.block_0.attention.weight", "net.block_1.attention.weight"], 20)
    ['…_0.attention.weight', '…_1.attention.weight']
    """
    made = [shortened(name, width) for name in names]
    for begin in (0.25, 0.0):
        counts = Counter(short for _, short in set(zip(names, made, strict=True)))
        if len(counts) == counts.total():
            break
        pairs = zip(names, made, strict=True)
        made = [shortened(name, width, begin) if counts[short] > 1 else short for name, short in pairs]
    return made


def broken(text: str, width: int) -> list[str]:
    """Wrap a text to lines of at most `width` cells, or 1: at spaces if possible, else where the parts of a name end.

    >>> broken("sweep/learning_rate=0.001/seed=1", 16)
    ['sweep/', 'learning_rate=', '0.001/seed=1']
    """
    from rich.cells import cell_len  # noqa: PLC0415

    lines, width = [], max(width, 1)  # COLUMNS may be 0
    while cell_len(text) > width:
        ends = list(accumulate(map(cell_len, text[:width])))  # a character may take two cells or none
        fitting = max(bisect_right(ends, width), 1)
        cut = next(filter(None, (_last_break(text[:fitting], of) for of in _SEPARATORS)), fitting)
        lines.append(text[:cut].rstrip(" "))
        text = text[cut:]
    return [*lines, text]


def _last_break(text: str, separators: str) -> int:
    """The last place where a line may end; 0 if that would make it too short."""
    cut = max(text.rfind(character) for character in separators) + 1
    return cut if cut > len(text) // 3 else 0


def encodes(console: Console, text: str) -> bool:
    """Whether the encoding of the console has these characters; code pages of Windows often do not."""
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
