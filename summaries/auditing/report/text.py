"""A report for the terminal: a table of runs with sparklines and verdicts, the worst first, then what was found.

Many runs in which nothing was found are a count, and what was found in many runs is told by rule. On a terminal, lines
are wrapped to its width, names of runs shortened in the middle, and columns that do not fit are left out. In a pipe or
a file, lines have any length, so that they can be searched.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.findings import Failure, Finding, RunReport, Severity, counts
from summaries.auditing.report.folded import folded
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rich.console import Console
    from rich.table import Table

    from summaries.auditing.reports import Report

__all__ = [
    "broken",
    "console",
    "counts",
    "failure_text",
    "print_finding",
    "printable",
    "shortened",
    "show",
    "sparkline",
    "steps_text",
]

_BARS = "▁▂▃▄▅▆▇█·"
_PLAIN_BARS = "_.-~=+*#?"  # for encodings without block characters
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_UNBOUNDED = 1 << 20
_MOST_ROWS = 20  # in the table: hundreds of runs fit a screen
_NAME_WIDTH = 24  # columns are left out until the name of a run has this width
_LOSS = "loss"
_SEPARATORS = (" ", "/", "_-=,:", ".")  # where lines are wrapped if possible, best first


def console(file: TextIO) -> Console:
    """A rich console that prints to a file; in colour, if that is a terminal.

    Raises:
        ImportError: rich is missing; the message says how to install it.
    """
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError("the terminal's report needs rich: pip install 'gradledger[audit]'") from None
    bounded = file.isatty() or os.environ.get("COLUMNS", "").isdigit()
    width = None if bounded else _UNBOUNDED
    made = Console(file=file, width=width, highlight=False, markup=False, emoji=False)
    made.on_broken_pipe = (
        _raise_again  # by default rich ends the program with status 1, which here means that something was found
    )
    return made


def _raise_again() -> None:
    raise  # noqa: PLE0704 - called while the error is being handled


def show(report: Report, console: Console, *, fold: bool = True) -> None:
    """Print a report; with `fold`, the worst runs, and what a rule found in many tags of a run as one finding."""
    told = [run for run in report.runs if run.findings or run.failures]
    rows = report.runs
    if fold and len(rows) > _MOST_ROWS:
        rows = tuple(sorted(told, key=lambda run: (not run.failures, -(run.worst or 0)))[:_MOST_ROWS])
    if rows:
        console.print(_table(rows, console))
    if len(rows) < len(report.runs):
        _print_broken(console, _left_out(len(told) - len(rows), len(report.runs) - len(told)), "dim")
    if fold and len(told) > _MOST_ROWS:
        _show_by_rule(report, console)
    else:
        for run in told:
            _show_run(run, console, fold=fold)
    if report.failures:
        console.print()
        _print_broken(console, "not audited", "bold red")
        for failure in report.failures:
            _print_broken(console, failure_text(failure), indent=2)
    console.print()
    _print_broken(console, _verdict(report))


def _left_out(told: int, clean: int) -> str:
    """Which runs are not in the table."""
    more = [f"{counted(told, 'more run')} with findings"] if told > 0 else []
    return ", ".join([*more, *([f"nothing found in {counted(clean, 'run')}"] if clean else [])])


def _show_run(run: RunReport, console: Console, *, fold: bool) -> None:
    """Print the findings of a run, below its name and the framework that wrote it."""
    if not run.findings:
        return
    console.print()
    _print_broken(console, f"{printable(run.name)}{f'  ({run.logger})' if run.logger else ''}", "bold")
    for finding in folded(run.findings) if fold else run.findings:
        print_finding(console, finding)


def _show_by_rule(report: Report, console: Console) -> None:
    """Print what was found in many runs: for each rule the worst example, and in which other runs it is found."""
    groups: dict[tuple[int, str], list[Finding]] = {}
    for finding in report.findings:
        groups.setdefault((-finding.severity, finding.code), []).append(finding)
    for (_, _), found in sorted(groups.items()):
        runs = list(dict.fromkeys(printable(finding.run) for finding in found))
        console.print()
        print_finding(console, found[0], found[0].run)
        if len(runs) > 1:
            _print_broken(console, f"and in {listed(runs[1:])}", "dim", indent=2)
    console.print()
    _print_broken(console, "`--all` lists the findings of every run", "dim")


def shortened(name: str, width: int) -> str:
    """A name of at most `width` cells: the middle of a longer one is left out, because runs differ at their ends.

    >>> shortened("sweep/learning_rate=0.001/seed=1", 16)
    'sweep/le…/seed=1'
    """
    from rich.cells import cell_len  # noqa: PLC0415 - an extra

    if cell_len(name) <= width:
        return name
    ends = max(width - 1, 1)
    first, last = name[: ends - ends // 2], name[len(name) - ends // 2 :]
    while cell_len(first) + cell_len(last) > ends and (first or last):  # a character may take two cells
        first, last = (first[:-1], last) if len(first) > len(last) else (first, last[1:])
    return f"{first}…{last}"


def print_finding(console: Console, finding: Finding, run: str = "") -> None:
    """Print a finding: severity, code, name of the run if given, steps, and message."""
    from rich.text import Text  # noqa: PLC0415 - an extra

    code = f"{finding.code} {finding.name}"
    parts = [(f"{finding.severity.name.lower():<8}{code}", "bold"), (printable(run), ""), (steps_text(finding), "dim")]
    lines = [Text()]
    for text, style in parts:
        if text and lines[-1].cell_len + 2 + len(text) > console.width - 2:
            lines += [Text(" " * 8 + line, style) for line in broken(text, console.width - 10)]
        elif text:
            lines[-1].append("  " * bool(lines[-1])).append(text, style)
    lines[0].stylize(_STYLES[finding.severity], 0, 8)
    for line in filter(None, lines):
        console.print(Text("  ") + line, soft_wrap=True)
    _print_broken(console, printable(finding.message), indent=2)


def failure_text(failure: Failure) -> str:
    """What could not be audited, and why, in one line."""
    return printable(": ".join(filter(None, (failure.run, failure.path, failure.reason))))


def _print_broken(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    from rich.text import Text  # noqa: PLC0415 - an extra

    for line in broken(text, console.width - indent):
        console.print(Text(" " * indent + line, style), soft_wrap=True)


def broken(text: str, width: int) -> list[str]:
    """Wrap a text to lines of at most `width` cells: at spaces if possible, else where the parts of a name end.

    >>> broken("sweep/learning_rate=0.001/seed=1", 16)
    ['sweep/', 'learning_rate=', '0.001/seed=1']
    """
    from rich.cells import cell_len  # noqa: PLC0415 - an extra

    lines = []
    while cell_len(text) > width:
        ends = list(accumulate(map(cell_len, text[: max(width, 1)])))  # a character may take two cells or none
        fitting = max(bisect_right(ends, width), 1)
        cut = next(filter(None, (_last_break(text[:fitting], of) for of in _SEPARATORS)), fitting)
        lines.append(text[:cut].rstrip(" "))
        text = text[cut:]
    return [*lines, text]


def _last_break(text: str, separators: str) -> int:
    """The last place where a line may end; 0 if that would make it too short."""
    cut = max(text.rfind(character) for character in separators) + 1
    return cut if cut > len(text) // 3 else 0


def steps_text(finding: Finding) -> str:
    """The steps of a finding, in words; "" if it is not about steps."""
    if finding.steps is None:
        return ""
    first, last = finding.steps
    return f"step {first}" if first == last else f"steps {first} to {last}"


def printable(text: str) -> str:
    r"""The text with control characters, which a terminal would obey, written as escape sequences.

    >>> printable("a\x1b[31mred")
    'a\\x1b[31mred'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def sparkline(averages: np.ndarray[tuple[int], np.dtype[np.float64]], bars: str = _BARS) -> str:
    """A curve's averages as a line of bars; the last of `bars` marks averages that are not finite.

    >>> sparkline(np.array([4.0, 3.0, np.nan, 1.0]))
    '█▆·▁'
    """
    halves = averages / 2  # whose differences do not overflow
    finite = halves[np.isfinite(halves)]
    if not len(finite):
        return bars[-1] * len(halves)
    low = finite.min()
    span = (finite.max() - low) or 1.0
    return "".join(bars[round((x - low) / span * (len(bars) - 2))] if np.isfinite(x) else bars[-1] for x in halves)


