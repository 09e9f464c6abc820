"""`gradledger diff`: what is different between two runs, or between two directories of runs."""

from __future__ import annotations

from typing import Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, json_option, new_command, runs_option, tags_option


@new_command(
    section="Look",
    summary="Compare two runs: where they part, and by how much.",
    help="Compare two runs, A and B: the first step at which they part, tags that only one has, hyperparameters that "
    "differ, and how far curves are apart at the steps that both have. Of directories of runs, those of the same "
    "names are compared. Wall times do not count, nor do tags that measure the machine, unless --tags names them.",
    examples=[
        "gradledger diff runs/a runs/b",
        "gradledger diff runs/a runs/b --tags 'train/*' --rtol 1e-5",
        "gradledger diff old new --quiet && echo reproduced",
        "gradledger diff old new --json | jq .different",
    ],
    status="0 if they are the same, 1 if they differ, 2 if it failed.",
)
@click.argument("a", shell_complete=complete_runs)
@click.argument("b", shell_complete=complete_runs)
@click.option("--rtol", type=float, default=0.0, metavar="R", help="Values within R times the larger are the same.")
@click.option("--atol", type=float, default=0.0, metavar="T", help="Values within T of each other are the same.")
@click.option("--common-steps", is_flag=True, help="Steps that only one run has are no difference.")
@click.option("--all", "every", is_flag=True, help="Print the tags without a difference too.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing: the exit status tells.")
@runs_option
@tags_option
@json_option
@access_options
def command(**options: Any) -> int:
    """Compare the runs."""
    from summaries.cli.views.differing import compare_runs

    return compare_runs(**options)
