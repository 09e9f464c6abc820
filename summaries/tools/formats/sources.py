"""What is read, format by format, and how a path is told to be one of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from summaries.storage.plain import files_below, is_directory
from summaries.tools.formats import clearml, comet, csv_file, log_lines, neptune, swanlab, trackio, trainer_state
from summaries.tools.formats.archives import PATTERNS as ARCHIVES
from summaries.tools.formats.archives import has_members
from summaries.tools.formats.files import matches
from summaries.tools.formats.json_lines import read_json_lines
from summaries.tools.formats.mlflow import is_mlflow, read_mlflow
from summaries.tools.formats.parquet_file import read_parquet
from summaries.tools.formats.wandb import read_wandb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from summaries.tools.choices import Format
    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["SOURCES", "Source", "format_of", "has_events", "why_none"]

_EVENTS = "tfevents"  # in the name of an event file


class Source(NamedTuple):
    """A format that is read.

    Attributes:
        read: its reader, of a path and a count of what is left out.
        patterns: what the name of a file of it is like.
        fits: whether a file with such a name is one; raises ValueError or OSError if it is broken.
        alone: whether a file is one of it only by itself, while a directory of such files is none.
    """

    read: Callable[[str, LeftOut], Iterator[Item]]
    patterns: tuple[str, ...]
    fits: Callable[[str], bool] = lambda _file: True
    alone: bool = False


# The first that fits a file is its format.
SOURCES: dict[Format, Source] = {
    "wandb": Source(read_wandb, ("*.wandb",)),
    "swanlab": Source(swanlab.read_swanlab, (swanlab.PATTERN,)),
    "mlflow": Source(read_mlflow, ("meta.yaml",), lambda file: is_mlflow(os.path.dirname(file))),
    "trainer": Source(trainer_state.read_trainer_state, (trainer_state.NAME,)),
    "trackio": Source(trackio.read_trackio, (trackio.PATTERN,), trackio.is_trackio),
    "clearml": Source(clearml.read_clearml, ARCHIVES, lambda file: has_members(file, clearml.MEMBERS)),
    "comet": Source(comet.read_comet, ARCHIVES, lambda file: has_members(file, comet.MEMBERS)),
    "neptune": Source(neptune.read_neptune, (neptune.PATTERN,), neptune.is_neptune),
    "parquet": Source(read_parquet, (neptune.PATTERN,), alone=True),
    "csv": Source(csv_file.read_csv, (csv_file.PATTERN,), csv_file.has_steps),
    "jsonl": Source(read_json_lines, ("*.jsonl", "*.ndjson"), alone=True),
    "log": Source(log_lines.read_log, (log_lines.PATTERN,), alone=True),
}


def format_of(path: str, *, prefer_events: bool) -> Format:
    """The format of a file or directory, by names and, where several formats have the same, contents; else "events".

    Args:
        path: the file or directory; at an address, names alone decide.
        prefer_events: whether a directory that has event files, too, is one of these.
    """
    if not is_directory(path):
        named = [format_ for format_, source in SOURCES.items() if any(matches(path, one) for one in source.patterns)]
        return next((format_ for format_ in named if _fits(format_, path)), named[-1] if named else "events")
    found: Format | None = None
    for folder, _, names in files_below(path):
        if prefer_events and any(_EVENTS in name for name in names):
            return "events"
        found = found or _format_in(folder, names)
        if found and not prefer_events:
            break
    return found or "events"


def has_events(path: str) -> bool:
    """Whether a local path is named as event files are, or is a directory with one."""
    if not is_directory(path):
        return _EVENTS in os.path.basename(path)
    return any(_EVENTS in name for _, _, names in files_below(path) for name in names)


def _format_in(folder: str, names: list[str]) -> Format | None:
    """The format of the first file in a folder that is of any."""
    for format_, source in SOURCES.items():
        if source.alone:
            continue
        files = (os.path.join(folder, name) for name in names if any(matches(name, one) for one in source.patterns))
        if any(_fits(format_, file) for file in files):
            return format_
    return None


def _fits(format_: Format, file: str) -> bool:
    try:
        return SOURCES[format_].fits(file)
    except (OSError, ValueError):
        return False


def why_none(path: str) -> str:
    """Why a path may be of no format: a file of one that is broken, or a repository of Aim's; "" if neither."""
    for folder, folders, names in files_below(path):
        if ".aim" in folders or os.path.basename(folder) == ".aim":
            return f"{path} is a repository of Aim's, which only Aim opens: the page of `convert` has a program for it"
        for source in SOURCES.values():
            for name in names:
                if not source.alone and any(matches(name, one) for one in source.patterns):
                    try:
                        source.fits(os.path.join(folder, name))
                    except (OSError, ValueError) as error:
                        return str(error)
    return ""
