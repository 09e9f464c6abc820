"""`gradledger show`: statistics of runs, and their curves over one another."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, json_option, new_command, runs_option, tags_option


@new_command(
    section="Look",
    summary="Show statistics and curves of runs.",
    help="Show statistics and curves of RUNS: directories of runs, or event files. Several runs are drawn over one "
    "another. Without --tags, all tags are listed, and what the audit takes for the main loss is drawn.",
    examples=[
        "gradledger show runs/a",
        "gradledger show runs/a runs/b --tags '*loss*' --log",
        "gradledger show runs --runs 'lr=0.1*' --tags train/loss --smooth 0.9",
        "gradledger show runs/a --json | jq '.[0].tags'",
    ],
    status="0 if all is well, 1 if a file is damaged, 2 if one cannot be read.",
)
@click.argument("places", metavar="RUNS...", nargs=-1, required=True, shell_complete=complete_runs)
@click.option("--latest", is_flag=True, help="Leave out values that a restart of the run superseded.")
@click.option("--log", is_flag=True, help="Draw with a logarithmic axis of values.")
@click.option(
    "--smooth",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    metavar="WEIGHT",
    help="Smooth curves, as TensorBoard does: from 0 to less than 1.",
)
@click.option(
    "--height", type=click.IntRange(4, 100), default=12, metavar="LINES", help="Height of plots (default: 12)."
)
@click.option("--no-plot", is_flag=True, help="Draw no curves.")
@click.option("--full", is_flag=True, help="Print texts whole.")
@runs_option
@tags_option
@json_option
@access_options
def command(**options: Any) -> int:
    """Show the runs."""
    from summaries.cli.views.showing import show_runs

    return show_runs(**options)
