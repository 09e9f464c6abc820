"""`gradledger export`: the scalars of runs as CSV, as Parquet, or as a dataset that is kept current."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from summaries import tools
from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import (
    access_options,
    executor_option,
    json_option,
    new_command,
    runs_option,
    tags_option,
)
from summaries.cli.views.faults import Troubles, tell_unmatched
from summaries.presenting.terminal import printable, progress_bar
from summaries.storage.credentials import without_credentials
from summaries.words import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from summaries.errors import Fault
    from summaries.storage.files import Access
    from summaries.tools.exporting import Exported


@new_command(
    section="Reshape",
    summary="Export the scalars of runs to Parquet or CSV.",
    help="Export the scalars of all runs below LOGDIR to TARGET: a .csv or .parquet file; or a dataset, which is a "
    "directory of Parquet files, of which the next export writes only what has changed. - is CSV on standard output.",
    examples=[
        "gradledger export runs runs.parquet",
        "gradledger export runs - --tags '*/loss' --wide | head",
        "gradledger export s3://bucket/runs s3://bucket/tables/runs",
    ],
    status="0 if all was exported, 1 if files are damaged and the rest of them was exported, 2 if a file or "
    "directory cannot be read, or it failed.",
)
@click.argument("path", metavar="LOGDIR", shell_complete=complete_runs)
@click.argument("target", type=click.Path())
@tags_option
@runs_option
@click.option("--latest", is_flag=True, help="Leave out the points that a restart superseded.")
@click.option("--wide", is_flag=True, help="A row for each step, with a column for each tag.")
@click.option(
    "--format",
    type=click.Choice(["csv", "parquet", "dataset"]),
    help="What to write, if the ending of TARGET does not say it.",
)
@click.option(
    "--incremental/--full",
    default=True,
    help="Write only those runs of a dataset that have changed since the last export (default), or all.",
)
@click.option("--delete", is_flag=True, help="Remove the runs from a dataset that are no longer below LOGDIR.")
@click.option("--jobs", type=int, metavar="N", help="Number of processes that write a dataset (default: 1).")
@json_option
@executor_option
@access_options
def command(
    *, target: str, jobs: int | None, as_json: bool, executor: Executor | None, access: Access, **options: Any
) -> int:
    """Export, and print what was written."""
    troubles = Troubles()

    def on_run(name: str, faults: tuple[Fault, ...]) -> None:
        troubles.tell(*faults)
        on_progress(name, None)

    with progress_bar(None) as on_progress, _workers(jobs, executor) as workers:
        done = tools.export(
            target=sys.stdout if target == "-" else target,
            executor=workers,
            on_run=on_run,
            on_error=troubles.tell,
            **options,
            **access,
        )
    if not done.rows and not done.unchanged:
        tell_unmatched(options["tags"], None if done.written else options["runs"])
    counts = _counts(done, "row" if options["wide"] else "point", deleted=options["delete"])
    text = json.dumps(done._asdict()) if as_json else f"{printable(without_credentials(target))}: {counts}"
    print(text, file=sys.stderr if target == "-" else sys.stdout)
    return troubles.status


def _workers(jobs: int | None, executor: Executor | None) -> AbstractContextManager[Executor | None]:
    """Where to work, for the time of a context."""
    if jobs is None:
        return nullcontext(executor)
    if executor is not None:
        raise ValueError("--dask has its own processes: leave out --jobs")
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}")
    from summaries.execution.processes import Processes

    return Processes(jobs)


def _counts(done: Exported, noun: str, *, deleted: bool) -> str:
    """What was done, in words."""
    counts = [f"{counted(done.rows, noun)} of {counted(len(done.written), 'run')}"]
    if done.unchanged:
        counts.append(f"{counted(len(done.unchanged), 'run')} unchanged")
    if done.vanished:
        counts.append(f"{counted(len(done.vanished), 'run')} no longer there: {'removed' if deleted else 'kept'}")
    return ", ".join(counts)