class _Column(NamedTuple):
    """A column of the table: its title, its cells with their styles, and its alignment."""

    title: str
    cells: list[tuple[str, str]]
    justify: str = "left"

    @property
    def width(self) -> int:
        """The width of the longest line, in cells."""
        from rich.cells import cell_len  # noqa: PLC0415 - an extra

        texts = (self.title, *(text for text, _ in self.cells))
        return max(int(cell_len(line)) for text in texts for line in text.split("\n"))


def _table(runs: Sequence[RunReport], console: Console) -> Table:
    """The runs, with as many columns as fit beside their names."""
    from rich.table import Table  # noqa: PLC0415 - an extra
    from rich.text import Text  # noqa: PLC0415 - an extra

    columns = _columns(runs, console)
    names = columns[0]
    for left_out in ("", "points", "steps", "global norm", columns[3].title):
        columns = [column for column in columns if column.title != left_out]
        room = console.width - sum(2 + column.width for column in columns[1:])
        if room >= min(names.width, _NAME_WIDTH):
            break
    else:
        verdict = columns[-1]._replace(cells=[(text.replace(", ", ",\n"), style) for text, style in columns[-1].cells])
        columns[-1] = verdict
        room = max(console.width - 2 - verdict.width, 8)
    columns[0] = names._replace(cells=[(_one_line(name, room, console), style) for name, style in names.cells])
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column.title, justify=column.justify, no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(Text(text, style) for text, style in row))
    return table


