"""A callback for Lightning's Trainer.

    Trainer(..., callbacks=[GradientCallback("runs/x")])

When: in `on_before_optimizer_step`, after unscaling and before clipping; in manual optimization before the module
clips. Steps are the Trainer's `global_step` after the step. The gradients of a fused optimizer,
which unscales them itself, are divided by the scale here.

What: the global norm before clipping, the bound `gradient_clip_val` and clipping's other tags if it clips by norm, the
loss of the step (the mean over accumulated batches) as `train/loss`, or as `train/loss_step` if the module logs a
`train/loss` of its own, the learning rate, and each parameter's norms. A second optimizer logs to `optimizer=1` below
the directory, and so on. And what the modules `log`, when, under the tags and with the steps that Trainer's loggers are
given, with the hyperparameters: while it trains, validates or tests, the callback adds an `EventFileLogger` to them,
unless one of them, of ours or for TensorBoard, logs to the same
directory. An `EventFileLogger` can also be the Trainer's `logger`.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from optim.integrations.ranks import Logging
from optim.integrations.torch import GradientHook, attach
from optim.telemetry.endings import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries import EventFileWriter

__all__ = ["EventFileLogger", "GradientCallback"]

# Of the same framework's two packages, a Trainer accepts its own callbacks only.
_old = "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules
_package = "pytorch_lightning" if _old else "lightning.pytorch"
_Callback: Any = importlib.import_module(_package).Callback
_Logger: Any = importlib.import_module(f"{_package}.loggers.logger").Logger


class EventFileLogger(_Logger):  # type: ignore[misc]
    """Logs what a Trainer's loggers are given: metrics and hyperparameters.

    Args:
        writer: where to log: a directory, or a writer that stays the caller's.
        save_dir: where the Trainer puts checkpoints; the writer's directory by default.
    """

    def __init__(
        self, writer: EventFileWriter | str | os.PathLike[str], *, save_dir: str | os.PathLike[str] | None = None
    ) -> None:
        super().__init__()
        self._where = writer
        self._save_dir = str(_directory(writer) if save_dir is None else save_dir)
        self._logging: Logging | None = None

    @property
    def name(self) -> str:
        """A part of the path of checkpoints: none."""
        return ""

    @property
    def version(self) -> str:
        """A part of the path of checkpoints: none."""
        return ""

    @property
    def save_dir(self) -> str:
        """Where the Trainer puts checkpoints."""
        return self._save_dir

    @property
    def log_dir(self) -> str:
        """The run's directory."""
        return str(_directory(self._where))

    @property
    def experiment(self) -> EventFileWriter | None:
        """The writer, on rank 0."""
        return self._open().writer

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Log numbers."""
        self._open().scalars(metrics, step or 0)

    def log_hyperparams(self, params: Any, *given: Any, **named: Any) -> None:
        """Log hyperparameters."""
        self._open().describe(dict(params) if hasattr(params, "items") else vars(params))

    def finalize(self, status: str) -> None:
        """Close the file."""
        if self._logging is not None:
            self._logging.close()
            self._logging = None

    def _open(self) -> Logging:
        if self._logging is None:
            self._logging = Logging(self._where, per_rank=False)
        return self._logging


class GradientCallback(_Callback):  # type: ignore[misc]
    """Logs the gradients of a Trainer.

    Args:
        logdir: the directory to log to.
        per_rank: whether each rank also logs what it holds itself, in `rank=<k>` below the directory.
        log_metrics: whether to log what the modules `log`, too; False if it is logged elsewhere.
        options: GradientMonitor's, such as `every_n_steps` or `keep_last`.
    """

    def __init__(
        self, logdir: str | os.PathLike[str], *, per_rank: bool = False, log_metrics: bool = True, **options: Any
    ) -> None:
        super().__init__()
        self._logdir, self._options = logdir, {"per_rank": per_rank, **options}
        self._log_metrics = log_metrics
        self._logger: EventFileLogger | None = None
        self._shares_run = False  # with a logger, which logs what the module does
        self._hooks: dict[int, GradientHook] = {}

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Add a logger."""
        taken = [getattr(logger, "log_dir", None) for logger in trainer.loggers if _writes_event_files(logger)]
        self._shares_run = _is_among(self._logdir, taken)
        if stage != "predict" and self._log_metrics and self._logger is None and not self._shares_run:
            self._shares_run = True
            self._logger = EventFileLogger(self._logdir, save_dir=trainer.default_root_dir)
            trainer.loggers = [*trainer.loggers, self._logger]

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Take it away."""
        if self._logger is not None:
            trainer.loggers = [logger for logger in trainer.loggers if logger is not self._logger]
            self._logger.finalize("success")
            self._logger = None

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Attach to the optimizers."""
        self._remove()
        model = trainer.strategy.model or pl_module
        ours = [logger for logger in trainer.loggers if isinstance(logger, EventFileLogger)]
        shared = [logger for logger in ours if _is_among(self._logdir, [logger.log_dir])]
        for number, optimizer in enumerate(trainer.optimizers):
            where: Any = f"{self._logdir!s}/optimizer={number}" if number else self._logdir
            if number == 0 and shared:
                where = shared[0].experiment or where  # one file for both
            self._hooks[id(optimizer)] = attach(
                optimizer, where, model, step=lambda: trainer.global_step + 1, **self._options
            )  # fmt: skip

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """Keep the loss for the step."""
        whole = loss.detach() * trainer.accumulate_grad_batches  # Lightning has divided it
        if self._shares_run and self._hooks and _logs_loss(trainer):
            next(iter(self._hooks.values())).logging.log_loss_as("train/loss_step")
        for hook in self._hooks.values():
            if not pl_module.automatic_optimization:
                hook.loss = None  # earlier ones may be other optimizers'
            hook.loss(whole)

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Measure the gradients, unless clipping has been noticed before."""
        hook = self._hooks[id(optimizer)]
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        if not getattr(optimizer, "_step_supports_amp_scaling", False):  # Lightning has unscaled them
            scaler = None
        by_norm = str(trainer.gradient_clip_algorithm or "norm").rsplit(".", 1)[-1].lower() == "norm"
        hook.observe(
            clip_norm=trainer.gradient_clip_val if by_norm and (trainer.gradient_clip_val or 0) > 0 else None,
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


def _directory(where: Any) -> Any:
    return where if isinstance(where, str | os.PathLike) else where.get_logdir()


def _logs_loss(trainer: Any) -> bool:
    """Whether the module itself gives the loggers a tag that is called as the hook's."""
    results = getattr(trainer, "_results", None) or {}  # by function and tag; the public ones know no epoch's yet
    found = [result for key, result in results.items() if str(key).partition(".")[2] == "train/loss"]
    return any(getattr(getattr(result, "meta", None), "logger", True) for result in found)


def _writes_event_files(logger: Any) -> bool:
    """Whether it is ours or Lightning's for TensorBoard: others leave other files in the same directory."""
    return not {"EventFileLogger", "TensorBoardLogger"}.isdisjoint(kind.__name__ for kind in type(logger).__mro__)


def _is_among(logdir: str | os.PathLike[str], others: list[Any]) -> bool:
    """Whether one of the others is the same directory; those that are not known are None."""
    return os.path.realpath(logdir) in [os.path.realpath(other) for other in others if other is not None]
