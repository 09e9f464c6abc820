"""`gradledger shift`: steps or times moved on or back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import examples
from summaries.cli.arguments.rewriting import STATUS, rewriting_options

if TYPE_CHECKING:
    from summaries.tools import Rewritten

__all__ = ["command"]


@click.command(
    help="Write the run PLACE, or all runs below it, with other steps or times.",
    epilog=examples(
        "gradledger shift runs/finetuned -o moved --steps 100000",
        "gradledger shift runs -o aligned --to-zero",
        "gradledger shift runs/a -o moved --seconds -3600",
        status=STATUS,
    ),
)
@click.argument("place", shell_complete=complete_runs)
@click.option("--steps", type=int, default=0, metavar="N", help="Add N to every step; negative to move back.")
@click.option("--seconds", type=float, default=0.0, metavar="S", help="Add S seconds to every time.")
@click.option("--to-zero", is_flag=True, help="Move the steps of each run so that its scalars begin at step 0.")
@rewriting_options
def command(place: str, output: str, steps: int, seconds: float, to_zero: bool, **options: Any) -> Rewritten:
    """Shift."""
    if bool(steps) + to_zero > 1 or not (steps or seconds or to_zero):
        raise click.UsageError("Give --steps N or --to-zero, or --seconds S, or one of the former and --seconds.")
    return tools.shift(place, output, steps=steps, seconds=seconds, to_zero=to_zero, **options)
