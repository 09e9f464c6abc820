"""From a directory to the runs to audit, and from the files of a run to what can be read of them."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING, NamedTuple

from summaries.auditing.findings import Failure
from summaries.auditing.signals.tags import is_validation
from summaries.errors import FaultKind
from summaries.reading.run import read_files
from summaries.storage.credentials import without_credentials
from summaries.storage.logdir import run_directories
from summaries.storage.names import by_number, relative
from summaries.storage.protocols import UnreachableError
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["RunFiles", "baseline_below", "contents", "jobs_for", "read_what_can_be", "reason_of", "runs_below"]

# Scanning large runs, without the GIL, is most of their audit: ten of 118 MB took 1.2 s in two threads, 1.2 s in two
# processes, 1.6 s one after the other. Forty of 17 MB took longer in two of either.
_LARGE_BYTES = 64 << 20
# Two processes took 0.6 to 1 s of processor time more than one: 5,000 runs of 5 kB 4.2 s instead of 3.3, and 700 of
# 0.5 MB 2.7 to 3.3 s instead of 2.0. Shared by two that pays only from here on.
_PROCESSES_SECS = 2.5
_RUN_SECS, _BYTE_SECS, _SEEN_BYTES = 6e-4, 4e-9, 1 << 20  # measured with these runs
_HEAD_BYTES = 512
_OTHER_FILES = (
    (b"fileFormatVersion:", "metadata of Unity"),
    (b"version https://git-lfs.github.com", "a Git LFS pointer: `git lfs pull` fetches the file itself"),
    (b"#ifndef", "a C header"),
    (b"#pragma", "a C header"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "compressed by gzip"),
)


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
    found = []
    for name, files in runs.items():
        trained = _trained(name, runs)
        size = sum(file.size for file in files)
        found.append(RunFiles(name, tuple(files), size, tuple(runs.get(trained, ())), trained))
    return sorted(found + [_unlisted(error, path) for error in errors], key=lambda run: by_number(run.name))


def baseline_below(path: str | os.PathLike[str] | None, **access: Unpack[Access]) -> list[RunFiles]:
    """The runs to compare with: as `runs_below`, but every file must be readable; an empty list for None.

    Raises:
        OSError: a file or directory cannot be read.
    """
    runs = runs_below(path, **access) if path is not None else []
    for run in runs:
        for failure in (*run.failures, *filter(None, (_closed(run.name, file) for file in run.files))):
            shown = without_credentials(os.fspath(path or ""))
            raise OSError(f"cannot compare with {shown}: {failure.path}: {failure.reason}")
    return runs


def jobs_for(runs: Sequence[RunFiles], jobs: int | None, *, processes: bool) -> tuple[int, bool]:
    """How many runs to work on at a time, and whether in processes rather than in threads.

    Args:
        runs: the runs.
        jobs: how many at most; None decides by how much there is to do.
        processes: whether processes may be used. If `jobs` is given, they are.

    Raises:
        ValueError: `jobs` is less than 1.

    >>> jobs_for([RunFiles("run", (), 100)] * 2, None, processes=True)
    (1, False)
    """
    if jobs is None:
        cores = os.cpu_count() or 1
        if sum(run.size for run in runs) >= _LARGE_BYTES * len(runs):
            jobs, processes = cores, False
        else:
            jobs = cores if processes and _judging_secs(runs) >= _PROCESSES_SECS else 1
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    jobs = max(min(jobs, len(runs)), 1)
    return jobs, processes and jobs > 1


def _judging_secs(runs: Sequence[RunFiles]) -> float:
    """About how long the rules take, which hold the GIL: they see few points of a large run, but all of a small one."""
    return _RUN_SECS * len(runs) + _BYTE_SECS * sum(min(run.size, _SEEN_BYTES) for run in runs)


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


def read_what_can_be(name: str, files: Sequence[StoredFile]) -> tuple[Run | None, tuple[Failure, ...]]:
    """Read the files that can be read, as one run, or None if none can; and say what is wrong with the others.

    Args:
        name: the run's name.
        files: its files.
    """
    left = list(files)
    failures: list[Failure] = []
    while left:
        try:
            return read_files(left), tuple(failures)
        except UnreachableError as error:
            unread = f"{reason_of(error)}; {counted(len(left), 'file')} not read"
            return None, (*failures, Failure(name, "", unread))
        except OSError as error:
            closed = {file: failure for file in left if (failure := _closed(name, file))}
            # A store's file can always be opened; what fails is reading it.
            closed |= {file: Failure(name, file.path, reason_of(error)) for file in left if file.path == error.filename}
            if not closed:  # they can be opened, but not read
                path = left[0].path if len(left) == 1 else ""
                return None, (*failures, Failure(name, path, reason_of(error)))
            failures += closed.values()
            left = [file for file in left if file not in closed]
    return None, tuple(failures)


def contents(files: Sequence[StoredFile], run: Run) -> dict[str, str]:
    """What the files are that are named like event files, and are something else by content: path → words."""
    other = {fault.path for fault in run.faults if fault.kind is FaultKind.NO_EVENT_FILE}
    found = {file.path: _content(file) for file in files if file.path in other}
    return {path: what for path, what in found.items() if what}


def _content(file: StoredFile) -> str:
    """What a file is, judging by its first bytes; "" if they do not tell."""
    try:
        with file.open() as opened:
            head = opened.read_range(0, _HEAD_BYTES)
    except OSError:  # it has gone since it was read
        return ""
    known = next((what for start, what in _OTHER_FILES if head.lstrip().startswith(start)), "")
    return known or ("a text file" if head.isascii() and head.decode().replace("\n", " ").isprintable() else "")


def _closed(name: str, file: StoredFile) -> Failure | None:
    """Why a file cannot be opened; None if it can."""
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
    return f"{type(error).__name__} at {where}: {error} - this is a bug in gradledger, not in the run"
