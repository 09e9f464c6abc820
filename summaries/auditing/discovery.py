"""From a directory to the runs to audit: their names and their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from summaries.auditing.findings import Failure
from summaries.auditing.signals.tags import is_validation
from summaries.reading.readable import Unread, reason_of, unopened
from summaries.storage.credentials import without_credentials
from summaries.storage.logdir import run_directories
from summaries.storage.names import by_number, relative
from summaries.storage.protocols import expecting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["RunFiles", "baseline_below", "expecting_runs", "runs_below"]


class RunFiles(NamedTuple):
    """The files of one run.

    Attributes:
        name: the name of the run.
        files: its files, by name and number, and so by age.
        size: how many bytes they have together.
        training: if this run holds the validation of another one, as Keras and TF1 write it, the files of that one.
        trained: the name of that other run, or "".
        failures: what could not be listed.
    """

    name: str
    files: tuple[StoredFile, ...]
    size: int
    training: tuple[StoredFile, ...] = ()
    trained: str = ""
    failures: tuple[Failure, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the files are."""
        return tuple(file.path for file in self.files)


def runs_below(path: str | os.PathLike[str], **access: Unpack[Access]) -> list[RunFiles]:
    """Every run below a directory, sorted by name and number; an event file is a run by itself.

    A directory below it that cannot be read becomes a run without files, with a failure that says why.

    Raises:
        FileNotFoundError: the path does not exist, or there is no event file below it.
        OSError: nothing below it can be read.
    """
    errors: list[OSError] = []
    runs = run_directories(path, errors.append, lone=os.path.basename(path), **access)
    path = without_credentials(os.fspath(path))
    listed = [_unlisted(error, path) for error in errors]
    for name, files in runs.items():
        trained = _trained(name, runs)
        size = sum(file.size for file in files)
        listed.append(RunFiles(name, tuple(files), size, tuple(runs.get(trained, ())), trained))
    return sorted(listed, key=lambda run: by_number(run.name))


def baseline_below(path: str | os.PathLike[str] | None, **access: Unpack[Access]) -> list[RunFiles]:
    """The runs to compare with: as `runs_below`, but every file must be readable; an empty list for None.

    Raises:
        OSError: a file or directory cannot be read.
    """
    runs = runs_below(path, **access) if path is not None else []
    for run in runs:
        failures: list[Failure | Unread] = [*run.failures, *unopened(run.files)]
        for failure in failures:
            shown = without_credentials(os.fspath(path or ""))
            raise OSError(f"cannot compare with {shown}: {failure.path}: {failure.reason}")
    return runs


def expecting_runs(runs: Sequence[RunFiles]) -> AbstractContextManager[object]:
    """While this context lasts, these runs will be read in about this order; those in a store may be fetched ahead."""
    return expecting([file for run in runs for file in run.files])


def _unlisted(error: OSError, path: str) -> RunFiles:
    directory = os.fsdecode(error.filename)
    name = relative(directory, path)
    return RunFiles(name, (), 0, failures=(Failure(name, directory, reason_of(error)),))


def _trained(name: str, runs: Mapping[str, object]) -> str:
    """The run whose validation a run called `…/validation` holds: `…/train` beside it, or the one above it; else "".

    For `loss_val` it is `loss_train`, because `add_scalars` names directories like that.
    """
    above, _, last = name.rpartition("/")
    if not is_validation(last):
        return ""
    stem = last[: last.rfind("_") + 1]
    beside = [f"{above}/{stem}{other}" if above else stem + other for other in ("train", "training")]
    return next((other for other in (*beside, above or ".") if other in runs), "")
