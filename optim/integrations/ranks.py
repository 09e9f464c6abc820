"""Which rank this process is, and what it logs to.

All integrations log through here, so that a disk that is full ends no training.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from optim.telemetry.measuring import NothingToMeasureError
from optim.telemetry.monitor import GradientMonitor
from summaries import EventFileWriter, SummaryWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from optim.telemetry.measuring import Observation
    from optim.telemetry.report import StepReport

__all__ = ["Logging", "rank"]


def rank() -> int:
    """This process's rank: torch.distributed's if it is initialized, else JAX's if it is loaded, else 0."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank())
    return 0 if jax is None else int(jax.process_index())


class Logging:
    """A monitor that lets the training go on: what cannot be written is lost, with one warning that says why.

    On rank 0 it logs; on the others it takes part in measuring.

    Args:
        where: the run's directory, given on every rank; or a writer that stays the caller's, of which only rank 0's is
            used.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        options: GradientMonitor's.

    Raises:
        TypeError, ValueError: as GradientMonitor does; nothing has been created then.
    """

    def __init__(self, where: str | os.PathLike[str] | EventFileWriter, *, per_rank: bool, **options: Any) -> None:
        if isinstance(options.get("variables"), Iterator):
            options["variables"] = list(options["variables"])  # it is needed twice
        GradientMonitor(None, **options)  # checks them
        number = rank()
        self._own: list[EventFileWriter] = []
        writer = where if isinstance(where, EventFileWriter) else None
        if writer is None and number == 0:
            writer = SummaryWriter(where)  # type: ignore[arg-type]
            self._own.append(writer)
        of_rank = None
        if per_rank:
            logdir = where.get_logdir() if isinstance(where, EventFileWriter) else where
            of_rank = SummaryWriter(f"{logdir!s}/rank={number}")
            self._own.append(of_rank)
        self._writer = writer if number == 0 else None
        self._monitor = GradientMonitor(writer if number == 0 else None, rank_writer=of_rank, **options)
        self._has_recorder = options.get("keep_last") is not None
        self._has_warned = False

    def measure(self, step: int, *arguments: Any, **named: Any) -> Observation | None:
        """As `GradientMonitor.measure`, independent of the arrays; None if there is nothing to measure."""
        try:
            return self._monitor.measure(step, *arguments, **named).kept()
        except NothingToMeasureError:
            return None

    def log(self, observation: Observation, loss: Any = None) -> StepReport:
        """As `GradientMonitor.log`."""
        report: StepReport | None = self._survive(lambda: self._monitor.log(observation, loss))
        return observation.report() if report is None else report

    def text(self, tag: str, words: str, step: int) -> None:
        """Write a text on rank 0, and at once: what follows it may be the end."""
        from summaries import text  # noqa: PLC0415 - with the messages, which a monitor does without

        writer = self._writer
        if writer is not None:
            self._survive(lambda: writer.add_summary(text(tag, words), step))
            self._survive(writer.flush)

    def dump(self, reason: str) -> None:
        """Write what the flight recorder keeps, if there is one."""
        if self._has_recorder:
            self._survive(lambda: self._monitor.dump(reason))

    def close(self) -> None:
        """Close the monitor and the writers that were made for it."""
        self._survive(self._monitor.close)
        for writer in self._own:
            self._survive(writer.close)

    def _survive(self, write: Callable[[], Any]) -> Any:
        try:
            return write()
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(f"gradients cannot be logged, the training goes on: {error}", stacklevel=3)
        return None
