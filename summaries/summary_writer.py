"""SummaryWriter: the face of the writer that users know from TF1 and from torch."""

from __future__ import annotations

from summaries.writer import EventFileWriter

__all__ = ["SummaryWriter"]


class SummaryWriter(EventFileWriter):
    """Writes a run: everything that is logged goes to one event file in `logdir`. Arguments as in `EventFileWriter`.

    >>> import tempfile
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    """
