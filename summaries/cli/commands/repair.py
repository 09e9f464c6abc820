"""`gradledger repair`: whole files out of damaged ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from summaries import tools
from summaries.cli.arguments.options import new_command
from summaries.cli.arguments.rewriting import print_written, report, rewriting, rewriting_options
from summaries.cli.views.faults import UNREAD
from summaries.presenting.terminal import printable
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.cli.views.faults import Troubles


def _report(result: tools.Rewritten, troubles: Troubles, as_json: bool) -> int:
    """Print what was lost, too; it is what this command is about, and so not on standard error."""
    if as_json:
        return report(result, troubles, as_json)
    troubles.count(*result.faults)
    for fault in result.faults:
        print(printable(str(fault)))
    print_written(result)
    if result.lost_bytes:
        print(f"lost: {counted(result.lost_bytes, 'byte')}")
    elif troubles.status != UNREAD:
        print("nothing was lost")
    return troubles.status


@new_command(
    section="Mend",
    summary="Write whole event files from damaged ones.",
    help="Write whole event files from those of the run PLACE, or of all runs below it. Every undamaged record is "
    "kept byte for byte; what was lost is listed.",
    examples=["gradledger repair runs/a -o mended", "gradledger repair runs -o mended --json"],
    status="0 if nothing was damaged, 1 if something was, and the rest was written, 2 if a file or "
    "directory cannot be read, or it failed.",
)
@rewriting_options
@partial(rewriting, report=_report)
def command(**options: Any) -> tools.Rewritten:
    """Repair."""
    return tools.repair(**options)
