"""A hook on any torch optimizer: for every loop that has no callbacks.

    hook = attach(optimizer, "runs/x", model)

When: once for each call of `optimizer.step`, before the step; and before clipping, if the loop clips by
`torch.nn.utils.clip_grad_norm_`, `clip_grads_with_norm_` or `clip_grad_value_`, however it has imported them, or by
FSDP1's method. What is accumulated over several backward passes is seen once. Gradients that GradScaler has not
unscaled, since a fused optimizer does that itself, are divided by its scale.

A step logs its gradients as they were before the last clipping: clippings of the same gradients count as one, by the
lowest of their bounds, and one whose step is skipped, or that comes after its step, is dropped. A step without
gradients logs nothing, but counts. It is logged after it has been made, with what it added to the weights.

What: `gradients/global_norm` before clipping, `gradients/clip_norm`, `gradients/clipped` and the rest of clipping's
tags if the loop clips all of the measured parameters, and no others, by their common L2 norm; the learning rate of the
first group; norms and zeros of each parameter's gradient, the norms of its weights before the step and of its update,
and their ratio (after the step, if a closure computes the gradients). The loss, if the loop gives it to
`hook.loss(loss)`; what it gives to `hook.log(name, value)`. Mistakes in the loop itself, once each, as a
`WiringWarning`: see the audit's rules GL701 to GL751.

On CUDA no step waits for these numbers: it is written once they have come, mostly while the next one is made.
"""

from __future__ import annotations

import math
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import torch

from optim.integrations.ranks import Logging, rank
from optim.integrations.selected import Leftover, Selected
from optim.integrations.torch_clip_hooks import unwatch, watch
from optim.integrations.torch_peers import Peers
from optim.integrations.torch_updates import Samples, StepWatch
from optim.wiring.calls import Outermost, has_closure, level_of_loop
from optim.wiring.mistake import Mistake

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from optim.integrations.selected import ClippedParameters
    from optim.telemetry.measuring import Observation
    from optim.telemetry.report import StepReport
    from summaries import EventFileWriter

__all__ = ["GradientHook", "Mistake", "WiringWarning", "attach", "check"]

_L2 = 2.0


class WiringWarning(UserWarning):
    """Something is wrong with the training loop itself; `gradledger rule` explains the code at its end."""


def attach(
    optimizer: torch.optim.Optimizer,
    writer: EventFileWriter | str | os.PathLike[str],
    model: torch.nn.Module,
    *,
    clip_norm: float | None = None,
    step: Callable[[], int] | None = None,
    per_rank: bool = False,
    group: Any = None,
    global_norm: Callable[[], Any] | None = None,
    **options: Any,
) -> GradientHook:
    """Log the gradients of each step of a torch optimizer.

    Args:
        optimizer: makes the steps.
        writer: where to log: a directory, given on every rank; or a writer, of which rank 0's is used.
        model: the module whose parameters are trained, as it is wrapped by DDP or FSDP: it has their names. Parameters
            that the optimizer is given later are logged from then on.
        clip_norm: the bound, if the loop clips in a way that cannot be noticed, such as a function of its own: it must
            call `hook.observe()` before it clips, and a step without that raises.
        step: returns the number of the step, however often it is asked; by default they are counted from 1.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        group: the process group over which to sum the global norm, if each of its ranks trains other parameters, as
            the stages of a pipeline do: the hook is attached on each of them.
        global_norm: returns the norm of all gradients before clipping, if the loop knows it; called at each step.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.

    Returns:
        The hook; `remove()` ends it. What cannot be measured or written ends no training: a warning says so once.

    Raises:
        TypeError, ValueError: as GradientMonitor does.
        TypeError: the optimizer or the model is something else.
        ValueError: the model has none of the optimizer's parameters.
    """
    selected = Selected(model, optimizer)  # it may raise: before anything is created
    logging = Logging(writer, per_rank=per_rank, **options)
    peers = Peers(selected, group, knows_norm=global_norm is not None)
    return GradientHook(optimizer, logging, selected, clip_norm, step, peers, global_norm)


