"""`gradledger thin`: fewer points of scalars."""

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
    help="Write the run PLACE, or all runs below it, with fewer points of their scalars. Images, texts and everything "
    "else stay.",
    epilog=examples(
        "gradledger thin runs -o small --minmax 1000",
        "gradledger thin runs/a -o small --every 100 --tags 'train/*'",
        status=STATUS,
    ),
)
@click.argument("place", shell_complete=complete_runs)
@click.option(
    "--every", type=click.IntRange(1), metavar="N", help="Keep the first point of a tag and each Nth after it."
)
@click.option(
    "--minmax",
    type=click.IntRange(4),
    metavar="N",
    help="Keep about N points of a tag: the first, the last, and the extremes of equal stretches between them.",
)
@click.option(
    "--tags",
    metavar="PATTERN",
    multiple=True,
    shell_complete=complete_tags,
    help="Tags to thin (default: all); may be repeated.",
)
@rewriting_options
def command(
    place: str, output: str, every: int | None, minmax: int | None, tags: tuple[str, ...], **options: Any
) -> Rewritten:
    """Thin."""
    if (every is None) == (minmax is None):
        raise click.UsageError("Give one of --every N and --minmax N.")
    return tools.thin(place, output, every=every, minmax=minmax, tags=tags or None, **options)
