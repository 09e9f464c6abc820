"""`gradledger export`: the scalars of runs as Parquet or CSV."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from summaries.cli.options import access_options, examples
from summaries.storage.credentials import without_credentials
from summaries.terminal import progress_bar
from summaries.tools import export
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.reading.run import Run
    from summaries.storage.files import Access

__all__ = ["command"]


@click.command(
    help="Export the scalars of all runs below LOGDIR to TARGET: a .parquet or .csv file; with --partitioned, a "
    "directory.",
    epilog=examples(
        "gradledger export runs runs.parquet",
        "gradledger export runs table --partitioned",
        status="0 if all was exported, 1 if files are damaged and the rest of them was exported, 2 if it failed.",
    ),
)
@click.argument("logdir")
@click.argument("target")
@click.option("--partitioned", is_flag=True, help="A Parquet dataset with a directory for each run.")
@access_options
def command(logdir: str, target: str, partitioned: bool, access: Access) -> int:
    """Export, and print the number of points."""
    if partitioned:
        write = export.export_dataset
    elif target.endswith(".parquet"):
        write = export.export_parquet
    elif target.endswith(".csv"):
        write = export.export_csv
    else:
        raise ValueError(f"target must end in .parquet or .csv, got {target!r}")
    damaged = False

    def on_run(name: str, run: Run) -> None:
        nonlocal damaged
        damaged |= any(fault.kind.is_data_loss for fault in run.faults)
        for fault in run.faults:
            print(f"gradledger: {fault}", file=sys.stderr)
        on_progress(name, run)

    runs = export.RunsBelow(logdir, **access)
    with progress_bar(len(runs)) as on_progress:
        points = write(runs, target, on_run, **access)
    print(f"{without_credentials(target)}: {counted(points, 'point')}")
    return int(damaged)
