"""Verify: read every byte of event files, and report what is damaged."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import Fault, FaultKind, is_damaged
from summaries.execution.tasks import Died, run_tasks
from summaries.reading.reader import reader
from summaries.storage.files import place_of
from summaries.storage.logdir import files_below
from summaries.storage.names import is_remote, whole_name
from summaries.storage.protocols import expecting
from summaries.wire.layout import LOST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.storage.files import Access
    from summaries.storage.protocols import ReadableFile, StoredFile

__all__ = ["Verdict", "verdicts", "verify", "verify_file", "verify_logdir"]

_OTHERS = frozenset({FaultKind.NO_EVENT_FILE, FaultKind.UNDECODABLE})


@dataclass(frozen=True)
class Verdict:
    """What was found in an event file.

    Attributes:
        path: the file.
        events: number of whole events.
        faults: everything else in the file.
    """

    path: str
    events: int
    faults: tuple[Fault, ...]

    @property
    def damaged(self) -> bool:
        """Whether a fault is damage; see `FaultKind.is_damage`."""
        return is_damaged(self.faults)

    @property
    def unfinished(self) -> bool:
        """Whether it ends inside a record, and is not damaged: its writer is at work, or was killed."""
        return not self.damaged and any(fault.kind is FaultKind.UNFINISHED_TAIL for fault in self.faults)

    @property
    def is_event_file(self) -> bool:
        """Whether it is an event file, damaged or not: False for one without records, or with records of other kinds.

        An empty file is one that begins.
        """
        return self.events > 0 or not any(fault.kind in _OTHERS for fault in self.faults)


def verify(path: str | os.PathLike[str], **access: Unpack[Access]) -> Verdict:
    """Read a whole event file, and check every checksum and every message.

    Args:
        path: the file; a local path, or an address that fsspec knows, such as `s3://…`.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        The number of events, and the faults. Damage is not raised.

    Raises:
        OSError: the file cannot be read.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    >>> verdict = verify(writer.path)
    >>> verdict.events, verdict.damaged
    (2, False)
    """
    storage, shown = place_of(path, **access)
    if is_remote(shown):
        with suppress(FileNotFoundError), storage.open(shown, 0) as opened:
            return _verdict(opened, shown)
    listed = storage.discover(shown, recursive=False)
    files = sorted((file for file in listed if shown in (file.path, whole_name(file.path))), key=lambda file: file.path)
    if not files:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), shown)
    verdicts = [verify_file(file) for file in files]  # of a file in a store, which may be several objects
    faults = tuple(fault for verdict in verdicts for fault in verdict.faults)
    return Verdict(shown, sum(verdict.events for verdict in verdicts), faults)


def verify_file(file: StoredFile) -> Verdict:
    """`verify` for a file that was listed.

    Args:
        file: its path, size and store, as `verify_logdir` finds them.

    Raises:
        OSError: the file cannot be read.
    """
    with file.open(0) as opened:
        return _verdict(opened, file.path)


def _verdict(opened: ReadableFile, path: str) -> Verdict:
    faults: list[Fault] = []
    events = 0
    for item in reader().read_opened(opened, path):
        if isinstance(item, Fault):
            faults.append(item)
        else:
            events += int(np.count_nonzero(item.events["what"] != LOST))
    return Verdict(path, events, tuple(faults))


def verify_logdir(
    path: str | os.PathLike[str],
    *,
    on_error: Callable[[OSError], object] | None = None,
    executor: Executor | None = None,
    **access: Unpack[Access],
) -> list[Verdict]:
    """Read every event file below a directory whole, as `verify` reads one.

    Args:
        path: the directory, or an event file.
        on_error: called with the error of each file and each directory that cannot be read; the others are verified
            all the same. If None, the error is raised.
        executor: where to read, as in `audit`; None reads one file after the other.
        **access: as in `verify`.

    Returns:
        A verdict for each file that could be read: sorted, a run before the runs below it.

    Raises:
        FileNotFoundError: the path does not exist, or there is no event file below it.
        OSError: a file or directory cannot be read, and there is no `on_error`.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> directory = tempfile.mkdtemp()
    >>> for name in ("a", "b"):
    ...     with SummaryWriter(f"{directory}/{name}") as writer:
    ...         writer.add_scalar("loss", 0.5, 0)
    >>> [verdict.events for verdict in verify_logdir(directory)]
    [2, 2]
    """
    files = files_below(path, on_error, **access)
    by_path = {verdict.path: verdict for verdict in verdicts(files, on_error, executor)}
    return [by_path[file.path] for file in files if file.path in by_path]


def verdicts(
    files: Sequence[StoredFile], on_error: Callable[[OSError], object] | None = None, executor: Executor | None = None
) -> Iterator[Verdict]:
    """Yield `verify_file` of each file; those that an executor verifies, as they are done.

    Args:
        files: the files, of one storage.
        on_error: called with the error of each file that cannot be read; if None, it is raised.
        executor: where to read; None reads one file after the other.
    """
    for file, outcome in run_tasks(_VerifyFile(), files, executor=executor, size=lambda file: file.size):
        if isinstance(outcome, Verdict):
            yield outcome
            continue
        error = ChildProcessError(f"{file.path}: {outcome.reason}") if isinstance(outcome, Died) else outcome
        if on_error is None:
            raise error
        on_error(error)


class _VerifyFile:
    """`verify_file`, which gives its error back."""

    def expecting(self, files: Sequence[StoredFile]) -> AbstractContextManager[object]:
        """While this context lasts, these files will be read."""
        return expecting(files)

    def __call__(self, file: StoredFile) -> Verdict | OSError:
        try:
            return verify_file(file)
        except OSError as error:
            return error
