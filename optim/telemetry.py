"""Telemetry: step reports → one Summary a step → a writer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from summaries import Event, SessionLog, Summary

if TYPE_CHECKING:
    from optim.report import StepReport
    from summaries import EventFileWriter

__all__ = ["Telemetry", "log_checkpoint"]


class Telemetry:
    """Writes the reports of due steps, and remembers what the others did.

    Args:
        writer: where to log.
        every_n_steps: steps that this divides are due.

    Raises:
        ValueError: `every_n_steps` is not positive.
    """

    def __init__(self, writer: EventFileWriter, every_n_steps: int = 1) -> None:
        if every_n_steps < 1:
            raise ValueError(f"every_n_steps must be positive, got {every_n_steps}")
        self._writer = writer
        self._every_n_steps = every_n_steps
        self._steps = 0  # since the last write
        self._clipped = 0  # of these

    def is_due(self, step: int) -> bool:
        """Whether this step is written."""
        return step % self._every_n_steps == 0

    def observe(self, report: StepReport) -> None:
        """Take note of a step, and write it where it is due."""
        self._steps += 1
        self._clipped += report.clipped
        if self.is_due(report.step):
            values = dict(self._tags(report))
            self._steps = self._clipped = 0
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])
            self._writer.add_summary(summary, report.step)

    def _tags(self, report: StepReport) -> dict[str, float]:
        """The report's numbers by tag."""
        tags = {"train/learning_rate": report.learning_rate}
        if report.global_norm is not None and report.nonfinite is not None:
            tags["gradients/global_norm"] = report.global_norm
            tags["gradients/nonfinite"] = report.nonfinite
        if report.clip_norm is not None and report.clipped_global_norm is not None:
            tags["gradients/clipped_global_norm"] = report.clipped_global_norm
            tags["gradients/clip_norm"] = report.clip_norm
            tags["gradients/clipped"] = float(report.clipped)
            tags["gradients/clipped_fraction"] = self._clipped / self._steps
        return tags


def log_checkpoint(writer: EventFileWriter, path: str, step: int | None) -> None:
    """Log that a checkpoint has been written."""
    log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=path)
    writer.add_event(Event(wall_time=time.time(), step=step or 0, session_log=log))
