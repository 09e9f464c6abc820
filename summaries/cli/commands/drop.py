"""`gradledger drop`: runs without some of their tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs, complete_tags
from summaries.cli.arguments.options import examples
from summaries.cli.arguments.rewriting import STATUS, rewriting_options

if TYPE_CHECKING:
    from summaries.tools import Rewritten

__all__ = ["command"]


@click.command(
    help="Write the run PLACE, or all runs below it, without some of their tags. Everything else stays as it is.",
    epilog=examples(
        "gradledger drop runs/a -o small --tags 'gradients/*'",
        "gradledger drop runs -o cleaned --tags 'grad*' --runs 'a*'",
        status=STATUS,
    ),
)
@click.argument("place", shell_complete=complete_runs)
@click.option(
    "--tags",
    metavar="PATTERN",
    multiple=True,
    required=True,
    shell_complete=complete_tags,
    help="Tags to drop, such as 'grad*'; may be repeated.",
)
@rewriting_options
def command(place: str, output: str, **options: Any) -> Rewritten:
    """Drop tags."""
    return tools.drop(place, output, **options)
