"""A directory → the runs to audit; a run's files → what of them can be read, and why the rest cannot."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING, NamedTuple

from summaries.auditing.findings import Failure
from summaries.auditing.signals.tags import is_validation
from summaries.reading.run import read_files
from summaries.storage.logdir import run_directories
from summaries.storage.names import relative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from summaries.reading.run import Run
    from summaries.storage.protocols import StoredFile

__all__ = ["Work", "baseline_below", "read_what_can_be", "reason_of", "runs_below"]


class Work(NamedTuple):
    """One run to audit: its name, its files in reading order, and how many bytes they had when they were found.

    `training` are the files of the run that this one validates, where it is one of a pair, as Keras and TF1 write it,
    and `trained` is that run's name; `failures` tell what of it could not be listed.
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


def runs_below(path: str | os.PathLike[str]) -> list[Work]:
    """Every run below a directory, by name; or the run that an event file is.

    A directory below it that cannot be read is a run without files, and with the failure that tells why.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        OSError: nothing below it can be read.
    """
    path = os.fspath(path)
    errors: list[OSError] = []
    runs = run_directories(path, errors.append, lone=os.path.basename(path))
    works = []
    for name, files in runs.items():
        trained = _trained(name, runs)
        size = sum(file.size for file in files)
        works.append(Work(name, tuple(files), size, tuple(runs.get(trained, ())), trained))
    return sorted(works + [_unlisted(error, path) for error in errors], key=lambda work: work.name)


def baseline_below(path: str | os.PathLike[str] | None) -> list[Work]:
    """The runs to compare with: as `runs_below`, but all of them can be read, or there is no telling; none of None.

    Raises:
        OSError: a file or directory cannot be read.
    """
    works = runs_below(path) if path is not None else []
    for work in works:
        for failure in (*work.failures, *filter(None, (_closed(work.name, file) for file in work.files))):
            raise OSError(f"cannot compare with {os.fspath(path or '')}: {failure.path}: {failure.reason}")
    return works


def _unlisted(error: OSError, path: str) -> Work:
    directory = os.fsdecode(error.filename)
    name = relative(directory, path)
    return Work(name, (), 0, failures=(Failure(name, directory, reason_of(error)),))


def _trained(name: str, runs: Mapping[str, object]) -> str:
    """The run that a run called `…/validation` validates: `…/train` beside it, or the one above it; "" if none is.

    Of `loss_val` it is `loss_train`, as `add_scalars` names directories.
    """
    above, _, last = name.rpartition("/")
    if not is_validation(last):
        return ""
    stem = last[: last.rfind("_") + 1]
    beside = [f"{above}/{stem}{other}" if above else stem + other for other in ("train", "training")]
    return next((other for other in (*beside, above or ".") if other in runs), "")


def read_what_can_be(name: str, files: Sequence[StoredFile]) -> tuple[Run | None, tuple[Failure, ...]]:
    """The run that those of the files make up that can be read, if any can; and what is wrong with the others."""
    left = list(files)
    failures: list[Failure] = []
    while left:
        try:
            return read_files(left, sum(file.size for file in left)), tuple(failures)
        except OSError as error:
            closed = {file: failure for file in left if (failure := _closed(name, file))}
            if not closed:  # they can be opened, and then not be read
                path = left[0].path if len(left) == 1 else ""
                return None, (*failures, Failure(name, path, reason_of(error)))
            failures += closed.values()
            left = [file for file in left if file not in closed]
    return None, tuple(failures)


def _closed(name: str, file: StoredFile) -> Failure | None:
    """Why a file cannot be opened; None where it can."""
    try:
        file.open().close()
    except OSError as error:
        return Failure(name, file.path, reason_of(error))
    return None


def reason_of(error: BaseException) -> str:
    """Why something could not be audited, in words."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    return f"{type(error).__name__} at {where}: {error} - this is a mistake of gradledger's, not of the run"
