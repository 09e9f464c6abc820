"""Which rank this process is, and what it logs to.

All integrations log through here, so that neither a disk that is full nor a gradient that cannot be measured ends a
training.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import summaries  # its messages take long to import: they are imported when they are first used
from optim.telemetry.arriving import Arriving, numbers_of
from optim.telemetry.endings import call_at_unusual_end, forget
from optim.telemetry.measuring import NothingToMeasureError
from optim.telemetry.monitor import GradientMonitor
from summaries import EventFileWriter, SummaryWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from optim.telemetry.measuring import Observation
    from optim.telemetry.report import StepReport

__all__ = ["Logging", "numbers_in", "rank"]

_MOST_UNLOGGED = 8  # steps: they keep what they were measured by


def rank() -> int:
    """This process's rank: torch.distributed's if it is initialized, else JAX's if it is loaded, else 0."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank())
    return 0 if jax is None else int(jax.process_index())


class Logging:
    """A monitor that lets the training go on: what cannot be measured or written is lost, and one warning says why.

    On rank 0 it logs; on the others it takes part in measuring.

    Args:
        where: the run's directory, given on every rank; or a writer that stays the caller's, of which only rank 0's is
            used.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        options: GradientMonitor's.

    Attributes:
        writer: on rank 0, where it logs; None on the others.
        report: the report of the last step that was logged, or None.

    Raises:
        TypeError, ValueError: as GradientMonitor does; nothing has been created then.
    """

    def __init__(self, where: str | os.PathLike[str] | EventFileWriter, *, per_rank: bool, **options: Any) -> None:
        if isinstance(options.get("variables"), Iterator):
            options["variables"] = list(options["variables"])  # it is needed twice
        GradientMonitor(None, **options)  # checks them
        self.report: StepReport | None = None
        self._unlogged: deque[tuple[Observation, Any]] = deque()  # steps and losses whose numbers are on their way
        number = rank()
        self._own: list[EventFileWriter] = []
        writer = where if isinstance(where, EventFileWriter) and number == 0 else None
        if writer is None and number == 0:
            writer = SummaryWriter(where)  # type: ignore[arg-type]
            self._own.append(writer)
        of_rank = None
        if per_rank:
            logdir = where.get_logdir() if isinstance(where, EventFileWriter) else where
            of_rank = SummaryWriter(f"{logdir!s}/rank={number}")
            self._own.append(of_rank)
        self.writer = writer
        self._has_recorder = options.get("keep_last") is not None
        if self._has_recorder:
            call_at_unusual_end(self._log_all)  # before the recorder writes what it keeps
        self._monitor = GradientMonitor(writer, rank_writer=of_rank, **options)
        self._at_exit: Callable[[], None] | None = None
        self._warned: set[str] = set()

    def measure(self, step: int, *arguments: Any, **named: Any) -> Observation | None:
        """As `GradientMonitor.measure`, independent of the arrays; None if there is nothing that can be measured."""
        observed: Observation | None = self.survive(
            lambda: self._monitor.measure(step, *arguments, **named).kept(), "gradients cannot be measured"
        )
        return observed

    def log_loss_as(self, tag: str) -> None:
        """As `GradientMonitor.log_loss_as`."""
        self._monitor.log_loss_as(tag)

    def needs_arrays(self, step: int) -> bool:
        """As `GradientMonitor.needs_arrays`."""
        return self._monitor.needs_arrays(step)

    def log(self, observation: Observation, loss: Any = None) -> None:
        """As `GradientMonitor.log`, once all numbers are there: on a GPU, no step waits for them."""
        if observation.detailed and getattr(loss, "is_cuda", False) and not hasattr(loss, "full_tensor"):
            loss = numbers_of([loss.detach().reshape(())]) if loss.numel() == 1 else loss
        self._unlogged.append((observation, loss))
        self.log_arrived()
        if self._unlogged and self._at_exit is None:
            self._at_exit = _calling(self)
            atexit.register(self._at_exit)

    def log_arrived(self) -> None:
        """Log what has waited for its numbers, if they have come."""
        self._log_first(at_most=_MOST_UNLOGGED)

    def _log_first(self, *, at_most: int) -> None:
        """Log the steps whose numbers are there, in their order; wait for the first ones until so many are left."""
        while self._unlogged and (len(self._unlogged) > at_most or all(map(_has_arrived, self._unlogged[0]))):
            observation, loss = self._unlogged.popleft()
            self._log(observation, loss.value()[0] if isinstance(loss, Arriving) else loss)

    def _log(self, observation: Observation, loss: Any) -> None:
        if self.survive(observation.found.value, "gradients cannot be measured") is None:
            return
        report = self._write(lambda: self._monitor.log(observation, loss))
        self.report = observation.report() if report is None else report

    def _log_all(self, _: str = "") -> None:
        self._log_first(at_most=0)

    def flush(self) -> None:
        """Write whatever was logged, so that it can be read at once."""
        self._log_all()
        if self.writer is not None:
            self._write(self.writer.flush)

    def scalars(self, values: Mapping[str, Any], step: int) -> None:
        """Log numbers beside the gradients, on the rank that writes.

        Raises:
            TypeError: a value is not a number.
        """
        writer = self.writer
        if writer is not None and values:
            made = [summaries.scalar(name, value) for name, value in values.items()]
            self._write(lambda: writer.add_summary(summaries.merge(made), step))

    def describe(self, hyperparameters: Mapping[str, Any], **texts: str) -> None:
        """Log what a run was started with, on the rank that writes.

        Args:
            hyperparameters: numbers, bools and strings stay what they are; None is left out; others become text.
            texts: by tag.
        """
        writer = self.writer
        if writer is None:
            return
        plain = bool | int | float | str | None
        known = {name: v if isinstance(v, plain) else str(v) for name, v in hyperparameters.items()}
        made = [summaries.hparams(known, {})] if known else []
        made += [summaries.text(tag, words) for tag, words in texts.items()]
        if made:
            self._write(lambda: writer.add_summary(summaries.merge(made), 0))

    def text(self, tag: str, words: str, step: int) -> None:
        """Write a text on the rank that writes, and at once: what follows it may be the end."""
        from summaries import text  # noqa: PLC0415 - with the messages, which a monitor does without

        writer = self.writer
        if writer is not None:
            self._write(lambda: writer.add_summary(text(tag, words), step))
            self._write(writer.flush)

    def dump(self, reason: str) -> None:
        """Write what the flight recorder keeps, if there is one."""
        self._log_all()
        if self._has_recorder:
            self._write(lambda: self._monitor.dump(reason))

    def close(self) -> None:
        """Close the monitor and the writers that were made for it."""
        self._log_all()
        if self._at_exit is not None:
            atexit.unregister(self._at_exit)
        forget(self._log_all)
        self._write(self._monitor.close)
        for writer in self._own:
            self._write(writer.close)

    def survive(self, call: Callable[[], Any], what: str, kinds: type[Exception] = Exception) -> Any:
        """What a call returns; None if it raises, with a warning if it is the first of its kind.

        Args:
            call: measures or writes.
            what: words for the warning.
            kinds: which exceptions are survived.
        """
        try:
            return call()
        except NothingToMeasureError:
            return None
        except kinds as error:
            if what not in self._warned:
                self._warned.add(what)
                warnings.warn(f"{what}, the training goes on: {error}", stacklevel=4)
        return None

    def _write(self, write: Callable[[], Any]) -> Any:
        return self.survive(write, "gradients cannot be logged", OSError)


def _has_arrived(value: Any) -> bool:
    return bool(getattr(value, "has_arrived", True))


def _calling(logging: Logging) -> Callable[[], None]:
    """What logs the last steps at the end of the process, if nobody has closed this; it does not keep it alive."""
    reference = weakref.ref(logging)

    def call() -> None:
        if (alive := reference()) is not None:
            alive._log_all()  # noqa: SLF001 - it is this module's

    return call


def numbers_in(values: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Those that are numbers, or arrays of one element, with a prefix before their names.

    >>> numbers_in({"loss": 2, "names": ["a"]}, "train/")
    {'train/loss': 2.0}
    """
    found = {}
    for name, value in values.items():
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            found[f"{prefix}{name}"] = float(value.item() if hasattr(value, "item") else value + 0)
    return found
