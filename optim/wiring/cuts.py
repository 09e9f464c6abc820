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
_LATEST = 4  # outputs whose values are looked for in what later modules are given
_MOST_ELEMENTS = 2**20  # of such an output
_LOOKED_FOR = 64  # elements
_MOST_NODES = 1000  # of a graph that are looked at
_FEWEST = 16  # different ones among them: fewer may be there by chance


class _Call(NamedTuple):
    """One call of a module: its inputs and outputs as (number of elements, whether they carry a graph).

    Inputs that earlier modules or the model were given, too, are left out, and those without a graph if the loop calls
    parts of the model: it may have made them itself. `holding` has the module whose output's values an input
    has, but not its graph, if there is one.
    """

    module: Any
    grad_enabled: bool
    inputs: list[tuple[int, bool]]
    outputs: list[tuple[int, bool]]
    holding: Any = None


class Cuts(Check):
    """Follows the forward pass after the first step, if some parameters had no gradient in it."""

    def __init__(self) -> None:
        self._suspects: dict[int, Any] = {}
        self._calls: list[list[_Call]] = [[]]  # those of each forward pass
        self._latest: list[tuple[Any, Any, Any]] = []  # modules, what they gave with a graph, and its node
        self._given: set[int] = set()  # where the memory is of what modules were given
        self._outer: set[int] | None = None  # where it is of what the model was given; None while only its parts run
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
        self._latest = []
        while self._handles:
            self._handles.pop().remove()
        return ()

    def _follow(self, loop: Loop) -> None:
        own = (m for m in loop.modules if m._parameters or not m._modules)  # noqa: SLF001 - torch's own wrappers read them
        self._handles = [m.register_forward_hook(Ear(self._called), with_kwargs=True) for m in own]
        self._handles.append(loop.model.register_forward_pre_hook(Ear(self._begins), with_kwargs=True))

    def _begins(self, module: Any, inputs: Any, named: Any) -> None:
        self._calls.append([])
        self._latest, self._given = [], set()
        self._outer = {_memory(value) for value in [*_tensors(inputs), *_tensors(named)]}

    def _called(self, module: Any, inputs: Any, named: Any, outputs: Any) -> None:
        if len(self._calls[-1]) >= _MOST_CALLS:
            return
        ins, outs = [*_tensors(inputs), *_tensors(named)], list(_tensors(outputs))
        holding = None
        if torch.is_grad_enabled():
            ins = [value for value in ins if value.requires_grad or value.data_ptr() not in self._given]
            self._given.update(value.data_ptr() for value in ins if not value.requires_grad)
            found = (m for m, given, node in self._latest[::-1] if any(_is_cut(given, node, value) for value in ins))
            holding = next(found, None)
            short = [out for out in outs if out.requires_grad and out.numel() <= _MOST_ELEMENTS]
            self._latest = [*self._latest, *((module, out.detach(), out.grad_fn) for out in short)][-_LATEST:]
            ins = [value for value in ins if value.requires_grad or self._may_be_made(value)]
        self._calls[-1].append(_Call(module, torch.is_grad_enabled(), _described(ins), _described(outs), holding))

    def _may_be_made(self, value: Any) -> bool:
        """Whether a value without a graph may come of the model's modules: it is none that the loop gave."""
        return self._outer is not None and _memory(value) not in self._outer


def _memory(value: Any) -> int:
    """Where the memory of a tensor begins, that of a view's base."""
    return int(value.untyped_storage().data_ptr())


def _lacks(parameter: Any) -> bool:
    return parameter.requires_grad and parameter.grad is None and "_fsdp_flattened" not in parameter.__dict__


def _described(tensors: list[Any]) -> list[tuple[int, bool]]:
    return [(tensor.numel(), tensor.requires_grad) for tensor in tensors]


def _is_cut(given: Any, node: Any, value: Any) -> bool:
    """Whether an input has an output's values, or all of them beside others, and is not made of it by its graph."""
    if not value.requires_grad:
        return _has_of(given, value)
    return value.numel() > given.numel() and _has_of(value, given) and not _leads_to(value.grad_fn, node)


def _leads_to(node: Any, wanted: Any) -> bool:
    """Whether one node of a graph is made of another; taken to be so if that takes long to find out."""
    seen, waiting = set[Any](), [node]
    while waiting and len(seen) < _MOST_NODES:
        if (now := waiting.pop()) is wanted:
            return True
        if now is not None and now not in seen:
            seen.add(now)
            waiting += [after for after, _ in now.next_functions]
    return bool(waiting)


def _has_of(given: Any, value: Any) -> bool:
    """Whether an input has the values of an output, as after `detach`, by way of NumPy, pooled, or in part."""
    if given.device != value.device or given.dtype != value.dtype:
        return False
    flat = value.reshape(-1)
    some = flat[:: max(1, flat.numel() // (2 * _LOOKED_FOR))]
    some = some[(some != 0) & (some.abs() != 1)].unique()[:_LOOKED_FOR]
    return len(some) >= _FEWEST and bool(torch.isin(some, given).all())


def _tensors(values: Any) -> Iterator[Any]:
    if isinstance(values, torch.Tensor):
        if values.is_floating_point():
            yield values
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors(value)


def _told(loop: Loop, calls: list[_Call], suspects: dict[int, Any]) -> Iterator[Mistake]:
    """What one forward pass shows of the parameters without gradients."""
    before: dict[int, Any] = {}  # the suspects whose modules have run
    carried: dict[int, str] = {}  # number of elements → the module whose output had a graph, since the first of them
    givers: dict[int, str] = {}  # these modules, by their ids
    modules = {id(module): name or "the model" for name, module in loop.model.named_modules()}
    seen: set[int] = set()
    for call in calls:
        if id(call.module) in seen:  # in another pass, or of an unrolled network: what it is given is another thing
            carried.clear()
        seen.add(id(call.module))
        own = {id(p): p for p in call.module.parameters(recurse=False) if id(p) in suspects}
        fed = [carried[size] for size, graph in call.inputs if not graph and size in carried]
        fed += [givers[key] for key in (id(call.holding),) if key in givers]
        whole = not any(graph for _, graph in call.inputs) or id(call.holding) in givers
        cut = fed and not own and call.grad_enabled and whole
        if cut and any(p.grad is not None for p in call.module.parameters()):
            names = loop.named(before.values())
            producer, consumer = fed[-1], modules.get(id(call.module), "")
            message = f"no gradient reaches {listed(names)}: the graph is cut between {producer} and {consumer}"
            yield Mistake("GL711", message, names)
            return
        if call.grad_enabled:
            before.update(own)
        if before and call.grad_enabled:
            given = {size: modules.get(id(call.module), "") for size, graph in call.outputs if graph}
            carried.update(given)
            givers.update((id(call.module), name) for name in given.values())
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
