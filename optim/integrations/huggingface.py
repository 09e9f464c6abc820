"""A callback for transformers' Trainer.

    Trainer(..., callbacks=[GradientCallback("runs/x")])

When: at each step of the optimizer, before clipping: the Trainer's own callbacks come after it, so this one notices the
call that clips. Steps are the Trainer's `global_step` after the step, as in its own logs.

What: as `optim.integrations.torch`: the global norm before clipping, the bound `max_grad_norm`, clipping's other tags,
the learning rate, and each parameter's norms. And what the Trainer reports every `logging_steps`, at an evaluation and
at the end: losses, metrics and throughput, under the tags of its TensorBoardCallback (`train/loss`, `eval/loss`), its
arguments as hyperparameters and as text, and the model's configuration; unless a TensorBoardCallback logs to the same
run.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from optim.integrations.ranks import Logging
from optim.integrations.torch import GradientHook, attach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from summaries import EventFileWriter

__all__ = ["GradientCallback"]


class GradientCallback(TrainerCallback):  # type: ignore[misc]
    """Logs the gradients of a Trainer.

    Args:
        writer: where to log: a directory, or a writer, of which only rank 0's is used.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        log_metrics: whether to log what the Trainer reports, too; False if it is logged elsewhere.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.
    """

    def __init__(
        self,
        writer: EventFileWriter | str | os.PathLike[str],
        *,
        per_rank: bool = False,
        log_metrics: bool = True,
        **options: Any,
    ) -> None:
        self._writer, self._options = writer, {"per_rank": per_rank, **options}
        self._log_metrics = log_metrics
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
        if self._log_metrics and not self._is_logged_by(_callbacks()):
            config: Any = getattr(named["model"], "config", None)
            texts = {"model_config": config.to_json_string()} if hasattr(config, "to_json_string") else {}
            self._hook.logging.describe(args.to_sanitized_dict(), args=args.to_json_string(), **texts)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **given: Any) -> None:
        """Log what the Trainer reports; the hook logs the learning rate of each step itself."""
        if not self._log_metrics or self._is_logged_by(_callbacks()):
            return
        tags = {_tag(name): value for name, value in (logs or {}).items() if name != "learning_rate"}
        values = {tag: value for tag, value in tags.items() if isinstance(value, int | float)}
        logging = Logging(self._writer, per_rank=False) if self._hook is None else self._hook.logging
        logging.scalars(values, state.global_step)
        if self._hook is None:  # as `evaluate` after the training
            logging.close()

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Close the file."""
        self._remove()

    def _is_logged_by(self, callbacks: Iterable[Any]) -> bool:
        """Whether one of these callbacks logs what the Trainer reports to the same run."""
        writers = [callback.tb_writer for callback in callbacks if getattr(callback, "tb_writer", None) is not None]
        return any(writer is self._writer or _place(writer) == _place(self._writer) for writer in writers)

    def _remove(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None


def _callbacks() -> list[Any]:
    """All callbacks of the Trainer that is calling this one: a callback is given everything but the others."""
    handler = sys._getframe(2).f_locals.get("self")  # noqa: SLF001 - CallbackHandler.call_event
    return list(getattr(handler, "callbacks", ()))


def _place(writer: Any) -> str:
    """The directory, of a writer of any library."""
    path = writer if isinstance(writer, str | os.PathLike) else getattr(writer, "log_dir", None) or writer.get_logdir()
    return os.path.realpath(path)


def _tag(name: str) -> str:
    """As transformers' TensorBoardCallback calls what the Trainer reports under this name."""
    for part in ("eval", "test"):
        if name.startswith(f"{part}_"):
            return f"{part}/{name.removeprefix(f'{part}_')}"
    return f"train/{name}"
