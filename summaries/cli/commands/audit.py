"""`gradledger audit`: from options to a report and an exit status."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, executor_option, jobs_option, new_command, output_option
from summaries.cli.views.output import FORMATS


@new_command(
    section="Audit",
    summary="Find out what went wrong in training runs.",
    help="Find out what went wrong in training runs: in every run below a directory, or in one run.",
    examples=[
        "gradledger audit runs",
        "gradledger audit runs -o audit.html",
        "gradledger audit s3://bucket/runs --cache --fail-on warning",
        "gradledger audit runs --watch --notify https://hooks.slack.com/…",
        "gradledger audit s3://bucket/runs --dask tcp://scheduler:8786",
    ],
    status="0 if no finding is at or above --fail-on, 1 if one is, 2 if something could not be audited; the report "
    "names what could not.",
)
@click.argument("logdir", shell_complete=complete_runs)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="What to write (default: what the ending of --output names, such as audit.html; otherwise text).",
)
@click.option(
    "--all", "tell_all", is_flag=True, help="In text, print every finding, even if one rule has many in a run."
)
@output_option
@click.option(
    "--config",
    type=click.Path(),
    metavar="FILE",
    help="A TOML file (default: the nearest pyproject.toml with a table for gradledger).",
)
@click.option("--select", metavar="CODES", help="Codes, prefixes of codes, or ALL; replaces what the file selects.")
@click.option("--ignore", metavar="CODES", help="Codes or prefixes to leave out of the selected ones.")
@click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "info", "never")),
    help="The lowest severity that makes the exit status 1 (default: error).",
)
@click.option(
    "--baseline", metavar="RUN", shell_complete=complete_runs, help="A run or a directory of runs to compare with."
)
@jobs_option
@executor_option
@click.option(
    "--watch",
    "watching",
    is_flag=True,
    help="Keep watching the runs, and print findings as they appear, until interrupted.",
)
@click.option(
    "--notify",
    metavar="URL",
    multiple=True,
    help="With --watch, post findings at or above --fail-on to this URL: as JSON, or as Slack or Discord want it.",
)
@click.option(
    "--exec",
    "commands",
    metavar="CMD",
    multiple=True,
    help="With --watch, run this command for each of them; it gets the finding as JSON, and as GRADLEDGER_….",
)
@access_options
def command(**options: Any) -> int:
    """Audit, and write the report."""
    from summaries.cli.views.auditing import audit_runs

    return audit_runs(**options)
