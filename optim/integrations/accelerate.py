"""Hugging Face Accelerate: gradients of prepared optimizers.

    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    hook = attach(accelerator, optimizer, "runs/x", model)

When: once for each step of the optimizer (after the last of the accumulated backward passes), after unscaling, and
before clipping if the loop clips with `accelerator.clip_grad_norm_`.

What: as `optim.integrations.torch`. Set `hook.loss` to log the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optim.integrations.torch import GradientHook
from optim.integrations.torch import attach as attach_to_optimizer

if TYPE_CHECKING:
    import os

    from accelerate import Accelerator

    from summaries import EventFileWriter

__all__ = ["attach"]


def attach(
    accelerator: Accelerator,
    optimizer: Any,
    writer: EventFileWriter | str | os.PathLike[str],
    model: Any,
    **options: Any,
) -> GradientHook:
    """Log the gradients of each step.

    Args:
        accelerator: the one that prepared the model and the optimizer.
        optimizer: what `prepare` returned.
        writer: where to log: a directory, or a writer, of which only rank 0's is used.
        model: what `prepare` returned.
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
    return attach_to_optimizer(getattr(optimizer, "optimizer", optimizer), writer, model, **options)
