"""PyTorch Ignite: gradients of an engine's optimizer.

    attach(trainer, optimizer, "runs/x", model)

When: Ignite's handlers run after the user's function has made the step, so the gradients are seen by the optimizer's
hook: once a step, and before clipping if the function clips by `torch.nn.utils.clip_grad_norm_`. Steps are the engine's
iterations.

What: as `optim.integrations.torch`. An exception of the engine writes what the flight recorder keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ignite.engine import Engine, Events

from optim.integrations.torch import GradientHook
from optim.integrations.torch import attach as attach_to_optimizer
from optim.telemetry.endings import words_of

if TYPE_CHECKING:
    import os

    from summaries import EventFileWriter

__all__ = ["attach"]


def attach(
    engine: Engine, optimizer: Any, writer: EventFileWriter | str | os.PathLike[str], model: Any, **options: Any
) -> GradientHook:
    """Log the gradients of each step, until the engine has completed its run.

    Args:
        engine: the trainer, whose function makes the steps.
        optimizer: the torch optimizer.
        writer: where to log: a directory, or a writer, of which only rank 0's is used.
        model: the module.
        options: those of `optim.integrations.torch.attach`.

    Returns:
        The hook.
    """
    hook = attach_to_optimizer(optimizer, writer, model, step=lambda: int(engine.state.iteration), **options)

    def fail(_: Engine, error: BaseException) -> None:
        hook.dump(words_of(error))
        hook.remove()
        raise error

    engine.add_event_handler(Events.COMPLETED, hook.remove)
    engine.add_event_handler(Events.EXCEPTION_RAISED, fail)
    return hook
