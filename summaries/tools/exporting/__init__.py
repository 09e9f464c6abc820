"""Export: the scalars of runs as CSV, as Parquet, or as a dataset of Parquet files that is kept current.

runs ── tags, runs, latest ──▶ long or wide rows ──▶ formats.csv_file | formats.parquet_file | dataset
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

from summaries.patterns import several
from summaries.storage.credentials import without_credentials
from summaries.storage.files import remembering
from summaries.storage.outputs import named, new_file
from summaries.tools.exporting.runs import Chosen, Exported
from summaries.tools.formats.csv_file import write_scalars as write_csv
from summaries.tools.formats.parquet_file import write_scalars as write_parquet
from summaries.tools.runs import runs_below

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from typing import TextIO, Unpack

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.tools.exporting.runs import OnRun
    from summaries.tools.runs import OnError

    Format = Literal["csv", "parquet", "dataset"]

__all__ = ["Exported", "export"]

_ENDINGS: dict[str, Format] = {".csv": "csv", ".parquet": "parquet", "": "dataset"}


def export(
    path: str | os.PathLike[str] | Mapping[str, Run],
    target: str | os.PathLike[str] | TextIO,
    *,
    format: Format | None = None,  # noqa: A002 - as the command line calls it
    tags: Patterns = None,
    runs: Patterns = None,
    latest: bool = False,
    wide: bool = False,
    incremental: bool = True,
    delete: bool = False,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
    on_error: OnError = None,
    **access: Unpack[Access],
) -> Exported:
    """Write the scalars of runs to a CSV file, a Parquet file, or a dataset: a directory of Parquet files.

    A table has the columns run, tag, step, wall_time (seconds since the epoch) and value, with a row for each point. A
    wide one has the columns run, step, wall_time (the latest of the row), and one for each tag. If a tag has several
    points at a step of a run, the one that was written last stands in a wide table. Files appear at the target when
    they are whole. Only one run is in memory at a time.

    A dataset is kept current: an export to one that is there writes only the runs that have changed since the last
    export, and new ones. Small runs share a file. Each file is replaced at once, and a run is always in exactly one,
    so whenever an export is interrupted, the dataset has every run as it was or as it is. Only one export to a dataset
    may run at a time. DuckDB and Polars read it by the pattern `<target>/*.parquet`.

    A kill or a loss of power leaves what was at the target, or all of the new; when this returns, a local one is on the
    disk.

    Args:
        path: a directory of runs, or an event file; a local path or an address. Or runs by name, but not for a dataset.
        target: the file or directory to write, a local path or an address. A file that is there is replaced. Or, for
            CSV, an open text file.
        format: "csv", "parquet" or "dataset"; None goes by the target's ending: .csv, .parquet, or none for a dataset.
        tags: which tags to export: a shell pattern or several, as in `read_run`; None means all.
        runs: which runs to export, by name, as for tags.
        latest: whether to leave out the points that a restart superseded; see `Series.latest`.
        wide: whether there is a row for each step, with a column for each tag; not for a dataset. If there are several
            runs in a directory, they are read twice, since the first line needs the tags of all.
        incremental: of a dataset, whether runs that have not changed stay as they are. They are written again in any
            case if `tags` or `latest` is another than last time.
        delete: of a dataset, whether runs that are no longer in the directory are removed; else they stay.
        executor: where to work on a dataset: any `concurrent.futures.Executor`, whose workers read the runs and write
            to the target themselves. None works here.
        on_run: called as `on_run(name, faults)` after each run was read.
        on_error: called with the error of each directory that cannot be listed, and of each run of which a file cannot
            be read. The other runs are exported all the same; a dataset keeps what it has of these. If None, the error
            is raised.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        ValueError: `format` is None, and the ending says nothing, or it is no format; or an argument does not go with
            it; or the target is "", or of a dataset has contents that are no dataset.
        FileNotFoundError: the directory does not exist, or there is no event file below it.
        OSError: a file cannot be written; or a file or directory cannot be read, and there is no `on_error`, or no run
            at all can be read. Of a dataset, all other runs are written nevertheless if a file cannot be read.
        ImportError: pyarrow is missing, which Parquet needs; the message says how to install it.

    >>> import sys, tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 2.0**-step, step, walltime=1.7e9)
    >>> export(writer.logdir, sys.stdout, wide=True)
    run,step,wall_time,loss
    .,0,1700000000.0,1.0
    .,1,1700000000.0,0.5
    .,2,1700000000.0,0.25
    Exported(rows=3, written=('.',), unchanged=(), vanished=())
    """
    tags, runs = several(tags), several(runs)
    kind = format or _format_of(target)
    if kind not in _ENDINGS.values():
        raise ValueError(f"the format must be one of {', '.join(_ENDINGS.values())}, got {kind!r}")
    if kind == "dataset":
        if wide:
            raise ValueError("a dataset is a long table, so wide does not go with it")
        if isinstance(path, Mapping) or not isinstance(target, (str, os.PathLike)):
            raise ValueError("a dataset is made from a directory, not from runs that were read, and is a directory")
        from summaries.tools.exporting.dataset import export_dataset  # noqa: PLC0415 - not what every writer needs

        selection: Any = {"tags": tags, "runs": runs, "latest": latest, "incremental": incremental, "delete": delete}
        callbacks: Any = {"on_run": on_run, "on_error": on_error}
        return export_dataset(path, named(target), **selection, executor=executor, **callbacks, **access)
    if delete or executor is not None:
        what = "delete" if delete else "an executor, as of --jobs and --dask,"
        raise ValueError(f"{what} is for a dataset, and the format is {kind!r}")
    written: list[str] = []

    def on_written(name: str, faults: tuple[Fault, ...]) -> None:
        written.append(name)
        if on_run is not None:
            on_run(name, faults)

    with remembering(path, **access) if wide and not isinstance(path, Mapping) else nullcontext(access) as cached:
        source = path
        if not isinstance(source, Mapping):
            source = runs_below(source, tags=tags, runs=runs, on_error=on_error, strict=True, **cached)
        chosen = Chosen(source, tags=tags, names=runs, latest=latest, on_run=on_written, on_error=on_error)
        return Exported(_write(kind, chosen, target, wide, access), tuple(written))


def _format_of(target: str | os.PathLike[str] | TextIO) -> Format:
    if not isinstance(target, (str, os.PathLike)):
        return "csv"
    ending = os.path.splitext(os.fspath(target).rstrip("/"))[1]
    if ending not in _ENDINGS:
        shown = without_credentials(os.fspath(target))
        raise ValueError(
            f"the target must end in .parquet or .csv, or have no ending for a dataset; or give its format: {shown}"
        )
    return _ENDINGS[ending]


def _write(kind: Format, runs: Chosen, target: str | os.PathLike[str] | TextIO, wide: bool, access: Access) -> int:
    if not isinstance(target, (str, os.PathLike)):
        if kind != "csv":
            raise ValueError(f"an open file is for CSV, and the format is {kind!r}")
        return write_csv(runs, target, wide=wide)
    with new_file(target, replace=True, storage_options=access.get("storage_options")) as new:
        if kind == "parquet":
            return write_parquet(runs, new, wide=wide)
        with open(new, "w", newline="", encoding="utf-8") as file:
            return write_csv(runs, file, wide=wide)
