"""PyTorch Ignite: gradients of an engine's optimizer.

    attach(trainer, optimizer, "runs/x", model)

When: Ignite's handlers run after the user's function has made the step, so the gradients are seen by the optimizer's
hook: once a step, and before clipping if the function clips by `torch.nn.utils.clip_grad_norm_`. Steps are the engine's
iterations.

What: as `optim.integrations.torch`. And what the engines report: the numbers that the trainer's function returns, as
`train/loss` or, from a mapping, `train/<name>`; the metrics of an epoch as `train/<name>`, those of the evaluators
under their names. Of the same name, those of a step come first: a metric "loss" is then `train/epoch_loss`. When the
engine has completed a run, everything is in the file. An exception of the engine writes what the flight recorder keeps;
another run after it is logged, too, until `remove()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ignite.engine import Engine, Events

from optim.integrations.ranks import numbers_in
from optim.integrations.torch import GradientHook
from optim.integrations.torch import attach as attach_to_optimizer
from optim.telemetry.endings import words_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from summaries import EventFileWriter

__all__ = ["attach"]


def attach(
    engine: Engine,
    optimizer: Any,
    writer: EventFileWriter | str | os.PathLike[str],
    model: Any,
    *,
    evaluators: Mapping[str, Engine] | None = None,
    log_metrics: bool = True,
    **options: Any,
) -> GradientHook:
    """Log the gradients of each step, in all runs of the engine.

    Args:
        engine: the trainer, whose function makes the steps.
        optimizer: the torch optimizer.
        writer: where to log: a directory, or a writer, of which only rank 0's is used.
        model: the module.
        evaluators: name → the engine that evaluates; its metrics are logged as `<name>/<metric>`.
        log_metrics: whether to log what the engines report; False if it is logged elsewhere.
        options: those of `optim.integrations.torch.attach`.

    Returns:
        The hook; `remove()` ends it.
    """
    hook = attach_to_optimizer(optimizer, writer, model, step=lambda: int(engine.state.iteration), **options)

    def fail(_: Engine, error: BaseException) -> None:
        hook.dump(words_of(error))
        hook.logging.flush()
        raise error

    def add(to: Engine, *handler: Any) -> None:
        hook.at_removal.append(to.add_event_handler(*handler).remove)

    sources: dict[str, object] = {}  # by tag: what reports it

    def tagged(source: object, name: str, values: Mapping[str, Any]) -> dict[str, float]:
        tags = {}
        for metric, value in numbers_in(values).items():
            candidates = [f"{name}/{prefix}{metric}" for prefix in ("", "epoch_", "evaluated_")]  # there are 3 sources
            tags[next(tag for tag in candidates if sources.setdefault(tag, source) is source)] = value
        return tags

    def report(reporting: Engine, name: str) -> None:
        hook.logging.scalars(tagged(reporting, name, reporting.state.metrics), int(engine.state.iteration))

    def report_output(reporting: Engine) -> None:
        step, output = int(reporting.state.iteration), reporting.state.output
        is_due = step % options.get("every_n_steps", 1) == 0
        if is_due or not sources:
            values = tagged(report_output, "train", output if hasattr(output, "items") else {"loss": output})
            hook.logging.scalars(values if is_due else {}, step)

    if log_metrics:
        add(engine, Events.ITERATION_COMPLETED, report_output)
        add(engine, Events.EPOCH_COMPLETED, report, "train")
        for name, evaluator in (evaluators or {}).items():
            add(evaluator, Events.COMPLETED, report, name)
    add(engine, Events.COMPLETED, hook.logging.flush)
    add(engine, Events.EXCEPTION_RAISED, fail)
    return hook
