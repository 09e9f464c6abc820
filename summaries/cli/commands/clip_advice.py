"""`gradledger clip-advice`: suggest a bound for gradient clipping from recorded norms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from summaries.cli.arguments.candidates import complete_runs, complete_tags
from summaries.cli.arguments.options import access_options, new_command
from summaries.cli.views.faults import Troubles
from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from summaries.storage.files import Access


@new_command(
    section="Audit",
    summary="Suggest a bound for gradient clipping from recorded norms.",
    help="Suggest a bound for gradient clipping from the norms that RUN recorded: a run's directory or an event file.",
    examples=["gradledger clip-advice runs/first", "gradledger clip-advice runs/first --bound 1 --bound 5"],
    status="0 if there is advice, 1 if the run's files are damaged too, 2 if there is none.",
)
@click.argument("run", shell_complete=complete_runs)
@click.option(
    "--tag",
    shell_complete=complete_tags,
    help="The tag of the norms before clipping (default: the tag that the audit uses).",
)
@click.option("--bound", "bounds", type=float, multiple=True, help="Evaluate this bound; may be given several times.")
@click.option("--last-step", type=int, help="Use only the steps up to this one, for example before a run diverged.")
@access_options
def command(run: str, tag: str | None, bounds: tuple[float, ...], last_step: int | None, access: Access) -> int:
    """Print the advice."""
    from summaries.auditing.signals.tags import TagTable
    from summaries.reading.run import read_run
    from summaries.tools import clip_advice

    read = read_run(run, **access)
    if tag is None:
        norms = [name for name in read.scalars if TagTable().meaning(name).role == "global_norm"]
        tag = clip_advice.NORM_TAG if clip_advice.NORM_TAG in norms or not norms else norms[0]
    troubles = Troubles()
    troubles.tell(*read.faults)
    advice = clip_advice.clip_advice(read, tag, bounds or clip_advice.BOUNDS, last_step)
    print("\n".join(map(printable, str(advice).splitlines())))
    return troubles.status
