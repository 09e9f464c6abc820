"""`gradledger reduce`: statistics over runs, as runs that TensorBoard overlays, or as a table."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, examples, json_option, runs_option, tags_option
from summaries.tools.choices import ALIGNMENTS, STATISTICS

__all__ = ["command"]


class _LeastRuns(click.ParamType):  # type: ignore[type-arg, unused-ignore] # click 8.5 made it generic
    """A number of runs, or all of them.

    >>> _LeastRuns().convert("all", None, None), _LeastRuns().convert("3", None, None)
    ('all', 3)
    """

    name = "N|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or "all"."""
        try:
            return value if value == "all" else int(value)
        except ValueError:
            self.fail(f"{value!r} is neither an integer nor 'all'", param, ctx)


@click.command(
    help="Compute the mean, spread and other statistics of several runs, step by step, such as of one configuration "
    "with different seeds. A directory stands for all runs below it.",
    epilog=examples(
        "gradledger reduce runs/seed-* -o reduced",
        "gradledger reduce runs --by all -o reduced",
        "gradledger reduce runs --statistics mean,q0.1,q0.9 --align union -o reduced.csv",
        status="0 if no file is damaged, 1 if files are and the rest of them was used, 2 if it failed.",
    ),
)
@click.argument("places", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="TARGET",
    help="A new directory, with a run for each statistic; or a new .csv or .parquet file; or - for CSV on standard "
    "output.",
)
@click.option(
    "--statistics",
    default=",".join(STATISTICS),
    show_default=True,
    metavar="NAMES",
    help="Any of mean, median, std, min, max, count, mean+std, mean-std, and quantiles such as q0.25.",
)
@click.option(
    "--align",
    type=click.Choice(ALIGNMENTS),
    default="exact",
    show_default=True,
    help="At which steps: those that all runs have; those that any has; the same, with straight lines between points.",
)
@click.option(
    "--min-runs",
    type=_LeastRuns(),
    metavar="N|all",
    default=1,
    show_default=True,
    help="Leave out tags that fewer runs have, and steps at which fewer have a value.",
)
@click.option(
    "--by",
    metavar="NAMES",
    help="Reduce apart for each value of these hyperparameters, such as lr,bs; all: of all that vary but seeds.",
)
@click.option("--skip-nan", is_flag=True, help="A value that is NaN counts as none, instead of making its step NaN.")
@click.option("--ddof", type=int, default=1, show_default=True, help="Divide by the number of runs less this in std.")
@tags_option
@runs_option
@json_option
@access_options
def command(**options: Any) -> int:
    """Reduce the runs."""
    from summaries.cli.views.reducing import reduce_runs

    return reduce_runs(**options)
