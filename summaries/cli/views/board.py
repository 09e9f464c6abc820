"""What `gradledger top` shows: runs in a table, and of the one that is chosen a curve, its layers, and its findings."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from summaries.auditing.findings import badness
from summaries.auditing.report.text import STYLES, run_verdict, steps_text
from summaries.cli.views.columns import TableColumn, bars_for, lines_of
from summaries.cli.views.formats import duration_text, number_text, step_text
from summaries.cli.views.heat import heat_map
from summaries.cli.views.plot import Line, plot
from summaries.integrations.tensorboard import layers
from summaries.presenting.sparklines import sparkline
from summaries.presenting.terminal import broken, encodes, printable
from summaries.storage.names import by_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from summaries.auditing.findings import RunReport
    from summaries.integrations.tensorboard.books import Book, Columns
    from summaries.integrations.tensorboard.library import Library

__all__ = ["KEYS", "Board"]

KEYS = "q quit  ↑↓ run  ←→ tag  tab layers  l log  s sort"
_PLAIN_KEYS = "q quit  up/down run  left/right tag  tab layers  l log  s sort"
_ORDERS: dict[str, Callable[[Book], Any]] = {
    "name": lambda book: by_number(book.name),
    "worst first": lambda book: (-badness(book.report) if book.report else 2, by_number(book.name)),
    "latest first": lambda book: (-_last_time(book), by_number(book.name)),
}
_TABLE = 0.4  # of the screen's height, at most
_FINDINGS = 3
_WRAPPED, _LONGEST = 2, 1000  # lines of a finding, and characters of its message
_SHORTEST = 4  # lines of a drawing that shows anything
_AXES = 2  # lines below a curve


@dataclass
class Board:
    """The state of the page: what the keys have chosen.

    Args:
        library: the runs.
        title: what they are called.

    Attributes:
        run: the name of the chosen run; "" for the first one.
        tag: the chosen tag; "" for the run's main one.
        kind: how often the statistic of its layers was changed.
        log: whether the axis of values is logarithmic.
        order: how often the order was changed.
    """

    library: Library
    title: str
    run: str = ""
    tag: str = ""
    kind: int = 0
    log: bool = False
    order: int = 0

    def press(self, key: str) -> None:
        """Do what a key says; others do nothing."""
        books = self._books()
        if key in _MOVES and books:
            self.run = _moved([book.name for book in books], self.run, _MOVES[key])
        elif key in ("left", "right") and books:
            book = self._chosen(books)
            self.tag = _moved(book.tags, self._tag(book), -1 if key == "left" else 1)
        elif key == "tab":
            self.kind += 1
        elif key == "l":
            self.log = not self.log
        elif key == "s":
            self.order += 1

    def lines(self, printing: Console) -> list[Text]:
        """The page, as many lines as the terminal has at most."""
        height, books = printing.height, self._books()
        lines = [self._head(printing, books)]
        if not books:
            return [*lines, Text("reading" if self.library.is_reading else "waiting for runs", "dim")][:height]
        chosen = self._chosen(books)
        lines += self._table(printing, books, chosen, max(int(height * _TABLE), 2))
        below = self._findings(printing, chosen)
        lines += self._drawings(printing, chosen, height - len(lines) - len(below))
        return [*lines[: max(height - len(below), 1)], *below][:height]

    def _books(self) -> list[Book]:
        return sorted(self.library.since(-1)[0], key=list(_ORDERS.values())[self.order % len(_ORDERS)])

    def _chosen(self, books: Sequence[Book]) -> Book:
        return next((book for book in books if book.name == self.run), books[0])

    def _tag(self, book: Book) -> str:
        main = book.report.main if book.report else ""
        return self.tag if self.tag in book.tags else main or next(iter(book.tags), "")

    def _head(self, printing: Console, books: Sequence[Book]) -> Text:
        keys = KEYS if encodes(printing, KEYS) else _PLAIN_KEYS
        order = list(_ORDERS)[self.order % len(_ORDERS)]
        state = [printable(self.title), f"{len(books)} runs by {order}", *["reading"] * self.library.is_reading]
        head = Text("  ".join(state), "bold")
        for failure in self.library.failures[:1]:
            head.append(f"  {printable(failure.path)}: {printable(failure.reason)}", "bold red")
        return head.append(f"  {keys}", "dim")

    def _table(self, printing: Console, books: Sequence[Book], chosen: Book, room: int) -> list[Text]:
        """The runs around the chosen one."""
        first = min(max(books.index(chosen) - (room - 1) // 2, 0), max(len(books) - room + 1, 0))
        shown = books[first : first + max(room - 1, 1)]
        reports = [book.told() for book in shown]
        now, bars = time.time(), bars_for(printing)
        verdicts = [("reading", None) if report is None else run_verdict(report) for report in reports]
        mark = "▶" if encodes(printing, "▶") else ">"
        styles = ["reverse" if book is chosen else "" for book in shown]
        last = [book.last[:, 0].max() if len(book.last) else None for book in shown]
        columns = [
            TableColumn(" ", [mark if book is chosen else " " for book in shown]),
            TableColumn("run", [printable(book.name) for book in shown], shrinks=16, styles=styles),
            TableColumn("verdict", [text for text, _ in verdicts], styles=[STYLES[worst] for _, worst in verdicts]),
            TableColumn("step", [step_text(None if step is None else int(step)) for step in last], right=True, rank=1),
            TableColumn(
                "steps/s", [f"{book.rate:.3g}" if book.rate > 0 else "-" for book in shown], right=True, rank=4
            ),
            TableColumn("age", [_age(book, now) for book in shown], right=True, rank=3),
            TableColumn("last", [_last(book) for book in shown], right=True, rank=2),
            TableColumn("curve", [_spark(report, bars) for report in reports], rank=5),
        ]
        return lines_of(printing, columns)

    def _drawings(self, printing: Console, book: Book, room: int) -> list[Text]:
        """The chosen curve, and the layers of its run if there is room for both."""
        columns = self._columns(book)
        if columns is None:
            return [Text("reading", "dim")]
        with np.errstate(all="ignore"):
            kinds = layers.kinds(columns.signals)
        tall = min(len(kinds[self.kind % len(kinds)].rows) + 1, room // 2) if kinds else 0
        tall = 0 if tall < _SHORTEST or room - tall < _SHORTEST + _AXES + 1 else tall
        lines = self._curve(printing, book, columns, room - tall)
        return lines + self._layers(printing, kinds[self.kind % len(kinds)], tall) if tall else lines

    def _columns(self, book: Book) -> Columns | None:
        try:
            return self.library.book(book.name, 0.0).columns
        except (OSError, LookupError):  # it is being read, cannot be, or has just gone
            return None

    def _curve(self, printing: Console, book: Book, columns: Columns, room: int) -> list[Text]:
        series = columns.run.scalars.get(tag := self._tag(book))
        if series is None or room <= _AXES + 1:
            return [Text("no scalars", "dim")]
        latest = series.latest()
        scale = "  logarithmic" if self.log else ""
        head = Text(f"{printable(tag)}  {number_text(float(series.value[-1]))}{scale}", "bold")
        line = Line(latest.step, latest.value)
        marks = not encodes(printing, "⣿")
        return [head, *plot([line], printing.width, room - _AXES - 1, log=self.log, marks=marks)]

    def _layers(self, printing: Console, kind: layers.Kind, room: int) -> list[Text]:
        first, last = layers.extent(kind.rows)
        labels = [signal.meaning.variable for signal in kind.rows]
        wide = max(printing.width - min(max(map(len, labels)), printing.width // 3, 24) - 2, 1)
        matrix = layers.matrix(kind.rows, first, max(last, first + 1), wide)
        return [Text(kind.title, "bold"), *heat_map(printing, labels, matrix, room - 1, log=kind.log)]

    def _findings(self, printing: Console, book: Book) -> list[Text]:
        report = book.told()
        if report is None:
            return []
        lines = []
        for one in report.findings[:_FINDINGS]:
            head = Text().append(f"{one.code} {one.name}  ", STYLES[one.severity])
            told = f"{printable(one.tag)} {steps_text(one)}: {printable(one.message, _LONGEST)}"
            first, *more = broken(f"{head.plain}{told}", printing.width)[:_WRAPPED]
            lines += [head.append(first[len(head) :]), *(Text(f"  {line}") for line in more)]
        lines += [
            Text(f"not audited: {printable(one.path)}: {printable(one.reason)}", "red") for one in report.failures[:1]
        ]
        hidden = len(report.findings) - _FINDINGS
        said = "1 more finding" if hidden == 1 else f"{hidden} more findings"
        return lines + [Text(f"{said}: gradledger audit lists them", "dim")] * (hidden > 0)


_MOVES = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -10, "page down": 10}


def _moved(names: Sequence[str], name: str, by: int) -> str:
    """The name so many places further, or at the end; from a name that is not there, from the first one."""
    at = names.index(name) if name in names else 0
    return names[min(max(at + by, 0), len(names) - 1)] if names else ""


def _last_time(book: Book) -> float:
    times = book.last[np.isfinite(book.last[:, 1]), 1]
    return float(times.max()) if len(times) else 0.0


def _age(book: Book, now: float) -> str:
    last = _last_time(book)
    return duration_text(now - last) if 0 < last <= now else "-"


def _last(book: Book) -> str:
    """The last value of the main tag, or of the first one."""
    main = book.report.main if book.report else ""
    at = book.tags.index(main) if main in book.tags else 0
    return number_text(float(book.last[at, 2])) if at < len(book.last) else "-"


def _spark(report: RunReport | None, bars: str) -> str:
    curve = report.main_curve if report else None
    return sparkline(curve.averages, bars) if curve is not None and len(curve.averages) else ""
