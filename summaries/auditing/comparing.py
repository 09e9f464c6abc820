"""The command `gradledger compare`: from options to text, JSON or a page, and an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.auditing import config as configuration
from summaries.auditing.report import text
from summaries.auditing.report.output import check_output, output
from summaries.auditing.report.progress import progress_bar

if TYPE_CHECKING:
    import argparse

__all__ = ["add_compare", "compare"]


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `gradledger compare`."""
    parser.add_argument("logdir", help="a directory of runs")
    parser.add_argument(
        "--by", metavar="NAMES", default="", help="hyperparameters to group by, such as lr,bs (default: all that vary)"
    )
    parser.add_argument(
        "--metric",
        metavar="TAG",
        help="the tag to compare by (default: the main loss, or its validation if as many runs have it)",
    )
    parser.add_argument("--maximize", action="store_true", help="larger values of the metric are better")
    parser.add_argument(
        "--table", metavar="FILE", help="a CSV file: run, hyperparameters, and perhaps label with good or bad"
    )
    parser.add_argument(
        "--good", metavar="PATTERN", action="append", default=[], help="runs that are good, such as 'lr=0.1*'"
    )
    parser.add_argument("--bad", metavar="PATTERN", action="append", default=[], help="runs that are bad")
    parser.add_argument("--format", choices=("text", "json", "html"), default="text", help="default: text")
    parser.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    parser.add_argument("--config", metavar="FILE", help="a TOML file, as for audit: what tags mean")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="number of processes (default: one per core, if there is enough to do)"
    )
    parser.epilog = "Exit status: 0 if the runs were compared, 2 if not."


def compare(options: argparse.Namespace) -> int:
    """Compare runs, and write what was found; returns 0.

    Args:
        options: those of `add_compare`.

    Raises:
        ValueError: an option, the table or the configuration is invalid, or there is nothing to compare.
        OSError: a path does not exist, or cannot be read or written.
    """
    from summaries.auditing.comparison import compare_runs  # noqa: PLC0415 - only this command needs them
    from summaries.auditing.report import comparison as report  # noqa: PLC0415
    from summaries.auditing.report import comparison_page  # noqa: PLC0415

    check_output(options)
    with progress_bar(None) as on_run:
        found = compare_runs(
            options.logdir,
            configuration.load(options.config),
            by=[name for name in options.by.split(",") if name],
            metric=options.metric,
            maximize=options.maximize,
            table=options.table,
            good=options.good,
            bad=options.bad,
            jobs=options.jobs,
            on_run=on_run,
            storage_options=dict(options.storage_option),
            cache=options.cache,
        )
    with output(options) as file:
        if options.format == "text":
            report.show(found, text.console(file))
        else:
            file.write(report.json(found) if options.format == "json" else comparison_page.html(found))
    return 0
