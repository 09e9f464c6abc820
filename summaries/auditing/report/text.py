"""A report for the terminal: a table of runs with sparklines and verdicts, the worst first, then what was found.

Many runs in which nothing was found are a count, and findings in many runs are grouped by rule. On a terminal, lines
are wrapped to its width, names of runs shortened in the middle, and columns that do not fit are left out. In a pipe or
a file, lines have any length, so that they can be searched.
"""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Literal, NamedTuple

from summaries.auditing.findings import Failure, Finding, RunReport, Severity, counts
from summaries.auditing.report.folded import folded
from summaries.auditing.rules import RULES
from summaries.presenting.sparklines import BARS, PLAIN_BARS, sparkline
from summaries.presenting.terminal import broken, encodes, printable, shortened
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table

    from summaries.auditing.reports import Report

__all__ = ["STYLES", "counts", "failure_text", "print_broken", "print_finding", "run_verdict", "show", "steps_text"]

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan", None: "green"}
"""The style of each severity; None if nothing was found."""

_MOST_ROWS = 20  # in the table: hundreds of runs fit a screen
_NAME_WIDTH = 24  # columns are left out until the name of a run has this width
_LOSS = "loss"
_MOST_LACKING = 3  # roles that are named


def show(report: Report, console: Console, *, fold: bool = True) -> None:
    """Print a report; with `fold`, the worst runs, and what a rule found in many tags of a run as one finding."""
    flagged = sum(1 for _ in _flagged(report))
    rows = report.runs
    if fold and len(rows) > _MOST_ROWS:
        rows = nsmallest(_MOST_ROWS, _flagged(report), key=lambda run: (not run.failures, -(run.worst or 0)))
    if rows:
        console.print(_table(rows, console))
    if len(rows) < len(report.runs):
        print_broken(console, _left_out(flagged - len(rows), len(report.runs) - flagged), "dim")
    if fold and flagged > _MOST_ROWS:
        _show_by_rule(report, console)
    else:
        for run in report.runs:
            _show_run(run, console, fold=fold)
    if report.failures:
        console.print()
        print_broken(console, "not audited", "bold red")
        for failure in report.failures:
            print_broken(console, failure_text(failure), indent=2)
    console.print()
    if len(report.runs) == 1 and not report.runs[0].findings and report.runs[0].points:
        for line in _judged(report.runs[0]):
            print_broken(console, line, "dim")
    print_broken(console, _verdict(report))


def _judged(run: RunReport) -> Iterator[str]:
    """What the audit took the tags of a run for, and what it could not judge, in a line each."""
    tags: dict[str, list[str]] = {}
    for curve in run.curves:
        if curve.role:
            tags.setdefault(curve.role, []).append(printable(curve.tag))
    yield "taken for: " + ("; ".join(f"{_plain(role)} {listed(found)}" for role, found in tags.items()) or "nothing")
    of_tags = [RULES[code].needs for code in run.unchecked if "wiring" not in RULES[code].needs]
    if of_tags:
        most = Counter(role for needs in of_tags for role in sorted(needs)).most_common(_MOST_LACKING)
        lacking = ", ".join(_plain(role) for role, _ in most)
        yield f"{counted(len(of_tags), 'rule')} not asked, for want of {lacking} and others"


def _plain(role: str) -> str:
    return role.replace("_", " ")


def _flagged(report: Report) -> Iterator[RunReport]:
    """The runs with findings or failures."""
    return (run for run in report.runs if run.findings or run.failures)


def _left_out(flagged: int, clean: int) -> str:
    """Which runs are not in the table."""
    parts = [f"{counted(flagged, 'more run')} with findings"] * (flagged > 0)
    parts += [f"nothing found in {counted(clean, 'run')}"] * (clean > 0)
    return ", ".join(parts)


def _show_run(run: RunReport, console: Console, *, fold: bool) -> None:
    """Print the findings of a run and what people noted, below its name, who wrote it, and its label."""
    if not (run.findings or run.notes):
        return
    console.print()
    about = ", ".join(filter(None, (run.logger, run.label and f"labelled {run.label}")))
    print_broken(console, f"{printable(run.name)}{f'  ({about})' if about else ''}", "bold")
    for note in run.notes:
        print_broken(console, f"your note at step {note.step}: {printable(note.text)}", "dim", indent=2)
    for finding in folded(run.findings) if fold else run.findings:
        print_finding(console, finding)


