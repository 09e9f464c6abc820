"""`gradledger convert`: event files from and to tables, JSON lines, MLflow; and from W&B."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from summaries import tools
from summaries.cli.faults import Troubles
from summaries.cli.options import access_options, examples, runs_option, tags_option
from summaries.storage.credentials import without_credentials
from summaries.terminal import printable, progress_bar
from summaries.tools.choices import FORMATS
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.tools.choices import Format

__all__ = ["command"]


@click.command(
    help="Convert SOURCE to TARGET, of which one is event files: a directory of runs, or a file. The other is a .csv, "
    ".parquet or .jsonl file, a file store of MLflow, or (only as the source) W&B's offline files.",
    epilog=examples(
        "gradledger convert runs points.jsonl",
        "gradledger convert points.csv runs",
        "gradledger convert mlruns runs",
        "gradledger convert wandb/offline-run-20261122_145750-hrpmlapz runs",
        "gradledger convert runs mlruns",
        status="0 if all is well, 1 if files are damaged and the rest of them was converted, 2 if it failed.",
    ),
)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option("--from", "source_format", type=click.Choice(FORMATS), help="What SOURCE is (default: as it looks).")
@click.option("--to", "target_format", type=click.Choice(FORMATS), help="What TARGET is (default: as it ends).")
@tags_option
@runs_option
@access_options
def command(
    source: str,
    target: str,
    source_format: Format | None,
    target_format: Format | None,
    tags: tuple[str, ...],
    runs: tuple[str, ...],
    access: Access,
) -> int:
    """Convert, and print the number of points, and what was left out."""
    troubles = Troubles()

    def on_run(name: str, run: Run) -> None:
        troubles.tell(*run.faults)
        on_progress(name, run)

    with progress_bar(None) as on_progress:
        found = tools.convert(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            tags=tags or None,
            runs=runs or None,
            on_run=on_run,
            **access,
        )
    if not found.points and (tags or runs):
        noun, missed = ("run", runs) if runs and not found.runs else ("tag", tags)
        print(f"gradledger: no {noun} matches {printable(' or '.join(map(repr, missed)))}", file=sys.stderr)
    counts = f"{counted(found.points, 'point')} of {counted(found.runs, 'run')}"
    print(printable(f"{without_credentials(target)}: {counts}"))
    for note in found.notes:
        print(printable(f"  {note}"))
    return troubles.status
