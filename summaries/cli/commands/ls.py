"""`gradledger ls`: the runs in some places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, json_option, new_command, runs_option, tags_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.tools.listing import Listing

SORTS: dict[str, Callable[[Listing], Any]] = {
    "started": lambda listing: listing.wall_times or (),
    "ended": lambda listing: listing.wall_times[::-1] if listing.wall_times else (),
    "step": lambda listing: listing.steps[1] if listing.steps else -1,
    "size": lambda listing: listing.size,
}


@new_command(
    section="Look",
    summary="List runs: files, tags, steps, time span, size, damage.",
    help="List the runs in PLACES: directories of runs, or event files; without one, the current directory. Every "
    "file is read whole, because only that shows damage.",
    examples=[
        "gradledger ls runs",
        "gradledger ls runs --runs 'lr=0.1*' --long",
        "gradledger ls runs --sort ended",
        "gradledger ls runs --json | jq '.[].path'",
    ],
    status="0 if all is well, 1 if a file is damaged, 2 if something cannot be read.",
)
@click.argument("places", nargs=-1, shell_complete=complete_runs)
@click.option("-l", "--long", is_flag=True, help="Show more: files, records, tags by kind, first step, end.")
@click.option("-q", "--quick", is_flag=True, help="Read no file: show only the number of files and their size.")
@click.option("--sort", type=click.Choice(["name", *SORTS]), default="name", help="What to sort by (default: name).")
@runs_option
@tags_option
@json_option
@access_options
def command(*, sort: str, **options: Any) -> int:
    """List the runs."""
    from summaries.cli.views.listing import list_runs

    return list_runs(key=SORTS.get(sort), **options)
