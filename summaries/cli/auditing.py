"""What `gradledger audit` does: from options to a report and an exit status."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from summaries.auditing import config as configuration
from summaries.auditing import discovery, engine, watch
from summaries.auditing.findings import AuditInterrupted, Failure, Finding
from summaries.auditing.report import github, sarif, text
from summaries.auditing.report.folded import folded
from summaries.auditing.report.json import parts as json_parts
from summaries.auditing.reports import Report
from summaries.cli.audit import FORMATS
from summaries.cli.output import format_of, opened
from summaries.storage.credentials import without_credentials
from summaries.terminal import console, printable, progress_bar
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from typing import TextIO

    from summaries.auditing.config import Config
    from summaries.storage.files import Access

__all__ = ["audit_runs"]

_RENDERERS: dict[str, Callable[[Report], str]] = {
    "github": github.github,
    "sarif": sarif.sarif,
    "html": Report.to_html,
}
_STRETCHES = {"text": 1, "json": 1, "github": 1, "sarif": 1}  # these draw no curves


def audit_runs(
    logdir: str,
    format_: str | None,
    tell_all: bool,
    output: str | None,
    config: str | None,
    select: str | None,
    ignore: str | None,
    fail_on: str | None,
    baseline: str | None,
    jobs: int | None,
    executor: Executor | None,
    watching: bool,
    notify: tuple[str, ...],
    commands: tuple[str, ...],
    access: Access,
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
    written = format_of(format_, output, FORMATS)
    with opened(output, written, access) as file:
        report, interrupted = _audited(logdir, written, chosen, baseline, jobs, executor, access)
        _write_to(file, report, written, tell_all=tell_all)
    if written != "text" or output not in {None, "-"}:  # then the report is not on the terminal
        for failure in report.failures:
            print(f"gradledger: not audited: {text.failure_text(failure)}", file=sys.stderr)
    if interrupted:
        return 130
    return 2 if report.failures else int(chosen.fails(report.worst))


def _audited(
    logdir: str,
    format_: str,
    config: Config,
    baseline: str | None,
    jobs: int | None,
    executor: Executor | None,
    access: Access,
) -> tuple[Report, bool]:
    """The report, and whether the audit was interrupted, so that it has only some of the runs."""
    found = discovery.runs_below(logdir, **access)
    compared = discovery.baseline_below(baseline, **access)
    shown = without_credentials(baseline) if baseline is not None else ""
    try:
        with progress_bar(len(found)) as on_run:
            runs = engine.audit_runs(
                found,
                config,
                compared,
                jobs=jobs,
                processes=True,
                executor=executor,
                stretches=_STRETCHES.get(format_),
                on_run=on_run,
            )
    except AuditInterrupted as interrupted:
        if not interrupted.runs:
            raise
        known = len(interrupted.runs)
        print(f"gradledger: interrupted: {known} of {counted(len(found), 'run')} audited", file=sys.stderr)
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
    told: list[Finding | Failure] = []
    try:
        for new in watch.watch(logdir, config, baseline=baseline, **access):
            told += new
            for failure in (found for found in new if isinstance(found, Failure)):
                printer.print(f"  not audited: {text.failure_text(failure)}", style="bold red", soft_wrap=True)
            findings = [found for found in new if isinstance(found, Finding)]
            for finding in findings if tell_all else folded(findings):
                text.print_finding(printer, finding, finding.run)
                if config.fails(finding.severity):
                    _alert(finding, alerts)
    except KeyboardInterrupt:
        pass
    findings = [found for found in told if isinstance(found, Finding)]
    printer.print(f"stopped; {text.counts(findings) or 'nothing found'}")
    if len(findings) < len(told):
        return 2
    return int(any(config.fails(finding.severity) for finding in findings))


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
    else:
        file.write(_RENDERERS[format_](report))
