"""`gradledger label`: say which runs are good or bad."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import new_command, storage_options
from summaries.presenting.terminal import printable
from summaries.reading.annotations import LABELS

if TYPE_CHECKING:
    from summaries.storage.files import Access


def _complete_runs_and_labels(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The runs; and if there is a word already, which click takes for the label, the labels before them."""
    labels = [CompletionItem(label) for label in LABELS if label.startswith(incomplete)]
    run_is_named = ctx.get_parameter_source("label_") is ParameterSource.COMMANDLINE
    return [*(labels if run_is_named else ()), *complete_runs(ctx, param, incomplete)]


@new_command(
    section="Reshape",
    summary="Label runs as good or bad.",
    help="Label RUNS as good or bad; none removes the label. A label is added to each run as a text in a new "
    "event file: compare reads it, and TensorBoard shows it.",
    examples=["gradledger label runs/a good", "gradledger label runs/b runs/c bad"],
    status="0 if all RUNS were labelled, 2 if it failed.",
)
@click.argument("runs", nargs=-1, required=True, shell_complete=_complete_runs_and_labels)
@click.argument("label_", metavar="|".join(LABELS), type=click.Choice(LABELS))
@storage_options
def command(runs: tuple[str, ...], label_: str, access: Access) -> int:
    """Label each run."""
    from summaries.tools.annotating import check_run

    for run in runs:  # all or none: before anything is written
        check_run(run, **access)
    for run in runs:
        tools.label(run, label_, **access)
        print(f"{printable(run)}: {label_}")
    return 0
