"""`gradledger dump`: the events of files, one after the other, and the faults between them."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_files
from summaries.cli.arguments.options import access_options, json_option, new_command, tags_option


@new_command(
    section="Look",
    summary="Print the events of a file, and its faults.",
    help="Print every event of FILES, event files or directories of single runs, with its offset in bytes, and every "
    "fault where it is. Only a part of a file is in memory at a time.",
    examples=[
        "gradledger dump runs/a/events.out.tfevents.1700000000.host | less",
        "gradledger dump runs/a --tags 'val/*'",
        "gradledger dump runs/a --json | jq 'select(.fault)'",
    ],
    status="0 if all is well, 1 if a file is damaged, 2 if one cannot be read.",
)
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@click.option(
    "--full", is_flag=True, help="Print arrays and texts whole; with --json also pictures, sounds and graphs."
)
@tags_option
@json_option
@access_options
def command(**options: Any) -> int:
    """Print the events."""
    from summaries.cli.views.dumping import dump_files

    return dump_files(**options)
