"""Convert: event files from and to CSV, Parquet, JSON lines and MLflow's file store; and from what others log."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from summaries.patterns import matcher, several
from summaries.reading.kinds import KINDS
from summaries.storage.credentials import without_credentials
from summaries.storage.names import is_remote
from summaries.storage.outputs import new_directory, new_file
from summaries.storage.plain import at_hand, exists
from summaries.tools.choices import FORMATS, TARGETS
from summaries.tools.exporting import export
from summaries.tools.formats.event_files import write_runs
from summaries.tools.formats.json_lines import write_json_lines
from summaries.tools.formats.log_lines import read_log
from summaries.tools.formats.mlflow import write_mlflow
from summaries.tools.formats.points import Facts, LeftOut, Media, PointBatch
from summaries.tools.formats.sources import SOURCES, format_of, has_events, why_none
from summaries.tools.runs import read_ahead, runs_below
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.tools.choices import Format
    from summaries.tools.formats.points import Item
    from summaries.tools.runs import StoredRuns

__all__ = ["Converted", "convert"]

_TABLES: dict[str, Format] = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Converted:
    """What was converted.

    Attributes:
        source_format: the format of the source.
        target_format: the format of the target.
        runs: the number of runs.
        points: the number of points.
        notes: what was left out or changed, a sentence for each; counted in all of the source, whatever is chosen.
        broken: files of a directory that are not whole, and are left out: what is wrong with each.
    """

    source_format: Format
    target_format: Format
    runs: int
    points: int
    notes: tuple[str, ...]
    broken: tuple[str, ...] = ()


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: Format | None = None,
    target_format: Format | None = None,
    tags: Patterns = None,
    runs: Patterns = None,
    double_precision: bool = False,
    pattern: str | None = None,
    on_run: Callable[[str, Run], object] | None = None,
    **access: Unpack[Access],
) -> Converted:
    r"""Convert runs from one format to another; one of the two is event files.

    Tables are long, with the columns tag, step, value, and maybe run and wall_time; or wide, with a column for each
    tag. Of MLflow and W&B, points, hyperparameters and notes are read. Event files keep values as float32.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        source: what to read: event files or a directory of runs; a .csv, .parquet or .jsonl file; a file store of
            MLflow; a .wandb file, or a directory of these.
        target: what to write, a new file or directory; nothing is there until all is written. A run "." goes into a
            directory itself, others below it.
        source_format: how to read the source; None decides by its ending and contents.
        target_format: what to write; None decides by the target's ending; event files if the source is none.
        tags: patterns of tags, as in a shell; None takes all. Hyperparameters of event files are tags, too.
        runs: patterns of names of runs.
        double_precision: store values in event files as float64, as they are. TensorBoard shows these only with
            --load_fast=false; else they are rounded to float32, and how many were changed is noted.
        pattern: for plain logs, a regular expression whose named groups are tags, one of them `step`.
        on_run: called as `on_run(name, run)` after each run of event files was read.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        What was converted, and what was left out.

    Raises:
        FileExistsError: there is something at the target already.
        FileNotFoundError: there is no such source, or nothing in it.
        ValueError: a format cannot be told, cannot be written, or does not fit the file.
        OSError: a file cannot be read or written.
        ImportError: pyarrow is missing, which reads and writes Parquet; the message says how to install it.

    >>> import tempfile
    >>> from summaries import read_run
    >>> directory = tempfile.mkdtemp()
    >>> with open(f"{directory}/a.csv", "w") as file:
    ...     _ = file.write("step,wall_time,loss,accuracy\n1,100,0.5,\n2,200,0.25,0.75\n")
    >>> convert(f"{directory}/a.csv", f"{directory}/a").points
    3
    >>> read_run(f"{directory}/a").scalars["loss"].value
    array([0.5 , 0.25])
    """
    source_path, target_path = os.fspath(source), os.fspath(target)
    named = target_format or _format_of_target(target_path)
    reads = source_format or format_of(source_path, prefer_events=named not in {None, "events"})
    if named is None and reads == "events":
        raise _without_format(source_path, target_path, is_named=source_format is not None)
    writes = named or "events"
    for name in (reads, writes):
        if name not in FORMATS:
            raise ValueError(f"a format must be one of {', '.join(FORMATS)}, got {name!r}")
    if (reads == "events") == (writes == "events"):
        raise ValueError(
            f"source or target must be event files, got {reads} and {writes}: convert twice, or name the formats"
        )
    if writes not in TARGETS:
        raise ValueError(f"{writes} is read, not written: choose one of {', '.join(TARGETS)}")
    if pattern is not None and reads != "log":
        raise ValueError(f"a pattern is for plain logs, got one for {reads}: name the format log")
    tags, runs = several(tags), several(runs)
    if reads == "events":
        left_out = LeftOut()
        on_read = _counting(left_out, on_run, hyperparameters=writes != "mlflow")
        stored = runs_below(source_path, tags=tags, runs=runs, on_read=on_read, **access)
        points, notes = _from_runs(source_path, target_path, writes, stored, access)
        return Converted("events", writes, len(stored), points, (*left_out.notes(), *notes))
    read = SOURCES[reads].read if pattern is None else partial(read_log, pattern=pattern)
    choose = partial(_chosen, tags=tags, runs=runs)
    return _to_runs(source_path, target_path, reads, lambda *source: choose(read(*source)), double_precision, access)


def _format_of_target(path: str) -> Format | None:
    """The format that the name of a target says; None if it says none, which stands for event files."""
    name = os.path.basename(path.rstrip("/" + os.sep))
    return "mlflow" if name == "mlruns" else _TABLES.get(os.path.splitext(name)[1].lower())


def _without_format(source: str, target: str, *, is_named: bool) -> Exception:
    """What is wrong where both seem to be event files: the source, of an unknown format, or missing; or the target."""
    if not (is_named or is_remote(source) or has_events(source)):
        if not exists(source):
            return FileNotFoundError(f"no such file or directory: {source}")
        if why := why_none(source):
            return ValueError(why)
        return ValueError(
            "a source must be event files, or named as files of its format are, such as .csv, .db or .log, got "
            f"{source}; or name its format: {', '.join(SOURCES)}"
        )
    return ValueError(
        "the target must end in .csv, .parquet or .jsonl, or be called mlruns, got "
        f"{without_credentials(target)}; or name its format"
    )


def _to_runs(
    source: str,
    target: str,
    reads: Format,
    read: Callable[[str, LeftOut], Iterator[Item]],
    double_precision: bool,
    access: Access,
) -> Converted:
    left_out = LeftOut()
    with ExitStack() as stack:
        directory = stack.enter_context(new_directory(target, **access))
        local = stack.enter_context(at_hand(source, **access))
        written = write_runs(read(local, left_out), directory, double=double_precision)
    notes = left_out.notes()
    if written.media:
        notes.append(f"pictures, texts and histograms: {written.media} kept")
    if written.timeless:
        notes.append(f"{counted(written.timeless, 'point')} had no time, and got that of the conversion")
    if written.rounded:
        notes.append(f"{counted(written.rounded, 'value')} rounded to float32; --double keeps them as they are")
    if written.overflowed:
        notes.append(f"{counted(written.overflowed, 'value')} beyond float32 became infinite")
    notes += [f"the run {name!r} is at {path}" for name, path in written.renamed.items()]
    return Converted(reads, "events", written.runs, written.points, tuple(notes), tuple(left_out.broken.values()))


def _chosen(items: Iterator[Item], tags: Patterns, runs: Patterns) -> Iterator[Item]:
    """The items of wanted runs, with the points of wanted tags."""
    wanted_run, wanted_tag = matcher(runs), matcher(tags)
    for item in items:
        if not wanted_run(item.run):
            continue
        if tags is None or isinstance(item, Facts):
            yield item
            continue
        if isinstance(item, Media):
            if wanted_tag(item.summary.value[0].tag):
                yield item
            continue
        is_kept = np.array([wanted_tag(tag) for tag in item.tags], np.bool_)[item.tag]
        yield PointBatch(item.run, item.tags, *(column[is_kept] for column in item[2:]))


def _from_runs(source: str, target: str, writes: Format, runs: StoredRuns, access: Access) -> tuple[int, list[str]]:
    """The number of points, and what was changed."""
    with read_ahead(runs):
        if writes == "mlflow":
            experiment = os.path.basename(os.path.abspath(without_credentials(source)))
            with new_directory(target, **access) as directory:
                points, changed = write_mlflow(runs.items(), directory, experiment)
            return points, [f"the name {tag!r} is {name!r} in MLflow" for tag, name in changed.items()]
        with new_file(target, **access) as path:
            if writes == "jsonl":
                return write_json_lines(runs.items(), path), []
            return export(runs, path, format="csv" if writes == "csv" else "parquet").rows, []


def _counting(
    left_out: LeftOut, on_run: Callable[[str, Run], object] | None, *, hyperparameters: bool
) -> Callable[[str, Run], object]:
    """A callback for each run that counts what is not carried over; hyperparameters only if `hyperparameters`."""

    def count(name: str, run: Run) -> None:
        if on_run is not None:
            on_run(name, run)
        for attribute, kind in KINDS.items():
            if tags := getattr(run, attribute):
                left_out[f"tags of {kind.nouns}"] += len(tags)
        if hyperparameters and run.hparams:
            left_out["hyperparameters"] += len(run.hparams)

    return count
