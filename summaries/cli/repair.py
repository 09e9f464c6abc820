"""`gradledger repair`: whole files out of damaged ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from summaries import tools
from summaries.cli.candidates import complete_runs
from summaries.cli.faults import UNREAD, Troubles
from summaries.cli.options import access_options, examples, json_option, runs_option
from summaries.cli.rewriting import new_place_option, report
from summaries.terminal import printable, progress_bar
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.storage.files import Access

__all__ = ["command"]


@click.command(
    help="Write whole event files from those of the run PLACE, or of all runs below it. Every undamaged record is "
    "kept byte for byte; what was lost is listed.",
    epilog=examples(
        "gradledger repair runs/a -o mended",
        "gradledger repair runs -o mended --json",
        status="0 if nothing was damaged, 1 if something was, and the rest was written, 2 if a file or "
        "directory cannot be read, or it failed.",
    ),
)
@click.argument("place", shell_complete=complete_runs)
@new_place_option
@runs_option
@json_option
@access_options
def command(place: str, output: str, runs: tuple[str, ...], as_json: bool, access: Access) -> int:
    """Repair, and print what was lost."""
    troubles = Troubles()
    with progress_bar(None) as on_progress:
        result = tools.repair(
            place,
            output,
            runs=runs or None,
            on_run=lambda name: on_progress(name, None),
            on_error=troubles.tell,
            **access,
        )
    if as_json:
        return report(result, troubles, as_json=True)
    for fault in result.faults:  # what this command is about, and so not on standard error
        print(printable(str(fault)))
    status = report(result, troubles, as_json=False, faults_are_told=True)
    if result.lost_bytes:
        print(f"lost: {counted(result.lost_bytes, 'byte')}")
    elif status != UNREAD:
        print("nothing was lost")
    return status
