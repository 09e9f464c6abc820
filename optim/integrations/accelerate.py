"""Hugging Face Accelerate: gradients of prepared optimizers.

    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    hook = attach(accelerator, optimizer, "runs/x", model)

When: once for each step of the optimizer (after the last of the accumulated backward passes), after unscaling, and
before clipping if the loop clips with `accelerator.clip_grad_norm_`.

What: as `optim.integrations.torch`; `hook.loss(loss)` logs the loss. And whatever the loop gives to `accelerator.log`:
`attach` adds an `EventFileTracker`. Call it before `init_trackers`, which hands hyperparameters only to the trackers
that are there. `end_training` writes everything to the file. A tracker can also be given to the Accelerator, as
`log_with=EventFileTracker("runs/x")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelerate.tracking import GeneralTracker

from optim.integrations.ranks import Logging, numbers_in
from optim.integrations.torch import GradientHook
from optim.integrations.torch import attach as attach_to_optimizer

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from accelerate import Accelerator

    from summaries import EventFileWriter

__all__ = ["EventFileTracker", "attach"]


class EventFileTracker(GeneralTracker):  # type: ignore[misc]
    """Logs what a loop gives to `accelerator.log` and to `init_trackers`.

    Args:
        writer: where to log: a directory, or a writer that stays the caller's.
    """

    name = "gradledger"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, writer: EventFileWriter | str | os.PathLike[str] | Logging) -> None:
        super().__init__()
        self._own = not isinstance(writer, Logging)
        self._logging = writer if isinstance(writer, Logging) else Logging(writer, per_rank=False)
        self._step = 0

    @property
    def tracker(self) -> EventFileWriter | None:
        """The writer, on rank 0."""
        return self._logging.writer

    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Log hyperparameters."""
        self._logging.describe(values)

    def log(self, values: Mapping[str, Any], step: int | None = None, **options: Any) -> None:
        """Log numbers and texts; without a step, with that of the call before."""
        self._step = self._step if step is None else step
        self._logging.scalars(numbers_in(values), self._step)
        self._logging.describe({}, **{name: value for name, value in values.items() if isinstance(value, str)})

    def finish(self) -> None:
        """Write everything, and close the file if it was made for this."""
        if self._own:
            self._logging.close()
        else:
            self._logging.flush()


def attach(
    accelerator: Accelerator,
    optimizer: Any,
    writer: EventFileWriter | str | os.PathLike[str],
    model: Any,
    *,
    log_metrics: bool = True,
    **options: Any,
) -> GradientHook:
    """Log the gradients of each step.

    Args:
        accelerator: the one that prepared the model and the optimizer.
        optimizer: what `prepare` returned.
        writer: where to log: a directory, or a writer, of which only rank 0's is used.
        model: what `prepare` returned.
        log_metrics: whether to log what the loop gives to `accelerator.log`; False if it is logged elsewhere.
        options: those of `optim.integrations.torch.attach`.

    Returns:
        The hook; `remove()` ends it.

    Raises:
        ValueError: DeepSpeed or Megatron trains; the model has none of the optimizer's parameters.
    """
    kind = str(accelerator.distributed_type).rsplit(".", 1)[-1]
    if kind in {"DEEPSPEED", "MEGATRON_LM"}:
        raise ValueError(
            f"gradients must be the model's, got {kind}, which keeps them to itself: log its global norm by "
            "GradientMonitor.observe(step, {}, global_norm=...)"
        )
    hook = attach_to_optimizer(getattr(optimizer, "optimizer", optimizer), writer, model, **options)
    if log_metrics and not any(isinstance(tracker, EventFileTracker) for tracker in accelerator.trackers):
        tracker = EventFileTracker(hook.logging)
        accelerator.trackers.append(tracker)
        hook.at_removal.append(lambda: tracker in accelerator.trackers and accelerator.trackers.remove(tracker))
    return hook