def check(model: torch.nn.Module, *optimizers: torch.optim.Optimizer) -> list[Mistake]:
    """Look for mistakes in how a model and its optimizers are put together, before the first step.

    Args:
        model: the module that is trained, in the mode in which it will be.
        optimizers: all that train it.

    Returns:
        What is wrong, each with the code of the audit's rule that explains it: trainable parameters in no optimizer,
        parameters in two of them, rates of 0, a model in evaluation mode. Empty if nothing is.

    Raises:
        TypeError: there is no optimizer, or one of the arguments is something else.
    """
    from optim.wiring.checks import before_training  # noqa: PLC0415 - as in GradientHook

    return before_training(model, optimizers)


class GradientHook:
    """What `attach` returns; `logging` is what it logs through, `at_removal` what `remove` calls first."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        logging: Logging,
        selected: Selected,
        clip_norm: float | None,
        step: Callable[[], int] | None,
        peers: Peers,
        global_norm: Callable[[], Any] | None,
    ) -> None:
        self._optimizer = weakref.ref(optimizer)
        self.logging: Logging = logging
        self._selected, self._samples, self._clip_norm, self._step = selected, Samples(), clip_norm, step
        self._peers, self._global_norm, self._count = peers, global_norm, 0
        self._losses: list[Any] = []  # of the coming step
        self._assigned: Any = None  # what `loss` is, if it was assigned
        self._made: tuple[Observation, Any] | None = None  # the step that is being made, and its loss
        self._moving: StepWatch | None = None  # what it adds to the weights
        self._outermost = Outermost()
        self._observed: Observation | None = None  # of the coming step
        self._origin = ""  # "clip" if it was made before a clipping, "late" if of gradients that a step had used, or ""
        self._takes: float | None = None  # the bound of a clipping whose own norm is enough
        self._left = Leftover(selected)  # after the last clipping, `observe` or step
        self._passed = 0  # steps since the last one that was observed
        self._warned: set[str] = set()
        self.at_removal: list[Callable[[], Any]] = []
        self._handles = [
            optimizer.register_step_pre_hook(self._before_step),
            optimizer.register_step_post_hook(self._after_step),
        ]
        watch(self)
        from optim.wiring.checks import Checks  # noqa: PLC0415 - many modules, which nobody needs before

        self._checks = Checks(optimizer, selected.model, self._tell_mistake, step)

    def observe(self, clip_norm: float | None = None, scale: Any = 1.0) -> StepReport | None:
        """Measure the gradients as they are now, for the coming step.

        Does nothing more if they have been clipped since they came about, and that was noticed.

        Args:
            clip_norm: the bound by which the loop is about to clip them.
            scale: what they have been multiplied by, as by GradScaler.

        Returns:
            What the step will report, but for the loss; None if there are no gradients, or the scale is 0.
        """
        bound = self._clip_norm if clip_norm is None else clip_norm
        if self._origin == "clip" and self._observed is not None and self._left.is_there():
            self._tighten(bound)
        else:
            self._observed, self._origin = self._measured(bound, scale), ""
        self._left.look()
        return None if self._observed is None else self._observed.report()

    @property
    def loss(self) -> Any:
        """Call it with the loss of the coming step: `hook.loss(loss)`, before `optimizer.step`. It returns the loss.

        A number, or a tensor of one element, which is fetched if the step is due. Of several, as of accumulated
        batches, the mean is logged as `train/loss`. To assign it, as `hook.loss = loss`, does the same for one; it is
        then what this is, until the step.
        """
        return self._take_loss if self._assigned is None else self._assigned

    @loss.setter
    def loss(self, loss: Any) -> None:
        self._losses.clear()
        self._assigned = loss
        if loss is not None:
            self._take_loss(loss)

    def _take_loss(self, loss: Any) -> Any:
        self._checks.loss(loss)
        self._losses.append(loss.detach() if hasattr(loss, "detach") else loss)
        return loss

    def log(self, name: str, value: Any, step: int | None = None) -> None:
        """Log a number beside the gradients, on the rank that writes.

        Args:
            name: the tag, such as "eval/accuracy".
            value: a number, or a tensor of one element.
            step: its number; by default that of the last step that was made.

        Raises:
            TypeError: the value is not a number.
        """
        self.logging.scalars({name: value}, self._number() if step is None else step)

    @property
    def report(self) -> StepReport | None:
        """The report of the last step that was logged, or None; on CUDA it is a step or two behind."""
        return self.logging.report

    def dump(self, reason: str) -> None:
        """Write what the flight recorder keeps, if there is one."""
        self._finish()
        self.logging.dump(reason)

    def remove(self) -> None:
        """Take the hook off the optimizer, and close the writers that were made for it."""
        while self.at_removal:
            self.at_removal.pop()()
        for handle in self._handles:
            handle.remove()
        unwatch(self)
        self._outermost = Outermost()  # it may hold a step that raised
        self._peers.leave()
        self._finish()
        self._checks.remove()
        self.logging.close()

    def before_clipping(self, parameters: list[Any], bound: float, order: float) -> bool:
        """Measure gradients that are about to be clipped, unless they were before an earlier clipping."""
        self._checks.clipping(parameters, bound, order)
        which = self._selected.clipped_with(parameters)
        if not which.concerns:
            return False
        by_norm = 0.0 < bound < math.inf
        if by_norm:
            self._tell_difference(which)
        elif not bound > 0.0:
            self._tell(f"the loop clips by {bound:g}, which is no bound")
        applies = by_norm and order == _L2 and not which.not_measured and not which.not_clipped
        same = self._left.is_there()
        if same and self._observed is not None:
            self._tighten(bound if applies else None)
        else:
            self._takes = bound if applies and self._may_take_norm(parameters[0]) else None
            self._observed = self._measured(bound if applies else None) if self._takes is None else None
            self._origin = "late" if same else "clip"
        return True

    def _may_take_norm(self, parameter: Any) -> bool:
        """Whether the clipping's own norm is enough: on a GPU, if nothing else of the coming step is needed."""
        known = self._global_norm is None and parameter.is_cuda and not hasattr(parameter, "to_local")
        return known and not self.logging.needs_arrays(self._coming())

    def after_clipping(self, norm: Any) -> None:
        """Remember what the clipping left, and what it has found if that is enough."""
        if self._takes is not None and isinstance(norm, torch.Tensor):
            self._observed = self._measured(self._takes, norm=norm)
        self._takes = None
        self._left.look()

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _before_step(self, optimizer: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not self._outermost.begins():
            return
        self._finish()  # of a step that raised
        closure = has_closure(arguments, named)
        if not closure:
            self._settle(optimizer)
        if closure or (self._made is not None and self._made[0].detailed):
            self._moving = self.logging.survive(
                lambda: StepWatch(optimizer, self._selected, self._samples, has_closure=closure),
                "updates cannot be measured",
            )
        self._checks.before_step(closure=closure)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _after_step(self, optimizer: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not self._outermost.ends():
            return
        if has_closure(arguments, named):
            self._settle(optimizer)
        self._finish(moved=True)
        self._left.look()
        self._checks.after_step()

    def _settle(self, optimizer: Any) -> None:
        """Decide what is logged of the step that is being made."""
        observed, self._observed = self._observed, None
        if self._origin == "late" and not self._left.is_there():
            observed = None  # those gradients are gone
        if observed is None:
            observed = self._unseen(optimizer)
        losses, self._losses, self._assigned = self._losses, [], None
        found_inf = getattr(optimizer, "found_inf", None)
        if observed is not None and found_inf is not None and observed.measured.nonfinite and float(found_inf):
            return  # GradScaler has a fused optimizer skip this step itself
        self._count += 1
        if observed is not None:
            self._made = observed._replace(unseen=self._passed), _mean(losses)
            self._passed = 0

    def _finish(self, *, moved: bool = False) -> None:
        """Log the step, if one was being made; with its updates if it has been made."""
        (made, self._made), (moving, self._moving) = (self._made, None), (self._moving, None)
        if made is None:
            self.logging.log_arrived()
            return
        observed, loss = made
        if moving is not None and moved:
            added = self.logging.survive(lambda: moving.added_to(observed), "updates cannot be measured")
            observed = observed if added is None else added
        self.logging.log(observed, loss)

    def _unseen(self, optimizer: Any) -> Observation | None:
        """Of gradients that nobody has clipped, or that somebody has without being noticed."""
        if not self._is_needed():
            self._passed += 1
            return None
        scale = getattr(optimizer, "grad_scale", None)  # a fused optimizer has it from GradScaler
        observed = self._measured(None, 1.0 if scale is None else scale)
        if self._clip_norm is not None and observed is not None:
            raise RuntimeError(
                f"the loop clips by {self._clip_norm}, and the gradients were not seen before that: call "
                "hook.observe() before they are clipped"
            )
        return observed

    def _is_needed(self) -> bool:
        """Whether anything is to be measured of a step whose gradients nobody has clipped."""
        depends = self._clip_norm is not None or self._global_norm is not None or self._peers.are_there
        return depends or self.logging.needs_arrays(self._coming())

    def _coming(self) -> int:
        """The number of the coming step."""
        return self._count + 1 if self._step is None else self._step()

    def _measured(self, bound: float | None, scale: Any = 1.0, norm: Any = None) -> Observation | None:
        if self.logging.survive(self._peers.answer, "hooks of other ranks cannot be asked") is False:
            return None
        optimizer = self._optimizer()
        observed = self.logging.measure(
            self._coming(),
            self._selected,
            clip_norm=bound,
            learning_rate=None if optimizer is None else optimizer.param_groups[0]["lr"],
            scale=scale,
            global_norm=norm if self._global_norm is None else self._global_norm(),
        )
        return self._peers.completed(observed)

    def _number(self) -> int:
        """Of the last step that was made."""
        return self._count if self._step is None else self._step() - 1

    def _tighten(self, bound: float | None) -> None:
        """Give what was observed this bound, if it had none or a higher one."""
        observed = self._observed
        if bound is None or observed is None:
            return
        if observed.measured.norm is None:  # without a bound it was not needed
            self._observed = self._measured(bound)
        else:
            self._observed = observed._replace(clip_norm=min(bound, observed.clip_norm or math.inf))

    def _tell_mistake(self, mistake: Mistake) -> None:
        """Warn of a mistake in the loop on one rank, and write it for the audit."""
        if rank() == 0:
            self.logging.text(f"wiring/{mistake.name}", mistake.message, mistake.step)
            told = f"step {mistake.step}: {mistake.message} [gradledger rule {mistake.code}]"
            warnings.warn(told, WiringWarning, level_of_loop())

    def _tell_difference(self, which: ClippedParameters) -> None:
        """Warn once of each way in which the loop clips other parameters than are measured."""
        for count, words in (
            (which.not_measured, "the measured parameters lack {} of those that the loop clips"),
            (which.not_clipped, "the loop does not clip {} of the measured parameters"),
        ):
            if count:
                self._tell(words.format(count))

    def _tell(self, reason: str) -> None:
        """Warn once for this reason that the tags of clipping are missing."""
        if reason not in self._warned:
            self._warned.add(reason)
            warnings.warn(f"{reason}, so gradients/clipped and its like are not logged", stacklevel=5)


def _mean(losses: list[Any]) -> Any:
    """None of none; of several on one device, there."""
    return losses[0] if len(losses) == 1 else sum(losses) / len(losses) if losses else None
