"""`gradledger rename`: new names for tags and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from summaries import tools
from summaries.cli.candidates import complete_runs, complete_tags
from summaries.cli.faults import Troubles
from summaries.cli.options import access_options, examples, json_option
from summaries.cli.rewriting import STATUS, new_place_option, report
from summaries.terminal import progress_bar

if TYPE_CHECKING:
    from summaries.storage.files import Access

__all__ = ["command"]


@click.command(
    help="Write the run PLACE, or all runs below it, with new names of tags: each OLD becomes NEW. Each * in NEW "
    "stands for what the next wildcard of OLD matched. With --regex, OLD is a regular expression that is replaced "
    "wherever it matches, and NEW may refer to its groups.",
    epilog=examples(
        "gradledger rename runs/a 'loss*' 'train/loss*' -o renamed",
        "gradledger rename runs '*_train' 'train/*' '*_val' 'val/*' -o renamed",
        "gradledger rename runs --regex '(.*)/(.*)' '\\2/\\1' -o renamed",
        "gradledger rename runs --run 'version_*' 'resnet/*' -o renamed",
        status=STATUS,
    ),
)
@click.argument("place", shell_complete=complete_runs)
@click.argument("tags", nargs=-1, metavar="[OLD NEW]...", shell_complete=complete_tags)
@click.option("--run", "runs", nargs=2, multiple=True, metavar="OLD NEW", help="A new name for runs; may be repeated.")
@click.option("-E", "--regex", is_flag=True, help="OLD names are regular expressions.")
@new_place_option
@json_option
@access_options
def command(
    place: str,
    tags: tuple[str, ...],
    runs: tuple[tuple[str, str], ...],
    regex: bool,
    output: str,
    as_json: bool,
    access: Access,
) -> int:
    """Rename, and print what was written."""
    if len(tags) % 2:
        raise click.UsageError(f"Each OLD name needs a NEW one: {tags[-1]!r} has none.")
    if not tags and not runs:
        raise click.UsageError("Say what to rename: OLD NEW for tags, or --run OLD NEW for runs.")
    pairs = list(zip(tags[::2], tags[1::2], strict=True))
    troubles = Troubles()
    with progress_bar(None) as on_progress:
        result = tools.rename(
            place,
            output,
            tags=pairs,
            runs=runs,
            regex=regex,
            on_run=lambda name: on_progress(name, None),
            on_error=troubles.tell,
            **access,
        )
    return report(result, troubles, as_json=as_json)
