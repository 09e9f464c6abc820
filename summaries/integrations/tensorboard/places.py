"""TensorBoard's flags → the places to read, each with the name that its runs begin with → the runs below them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from summaries.auditing.discovery import runs_below
from summaries.auditing.findings import Failure
from summaries.storage.credentials import without_credentials
from summaries.storage.files import place_of
from summaries.storage.names import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.auditing.discovery import RunFiles
    from summaries.storage.files import Access

__all__ = ["Place", "existing_places", "listed", "places_of", "run_name"]

_NAMED = re.compile(r"(?P<name>[^/:\\]+):(?P<path>.+)", re.DOTALL)


class Place(NamedTuple):
    """A directory of runs.

    Attributes:
        path: a local path, or an address.
        name: what the names of its runs begin with, or "".
    """

    path: str
    name: str = ""


def places_of(logdir: str, logdir_spec: str = "") -> tuple[Place, ...]:
    """The places of `--logdir`, or of `--logdir_spec`: paths with commas between them, each with its name or without.

    TensorBoard takes one of the two flags. As there, a colon ends a name, unless the path begins with "/", is an
    address, or begins with the letter of a drive.

    >>> places_of("runs")
    (Place(path='runs', name=''),)
    >>> places_of("", "new:/runs/a,/runs/b:c")
    (Place(path='/runs/a', name='new'), Place(path='/runs/b:c', name=''))
    >>> places_of("", "s3://bucket/runs,old:s3://bucket/old")
    (Place(path='s3://bucket/runs', name=''), Place(path='s3://bucket/old', name='old'))
    """
    if not logdir_spec:
        return (Place(_expanded(logdir)),) if logdir else ()
    return tuple(_place(part) for part in logdir_spec.split(",") if part)


def existing_places(paths: Sequence[str]) -> tuple[Place, ...]:
    """Places with the names that their runs begin with: none for one, else the last part of its path.

    Raises:
        FileNotFoundError: a place does not exist.
        ImportError: it is an address, and what reads it is not installed.
    """
    for path in paths:
        storage, shown = place_of(path)
        storage.discover(shown, recursive=False)  # it may be empty, but not missing
    if len(paths) == 1:
        return (Place(paths[0]),)
    return tuple(Place(path, re.split(r"[/\\]+", without_credentials(path) + "/")[-2]) for path in paths)


def run_name(place: Place, name: str) -> str:
    """The name of a run, as TensorBoard has it.

    >>> run_name(Place("runs", "new"), "a/b"), run_name(Place("runs", "new"), "."), run_name(Place("runs"), ".")
    ('new/a/b', 'new', '.')
    """
    if not place.name:
        return name
    return place.name if name == "." else f"{place.name}/{name}"


def listed(places: Iterable[Place], access: Iterable[Access]) -> tuple[dict[str, RunFiles], tuple[Failure, ...]]:
    """The runs below some places, by name, and what could not be listed.

    Args:
        places: the places.
        access: how to read each of them.
    """
    found: dict[str, RunFiles] = {}
    failures: list[Failure] = []
    for place, how in zip(places, access, strict=True):
        shown = without_credentials(place.path)
        try:
            runs = runs_below(place.path, **how)
        except FileNotFoundError:  # it does not exist yet, or is still empty
            continue
        except (OSError, ImportError, ValueError) as error:
            failures.append(Failure("", shown, getattr(error, "strerror", None) or str(error)))
            continue
        for run in runs:
            name = run_name(place, run.name)
            name = f"{shown}/{run.name}" if name in found else name
            trained = run_name(place, run.trained) if run.trained else ""
            found[name] = run._replace(name=name, trained=trained)
    return found, tuple(failures)


def _place(part: str) -> Place:
    match = _NAMED.fullmatch(part)
    if match is None or (is_remote(part) and part.index("://") == part.index(":")) or os.path.splitdrive(part)[0]:
        return Place(_expanded(part))
    return Place(_expanded(match["path"]), match["name"])


def _expanded(path: str) -> str:
    return path if is_remote(path) else os.path.expanduser(path)
