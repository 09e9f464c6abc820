"""The modes in which modules are while the loop trains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.mistake import Check, Mistake
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["EvaluationMode", "told_of_evaluation"]

_SURE = 2  # steps in a row
_MOSTLY = 0.5  # of the model's parameters: a loop that trains fewer may keep the others as they are on purpose
_BATCH_NORM = torch.nn.modules.batchnorm._BatchNorm  # noqa: SLF001 - the class of all of them
_DROPOUT = torch.nn.modules.dropout._DropoutNd  # noqa: SLF001 - likewise


class EvaluationMode(Check):
    """GL727: `model.eval()` is still on."""

    def __init__(self) -> None:
        self._times = 0

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if any(module.training for module in loop.modules):
            self._times = 0
            return
        self._times += 1
        if self._times == _SURE:
            yield from told_of_evaluation(loop)


def told_of_evaluation(loop: Loop) -> Iterator[Mistake]:
    """GL727 if no module is in training mode, and it matters to parts that are trained."""
    if any(module.training for module in loop.modules):
        return
    share = len(loop.stepped.keys() & loop.parameters.keys()) / max(len(loop.parameters), 1)
    dropouts = [m for m in loop.modules if isinstance(m, _DROPOUT) and m.p > 0 and share > _MOSTLY]
    norms = [m for m in loop.modules if isinstance(m, _BATCH_NORM) and _is_trained(m, loop)]
    kinds = [
        counted(len(found), what)
        for found, what in (
            (dropouts, "dropout"),
            (norms, "batch norm"),
            (_recurrent(loop, share), "recurrent dropout"),
        )
        if found
    ]
    if kinds:
        message = f"the model is in evaluation mode while it is trained, with {' and '.join(kinds)}: call model.train()"
        yield Mistake("GL727", message)


def _is_trained(module: Any, loop: Loop) -> bool:
    return any(id(parameter) in loop.stepped and parameter.requires_grad for parameter in module.parameters(False))


def _recurrent(loop: Loop, share: float) -> list[Any]:
    return [m for m in loop.modules if isinstance(m, torch.nn.RNNBase) and m.dropout > 0 and share > _MOSTLY]
