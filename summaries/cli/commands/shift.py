"""`gradledger shift`: steps or times moved on or back."""

from __future__ import annotations

from typing import Any

import click

from summaries import tools
from summaries.cli.arguments.options import new_command
from summaries.cli.arguments.rewriting import STATUS, rewriting, rewriting_options


@new_command(
    section="Reshape",
    summary="Move the steps or times of runs.",
    help="Write the run PLACE, or all runs below it, with other steps or times.",
    examples=[
        "gradledger shift runs/finetuned -o moved --steps 100000",
        "gradledger shift runs -o aligned --to-zero",
        "gradledger shift runs/a -o moved --seconds -3600",
    ],
    status=STATUS,
)
@click.option("--steps", type=int, default=0, metavar="N", help="Add N to every step; negative to move back.")
@click.option("--seconds", type=float, default=0.0, metavar="S", help="Add S seconds to every time.")
@click.option("--to-zero", is_flag=True, help="Move the steps of each run so that its scalars begin at step 0.")
@rewriting_options
@rewriting
def command(*, steps: int, seconds: float, to_zero: bool, **options: Any) -> tools.Rewritten:
    """Shift."""
    if bool(steps) + to_zero > 1 or not (steps or seconds or to_zero):
        raise click.UsageError("Give --steps N or --to-zero, or --seconds S, or one of the former and --seconds.")
    return tools.shift(steps=steps, seconds=seconds, to_zero=to_zero, **options)
