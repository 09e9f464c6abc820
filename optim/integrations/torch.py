"""A hook on any torch optimizer: for every loop that has no callbacks.

    hook = attach(optimizer, "runs/x", model)

When: once for each step of the optimizer, before the step; and before clipping, if the loop clips with
`torch.nn.utils.clip_grad_norm_` (or `clip_grads_with_norm_`, or FSDP1's method) by its full name, as Accelerate,
transformers and Stable-Baselines3 do. What is accumulated over several backward passes is seen once. Gradients that
GradScaler has not unscaled, since a fused optimizer does that itself, are divided by its scale.

What: `gradients/global_norm` before clipping, `gradients/clip_norm`, `gradients/clipped` and the rest of clipping's
tags if the loop clips all of the optimizer's parameters by their L2 norm; the learning rate of the first group; norms
and zeros of each parameter. The loss, if the loop sets `hook.loss`.
"""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

from optim.integrations.clipping import unwatch, watch
from optim.integrations.ranks import Logging
from optim.integrations.selected import Selected

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import torch

    from optim.telemetry.report import StepReport
    from summaries import EventFileWriter

__all__ = ["GradientHook", "attach"]

_L2 = 2.0


def attach(
    optimizer: torch.optim.Optimizer,
    writer: EventFileWriter | str | os.PathLike[str],
    model: torch.nn.Module,
    *,
    clip_norm: float | None = None,
    step: Callable[[], int] | None = None,
    per_rank: bool = False,
    **options: Any,
) -> GradientHook:
    """Log the gradients of each step of a torch optimizer.

    Args:
        optimizer: makes the steps.
        writer: where to log: a directory, given on every rank; or a writer, of which only rank 0's is used.
        model: the module whose parameters are trained, as it is wrapped by DDP or FSDP: it has their names.
        clip_norm: the bound, if the loop clips in a way that cannot be noticed: it must call `hook.observe()` before it
            clips, and a step without that raises.
        step: returns the number of the step; by default they are counted from 1.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.

    Returns:
        The hook; `remove()` ends it.

    Raises:
        TypeError, ValueError: as GradientMonitor does.
        ValueError: the model has none of the optimizer's parameters.
    """
    return GradientHook(optimizer, Logging.to(writer, per_rank=per_rank, **options), model, clip_norm, step)


class GradientHook:
    """What `attach` returns.

    Attributes:
        loss: the loss, if the loop sets it before the step.
        report: the last step's report, or None.
        seen: "" until the coming step's gradients have been observed; then "told" if `observe` was called, and
            "clipped" if clipping was noticed.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        logging: Logging,
        model: torch.nn.Module,
        clip_norm: float | None,
        step: Callable[[], int] | None,
    ) -> None:
        self.loss: Any = None
        self.seen = ""
        self.report: StepReport | None = None
        self._optimizer = weakref.ref(optimizer)
        self._logging, self._clip_norm, self._step = logging, clip_norm, step
        self._selected = Selected(model, optimizer)
        self._count = 0
        self._handles = [
            optimizer.register_step_pre_hook(self._before_step),
            optimizer.register_step_post_hook(self._after_step),
        ]
        watch(self._before_clipping)

    def observe(self, clip_norm: float | None = None, scale: Any = 1.0) -> StepReport:
        """Log the gradients as they are now; the coming step does not log them again.

        Args:
            clip_norm: the bound by which the loop is about to clip them.
            scale: what they have been multiplied by, as by GradScaler.
        """
        self._count += 1
        optimizer = self._optimizer()
        self.report = self._logging.monitor.observe(
            self._count if self._step is None else self._step(),
            self._selected,
            clip_norm=self._clip_norm if clip_norm is None else clip_norm,
            learning_rate=None if optimizer is None else optimizer.param_groups[0]["lr"],
            loss=self.loss,
            scale=scale,
        )
        self.seen = "told"
        return self.report

    def dump(self, reason: str) -> None:
        """Write what the flight recorder keeps, if there is one."""
        self._logging.dump(reason)

    def remove(self) -> None:
        """Take the hook off the optimizer, and close the writers that were made for it."""
        for handle in self._handles:
            handle.remove()
        unwatch(self._before_clipping)
        self._logging.close()

    def _before_clipping(self, parameters: list[Any], bound: float, order: float) -> None:
        """Observe before the first of a step's clippings; one of all gradients begins another attempt at a step."""
        which = self._selected.clipped_with(parameters)
        again = self.seen == "clipped" and which.startswith("all")  # a scaler may have skipped the step before
        if which != "none" and (not self.seen or again):
            applies = which == "all" and order == _L2 and math.isfinite(bound)
            self.observe(bound if applies else None)
            self.seen = "clipped"

    def _before_step(self, optimizer: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not _has_closure(arguments, named):
            self._observe_unseen(optimizer)

    def _after_step(self, optimizer: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if _has_closure(arguments, named):
            self._observe_unseen(optimizer)
        self.seen = ""

    def _observe_unseen(self, optimizer: Any) -> None:
        if self.seen:
            return
        if self._clip_norm is not None:
            raise RuntimeError(
                f"the loop clips by {self._clip_norm}, and the gradients were not seen before that: call "
                "hook.observe() before they are clipped"
            )
        scale = getattr(optimizer, "grad_scale", None)  # a fused optimizer has it from GradScaler
        self.observe(scale=1.0 if scale is None else scale)


def _has_closure(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether the gradients are computed within the step; the first argument is the optimizer."""
    return any(callable(argument) for argument in (*arguments[1:], named.get("closure")))
