"""GL711: where the graph is cut: a part of the model runs, its output goes on, and no gradient comes back.

A parameter without a gradient may well be meant: a head that is not used, an expert that is idle. So after the first
step, if there are such, one forward pass is followed, and a finding needs the place of the cut.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from optim.wiring.ears import Ear
from optim.wiring.mistake import Check, Mistake
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from optim.wiring.loop import Loop

__all__ = ["Cuts"]

_MOST_CALLS = 5000  # that are followed: an unrolled network has many


class _Call(NamedTuple):
    """One call of a module: its inputs and outputs as (number of elements, whether they carry a graph)."""

    module: Any
    grad_enabled: bool
    inputs: list[tuple[int, bool]]
    outputs: list[tuple[int, bool]]


class Cuts(Check):
    """Follows the forward pass after the first step, if some parameters had no gradient in it."""

    def __init__(self) -> None:
        self._suspects: dict[int, Any] = {}
        self._calls: list[list[_Call]] = [[]]  # those of each forward pass
        self._handles: list[Any] = []

    def after_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps == 1 and loop.with_gradients():
            self._suspects = {key: p for key, p in loop.stepped.items() if _lacks(p) and key in loop.parameters}
        if self._suspects and not self._handles and not loop.compiled:
            self._follow(loop)
        yield from ()

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if not self._handles:
            return
        self.end(loop)
        suspects = {key: p for key, p in self._suspects.items() if _lacks(p)}
        self._suspects = {}
        for calls in self._calls if suspects else ():
            if mistakes := list(_told(loop, calls, suspects)):
                yield from mistakes
                break
        self._calls = []

    def end(self, loop: Loop) -> Iterable[Mistake]:
        while self._handles:
            self._handles.pop().remove()
        return ()

    def _follow(self, loop: Loop) -> None:
        own = (m for m in loop.modules if m._parameters or not m._modules)  # noqa: SLF001 - torch's own wrappers read them
        self._handles = [m.register_forward_hook(Ear(self._called), with_kwargs=True) for m in own]
        self._handles.append(loop.model.register_forward_pre_hook(Ear(self._begins)))

    def _begins(self, module: Any, inputs: Any) -> None:
        self._calls.append([])

    def _called(self, module: Any, inputs: Any, named: Any, outputs: Any) -> None:
        if len(self._calls[-1]) >= _MOST_CALLS:
            return
        ins = [*_tensors(inputs), *_tensors(named)]
        self._calls[-1].append(_Call(module, torch.is_grad_enabled(), ins, list(_tensors(outputs))))


def _lacks(parameter: Any) -> bool:
    return parameter.requires_grad and parameter.grad is None and "_fsdp_flattened" not in parameter.__dict__


def _tensors(values: Any) -> Iterator[tuple[int, bool]]:
    if isinstance(values, torch.Tensor):
        if values.is_floating_point():
            yield values.numel(), values.requires_grad
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors(value)


def _told(loop: Loop, calls: list[_Call], suspects: dict[int, Any]) -> Iterator[Mistake]:
    """What one forward pass shows of the parameters without gradients."""
    before: dict[int, Any] = {}  # the suspects whose modules have run
    carried: dict[int, str] = {}  # number of elements → the module whose output had a graph, since the first of them
    modules = {id(module): name or "the model" for name, module in loop.model.named_modules()}
    seen: set[int] = set()
    for call in calls:
        if id(call.module) in seen:  # in another pass, or of an unrolled network: what it is given is another thing
            carried.clear()
        seen.add(id(call.module))
        own = {id(p): p for p in call.module.parameters(recurse=False) if id(p) in suspects}
        fed = [size for size, graph in call.inputs if not graph and size in carried]
        cut = fed and not own and call.grad_enabled and not any(graph for _, graph in call.inputs)
        if cut and any(p.grad is not None for p in call.module.parameters()):
            names = loop.named(before.values())
            producer, consumer = carried[fed[0]], modules.get(id(call.module), "")
            message = f"no gradient reaches {listed(names)}: the graph is cut between {producer} and {consumer}"
            yield Mistake("GL711", message, names)
            return
        if call.grad_enabled:
            before.update(own)
        if before and call.grad_enabled:
            carried.update((size, modules.get(id(call.module), "")) for size, graph in call.outputs if graph)
    yield from _without_graph(loop, calls, suspects)


def _without_graph(loop: Loop, calls: list[_Call], suspects: dict[int, Any]) -> Iterator[Mistake]:
    """Parameters whose modules run under `torch.no_grad()` only, unless they are a copy of some that learn."""
    ran: dict[int, Any] = {}
    for call in calls:
        own = {id(p): p for p in call.module.parameters(recurse=False) if id(p) in suspects}
        if own and call.grad_enabled:
            return
        ran.update(own)
    learning = Counter(tuple(p.shape) for p in loop.with_gradients())
    if ran and not Counter(tuple(p.shape) for p in ran.values()) <= learning:
        names = loop.named(ran.values())
        message = f"no gradient reaches {listed(names)}: their part of the model runs under torch.no_grad()"
        yield Mistake("GL711", message, names)
