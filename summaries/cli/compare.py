"""`gradledger compare`: from options to text, JSON or a page, and an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from summaries.cli.candidates import complete_runs
from summaries.cli.options import access_options, examples, executor_option, jobs_option, output_option
from summaries.cli.output import format_of, opened
from summaries.terminal import console, progress_bar

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from summaries.storage.files import Access

__all__ = ["command"]

_FORMATS = ("text", "json", "html")


@click.command(
    help="Compare the runs of a sweep: groups, outliers, what separates good from bad, seeds that disagree.",
    epilog=examples(
        "gradledger compare runs --by lr",
        "gradledger compare runs --good 'lr=0.1*' -o sweep.html",
        status="0 if the runs were compared, 2 if not.",
    ),
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
    logdir: str,
    by: str,
    metric: str | None,
    maximize: bool,
    table: str | None,
    good: tuple[str, ...],
    bad: tuple[str, ...],
    format_: str | None,
    output: str | None,
    config: str | None,
    jobs: int | None,
    executor: Executor | None,
    access: Access,
) -> int:
    """Compare runs, and write what was found; returns 0.

    Raises:
        ValueError: an option, the table or the configuration is invalid, or there is nothing to compare.
        OSError: a path does not exist, or cannot be read or written.
    """
    from summaries.auditing import config as configuration
    from summaries.auditing.comparison import compare_runs
    from summaries.auditing.report import comparison as report
    from summaries.auditing.report import comparison_page

    written = format_of(format_, output, _FORMATS)
    with opened(output, written, access) as file:
        with progress_bar(None) as on_run:
            found = compare_runs(
                logdir,
                configuration.load(config),
                by=[name for name in by.split(",") if name],
                metric=metric,
                maximize=maximize,
                table=table,
                good=good,
                bad=bad,
                jobs=jobs,
                executor=executor,
                on_run=on_run,
                **access,
            )
        if written == "text":
            report.show(found, console(file))
        else:
            file.write(report.json(found) if written == "json" else comparison_page.html(found))
    return 0
