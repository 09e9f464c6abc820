"""The commands `gradledger audit` and `gradledger rule`: from options to text and an exit status."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from summaries.auditing import config as configuration
from summaries.auditing import discovery, engine, watch
from summaries.auditing.alerts import AlertError, by_command, by_url
from summaries.auditing.findings import Failure, Finding
from summaries.auditing.report import github, json, sarif, text
from summaries.auditing.report.folded import folded
from summaries.auditing.report.output import check_output, output
from summaries.auditing.report.progress import progress_bar
from summaries.auditing.report.text import printable
from summaries.auditing.reports import Report
from summaries.auditing.rules import RULES, handbook
from summaries.storage.credentials import without_credentials

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from summaries.auditing.config import Config
    from summaries.storage.files import Access

__all__ = ["access", "add_audit", "add_rule", "audit", "rule"]


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the options of `gradledger audit`."""
    parser.add_argument("logdir", help="a directory of runs, or an event file")
    parser.add_argument("--format", choices=_FORMATS, default="text", help="what to write (default: text)")
    parser.add_argument(
        "--all", action="store_true", help="in text, print every finding, even if one rule has many in a run"
    )
    parser.add_argument("--output", metavar="FILE", help="where to write the report (default: standard output)")
    parser.add_argument(
        "--config", metavar="FILE", help="a TOML file (default: the nearest pyproject.toml with a table for gradledger)"
    )
    parser.add_argument(
        "--select", metavar="CODES", help="codes, prefixes of codes, or ALL; replaces what the file selects"
    )
    parser.add_argument("--ignore", metavar="CODES", help="codes or prefixes to leave out of the selected ones")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        help="the lowest severity that makes the exit status 1 (default: error)",
    )
    parser.add_argument("--baseline", metavar="RUN", help="a run or a directory of runs to compare with")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="number of processes (default: one per core, if there is enough to do)"
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="keep watching the runs, and print findings as they appear, until interrupted",
    )
    parser.add_argument(
        "--notify",
        metavar="URL",
        action="append",
        default=[],
        help="with --watch, post findings at or above --fail-on to this URL: as JSON, or as Slack or Discord want it",
    )
    parser.add_argument(
        "--exec",
        metavar="CMD",
        action="append",
        default=[],
        dest="commands",
        help="with --watch, run this command for each of them; it gets the finding as JSON, and as GRADLEDGER_…",
    )
    parser.epilog = (
        "Exit status: 0 if no finding is at or above --fail-on, 1 if one is, 2 if something could not be audited. "
        "The report names what could not."
    )


def add_rule(parser: argparse.ArgumentParser) -> None:
    """Add the options of `gradledger rule`."""
    parser.add_argument("code", nargs="?", help="the code of a rule, such as GL404 (default: list all rules)")


def audit(options: argparse.Namespace) -> int:
    """Audit, and write the report.

    Args:
        options: those of `add_audit`.

    Returns:
        The exit status: 2 if something could not be audited, else 1 if a finding is at or above `--fail-on`, else 0.

    Raises:
        ConfigError: the configuration or an option has an invalid value.
        ValueError: two options do not go together.
        OSError: a path does not exist, or cannot be read or written.
    """
    config = _config(options)
    if not config.selected:
        print("gradledger: no rule is selected, so there is nothing to look for", file=sys.stderr)
    alerts = [*map(by_url, options.notify), *map(by_command, options.commands)]
    if options.watch:
        return _watch(options, config, alerts)
    if alerts:
        raise ValueError("--notify and --exec tell of findings as they appear: add --watch")
    check_output(options)
    found = discovery.runs_below(options.logdir, **access(options))
    baseline = discovery.baseline_below(options.baseline, **access(options))
    with progress_bar(len(found)) as on_run:
        stretches = _STRETCHES.get(options.format)
        runs = engine.audit_runs(
            found, config, baseline, jobs=options.jobs, processes=True, stretches=stretches, on_run=on_run
        )
    report = Report(runs)
    with output(options) as file:
        _write_to(file, report, options)
    if options.format != "text" or options.output is not None:  # then the report is not on the terminal
        for failure in report.failures:
            print(f"gradledger: not audited: {text.failure_text(failure)}", file=sys.stderr)
    return 2 if report.failures else int(config.fails(report.worst))