def _show_by_rule(report: Report, console: Console) -> None:
    """Print what was found in many runs: for each rule the worst example, and in which other runs it is found."""
    first: dict[tuple[int, str], Finding] = {}
    runs: dict[tuple[int, str], list[str]] = {}
    for run in report.runs:
        for key, finding in {(-each.severity, each.code): each for each in reversed(run.findings)}.items():
            first.setdefault(key, finding)
            runs.setdefault(key, []).append(run.name)
    for key in sorted(first):
        console.print()
        print_finding(console, first[key], first[key].run)
        if len(runs[key]) > 1:
            print_broken(console, f"and in {listed([printable(name) for name in runs[key][1:]])}", "dim", indent=2)
    console.print()
    print_broken(console, "`--all` lists the findings of every run", "dim")


def print_finding(console: Console, finding: Finding, run: str = "") -> None:
    """Print a finding: severity, code, name of the run if given, steps, and message."""
    from rich.text import Text  # noqa: PLC0415

    code = f"{finding.code} {finding.name}"
    parts = [(f"{finding.severity.name.lower():<8}{code}", "bold"), (printable(run), ""), (steps_text(finding), "dim")]
    lines = [Text()]
    for text, style in parts:
        if text and lines[-1].cell_len + 2 + len(text) > console.width - 2:
            lines += [Text(" " * 8 + line, style) for line in broken(text, console.width - 10)]
        elif text:
            lines[-1].append("  " * bool(lines[-1])).append(text, style)
    lines[0].stylize(STYLES[finding.severity], 0, 8)
    for line in filter(None, lines):
        console.print(Text("  ") + line, soft_wrap=True)
    print_broken(console, printable(finding.message), indent=2)


def failure_text(failure: Failure) -> str:
    """What could not be audited, and why, in one line."""
    return printable(": ".join(filter(None, (failure.run, failure.path, failure.reason))))


def print_broken(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print a text in lines that fit the console."""
    from rich.text import Text  # noqa: PLC0415

    for line in broken(text, console.width - indent):
        console.print(Text(" " * indent + line, style), soft_wrap=True)


def steps_text(finding: Finding) -> str:
    """The steps of a finding, in words; "" if it is not about steps."""
    if finding.steps is None:
        return ""
    first, last = finding.steps
    return f"step {first}" if first == last else f"steps {first} to {last}"


class _Column(NamedTuple):
    """A column of the table: its title, its cells with their styles, and its alignment."""

    title: str
    cells: list[tuple[str, str]]
    justify: Literal["left", "right"] = "left"

    @property
    def width(self) -> int:
        """The width of the longest line, in cells."""
        from rich.cells import cell_len  # noqa: PLC0415

        texts = (self.title, *(text for text, _ in self.cells))
        return max(int(cell_len(line)) for text in texts for line in text.split("\n"))


def _table(runs: Sequence[RunReport], console: Console) -> Table:
    """The runs, with as many columns as fit beside their names."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

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
    return shortened(name, room) if encodes(console, "…") else "\n".join(broken(name, room))


def _columns(runs: Sequence[RunReport], console: Console) -> list[_Column]:
    bars = BARS if encodes(console, BARS) else PLAIN_BARS
    steps = (f"{run.steps[1] - run.steps[0] + 1:,}" if run.steps else "-" for run in runs)
    main = (sparkline(run.main_curve.averages, bars) if run.main_curve else "" for run in runs)
    norms = ([curve.averages for curve in run.curves if curve.role == "global_norm"] for run in runs)
    return [
        _Column("run", [(printable(run.name), "") for run in runs]),
        _Column("steps", [(text, "") for text in steps], "right"),
        _Column("points", [(f"{run.points:,}", "") for run in runs], "right"),
        _Column(_title(runs), [(text, "") for text in main]),
        _Column("global norm", [(sparkline(curves[0], bars) if curves else "", "") for curves in norms]),
        _Column("verdict", [(text, STYLES[severity]) for text, severity in map(run_verdict, runs)]),
    ]


def _title(runs: Sequence[RunReport]) -> str:
    """What the curves in the table are: losses, rewards, or, in different runs, both."""
    rewards = [run.main_curve.role == "reward" for run in runs if run.main_curve]
    if not any(rewards):
        return _LOSS
    return "reward" if all(rewards) else "loss or reward"


def run_verdict(run: RunReport) -> tuple[str, Severity | None]:
    """What was found in a run, in words, and how bad that is; None if nothing was."""
    if run.failures:
        return ", ".join(filter(None, (counts(run.findings), "not all audited"))), Severity.ERROR
    unjudged = "; no tag is a loss or a reward" if run.points and not run.main else ""
    return counts(run.findings) or f"nothing found{unjudged}", run.worst


def _verdict(report: Report) -> str:
    findings = counts(finding for run in report.runs for finding in run.findings)
    parts = [counted(len(report.runs), "run"), findings or "nothing found"]
    parts += [f"{counted(len(report.failures), 'part')} not audited"] * bool(report.failures)
    return ", ".join(parts) + "; `gradledger rule CODE` explains a finding" * bool(findings)
