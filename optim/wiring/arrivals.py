"""Gradients as they arrive at a few parameters: whether there was a backward pass, and what it was added to.

A hook on a parameter is called before its new gradient is added to `grad`. It changes neither, and no graph.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from optim.telemetry.arriving import numbers_of
from optim.wiring.ears import Ear
from optim.wiring.versions import is_same, version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optim.wiring.versions import Version

__all__ = ["Arrivals"]

_WATCHED = 8  # parameters: the ends of a model and some between
_FEW = 2  # of those that had gradients in the first steps, and the last one: each call costs time in every step


class Arrivals:
    """Watches a few parameters of an optimizer.

    Attributes:
        seen: whether any gradient has ever arrived.
        zero: whether all that had arrived was zero when `lost` last looked.
    """

    def __init__(self) -> None:
        self._watched: list[_Watched] = []
        self.seen: bool = False
        self.zero: bool = False

    def watch(self, parameters: Sequence[Any], *, few: bool = False) -> None:
        """Watch some of these, and no others."""
        self.stop()
        apart = max(1, -(-len(parameters) // (_FEW if few else _WATCHED)))
        self._watched = [_Watched(parameter) for parameter in [*parameters[::apart], *parameters[-1:]]]

    def stop(self) -> None:
        """Watch nothing any more."""
        for watched in self._watched:
            watched.stop()
        self._watched = []

    @property
    def count(self) -> int:
        """How many times gradients have arrived since the last step."""
        count = max((watched.count for watched in self._watched), default=0)
        self.seen |= count > 0
        return count

    @property
    def on_leftovers(self) -> bool:
        """Whether they were added to the gradients that the last step has used, and that nobody has changed since."""
        arrived = [watched for watched in self._watched if watched.count]
        return bool(arrived) and all(watched.left is not None and watched.added for watched in arrived)

    @property
    def unchanged(self) -> bool:
        """Whether the watched gradients are those that the last step has used, and nobody has changed them."""
        return bool(self._watched) and all(watched.is_left() for watched in self._watched)

    @property
    def some_left(self) -> bool:
        """Whether one of the watched gradients is what the last step has used, and nobody has changed it."""
        return any(watched.is_left() for watched in self._watched)

    def lost(self) -> bool:
        """Whether all that arrived is zero now, though it was not; not at first, when nobody looked as it came."""
        arrived = [watched for watched in self._watched if watched.count and watched.gradient() is not None]
        zero = bool(arrived) and not any(numbers_of([watched.gradient().any() for watched in arrived]).value())
        was = any(watched.nonzero for watched in arrived)
        for watched in self._watched:
            watched.looks = zero
        self.zero = zero
        return zero and was

    def smallest(self) -> Any:
        """The smallest gradient among those of the watched parameters; None if there is none."""
        gradients = [watched.gradient() for watched in self._watched]
        return min((g for g in gradients if g is not None), key=torch.Tensor.numel, default=None)

    def stepped(self) -> None:
        """A step has used what has arrived."""
        self.seen |= self.count > 0
        for watched in self._watched:
            watched.stepped()


class _Watched:
    """One parameter.

    Attributes:
        count: how many gradients have arrived since the last step.
        added: whether one of them was added to `grad`; those that `torch.autograd.grad` returns are not.
        left: the gradient that the last step has used, as long as only arriving gradients have changed it.
        looks: whether to look at the next gradient that arrives.
        nonzero: whether the last one that was looked at since the last step had an element that is not zero.
    """

    def __init__(self, parameter: Any) -> None:
        self._parameter = weakref.ref(parameter)
        self.count = 0
        self.left: Version | None = None
        self.added = self.looks = self.nonzero = False
        self._handle = parameter.register_hook(Ear(self._arrives))
        self._after: Any = None  # the handle of a second hook, called once it has been added

    def stop(self) -> None:
        """Watch no longer."""
        self._handle.remove()
        if self._after is not None:
            self._after.remove()

    def gradient(self) -> Any:
        """The dense gradient as it is now, or None."""
        parameter = self._parameter()
        gradient = None if parameter is None else parameter.grad
        return None if gradient is None or gradient.is_sparse else gradient

    def stepped(self) -> None:
        self.count, self.added = 0, False
        self.nonzero = False  # what came earlier says nothing of the next step: margins may be met by then
        gradient = self.gradient()
        self.left = None if gradient is None else version(gradient)

    def is_left(self) -> bool:
        """Whether the gradient is what the last step has used, but for what has arrived."""
        gradient = self.gradient()
        return gradient is not None and is_same(self.left, version(gradient))

    def _has_arrived(self, parameter: Any) -> None:
        self.added = True

    def _arrives(self, arriving: Any) -> None:
        self.count += 1
        if self.looks:
            self.nonzero = bool(arriving.detach().any())
        if self.left is None:
            return
        same = self.is_left() and (self.count > 1 or bool(self.gradient().any()))  # it may be zeroed by way of `data`
        self.left = (self.left[0], self.left[1] + 1) if same else None
        parameter = self._parameter()
        if same and self._after is None and parameter is not None:  # seldom, and in time for this one
            self._after = parameter.register_post_accumulate_grad_hook(Ear(self._has_arrived))
