"""Which rank this process is, and the writers that it has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from optim.telemetry.monitor import GradientMonitor
from summaries import EventFileWriter, SummaryWriter

if TYPE_CHECKING:
    import os

__all__ = ["Logging", "rank"]


def rank() -> int:
    """This process's rank: torch.distributed's if it is initialized, else JAX's if it is loaded, else 0."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank())
    return 0 if jax is None else int(jax.process_index())


class Logging(NamedTuple):
    """A monitor, and the writers that were made for it.

    Attributes:
        monitor: logs on rank 0; on the others it takes part in measuring.
        writers: to be closed with it.
        has_recorder: whether it keeps steps.
    """

    monitor: GradientMonitor
    writers: list[EventFileWriter]
    has_recorder: bool

    @classmethod
    def to(cls, where: str | os.PathLike[str] | EventFileWriter, *, per_rank: bool, **options: Any) -> Logging:
        """Log to a directory, or to a writer that stays the caller's.

        Args:
            where: the run's directory, given on every rank; or a writer, of which only rank 0's is used.
            per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
            options: GradientMonitor's.
        """
        number = rank()
        own: list[EventFileWriter] = []
        writer = where if isinstance(where, EventFileWriter) else None
        if writer is None and number == 0:
            writer = SummaryWriter(where)  # type: ignore[arg-type]
            own.append(writer)
        of_rank = None
        if per_rank:
            logdir = where.get_logdir() if isinstance(where, EventFileWriter) else where
            of_rank = SummaryWriter(f"{logdir!s}/rank={number}")
            own.append(of_rank)
        monitor = GradientMonitor(writer if number == 0 else None, rank_writer=of_rank, **options)
        return cls(monitor, own, options.get("keep_last") is not None)

    def dump(self, reason: str) -> None:
        """Write what the flight recorder keeps, if there is one."""
        if self.has_recorder:
            self.monitor.dump(reason)

    def close(self) -> None:
        """Close the monitor and the writers that were made for it."""
        self.monitor.close()
        for writer in self.writers:
            writer.close()
