"""`gradledger convert`: event files from and to tables, JSON lines, MLflow; and from what others log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from summaries import tools
from summaries.cli.arguments.options import access_options, new_command, runs_option, tags_option
from summaries.cli.views.faults import Troubles, tell_unmatched
from summaries.presenting.terminal import printable, progress_bar
from summaries.storage.credentials import without_credentials
from summaries.tools.choices import FORMATS, TARGETS
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.reading.run import Run
    from summaries.storage.files import Access


@new_command(
    section="Reshape",
    summary="Convert loggers' histories and tables to event files, and back.",
    help="Convert SOURCE to TARGET, of which one is event files: a directory of runs, or a file. The other is a .csv, "
    ".parquet or .jsonl file, a file store of MLflow, or (only as the source) what others log: W&B's offline files, a "
    "database of Trackio, SwanLab's files, archives of ClearML and Comet, Neptune's export, a Trainer's state, CSV of "
    "Lightning, Keras and Ultralytics, a plain log.",
    examples=[
        "gradledger convert runs points.jsonl",
        "gradledger convert points.csv runs",
        "gradledger convert mlruns runs",
        "gradledger convert wandb/offline-run-20261122_145750-hrpmlapz runs",
        "gradledger convert runs mlruns",
        "gradledger convert trackio/digits.db runs",
        r"gradledger convert train.log runs --pattern 'Epoch (?P<step>\d+).*loss (?P<loss>\S+)'",
    ],
    status="0 if all is well, 1 if files are damaged and the rest of them was converted, 2 if it failed.",
)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option("--from", "source_format", type=click.Choice(FORMATS), help="What SOURCE is (default: as it looks).")
@click.option("--to", "target_format", type=click.Choice(TARGETS), help="What TARGET is (default: as it ends).")
@click.option(
    "--double",
    "double_precision",
    is_flag=True,
    help="Store values as float64, which TensorBoard shows with --load_fast=false only.",
)
@click.option("--pattern", metavar="REGEX", help="For a plain log: a pattern whose named groups are step and tags.")
@tags_option
@runs_option
@access_options
def command(*, target: str, access: Access, **options: Any) -> int:
    """Convert, and print the number of points, and what was left out."""
    troubles = Troubles()

    def on_run(name: str, run: Run) -> None:
        troubles.tell(*run.faults)
        on_progress(name, run)

    with progress_bar(None) as on_progress:
        converted = tools.convert(target=target, on_run=on_run, **options, **access)
    if not converted.points:
        tell_unmatched(options["tags"], None if converted.runs else options["runs"])
    counts = f"{counted(converted.points, 'point')} of {counted(converted.runs, 'run')}"
    print(printable(f"{without_credentials(target)}: {counts}"))
    for note in converted.notes:
        print(printable(f"  {note}"))
    for broken in converted.broken:
        print(f"gradledger: left out: {printable(broken)}", file=sys.stderr)
    return max(troubles.status, int(bool(converted.broken)))
