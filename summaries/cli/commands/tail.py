"""`gradledger tail`: the last points of runs, and new ones as they come."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, json_option, new_command, runs_option, tags_option


@new_command(
    section="Look",
    summary="Print the last points of runs, and new ones as they come.",
    help="Print the last points of the runs in PLACES: directories of runs, or event files; without one, the current "
    "directory. With --follow, go on with new points as they are written, also of new runs: on a terminal in a table "
    "that is kept up to date, with a line for each tag; otherwise as lines. Ctrl-C ends it.",
    examples=[
        "gradledger tail runs/a",
        "gradledger tail -n 1 runs --tags 'val/*'",
        "gradledger tail -f runs --tags '*loss*' --tags gradients/global_norm",
        "gradledger tail -f runs --json | jq --unbuffered 'select(.value > 10)'",
    ],
    status="0 if all is well, 1 if a file is damaged, 2 if one cannot be read; 130 when --follow is interrupted, "
    "as with `tail -f`.",
)
@click.argument("places", nargs=-1, shell_complete=complete_runs)
@click.option("-f", "--follow", is_flag=True, help="Keep printing new points as they come.")
@click.option(
    "-n",
    "--count",
    type=click.IntRange(0),
    default=10,
    metavar="N",
    help="Number of points to begin with (default: 10).",
)
@click.option("--lines", is_flag=True, help="With --follow, print lines on a terminal too.")
@runs_option
@tags_option
@json_option
@access_options
def command(**options: Any) -> int:
    """Print the points."""
    from summaries.cli.views.tailing import follow_runs

    return follow_runs(**options)
