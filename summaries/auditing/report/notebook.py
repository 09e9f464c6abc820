"""A report in a notebook: a table of the runs and the worst findings, or the page in a frame."""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING, Any

from summaries.auditing.findings import badness, counts
from summaries.auditing.report.text import failure_text, run_verdict, steps_text
from summaries.presenting.markup import Markup, amount, block, colored, line, short, sparkline, table
from summaries.storage.files import write_temporary

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.auditing.findings import Finding, RunReport
    from summaries.auditing.reports import Report

__all__ = ["report_html", "show"]

_MOST_RUNS = 20
_MOST_FINDINGS = 20
_MOST_FAILURES = 5
_NAME, _MESSAGE = 40, 400  # characters
# The page follows the theme of the system; here, where the browser allows it, that of the notebook.
_FRAME = """<style>
.gradledger-page{{box-sizing:border-box;width:100%;height:{height}px;border:1px solid rgba(128,128,128,.35);
border-radius:4px;color-scheme:light}}
:is([data-jp-theme-light="false"],.vscode-dark,.vscode-high-contrast,html[theme="dark"]) .gradledger-page{{
color-scheme:dark}}
</style><iframe class="gradledger-page" title="gradledger audit" sandbox="allow-scripts" srcdoc="{page}"></iframe>"""


def report_html(report: Report) -> str:
    """The runs, worst first, with their main curves; below them the worst findings, and what could not be audited."""
    runs = sorted(report.runs, key=lambda run: (not run.failures, -badness(run)))
    findings = sorted(report.findings, key=lambda finding: -finding.severity)
    titles = ("run", "found", "steps", "points", "main curve", "")
    parts = [line(f"{amount(len(report.runs), 'run')}, {counts(report.findings) or 'nothing found'}")]
    if runs:
        parts.append(table(titles, map(_row, runs[:_MOST_RUNS]), _more(len(runs) - _MOST_RUNS, "run")))
    if findings:
        rows = [_finding_row(finding) for finding in findings[:_MOST_FINDINGS]]
        more = _more(len(findings) - _MOST_FINDINGS, "finding")
        parts.append(table(("rule", "run", "tag", "steps", "finding"), rows, more))
    lost = [f"not audited: {short(failure_text(failure), _MESSAGE)}" for failure in report.failures]
    parts += [line(colored(text, "error")) for text in lost[:_MOST_FAILURES]]
    if len(lost) > _MOST_FAILURES:
        parts.append(line(f"{_more(len(lost) - _MOST_FAILURES, 'part')} not audited", note=True))
    return block(*parts)


def show(text: str, page: str, height: int) -> None:
    """Show a page in a notebook. Elsewhere, write it to a temporary file, and print where that is.

    Args:
        text: what is shown instead where a notebook shows no HTML.
        page: the page.
        height: of its frame, in pixels.

    Raises:
        ValueError: `height` is less than 1.
    """
    if height < 1:
        raise ValueError(f"height must be at least 1 pixel, got {height}")
    display = _display()
    if display is not None:
        frame = _FRAME.format(height=height, page=escape(page))
        display({"text/html": frame, "text/plain": text}, raw=True)
        return
    address = write_temporary("audit.html", page.encode("utf-8", "backslashreplace"))
    print(f"no notebook to show it in; the page is {address}")  # noqa: T201 - it answers whoever called it


def _display() -> Callable[..., object] | None:
    """IPython's function, if this is a notebook: a shell that belongs to a kernel."""
    ipython: Any = sys.modules.get("IPython")  # a notebook has it loaded
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    display: Callable[..., object] = ipython.display.display
    return display


def _row(run: RunReport) -> tuple[object, ...]:
    curve = run.main_curve
    drawn = sparkline(curve.value) if curve is not None and len(curve.value) else None
    steps = f"{run.steps[0]:,} to {run.steps[1]:,}" if run.steps else None
    return short(run.name), _verdict(run), steps, run.points, short(curve.tag) if drawn and curve else None, drawn


def _verdict(run: RunReport) -> Markup | str:
    text, severity = run_verdict(run)
    return text if severity is None else colored(text, severity.name.lower())


def _finding_row(finding: Finding) -> tuple[object, ...]:
    code = colored(f"{finding.code} {finding.name}", finding.severity.name.lower())
    run, tag = short(finding.run, _NAME), short(finding.tag, _NAME)
    steps = steps_text(finding).removeprefix("steps ").removeprefix("step ")
    return code, run, tag, steps, short(finding.message, _MESSAGE)


def _more(number: int, noun: str) -> str:
    return f"and {amount(number, f'more {noun}')}" if number > 0 else ""
