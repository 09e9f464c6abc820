"""`gradledger merge`: runs that were resumed or split become one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from summaries import tools
from summaries.cli.candidates import complete_runs
from summaries.cli.faults import Troubles
from summaries.cli.options import access_options, examples, json_option
from summaries.cli.rewriting import STATUS, new_place_option, report
from summaries.terminal import printable, progress_bar
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.storage.files import Access
    from summaries.tools.overlapping import Overlap

__all__ = ["command"]


@click.command(
    help="Write the events of several RUNS as one run with one event file, in the order in which they began.",
    epilog=examples(
        "gradledger merge runs/a runs/a-resumed -o runs/a-whole",
        "gradledger merge version_0 version_1 -o whole --latest",
        status=STATUS,
    ),
)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_runs)
@new_place_option
@click.option(
    "--latest",
    is_flag=True,
    help="Drop what a restart superseded: values at whose step, or a lower one, their tag was written again.",
)
@json_option
@access_options
def command(runs: tuple[str, ...], output: str, latest: bool, as_json: bool, access: Access) -> int:
    """Merge, and print what was written."""
    with progress_bar(None) as on_progress:
        result = tools.merge(
            runs,
            output,
            latest=latest,
            on_file=lambda path: on_progress(path, None),
            on_overlap=_tell,
            **access,
        )
    return report(result, Troubles(), as_json=as_json)


def _tell(overlap: Overlap) -> None:
    others = f", and {counted(overlap.tags - 1, 'other tag')} likewise" if overlap.tags > 1 else ""
    told = f"{overlap.tag} goes back from step {overlap.last} to step {overlap.first}{others}"
    print(f"gradledger: {printable(told)}: --latest drops what was written again", file=sys.stderr)