def _one_line(name: str, room: int, console: Console) -> str:
    """A name in the table: shortened if the console can show how, else wrapped."""
    return shortened(name, room) if _encodes(console, "…") else "\n".join(broken(name, room))


def _columns(runs: Sequence[RunReport], console: Console) -> list[_Column]:
    bars = _BARS if _encodes(console, _BARS) else _PLAIN_BARS
    steps = (f"{run.steps[1] - run.steps[0] + 1:,}" if run.steps else "-" for run in runs)
    main = (sparkline(run.main_curve.averages, bars) if run.main_curve else "" for run in runs)
    norms = (_line(run, ("global_norm",), bars) for run in runs)
    return [
        _Column("run", [(printable(run.name), "") for run in runs]),
        _Column("steps", [(text, "") for text in steps], "right"),
        _Column("points", [(f"{run.points:,}", "") for run in runs], "right"),
        _Column(_title(runs), [(text, "") for text in main]),
        _Column("global norm", [(text, "") for text in norms]),
        _Column("verdict", [_run_verdict(run) for run in runs]),
    ]


def _title(runs: Sequence[RunReport]) -> str:
    """What the curves in the table are: losses, rewards, or, in different runs, both."""
    rewards = [run.main_curve.role == "reward" for run in runs if run.main_curve]
    if not any(rewards):
        return _LOSS
    return "reward" if all(rewards) else "loss or reward"


def _encodes(console: Console, text: str) -> bool:
    """Whether the encoding of the console has these characters; code pages of Windows often do not."""
    try:
        text.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _line(run: RunReport, roles: tuple[str, ...], bars: str) -> str:
    curves = [curve for role in roles for curve in run.curves if curve.role == role]
    return sparkline(curves[0].averages, bars) if curves else ""


def _run_verdict(run: RunReport) -> tuple[str, str]:
    if run.failures:
        return ", ".join(filter(None, (counts(run.findings), "not all audited"))), _STYLES[Severity.ERROR]
    if run.worst is None:
        return "nothing found", "green"
    return counts(run.findings), _STYLES[run.worst]


def _verdict(report: Report) -> str:
    parts = [counted(len(report.runs), "run"), counts(report.findings) or "nothing found"]
    if report.failures:
        parts.append(f"{counted(len(report.failures), 'part')} not audited")
    explained = "; `gradledger rule CODE` explains a finding" if report.findings else ""
    return ", ".join(parts) + explained
