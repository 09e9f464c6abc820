"""A callback for Lightning's Trainer.

    Trainer(..., callbacks=[GradientCallback("runs/x")])

When: in `on_before_optimizer_step`, after unscaling and before clipping; in manual optimization before the module
clips. Steps are the Trainer's `global_step` after the step. The gradients of a fused optimizer,
which unscales them itself, are divided by the scale here.

What: the global norm before clipping, the bound `gradient_clip_val` and clipping's other tags if it clips by norm, the
loss of the last backward pass, the learning rate, and each parameter's norms. A second optimizer logs to
`optimizer=1` below the directory, and so on.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from optim.integrations.torch import GradientHook, attach
from optim.telemetry.endings import words_of

if TYPE_CHECKING:
    import os

__all__ = ["GradientCallback"]

# Of the same framework's two packages, a Trainer accepts its own callbacks only.
_old = "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules
_Callback: Any = importlib.import_module("pytorch_lightning" if _old else "lightning.pytorch").Callback


class GradientCallback(_Callback):  # type: ignore[misc]
    """Logs the gradients of a Trainer.

    Args:
        logdir: the directory to log to.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.
    """

    def __init__(self, logdir: str | os.PathLike[str], *, per_rank: bool = False, **options: Any) -> None:
        super().__init__()
        self._logdir, self._options = logdir, {"per_rank": per_rank, **options}
        self._hooks: dict[int, GradientHook] = {}

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Attach to the optimizers."""
        self._remove()
        model = trainer.strategy.model or pl_module
        for number, optimizer in enumerate(trainer.optimizers):
            logdir = f"{self._logdir!s}/optimizer={number}" if number else self._logdir
            self._hooks[id(optimizer)] = attach(
                optimizer, logdir, model, step=lambda: trainer.global_step + 1, **self._options
            )  # fmt: skip

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """Keep the loss for the step."""
        for hook in self._hooks.values():
            hook.loss = loss.detach() * trainer.accumulate_grad_batches  # Lightning has divided it

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Measure the gradients, unless clipping has been noticed before."""
        hook = self._hooks[id(optimizer)]
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        if not getattr(optimizer, "_step_supports_amp_scaling", False):  # Lightning has unscaled them
            scaler = None
        by_norm = str(trainer.gradient_clip_algorithm or "norm").rsplit(".", 1)[-1].lower() == "norm"
        hook.observe(
            clip_norm=trainer.gradient_clip_val if by_norm and trainer.gradient_clip_val else None,
            scale=1.0 if scaler is None else scaler.get_scale(),
        )

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Write what the flight recorder keeps."""
        for hook in self._hooks.values():
            hook.dump(words_of(exception))
        self._remove()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Close the files."""
        self._remove()

    def _remove(self) -> None:
        while self._hooks:
            self._hooks.popitem()[1].remove()
