"""A callback for transformers' Trainer.

    Trainer(..., callbacks=[GradientCallback("runs/x")])

When: at each step of the optimizer, before clipping: the Trainer's own callbacks come after it, so this one notices the
call that clips. Steps are the Trainer's `global_step` after the step, as in its own logs.

What: as `optim.integrations.torch`: the global norm before clipping, the bound `max_grad_norm`, clipping's other tags,
the learning rate, and each parameter's norms. The Trainer logs the loss itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from optim.integrations.torch import GradientHook, attach

if TYPE_CHECKING:
    import os

    from summaries import EventFileWriter

__all__ = ["GradientCallback"]


class GradientCallback(TrainerCallback):  # type: ignore[misc]
    """Logs the gradients of a Trainer.

    Args:
        writer: where to log: a directory, or a writer, of which only rank 0's is used.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.
    """

    def __init__(
        self, writer: EventFileWriter | str | os.PathLike[str], *, per_rank: bool = False, **options: Any
    ) -> None:
        self._writer, self._options = writer, {"per_rank": per_rank, **options}
        self._hook: GradientHook | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **named: Any) -> None:
        """Attach to the optimizer.

        Raises:
            ValueError: DeepSpeed trains.
        """
        if getattr(args, "deepspeed", None):
            raise ValueError(
                "gradients must be the model's, got DeepSpeed, which keeps them to itself: log the engine's "
                "get_global_grad_norm() by GradientMonitor.observe(step, {}, global_norm=...)"
            )
        self._remove()
        optimizer = getattr(named["optimizer"], "optimizer", named["optimizer"])
        self._hook = attach(
            optimizer, self._writer, named["model"], step=lambda: state.global_step + 1, **self._options
        )  # fmt: skip

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Close the file."""
        self._remove()

    def _remove(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
