"""The three writers whose methods ours has."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import tensorboardX
import tensorflow as tf
import torch.utils.tensorboard

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["WRITERS", "surroundings"]

WRITERS = {
    "torch": torch.utils.tensorboard.SummaryWriter,
    "tensorboardX": tensorboardX.SummaryWriter,
    "TF1": tf.compat.v1.summary.FileWriter,
}


def surroundings(library: str) -> AbstractContextManager[object]:
    """What a library's writer needs around it: TF1's refuses to work where operations are run eagerly."""
    return tf.Graph().as_default() if library == "TF1" else contextlib.nullcontext()
