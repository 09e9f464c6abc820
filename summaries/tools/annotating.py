"""Annotating: a label or a note for a run, as texts in a new event file beside its own, which are not touched."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from summaries.kinds.text import text
from summaries.reading.annotations import LABEL_TAG, LABELS, NOTE_TAG
from summaries.reading.event_iterator import events_of
from summaries.storage.logdir import run_files
from summaries.storage.names import event_file_name, join
from summaries.storage.outputs import new_file
from summaries.wire.pb import Event, SourceMetadata, Summary
from summaries.wire.records import frame

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from summaries.errors import Fault
    from summaries.storage.files import Access

__all__ = ["check_run", "label", "note"]

_NOTE_SUFFIX = ".note"  # of the names of files with notes
_STEPS = 1 << 63


def label(run: str | os.PathLike[str], label: str, **access: Unpack[Access]) -> str:
    """Say that a run is good or bad. `compare` reads it, and TensorBoard shows it as a text.

    Args:
        run: the run's directory; a local path or an address.
        label: "good", "bad", or "none" to take back what was said before.
        **access: how an address is accessed: `storage_options` as in `read_run`.

    Returns:
        The path of the new event file.

    Raises:
        ValueError: it is another label.
        FileNotFoundError: there is no such run.
        NotADirectoryError: it is a file.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    >>> _ = label(os.path.dirname(writer.path), "good")
    >>> read_run(os.path.dirname(writer.path)).texts["gradledger/label/text_summary"][-1]
    'good'
    """
    if label not in LABELS:
        raise ValueError(f"a label must be {', '.join(LABELS[:-1])} or {LABELS[-1]}, got {label!r}")
    check_run(run, **access)
    return _write(run, ".label", [(0, text(LABEL_TAG, label))], **access)


def note(run: str | os.PathLike[str], step: int, words: str, **access: Unpack[Access]) -> str:
    """Write down something about a step of a run. TensorBoard shows it as a text.

    TensorBoard lets a text supersede those of higher steps that were written before, so notes of higher steps are
    written again after this one. A second note at a step is added to the first.

    Args:
        run: the run's directory; a local path or an address.
        step: the step, not negative.
        words: the note, in Markdown.
        **access: how an address is accessed: `storage_options` as in `read_run`.

    Returns:
        The path of the new event file.

    Raises:
        ValueError: the step is negative or beyond an int64, or there are no words.
        FileNotFoundError: there is no such run.
        NotADirectoryError: it is a file.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    >>> for step, words in ((900, "diverged"), (300, "a new data set")):
    ...     _ = note(os.path.dirname(writer.path), step, words)
    >>> list(read_run(os.path.dirname(writer.path)).texts["gradledger/note/text_summary"].latest())
    ['a new data set', 'diverged']
    """
    if not 0 <= step < _STEPS:
        raise ValueError(f"step must be at least 0 and below 2**63, got {step}")
    if not words.strip():
        raise ValueError("a note must have words, got none")
    check_run(run, **access)
    notes = _notes(run, **access)
    earlier = notes.get(step)
    notes[step] = text(NOTE_TAG, f"{_words(earlier)}\n\n{words}" if earlier else words)
    return _write(run, _NOTE_SUFFIX, [(at, notes[at]) for at in sorted(notes) if at >= step], **access)


def check_run(run: str | os.PathLike[str], **access: Unpack[Access]) -> None:
    """Raise an error if this is not a run's directory.

    Raises:
        FileNotFoundError: there is no such run.
        NotADirectoryError: it is a file.
    """
    path = os.fspath(run)
    if [file.path for file in run_files(path, **access)] == [path]:
        raise NotADirectoryError(f"a run must be a directory, to which an event file is added, got the file {path}")


def _notes(run: str | os.PathLike[str], **access: Unpack[Access]) -> dict[int, Summary]:
    """The notes that were written before, by step."""
    notes: dict[int, Summary] = {}
    for file in run_files(run, **access):
        if file.path.endswith(_NOTE_SUFFIX):
            for event in events_of(file, _ignore):
                if event.HasField("summary"):
                    notes = {step: summary for step, summary in notes.items() if step < event.step}
                    notes[event.step] = event.summary
    return notes


def _ignore(fault: Fault) -> None:
    """Damage of a file with notes is told when the run is read."""


def _words(summary: Summary) -> str:
    return summary.value[0].tensor.string_val[0].decode("utf-8", "replace")


def _write(
    run: str | os.PathLike[str], suffix: str, texts: Iterable[tuple[int, Summary]], **access: Unpack[Access]
) -> str:
    """Write texts, with their steps, as a new event file of a run; return its path."""
    now = time.time()
    source = SourceMetadata(writer="gradledger")
    events = [Event(wall_time=now, file_version="brain.Event:2", source_metadata=source)]
    events += [Event(wall_time=now, step=step, summary=summary) for step, summary in texts]
    path = join(os.fspath(run), event_file_name(now, suffix))
    with new_file(path, **access) as local, open(local, "wb") as file:
        file.write(b"".join(frame(event.SerializeToString()) for event in events))
    return path
