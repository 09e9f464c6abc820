"""A report for the terminal: a table of runs with sparklines and verdicts, then the findings of each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.finding import Finding, Report, RunReport, Severity

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console, RenderableType

__all__ = ["console", "finding_text", "printable", "show", "sparkline", "steps_text"]

_BARS = "▁▂▃▄▅▆▇█"
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_SHOWN = ("loss", "validation_loss", "global_norm")


def console(file: TextIO) -> Console:
    """A console of rich's that prints to a file: in colour, where that is a terminal.

    Raises:
        ImportError: rich is missing; the message says what brings it.
    """
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError("the terminal's report needs rich: pip install 'gradledger[audit]'") from None
    return Console(file=file, highlight=False, markup=False, emoji=False)


def show(report: Report, console: Console) -> None:
    """Print a report."""
    console.print(_table(report))
    for run in report.runs:
        if run.findings:
            console.print()
            console.print(printable(run.name), style="bold")
            for finding in run.findings:
                console.print(finding_text(finding))
    console.print()
    console.print(_verdict(report))


def finding_text(finding: Finding, run: str = "") -> RenderableType:
    """One finding: severity, code, steps, message; and the run's name, where one is given."""
    from rich.padding import Padding  # noqa: PLC0415 - an extra
    from rich.text import Text  # noqa: PLC0415 - an extra

    style = _STYLES[finding.severity]
    text = Text.assemble(
        (f"{finding.severity.name.lower():<8}", style),
        (f"{finding.code} {finding.name}", "bold"),
        f"  {printable(run)}" if run else "",
        (f"  {steps_text(finding)}", "dim") if finding.steps else "",
        "\n" + printable(finding.message),
    )
    return Padding(text, (0, 0, 0, 2))


def steps_text(finding: Finding) -> str:
    """The steps of a finding, in words; "" where it is about none."""
    if finding.steps is None:
        return ""
    first, last = finding.steps
    return f"step {first}" if first == last else f"steps {first} to {last}"


def printable(text: str) -> str:
    r"""The text, with what a terminal would obey rather than show as an escape sequence.

    >>> printable("a\x1b[31mred")
    'a\\x1b[31mred'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def sparkline(values: np.ndarray[tuple[int], np.dtype[np.float64]], width: int = 16) -> str:
    """Values as a line of bars: each the mean of its stretch; "·" where nothing in it is finite.

    >>> sparkline(np.array([4.0, 3.0, 2.0, 1.0]))
    '█▆▃▁'
    """
    parts = [part[np.isfinite(part)] for part in np.array_split(values, min(width, max(len(values), 1)))]
    means = np.array([part.mean() if len(part) else np.nan for part in parts])
    if not np.isfinite(means).any():
        return "·" * (len(values) and len(means))
    low, high = np.nanmin(means), np.nanmax(means)
    span = (high - low) or 1.0
    return "".join("·" if np.isnan(x) else _BARS[round((x - low) / span * (len(_BARS) - 1))] for x in means)


def _table(report: Report) -> RenderableType:
    from rich.table import Table  # noqa: PLC0415 - an extra
    from rich.text import Text  # noqa: PLC0415 - an extra

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("run", overflow="fold")
    table.add_column("steps", justify="right")
    table.add_column("points", justify="right")
    for role in _SHOWN[:1] + _SHOWN[2:]:
        table.add_column(role.replace("_", " "), no_wrap=True)
    table.add_column("verdict")
    for run in report.runs:
        steps = f"{run.steps[1] - run.steps[0] + 1:,}" if run.steps else "-"
        lines = [_line(run, ("loss", "validation_loss")), _line(run, ("global_norm",))]
        verdict = Text(*_run_verdict(run))
        table.add_row(Text(printable(run.name)), steps, f"{run.points:,}", *map(Text, lines), verdict)
    return table


def _line(run: RunReport, roles: tuple[str, ...]) -> str:
    curves = [curve for role in roles for curve in run.curves if curve.role == role]
    return sparkline(curves[0].value) if curves else ""


def _run_verdict(run: RunReport) -> tuple[str, str]:
    if run.worst is None:
        return "nothing found", "green"
    return _counts(run.findings), _STYLES[run.worst]


def _counts(findings: tuple[Finding, ...]) -> str:
    counts = {severity: sum(f.severity is severity for f in findings) for severity in reversed(Severity)}
    names = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    return ", ".join(f"{n} {names[severity]}{'' if n == 1 else 's'}" for severity, n in counts.items() if n)


def _verdict(report: Report) -> str:
    runs = f"{len(report.runs)} run{'' if len(report.runs) == 1 else 's'}"
    if not report.findings:
        return f"{runs}, nothing found"
    return f"{runs}, {_counts(report.findings)}; `gradledger rule CODE` explains a finding"
