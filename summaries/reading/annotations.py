"""What people say about a run afterwards: a label, and notes. They are texts, which TensorBoard shows as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from summaries.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.reading.run import Run

__all__ = ["ANNOTATIONS", "LABELS", "LABEL_TAG", "NOTE_TAG", "Note", "label_of", "notes_of"]

LABEL_TAG, NOTE_TAG = "gradledger/label", "gradledger/note"
"""The tags, without the `/text_summary` that the text dashboard's have at their end."""

ANNOTATIONS = frozenset(f"{tag}/text_summary" for tag in (LABEL_TAG, NOTE_TAG))
"""The whole tags. When these were written says nothing about when the run took place."""

LABELS = ("good", "bad", "none")
"""The labels; the last one takes back what was said before."""


class Note(NamedTuple):
    """Something that was written down about a step."""

    step: int
    text: str


def label_of(run: Run) -> str:
    """The last label of a run: "good" or "bad", or "" if it has none, or what is there is no label.

    Raises:
        OSError: its file can no longer be read.
    """
    said = [note.text for note in _texts(run, LABEL_TAG)]
    return said[-1] if said and said[-1] in LABELS[:-1] else ""


def notes_of(run: Run) -> tuple[Note, ...]:
    """The notes about a run by their steps; of several at a step the last one, since the others were replaced.

    Raises:
        OSError: its file can no longer be read.
    """
    last = {note.step: note for note in _texts(run, NOTE_TAG)}
    return tuple(last[step] for step in sorted(last))


def _texts(run: Run, name: str) -> Iterator[Note]:
    tag = f"{name}/text_summary"
    if tag not in run.tags or tag not in run.texts:
        return
    items = run.texts[tag]
    for i, step in enumerate(items.step.tolist()):
        try:
            text = items[i]
        except FormatError:
            continue
        if isinstance(text, str):
            yield Note(step, text)
