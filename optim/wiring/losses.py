"""The loss that the loop gives: below what it can be, if what it is made of is what it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from optim.wiring.mistake import Check, Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["LossBelowBound"]

_SURE = 2  # losses in a row
_MOST_DEEP = 4  # nodes of the graph above the loss's own
_KEEPS_SIGN = ("Mean", "Div", "Sum", "ToCopy", "Squeeze", "View")  # what is done to a loss, by nodes' names
_WEIGHTED = "_saved_weight"  # what torch calls a node's weights
_NEVER_BELOW = {
    "NllLoss": "nll_loss needs log-probabilities, as of log_softmax",
    "BinaryCrossEntropy": "a binary cross-entropy needs targets between 0 and 1",
}
"""What is wrong if a loss made by nodes of these names is negative."""


class LossBelowBound(Check):
    """GL715: a classification's loss that is negative. It is known where the loop gives the loss as a tensor."""

    def __init__(self) -> None:
        self._times = 0

    def loss(self, loop: Loop, loss: Any) -> Iterator[Mistake]:
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            return
        why = _why(loss.grad_fn)
        self._times = self._times + 1 if why and float(loss.detach()) < 0 else 0
        if self._times == _SURE:
            yield Mistake("GL715", f"the loss is {float(loss.detach()):.3g}, and can never be below 0: {why}")


def _may_be_below(node: Any) -> bool:
    """Whether the loss has negative weights, as a policy's has that are advantages; after backward it has none."""
    try:
        weight = getattr(node, _WEIGHTED, None)
    except RuntimeError:  # torch has freed them
        return False
    return isinstance(weight, torch.Tensor) and bool((weight < 0).any())


def _why(node: Any) -> str:
    """Of the loss's node in the graph."""
    for _ in range(_MOST_DEEP):
        name = "" if node is None else node.name()
        if why := next((why for kind, why in _NEVER_BELOW.items() if name.startswith(kind)), ""):
            return "" if _may_be_below(node) else why
        if not name.startswith(_KEEPS_SIGN):
            break
        node = node.next_functions[0][0]
    return ""
