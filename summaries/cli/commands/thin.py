"""`gradledger thin`: fewer points of scalars."""

from __future__ import annotations

from typing import Any

import click

from summaries import tools
from summaries.cli.arguments.options import new_command, tags_option_with
from summaries.cli.arguments.rewriting import STATUS, rewriting, rewriting_options


@new_command(
    section="Reshape",
    summary="Write runs with fewer points of their scalars.",
    help="Write the run PLACE, or all runs below it, with fewer points of their scalars. Images, texts and everything "
    "else stay.",
    examples=[
        "gradledger thin runs -o small --minmax 1000",
        "gradledger thin runs/a -o small --every 100 --tags 'train/*'",
    ],
    status=STATUS,
)
@click.option(
    "--every", type=click.IntRange(1), metavar="N", help="Keep the first point of a tag and each Nth after it."
)
@click.option(
    "--minmax",
    type=click.IntRange(4),
    metavar="N",
    help="Keep about N points of a tag: the first, the last, and the extremes of equal stretches between them.",
)
@tags_option_with("Tags to thin (default: all); may be repeated.")
@rewriting_options
@rewriting
def command(**options: Any) -> tools.Rewritten:
    """Thin."""
    if (options["every"] is None) == (options["minmax"] is None):
        raise click.UsageError("Give one of --every N and --minmax N.")
    return tools.thin(**options)
