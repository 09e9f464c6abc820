"""What people say about a run afterwards: a label, and notes. They are texts, which TensorBoard shows as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.errors import FormatError

if TYPE_CHECKING:
    from summaries.reading.run import Run

__all__ = ["LABELS", "LABEL_TAG", "NOTE_TAG", "label_of"]

LABEL_TAG, NOTE_TAG = "gradledger/label", "gradledger/note"
"""The tags, without the `/text_summary` that the text dashboard's have at their end."""

LABELS = ("good", "bad", "none")
"""The labels; the last one takes back what was said before."""


def label_of(run: Run) -> str:
    """The last label of a run: "good" or "bad", or "" if it has none, or what is there is no label.

    Raises:
        OSError: its file can no longer be read.
    """
    tag = f"{LABEL_TAG}/text_summary"
    if tag not in run.tags or tag not in run.texts:
        return ""
    try:
        said = run.texts[tag][-1]
    except FormatError:
        return ""
    return said if isinstance(said, str) and said in LABELS[:-1] else ""
