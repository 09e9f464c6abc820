"""The flight recorder: keeps the last steps in memory, and writes them when something happens.

An incident becomes a run of its own below the run, `incident=<step>`: its steps lie between, and partly before, those
that the run has already written.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections import deque
from typing import TYPE_CHECKING

from optim.telemetry.logger import Telemetry
from optim.telemetry.spikes import SpikeDetector
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from optim.telemetry.report import StepReport
    from summaries import EventFileWriter

__all__ = ["FlightRecorder"]

_log = logging.getLogger("optim")

_LONGEST = 3  # times as many steps as are kept, in one incident
_MOST_INCIDENTS = 20  # that are found; those that are asked for are always written
_MOST_REASONS = 10  # of one incident


class FlightRecorder:
    """Keeps reports of steps; an incident writes them, and a quarter as many of the steps that follow.

    An incident is an element that is not finite, a loss or a norm that is a spike, or a call of `dump`. No step is
    written twice; while one incident is being written, another only adds its reason. A training that spikes without end
    fills no disk: an incident's steps and reasons, and the number of incidents, are bounded.

    Args:
        writer: the run's writer; incidents are written below its directory.
        keep_last: the number of steps to keep; positive.
        variables: as for Telemetry.
        clock: returns seconds, from any start.
    """

    def __init__(
        self, writer: EventFileWriter, keep_last: int, variables: Iterable[str] | None, clock: Callable[[], float]
    ) -> None:
        self._writer = writer
        self._kept: deque[tuple[StepReport, tuple[str, ...], float, float]] = deque(maxlen=keep_last)
        self._variables = None if variables is None else list(variables)
        self._clock = clock
        self._loss, self._norm = SpikeDetector(), SpikeDetector(logarithmic=True)
        self._reason: str | None = None  # of the incident that lasts
        self._incident: _Incident | None = None
        self._more = 0  # steps still to be written for it
        self._found = 0  # incidents

    def record(self, report: StepReport, names: tuple[str, ...]) -> None:
        """Keep a step's report; `names` are its variables' names in tags."""
        self._kept.append((report, names, self._clock(), time.time()))
        reason = self._incident_in(report)
        if reason is not None and reason != self._reason and self._may_record():
            self.dump(reason)
        elif self._incident is not None:
            self._write()
            self._more -= 1
        if self._incident is not None and (self._more <= 0 or self._incident.steps >= _LONGEST * self._keep_last):
            self.close()
        self._reason = reason

    def dump(self, reason: str) -> str | None:
        """Write the steps that are kept.

        Returns:
            The directory of the incident; None if no step has been recorded since the last one.
        """
        if self._incident is None:
            if not self._kept:
                return None
            step = self._kept[-1][0].step
            self._incident = _Incident(_free(f"{self._writer.get_logdir()}/incident={step}"), self._variables)
        self._write()
        self._incident.add_reason(reason)
        self._incident.writer.flush()
        self._writer.flush()  # the process may be about to end
        self._more = max(1, self._keep_last // 4)
        return self._incident.writer.get_logdir()

    def close(self) -> None:
        """Write what belongs to a lasting incident, and close its file."""
        if self._incident is None:
            return
        try:
            self._write()
            self._incident.close()
        finally:
            self._incident = None

    @property
    def _keep_last(self) -> int:
        return self._kept.maxlen or 0

    def _may_record(self) -> bool:
        """Whether one more incident that was found is recorded; the first that is not is told."""
        if self._incident is not None:
            return True
        self._found += 1
        if self._found == _MOST_INCIDENTS + 1:
            _log.warning(
                "%s: %d incidents have been recorded, and no more will be", self._writer.get_logdir(), _MOST_INCIDENTS
            )
        return self._found <= _MOST_INCIDENTS

    def _write(self) -> None:
        incident = self._incident
        while incident is not None and self._kept:
            incident.write(*self._kept.popleft())

    def _incident_in(self, report: StepReport) -> str | None:
        loss, norm = report.loss, report.global_norm
        if report.nonfinite or not math.isfinite(norm or 0.0):
            return "gradients are not finite"
        if not math.isfinite(loss or 0.0):
            return "the loss is not finite"
        spikes = []
        if loss is not None and self._loss.is_spike(loss):
            spikes.append("a spike of the loss")
        if norm is not None and self._norm.is_spike(norm):
            spikes.append("a spike of the gradients' norm")
        return " and ".join(spikes) or None


class _Incident:
    """A run that is written from kept reports, with the times at which they were made."""

    def __init__(self, logdir: str, variables: Iterable[str] | None) -> None:
        self.writer = SummaryWriter(logdir)
        self.step = self.steps = 0
        self._reasons = 0
        self._at = 0.0
        self._telemetry = Telemetry(self.writer, variables=variables, clock=lambda: self._at)

    def write(self, report: StepReport, names: tuple[str, ...], at: float, wall_time: float) -> None:
        self._at, self.step = at, report.step
        self.steps += 1
        self._telemetry.observe(report, names, wall_time)

    def add_reason(self, reason: str) -> None:
        """Why it is recorded, or still is: of many reasons the first ones."""
        self._reasons += 1
        if self._reasons <= _MOST_REASONS:
            self.writer.add_text("incident", reason, self.step)

    def close(self) -> None:
        if self._reasons > _MOST_REASONS:
            self.writer.add_text("incident", f"… and {self._reasons - _MOST_REASONS} more", self.step)
        self.writer.close()


def _free(logdir: str) -> str:
    """The directory's name, or one like it if an incident of another monitor or an earlier training has it."""
    name, number = logdir, 0
    while os.path.lexists(name):
        number += 1
        name = f"{logdir}-{number}"
    return name
