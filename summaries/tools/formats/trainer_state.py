"""transformers' `trainer_state.json`: the history of a Trainer, in each checkpoint and in its output directory.

    log_history   a list of {"step": …, "epoch": …, name: number, …}; NaN and Infinity are bare words
    global_step   the last step

A checkpoint has the history up to it, so that the longest one has them all. There are no times.

References: https://huggingface.co/docs/transformers/main_classes/callback#transformers.TrainerState
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.reading.stated import flat
from summaries.storage.plain import text_of
from summaries.tools.formats.files import run_files
from summaries.tools.formats.gathering import Gatherer
from summaries.tools.formats.points import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["NAME", "read_trainer_state"]

NAME = "trainer_state.json"
_SETTINGS = (
    "num_train_epochs", "max_steps", "train_batch_size", "logging_steps", "eval_steps", "save_steps", "trial_params",
)  # fmt: skip


def read_trainer_state(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the history of a Trainer, or of all below a directory: of the checkpoints of one, the longest.

    Args:
        path: the file or directory.
        left_out: counts what is left out.

    Raises:
        ValueError: a file is not the state of a Trainer.
        OSError: a file cannot be read.
    """
    trainers: dict[str, list[dict[str, Any]]] = {}
    for run, file in run_files(path, NAME, left_out, lambda file: bool(_state(file))):
        folder, _, name = run.rpartition("/")
        trainers.setdefault((folder or ".") if name.startswith("checkpoint-") else run, []).append(_state(file))
    for run, states in trainers.items():
        longest = max(states, key=lambda state: len(state["log_history"]))
        history = longest["log_history"]
        for state in states:
            if (other := state["log_history"]) != history[: len(other)]:
                left_out["rows of another checkpoint, whose history is not a part of the longest"] += len(other)
        gatherer = Gatherer(left_out)
        for row in history:
            gatherer.add(run, row.pop("step", None), np.nan, row)
            yield from gatherer.full()
        yield from gatherer.rest()
        yield Facts(run, dict(flat({name: longest.get(name) for name in _SETTINGS}, "")), {})


def _state(file: str) -> dict[str, Any]:
    try:
        state: Any = json.loads(text_of(file))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}") from None
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list) or not all(isinstance(row, dict) for row in history):
        raise ValueError(f"{file}: there must be a list 'log_history' of objects, as a Trainer writes it")
    return {**state, "log_history": history}
