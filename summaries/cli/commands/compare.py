"""`gradledger compare`: from options to text, JSON or a page, and an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, executor_option, jobs_option, new_command, output_option
from summaries.cli.views.faults import UNREAD, Troubles
from summaries.cli.views.output import format_of, opened
from summaries.presenting.terminal import console, progress_bar

if TYPE_CHECKING:
    from summaries.storage.files import Access

_FORMATS = ("text", "json", "html")


@new_command(
    section="Audit",
    summary="Compare the runs of a sweep, and find what separates them.",
    help="Compare the runs of a sweep: groups, outliers, what separates good from bad, seeds that disagree.",
    examples=["gradledger compare runs --by lr", "gradledger compare runs --good 'lr=0.1*' -o sweep.html"],
    status="0 if the runs were compared, 1 if files are damaged and the rest of them was compared, 2 if one cannot be "
    "read, or nothing can be compared.",
)
@click.argument("logdir", shell_complete=complete_runs)
@click.option(
    "--by", metavar="NAMES", default="", help="Hyperparameters to group by, such as lr,bs (default: all that vary)."
)
@click.option(
    "--metric",
    metavar="TAG",
    help="The tag to compare by (default: the main loss, or its validation if as many runs have it).",
)
@click.option("--maximize", is_flag=True, help="Larger values of the metric are better.")
@click.option(
    "--table",
    metavar="FILE",
    help="A CSV file with a column run, one for each hyperparameter, and optionally label: good or bad.",
)
@click.option(
    "--good", metavar="PATTERN", multiple=True, help="Names of good runs, such as 'lr=0.1*'; may be repeated."
)
@click.option("--bad", metavar="PATTERN", multiple=True, help="Names of bad runs; may be repeated.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="What to write (default: what the ending of --output names, such as sweep.html; otherwise text).",
)
@output_option
@click.option("--config", type=click.Path(), metavar="FILE", help="A TOML file, as for audit: what tags mean.")
@jobs_option
@executor_option
@access_options
def command(
    *, logdir: str, by: str, format_: str | None, output: str | None, config: str | None, access: Access, **options: Any
) -> int:
    """Compare runs, and write the comparison; returns the exit status.

    Raises:
        ValueError: an option, the table or the configuration is invalid, or there is nothing to compare.
        OSError: a path does not exist, or cannot be read or written.
    """
    from summaries.auditing import config as configuration
    from summaries.auditing.comparison import compare_runs
    from summaries.auditing.report import comparison as report
    from summaries.auditing.report import comparison_page

    format_ = format_of(format_, output, _FORMATS)
    with opened(output, format_, access) as file:
        names = [name for name in by.split(",") if name]
        with progress_bar(None) as on_run:
            comparison = compare_runs(logdir, configuration.load(config), by=names, on_run=on_run, **options, **access)
        if format_ == "text":
            report.show(comparison, console(file))
        else:
            file.write(report.json(comparison) if format_ == "json" else comparison_page.html(comparison))
    troubles = Troubles()
    troubles.tell(*comparison.faults)
    return UNREAD if comparison.unread else troubles.status
