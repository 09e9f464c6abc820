"""`gradledger keep`: runs with only some of their tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import examples, tags_option
from summaries.cli.arguments.rewriting import STATUS, rewriting_options

if TYPE_CHECKING:
    from summaries.tools import Rewritten

__all__ = ["command"]


@click.command(
    help="Write the run PLACE, or all runs below it, with only some of their tags, or only some of the runs. Graphs, "
    "session logs and hyperparameters stay as well.",
    epilog=examples(
        "gradledger keep runs/a -o small --tags 'loss*' --tags accuracy",
        "gradledger keep runs -o best --runs 'a/*'",
        status=STATUS,
    ),
)
@click.argument("place", shell_complete=complete_runs)
@tags_option
@rewriting_options
def command(place: str, output: str, tags: tuple[str, ...], **options: Any) -> Rewritten:
    """Keep tags."""
    if not tags and not options["runs"]:
        raise click.UsageError("Say what to keep: --tags PATTERN, or --runs PATTERN.")
    return tools.keep(place, output, tags=tags or None, **options)
