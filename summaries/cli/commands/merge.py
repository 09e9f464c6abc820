"""`gradledger merge`: runs that were resumed or split become one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, json_option, new_command
from summaries.cli.arguments.rewriting import STATUS, new_directory_option, report
from summaries.cli.views.faults import Troubles
from summaries.presenting.terminal import printable, progress_bar
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.storage.files import Access
    from summaries.tools.rewriting.merging import Overlap


@new_command(
    section="Reshape",
    summary="Make one run out of several that were resumed or split.",
    help="Write the events of several RUNS as one run with one event file, in the order in which they began.",
    examples=[
        "gradledger merge runs/a runs/a-resumed -o runs/a-whole",
        "gradledger merge version_0 version_1 -o whole --latest",
    ],
    status=STATUS,
)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_runs)
@new_directory_option
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
            runs, output, latest=latest, on_file=lambda path: on_progress(path, None), on_overlap=_tell, **access
        )
    return report(result, Troubles(), as_json)


def _tell(overlap: Overlap) -> None:
    others = f", and {counted(overlap.tags - 1, 'other tag')} likewise" if overlap.tags > 1 else ""
    text = f"{overlap.tag} goes back from step {overlap.last} to step {overlap.first}{others}"
    print(f"gradledger: {printable(text)}: --latest drops what was written again", file=sys.stderr)
