"""`gradledger clear-cache`: remove what `--cache` keeps of remote runs."""

from __future__ import annotations

import click

from summaries.cli.arguments.options import new_command
from summaries.presenting.terminal import printable
from summaries.words import counted


@new_command(
    section="Other",
    summary="Remove what --cache keeps of remote runs.",
    help="Remove what --cache keeps of remote runs, from DIRECTORY or from the default place.",
    examples=["gradledger clear-cache"],
)
@click.argument("directory", type=click.Path(), required=False)
def command(directory: str | None) -> int:
    """Remove it, and say how much it was; returns 0."""
    from summaries.storage.cache import cache_directory, clear_cache

    cache = cache_directory(directory or True)
    count, size = clear_cache(cache)
    print(f"{printable(cache)}: {counted(count, 'file')} removed, {size:,} bytes")
    return 0