def access(options: argparse.Namespace) -> Access:
    """How addresses are accessed, by the options of the command line."""
    return {"storage_options": dict(options.storage_option), "cache": options.cache}


def _watch(options: argparse.Namespace, config: Config, alerts: Sequence[Callable[[Finding], None]]) -> int:
    """Print findings as they appear, and give alerts, until interrupted; returns the same exit status as `audit`."""
    if options.format != "text" or options.output is not None:
        raise ValueError("--watch prints text to standard output: leave out --format and --output")
    console = text.console(sys.stdout)
    told: list[Finding | Failure] = []
    try:
        for new in watch.watch(options.logdir, config, baseline=options.baseline, **access(options)):
            told += new
            for failure in (found for found in new if isinstance(found, Failure)):
                console.print(f"  not audited: {text.failure_text(failure)}", style="bold red", soft_wrap=True)
            findings = [found for found in new if isinstance(found, Finding)]
            for finding in findings if options.all else folded(findings):
                text.print_finding(console, finding, finding.run)
                if config.fails(finding.severity):
                    _alert(finding, alerts)
    except KeyboardInterrupt:
        pass
    findings = [found for found in told if isinstance(found, Finding)]
    console.print(f"stopped; {text.counts(findings) or 'nothing found'}")
    if len(findings) < len(told):
        return 2
    return int(any(config.fails(finding.severity) for finding in findings))


def _alert(finding: Finding, alerts: Sequence[Callable[[Finding], None]]) -> None:
    for alert in alerts:
        try:
            alert(finding)
        except AlertError as error:  # the watch goes on: the next one may get through
            print(f"gradledger: {printable(str(error))}", file=sys.stderr)


def _config(options: argparse.Namespace) -> Config:
    """The configuration of the file, with the options of the command line in place of its values."""
    config = configuration.load(options.config)
    ignore = options.ignore.split(",") if options.ignore is not None else []
    if options.select is not None:
        config = replace(config, select=tuple(options.select.split(",")), ignore=tuple(ignore))
    elif ignore:
        config = config.without(ignore)
    if options.fail_on:
        config = replace(config, fail_on=configuration.severity("--fail-on", options.fail_on))
    return config


def _write_to(file: TextIO, report: Report, options: argparse.Namespace) -> None:
    if options.format == "text":
        text.show(report, text.console(file), fold=not options.all)
    elif options.format == "html":
        from summaries.auditing.report import html  # noqa: PLC0415 - it imports markdown-it

        codes = sorted({finding.code for finding in report.findings})
        pages = {code: handbook.page(code) for code in codes}
        baseline = without_credentials(options.baseline) if options.baseline is not None else None
        file.write(html.html(report, baseline=baseline, pages=pages))
    else:
        file.write(_RENDERERS[options.format](report))


_RENDERERS: dict[str, Callable[[Report], str]] = {"json": json.json, "github": github.github, "sarif": sarif.sarif}
_STRETCHES = {"text": 1, "json": 1, "github": 1, "sarif": 1}  # these draw no curves
_FORMATS = ("text", *_RENDERERS, "html")


def rule(options: argparse.Namespace) -> int:
    """Print the page of a rule, or the list of all rules; returns 0.

    Raises:
        ConfigError: there is no such rule; the message suggests the closest code.
    """
    if options.code is None:
        for known in RULES.values():
            print(f"{known.code}  {known.severity.name.lower():<8} {known.name}")
        return 0
    print(handbook.page(configuration.checked_code(options.code)), end="")
    return 0
