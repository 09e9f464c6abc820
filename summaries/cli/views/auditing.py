"""What `gradledger audit` does: from options to a report and an exit status."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from summaries.auditing import config as configuration
from summaries.auditing import discovery, engine, watch
from summaries.auditing.findings import AuditInterrupted, Failure, Finding
from summaries.auditing.report import github, sarif, text
from summaries.auditing.report.folded import folded
from summaries.auditing.report.json import parts as json_parts
from summaries.auditing.reports import Report
from summaries.cli.views.output import FORMATS, format_of, opened
from summaries.presenting.terminal import console, printable, progress_bar
from summaries.storage.credentials import without_credentials
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from summaries.auditing.config import Config
    from summaries.storage.files import Access

__all__ = ["audit_runs"]


def audit_runs(
    *,
    logdir: str,
    format_: str | None,
    tell_all: bool,
    output: str | None,
    config: str | None,
    select: str | None,
    ignore: str | None,
    fail_on: str | None,
    baseline: str | None,
    watching: bool,
    notify: tuple[str, ...],
    commands: tuple[str, ...],
    access: Access,
    **workers: Any,
) -> int:
    """Audit, and write the report.

    Returns:
        The exit status: 2 if something could not be audited, else 1 if a finding is at or above `--fail-on`, else 0.

    Raises:
        ConfigError: the configuration or an option has an invalid value.
        ValueError: two options do not go together.
        OSError: a path does not exist, or cannot be read or written.
    """
    chosen = _config(config, select, ignore, fail_on)
    if not chosen.selected:
        print("gradledger: no rule is selected, so there is nothing to look for", file=sys.stderr)
    alerts = _alerts(notify, commands) if notify or commands else []
    if watching:
        if format_ not in {None, "text"} or output is not None:
            raise ValueError("--watch prints text to standard output: leave out --format and --output")
        return _watch(logdir, chosen, alerts, baseline=baseline, tell_all=tell_all, access=access)
    if alerts:
        raise ValueError("--notify and --exec tell of findings as they appear: add --watch")
    format_ = format_of(format_, output, FORMATS)
    with opened(output, format_, access) as file:
        report, interrupted = _audited(logdir, format_, chosen, baseline, access, **workers)
        _write_to(file, report, format_, tell_all=tell_all)
    if format_ != "text" or output not in {None, "-"}:  # then the report is not on the terminal
        for failure in report.failures:
            print(f"gradledger: not audited: {text.failure_text(failure)}", file=sys.stderr)
    if interrupted:
        return 130
    return 2 if report.failures else int(chosen.fails(report.worst))


def _audited(
    logdir: str, format_: str, config: Config, baseline: str | None, access: Access, **workers: Any
) -> tuple[Report, bool]:
    """The report, and whether the audit was interrupted, so that it has only some of the runs."""
    files = discovery.runs_below(logdir, **access)
    compared = discovery.baseline_below(baseline, **access)
    shown = without_credentials(baseline) if baseline is not None else ""
    stretches = None if format_ == "html" else 1  # only a page draws curves
    try:
        with progress_bar(len(files)) as on_run:
            runs = engine.audit_runs(
                files, config, compared, processes=True, stretches=stretches, on_run=on_run, **workers
            )
    except AuditInterrupted as interrupted:
        if not interrupted.runs:
            raise
        number = f"{len(interrupted.runs)} of {counted(len(files), 'run')}"
        print(f"gradledger: interrupted: {number} audited", file=sys.stderr)
        return Report(interrupted.runs, shown), True
    return Report(runs, shown), False


def _watch(
    logdir: str,
    config: Config,
    alerts: Sequence[Callable[[Finding], None]],
    *,
    baseline: str | None,
    tell_all: bool,
    access: Access,
) -> int:
    """Print findings as they appear, and give alerts, until interrupted; returns the same exit status as an audit."""
    printer = console(sys.stdout)
    findings: list[Finding] = []
    failed = False
    try:
        for news in watch.watch(logdir, config, baseline=baseline, **access):
            for failure in (item for item in news if isinstance(item, Failure)):
                failed = True
                printer.print(f"  not audited: {text.failure_text(failure)}", style="bold red", soft_wrap=True)
            new = [item for item in news if isinstance(item, Finding)]
            findings += new
            for finding in new if tell_all else folded(new):
                text.print_finding(printer, finding, finding.run)
                if config.fails(finding.severity):
                    _alert(finding, alerts)
    except KeyboardInterrupt:
        pass
    printer.print(f"stopped; {text.counts(findings) or 'nothing found'}")
    return 2 if failed else int(any(config.fails(finding.severity) for finding in findings))


def _alerts(notify: Sequence[str], commands: Sequence[str]) -> list[Callable[[Finding], None]]:
    from summaries.auditing.alerts import by_command, by_url

    return [*map(by_url, notify), *map(by_command, commands)]


def _alert(finding: Finding, alerts: Sequence[Callable[[Finding], None]]) -> None:
    from summaries.auditing.alerts import AlertError

    for alert in alerts:
        try:
            alert(finding)
        except AlertError as error:  # the watch goes on: the next one may get through
            print(f"gradledger: {printable(str(error))}", file=sys.stderr)


def _config(path: str | None, select: str | None, ignore: str | None, fail_on: str | None) -> Config:
    """The configuration of the file, with the options of the command line in place of its values."""
    config = configuration.load(path)
    ignored = ignore.split(",") if ignore is not None else []
    if select is not None:
        config = replace(config, select=tuple(select.split(",")), ignore=tuple(ignored))
    elif ignored:
        config = config.without(ignored)
    if fail_on:
        config = replace(config, fail_on=configuration.severity("--fail-on", fail_on))
    return config


def _write_to(file: TextIO, report: Report, format_: str, *, tell_all: bool) -> None:
    if format_ == "text":
        text.show(report, console(file), fold=not tell_all)
    elif format_ == "json":
        file.writelines(json_parts(report))
    elif format_ == "html":
        file.write(report.to_html())
    else:
        file.write({"github": github.github, "sarif": sarif.sarif}[format_](report))
