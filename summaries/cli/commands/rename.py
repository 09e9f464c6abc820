"""`gradledger rename`: new names for tags and runs."""

from __future__ import annotations

from typing import Any

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_tags
from summaries.cli.arguments.options import access_options, json_option, new_command
from summaries.cli.arguments.rewriting import STATUS, new_directory_option, path_argument, rewriting


@new_command(
    section="Reshape",
    summary="Give tags and runs new names.",
    help="Write the run PLACE, or all runs below it, with new names of tags: each OLD becomes NEW. Each * in NEW "
    "stands for what the next wildcard of OLD matched. With --regex, OLD is a regular expression that is replaced "
    "wherever it matches, and NEW may refer to its groups.",
    examples=[
        "gradledger rename runs/a 'loss*' 'train/loss*' -o renamed",
        "gradledger rename runs '*_train' 'train/*' '*_val' 'val/*' -o renamed",
        "gradledger rename runs --regex '(.*)/(.*)' '\\2/\\1' -o renamed",
        "gradledger rename runs --run 'version_*' 'resnet/*' -o renamed",
    ],
    status=STATUS,
)
@path_argument
@click.argument("tags", nargs=-1, metavar="[OLD NEW]...", shell_complete=complete_tags)
@click.option("--run", "runs", nargs=2, multiple=True, metavar="OLD NEW", help="A new name for runs; may be repeated.")
@click.option("-E", "--regex", is_flag=True, help="OLD names are regular expressions.")
@new_directory_option
@json_option
@access_options
@rewriting
def command(*, tags: tuple[str, ...], runs: tuple[tuple[str, str], ...], **options: Any) -> tools.Rewritten:
    """Rename."""
    if len(tags) % 2:
        raise click.UsageError(f"Each OLD name needs a NEW one: {tags[-1]!r} has none.")
    if not tags and not runs:
        raise click.UsageError("Say what to rename: OLD NEW for tags, or --run OLD NEW for runs.")
    return tools.rename(tags=list(zip(tags[::2], tags[1::2], strict=True)), runs=runs, **options)
