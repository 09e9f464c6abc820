"""A callback for Stable-Baselines3.

    model.learn(10_000, callback=GradientCallback("runs/x"))

When: each step of the policy's optimizers is seen by their hook, before clipping. Gradients are numbered by the steps
of the optimizer, of which there are several for one of the environment, or fewer; another `learn` goes on with them.

What: as `optim.integrations.torch`. An actor and a critic with optimizers of their own (SAC, TD3, DDPG) log to
`actor` and `critic` below the directory. And whatever the model's logger records, under its tags and with its steps,
which are those of the environment: losses, rewards, and what an EvalCallback finds; unless the model logs to the same
directory itself. What the model was made with is logged as hyperparameters; of a schedule, its first value.

`learn` tells no callback of an exception, and some callbacks do not tell those within them of the end: then `close()`
ends the hooks, as the next `learn` with this callback does.
"""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import TensorBoardOutputFormat

from optim.integrations.ranks import Logging
from optim.integrations.torch import GradientHook, attach
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["GradientCallback"]


class _Format(TensorBoardOutputFormat):  # type: ignore[misc]
    """Writes what the model's logger records with a writer of ours, but for what a hook logs to it."""

    def __init__(self, writer: SummaryWriter, of_hook: Collection[str]) -> None:  # instead of a file of its own
        self.writer = writer
        self._is_closed = False
        self._of_hook = of_hook

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        """Write them."""
        values, excluded = (
            {key: value for key, value in each.items() if key not in self._of_hook}
            for each in (key_values, key_excluded)
        )
        super().write(values, excluded, step)

    def close(self) -> None:
        """Leave the writer open: whoever made it closes it."""


class GradientCallback(BaseCallback):  # type: ignore[misc]
    """Logs the gradients of a model, and what its logger records.

    Args:
        writer: where to log: a directory, or a SummaryWriter.
        log_metrics: whether to log what the model's logger records, too; False if it is logged elsewhere.
        options: those of `optim.integrations.torch.attach`.
    """

    def __init__(
        self, writer: SummaryWriter | str | os.PathLike[str], *, log_metrics: bool = True, **options: Any
    ) -> None:
        super().__init__()
        self._writer, self._options, self._log_metrics = writer, options, log_metrics
        self._logging: Logging | None = None
        self._format: _Format | None = None
        self._formats: list[Any] = []  # of the model's logger
        self._hooks: list[GradientHook] = []

    def _on_training_start(self) -> None:
        self.close()
        self._logging = logging = Logging(self._writer, per_rank=False)
        logdir = self._writer.get_logdir() if isinstance(self._writer, SummaryWriter) else self._writer
        names = []
        for name, optimizer, module in _optimizers(self.model):
            names.append(name)
            where: Any = os.path.join(logdir, name) if name else logging.writer
            count = _Count(optimizer)
            self._hooks.append(attach(optimizer, where, module, step=count.coming, **self._options))
            self._hooks[-1].at_removal.append(optimizer.register_step_post_hook(count.add).remove)  # after its own
        self._formats = self.logger.output_formats
        taken = [each.writer.log_dir for each in self._formats if isinstance(each, TensorBoardOutputFormat)]
        if self._log_metrics and os.path.realpath(logdir) not in map(os.path.realpath, taken):
            logging.describe(_settings(self.model))
            if isinstance(logging.writer, SummaryWriter):
                self._format = _Format(logging.writer, {"train/learning_rate"} if "" in names else ())
                self._formats.append(self._format)

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self.close()

    def close(self) -> None:
        """Take the hooks off the optimizers, and close the files."""
        if self._format in self._formats:
            self._formats.remove(self._format)
        self._format = None
        while self._hooks:
            self._hooks.pop().remove()
        if self._logging is not None:
            self._logging.close()
            self._logging = None


class _Count:
    """The number of an optimizer's steps, with those that its state knows of."""

    def __init__(self, optimizer: Any) -> None:
        self._made = max((int(state.get("step", 0)) for state in optimizer.state.values()), default=0)

    def coming(self) -> int:
        """The number of the coming step."""
        return self._made + 1

    def add(self, *_: Any) -> None:
        """A step was made."""
        self._made += 1


def _optimizers(model: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, optimizer and module: of the whole policy, without a name, or of its parts."""
    if getattr(model.policy, "optimizer", None) is not None:
        yield "", model.policy.optimizer, model.policy
    for name in ("actor", "critic"):
        part: Any = getattr(model.policy, name, None)
        if getattr(part, "optimizer", None) is not None:
            yield name, part.optimizer, part


def _settings(model: Any) -> dict[str, Any]:
    """What the model was made with, as far as it remembers it as numbers or text; of a schedule, its first value."""
    names = inspect.signature(type(model).__init__).parameters
    values = {name: getattr(model, name, None) for name in names}
    for name in ("learning_rate", "clip_range", "clip_range_vf"):
        schedule: Any = values.get(name)
        if callable(schedule):
            values[name] = float(schedule(1.0))  # of the progress that is left
    return {"algorithm": type(model).__name__} | {
        name: value for name, value in values.items() if isinstance(value, bool | int | float | str)
    }
