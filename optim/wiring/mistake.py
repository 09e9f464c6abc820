"""What a check tells, and when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from optim.wiring.loop import Loop

__all__ = ["NAMES", "Check", "Mistake"]

NAMES = {
    "GL701": "not-in-optimizer", "GL702": "replaced-parameters", "GL703": "weights-untied", "GL704": "rate-zero",
    "GL705": "stepped-twice", "GL711": "gradients-cut", "GL712": "gradients-pile-up", "GL713": "gradients-zeroed",
    "GL714": "step-without-backward", "GL715": "loss-below-bound", "GL721": "clipped-late",
    "GL722": "clipped-while-scaled", "GL723": "clipped-nothing", "GL724": "schedule-first",
    "GL725": "schedule-ended", "GL726": "schedule-unused", "GL727": "evaluation-mode", "GL728": "every-step-skipped",
    "GL731": "updates-lost", "GL732": "state-lost", "GL741": "non-finite-state", "GL742": "batches-of-one",
    "GL743": "batches-repeat", "GL751": "replicas-differ",
}  # fmt: skip
"""The audit's rules of this family, by code: what they are called is a part of the tags that are written."""


class Mistake(NamedTuple):
    """One thing that is wrong with a loop.

    Attributes:
        code: of the audit's rule, whose page says what to do.
        message: one sentence, with the names of parameters.
        parameters: their names, all of them.
        step: the number of the step at which it was known; 0 before the first one.
    """

    code: str
    message: str
    parameters: tuple[str, ...] = ()
    step: int = 0

    @property
    def name(self) -> str:
        """The rule's name."""
        return NAMES[self.code]


class Check:
    """Is told what happens in a loop, and yields mistakes once it is sure. By default it looks at nothing."""

    def before_step(self, loop: Loop) -> Iterable[Mistake]:
        """The optimizer is about to step; with a closure, it has stepped."""
        return ()

    def after_step(self, loop: Loop) -> Iterable[Mistake]:
        """It has stepped; the gradients are still there."""
        return ()

    def clipping(self, loop: Loop, parameters: list[Any], bound: float) -> Iterable[Mistake]:
        """The loop is about to clip gradients of any parameters by a bound on their norm, infinite if by values."""
        return ()

    def unscaled(self, loop: Loop, scaler: Any) -> Iterable[Mistake]:
        """A GradScaler has unscaled the optimizer's gradients."""
        return ()

    def loss(self, loop: Loop, loss: Any) -> Iterable[Mistake]:
        """The loop has given the loss of the coming step."""
        return ()

    def other_step(self, loop: Loop, optimizer: Any) -> Iterable[Mistake]:
        """Another optimizer has stepped."""
        return ()

    def end(self, loop: Loop) -> Iterable[Mistake]:
        """Nothing more will happen; hooks are to be removed."""
        return ()
