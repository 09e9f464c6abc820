"""`gradledger note`: write down something about a step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command, storage_options
from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from summaries.storage.files import Access


@new_command(
    section="Reshape",
    summary="Add a note about a step of a run.",
    help="Add a note about a STEP of a RUN. TEXT may be Markdown. It is added as a text in a new event file, "
    "which TensorBoard shows.",
    examples=["gradledger note runs/a 12000 'learning rate lowered by hand'"],
    status="0 if the note was added, 2 if it failed.",
)
@click.argument("run", shell_complete=complete_runs)
@click.argument("step", type=int)
@click.argument("text")
@storage_options
def command(run: str, step: int, text: str, access: Access) -> int:
    """Add the note."""
    tools.note(run, step, text, **access)
    print(f"{printable(run)}: noted at step {step}")
    return 0
