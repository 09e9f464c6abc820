"""Columns of text that fit the terminal: those that matter less are left out, and long names are shortened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from summaries.presenting.sparklines import BARS, PLAIN_BARS
from summaries.presenting.terminal import encodes, shortened_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

__all__ = ["TableColumn", "bars_for", "is_bounded", "lines_of", "once", "print_columns", "told_apart"]

_BOUNDED = 1 << 16  # consoles of pipes and files are wider
_NARROWEST = 8  # a name is not shortened below this width
_BETWEEN = 2


class TableColumn(NamedTuple):
    """A column.

    Attributes:
        title: its heading.
        cells: a text for each row.
        right: whether to align it at its right end, as numbers are.
        styles: a style for each row; () for none.
        rank: columns of the highest rank are left out first if there is too little room; those of rank 0 stay.
        shrinks: if its texts may be shortened, the width that they keep as long as columns can be left out instead.
    """

    title: str
    cells: Sequence[str]
    right: bool = False
    styles: Sequence[str] = ()
    rank: int = 0
    shrinks: int = 0

    @property
    def width(self) -> int:
        """The width of the longest text, in cells."""
        return max(map(cell_len, (self.title, *self.cells)))


def is_bounded(console: Console) -> bool:
    """Whether lines have to fit a width: on a terminal, and where COLUMNS says so."""
    return console.width < _BOUNDED


def bars_for(console: Console) -> str:
    """The characters of a sparkline that a console can print."""
    return BARS if encodes(console, BARS) else PLAIN_BARS


def once(names: Sequence[str]) -> list[str]:
    """Names, each only in the first of the rows that have it one after the other.

    >>> once(["a", "a", "b"])
    ['a', '', 'b']
    """
    return [name if i == 0 or name != names[i - 1] else "" for i, name in enumerate(names)]


def print_columns(console: Console, columns: Sequence[TableColumn]) -> None:
    """Print a heading and the rows."""
    for line in _lines(console, columns):
        console.print(line, soft_wrap=True)


def lines_of(console: Console, columns: Sequence[TableColumn]) -> list[Text]:
    """A heading and the rows, as lines that fit the console."""
    return list(_lines(console, columns))


def _lines(console: Console, columns: Sequence[TableColumn]) -> Iterator[Text]:
    columns = [column for column in columns if any(column.cells)]
    if is_bounded(console):
        columns = _fitting(columns, console)
    widths = [column.width for column in columns]
    yield _line(columns, [column.title for column in columns], widths, ["dim"] * len(columns))
    for row in range(len(columns[0].cells) if columns else 0):
        cells = [column.cells[row] for column in columns]
        styles = [column.styles[row] if column.styles else "" for column in columns]
        yield _line(columns, cells, widths, styles)


def _line(columns: Sequence[TableColumn], cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Text:
    text = Text()
    for i, (column, cell, width, style) in enumerate(zip(columns, cells, widths, styles, strict=True)):
        padding = " " * (width - cell_len(cell))
        if column.right:
            text.append(padding)
        text.append(cell, style)
        if i < len(columns) - 1:
            text.append(" " * _BETWEEN if column.right else padding + " " * _BETWEEN)
    return text


def _fitting(columns: list[TableColumn], console: Console) -> list[TableColumn]:
    """The columns that fit; one that shrinks gets what the others leave."""
    while True:
        shrinking = [column for column in columns if column.shrinks]
        taken = sum(column.width for column in columns if not column.shrinks) + _BETWEEN * (len(columns) - 1)
        room = console.width - taken
        if room >= sum(min(column.width, column.shrinks) for column in shrinking):
            break
        highest = max(column.rank for column in columns)
        if not highest:
            break
        columns = [column for column in columns if column.rank != highest]
    if not shrinking or not encodes(console, "…"):
        return columns
    widths = _shared(room, [column.width for column in shrinking])
    shares = dict(zip((column.title for column in shrinking), widths, strict=True))
    return [
        column._replace(cells=shortened_apart(column.cells, shares[column.title])) if column.shrinks else column
        for column in columns
    ]


def _shared(room: int, widths: list[int]) -> list[int]:
    """Share room among some columns: one that needs less than its part leaves the rest to the others."""
    shares = list(widths)
    left, waiting = room, sorted(range(len(widths)), key=widths.__getitem__)
    for number, i in enumerate(waiting):
        shares[i] = min(widths[i], max(left // (len(waiting) - number), _NARROWEST))
        left -= shares[i]
    return shares


def told_apart(paths: Sequence[str]) -> list[str]:
    """Paths without the directories that all of them are in.

    >>> told_apart(["runs/a", "runs/b"]), told_apart(["runs/a"])
    (['a', 'b'], ['runs/a'])
    """
    parts = [path.split("/") for path in paths]
    common = 0
    while len(set(paths)) > 1 and all(len(part) > common + 1 for part in parts):
        if len({part[common] for part in parts}) > 1:
            break
        common += 1
    return ["/".join(part[common:]) for part in parts]
