"""What steps do: that parameters with a gradient and a rate change, and that the optimizer remembers the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from optim.telemetry.arriving import numbers_of
from optim.wiring.loop import alive, rates
from optim.wiring.membership import shared
from optim.wiring.mistake import Check, Mistake
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optim.wiring.loop import Loop

__all__ = ["StateLost", "UpdatesLost"]

_ELEMENTS = 65_536  # of a parameter are copied at most
_FEWEST = 16  # elements with a gradient, else a sample says nothing
_SHARE = 0.9  # of the elements that have a gradient
_SAMPLES = 3  # parameters that have to agree
_EXACT = 1e-6  # of types like float32: there a part whose way out begins at 0 has updates as small, but not all parts
_SAMPLES_EXACT = 20
_AT_ONCE = 4  # parameters in one step
_NOTHING = 1e-6  # a largest element
_LAST = 24  # steps in which it is looked at
_NOT_FIRST = 10  # a step that is no first one


class UpdatesLost(Check):
    """GL731: updates below half a unit in the last place of what they are added to."""

    def __init__(self) -> None:
        self._rates: list[float] = []  # of each group, at the last step
        self._rate = 0.0  # of the sample
        self._every = 0  # how many could be sampled
        self._samples: list[tuple[Any, Any, Any]] = []  # parameters, copies of them, what has a gradient
        self._silent: set[int] = set()  # ids of those that say nothing: few gradients, or just begun at 0
        self._lost: dict[int, float] = {}  # by a parameter's id, the share of the elements that did not change

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        self._samples = []
        if loop.steps > _LAST or loop.closure or not _is_torchs(loop.optimizer):
            return
        settled = self._settled(loop)
        found_inf = getattr(loop.optimizer, "found_inf", None)
        if found_inf is not None and float(found_inf):
            return
        large = [p for p in loop.with_gradients() if p.numel() >= _FEWEST and _dense(p) and id(p) in settled]
        candidates = [p for p in large if id(p) not in self._lost.keys() | self._silent] or large
        self._every = len(large)
        for parameter in sorted(candidates, key=torch.Tensor.numel, reverse=True)[:_AT_ONCE]:
            self._rate = settled[id(parameter)]
            self._samples.append((parameter, _some(parameter).clone(), _some(parameter.grad) != 0))
        yield from ()

    def _settled(self, loop: Loop) -> dict[int, float]:
        """The rate of each parameter whose rate neither is 0, as while it is frozen, nor rises, as in a warm-up."""
        before, self._rates = self._rates, rates(loop)
        pairs = zip(loop.optimizer.param_groups, zip(self._rates, before, strict=False), strict=False)
        return {id(p): rate for group, (rate, until) in pairs if 0 < rate <= until for p in group["params"]}

    def after_step(self, loop: Loop) -> Iterator[Mistake]:
        samples, self._samples = self._samples, []
        if not samples:
            return
        for parameter, counted, changed, largest in _looked_at(samples):
            share = 1 - changed / counted if counted >= _FEWEST else 0.0
            if share >= _SHARE or (counted >= _FEWEST and largest >= _NOTHING):
                self._lost[id(parameter)] = share
            else:
                self._silent.add(id(parameter))
        yield from self._told(loop)

    def _told(self, loop: Loop) -> Iterator[Mistake]:
        kinds = [p.dtype for p in loop.stepped.values() if id(p) in self._lost]
        exact = any(torch.finfo(kind).eps < _EXACT for kind in kinds)
        enough = len(self._lost) >= min(_SAMPLES_EXACT if exact else _SAMPLES, self._every - len(self._silent))
        if self._lost and enough and min(self._lost.values()) >= _SHARE:
            names = loop.named(p for p in loop.stepped.values() if id(p) in self._lost)
            share, kind = min(self._lost.values()), str(kinds[0]).removeprefix("torch.")
            message = (
                f"at least {share:.0%} of the elements of {listed(names)} that have a gradient do not change in a "
            )
            why = f"step at the rate {self._rate:g}: their updates are too small for {kind}"
            self._lost = {}
            yield Mistake("GL731", message + why, names)


def _looked_at(samples: list[tuple[Any, Any, Any]]) -> Iterator[tuple[Any, float, float, float]]:
    """Each parameter, how many of its elements have a gradient, how many of those changed, and the largest before."""
    numbers = numbers_of([
        number
        for parameter, before, has in samples
        for number in (has.sum(), (has & (_some(parameter) != before)).sum(), before.abs().max())
    ]).value()  # fmt: skip
    for i, (parameter, *_) in enumerate(samples):
        counted, changed, largest = numbers[3 * i : 3 * i + 3]
        yield parameter, counted, changed, largest


def _is_torchs(optimizer: Any) -> bool:
    """Whether it is one of torch's, which keep no more exact weights elsewhere."""
    return type(optimizer).__module__.startswith("torch.optim")


def _dense(parameter: Any) -> bool:
    return parameter.is_contiguous() and not parameter.grad.is_sparse and parameter.is_floating_point()


def _some(tensor: Any) -> Any:
    return tensor.detach().reshape(-1)[:_ELEMENTS]


def _another_has_stepped(loop: Loop) -> bool:
    """Whether another optimizer of these parameters has stepped in this process: then this may be another phase."""
    others = (other for other in alive(torch.optim.Optimizer) if other is not loop.optimizer and other.state)
    return any(shared(loop.optimizer, other) for other in others)


class StateLost(Check):
    """GL732: a run that goes on, with an optimizer that begins."""

    def __init__(self, *, first: bool, begun: int | None = None) -> None:
        self._first = first  # whether this is the process's first loop: a later one may begin another phase
        self._begun = begun  # the number when the hook was attached, if it was known
        self._at = 0

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps == 1:
            counted = loop.step - (loop.step if self._begun is None else self._begun)
            waited = 2 * counted > loop.step  # it counts what came before: steps in a world, say, to fill a memory
            begins = not loop.optimizer.state and self._first and not waited
            self._at = loop.step if begins and not (loop.step >= _NOT_FIRST and _another_has_stepped(loop)) else 0
        elif loop.steps == 2:  # noqa: PLR2004 - the second number tells what is counted
            apart = loop.step - self._at
            if self._at >= _NOT_FIRST and self._at > 2 * apart > 0 and loop.optimizer.state:
                kind = type(loop.optimizer).__name__
                message = f"the run goes on at step {self._at}, and {kind} has just begun: its state was not restored"
                yield Mistake("GL732", message)
