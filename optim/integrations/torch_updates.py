"""The norm of what a step of a torch optimizer adds to each parameter, without a copy of the model.

| optimizer | its updates' norms |
|---|---|
| torch's SGD, unless it is Nesterov's, or decays weights without momentum | the rate times the norm of what it adds |
| any other (Adam, AdamW, Lion, Muon, Adafactor, …); weights below 32 bits; gradients of a closure | of differences |

SGD adds the momentum, or else the gradient, as they are after the step: their norms are exact, and read one tensor.
Adam's formula would read three, and cost as much as all the rest of a hook, or more.

Differences are those of a sample of the weights, which is copied before the step: all elements of small parameters, and
evenly spaced ones of others. The norm of a sample of n elements is off by about 0.7 / √n, if the update's elements are
normally distributed (1 % at the least size of a sample); it is exact where they have one magnitude, as Lion's. Of a
sparse gradient, the rows that it names are the sample, and all others are taken to stay.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from optim.kernels.stats import ARRAY_WIDTH, SQUARES
from optim.telemetry.arriving import Arriving, numbers_of
from optim.telemetry.devices import norms_of
from optim.telemetry.shards import flat_groups, local_parts, over_all_ranks
from optim.wiring.versions import local_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from optim.integrations.selected import Selected
    from optim.telemetry.measuring import Observation

    Squares = NDArray[np.float64]

__all__ = ["StepWatch"]

_LEAST_SAMPLE, _MOST_SAMPLE = 1 << 12, 1 << 16  # elements of one parameter
_SAMPLED_SHARE = 16  # one element of so many is copied


class StepWatch:
    """Looks at a step that is about to be made, and afterwards tells what it has added to the parameters.

    Args:
        optimizer: a torch optimizer.
        selected: those of its parameters that are measured.
        has_closure: whether the step computes the gradients itself.
    """

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def __init__(self, optimizer: Any, selected: Selected, *, has_closure: bool) -> None:
        self._selected = selected
        self._parameters = dict(selected.named_parameters())
        self._optimizer = optimizer
        every = list(self._parameters.values())
        self._known = [] if has_closure else _exactly_known(optimizer, every)
        self._samples = _Samples(every, self._known)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def added_to(self, observation: Observation) -> Observation:
        """The observation of this step, with the norms of its updates: of whole tensors, whatever shards them."""
        names, parameters = list(self._parameters), list(self._parameters.values())
        known, sampled = _known(self._optimizer, parameters, self._known), self._samples.squares()

        def local() -> Squares:
            squares = np.zeros(len(parameters))
            for members, found in (known, *sampled):
                squares[members] = found.value()
            return squares

        def whole() -> tuple[Mapping[str, float], Mapping[str, float]]:
            squares = everywhere = local()
            if shards:
                table = np.zeros((len(squares), ARRAY_WIDTH))
                table[:, SQUARES] = squares
                everywhere = over_all_ranks(table, shards, largest=False)[:, SQUARES]
            return dict(zip(names, everywhere, strict=True)), dict(zip(names, squares, strict=True))

        _, shards = local_parts(parameters, flat_groups(self._selected, self._parameters))
        found = Arriving([found for _, found in (known, *sampled)], whole)
        if shards or found.has_arrived:
            found.value()  # of shards now, as the other ranks do
        return observation.with_updates(found)


def _exactly_known(optimizer: Any, parameters: Sequence[Any]) -> list[int]:
    """The indices of those whose update is one tensor times the rate.

    Only of torch's SGD itself: a class that is made of it may do something else.
    """
    if type(optimizer) is not torch.optim.SGD:
        return []
    simple = {
        id(parameter)
        for group in optimizer.param_groups
        if not group["nesterov"] and (group["momentum"] or not group["weight_decay"])
        for parameter in group["params"]
    }
    return [i for i, parameter in enumerate(parameters) if id(parameter) in simple and _is_plain(parameter)]


def _is_plain(parameter: Any) -> bool:
    """Whether what is added arrives, since the elements are wide enough, and is dense."""
    gradient = parameter.grad
    return parameter.dtype.itemsize >= torch.float32.itemsize and (gradient is None or not gradient.is_sparse)


def _known(optimizer: Any, parameters: Sequence[Any], known: Iterable[int]) -> tuple[list[int], Arriving[Squares]]:
    """Which of the parameters SGD has changed, and the squares of its updates, after the step."""
    groups = {id(parameter): group for group in optimizer.param_groups for parameter in group["params"]}
    added: dict[int, Any] = {}
    factors = []
    for i in known:
        parameter, group = parameters[i], groups[id(parameters[i])]
        tensor = optimizer.state[parameter].get("momentum_buffer") if group["momentum"] else parameter.grad
        if tensor is not None:  # FSDP1 may give this rank no gradient
            added[i] = local_part(tensor.detach())
            factors.append(float(group["lr"]))  # a fused step leaves the gradient as it has unscaled it
    return list(added), _norms(list(added.values())).then(lambda norms: (norms * factors) ** 2)


class _View(NamedTuple):
    """Some elements of a parameter, in its memory.

    Attributes:
        elements: one dimension.
        share: how many of all elements they are.
    """

    elements: Any
    share: float


class _Samples:
    """Some elements of parameters, as they were before the step."""

    def __init__(self, parameters: Sequence[Any], known: Iterable[int]) -> None:
        self._parameters = parameters
        self._views: dict[int, _View] = {}  # by the indices of parameters
        self._rows: dict[int, Any] = {}  # of parameters with sparse gradients
        self._kinds: dict[Any, list[int]] = {}  # the indices of parameters whose elements can be joined
        for i in set(range(len(parameters))).difference(known):
            parameter, gradient = parameters[i], parameters[i].grad
            if gradient is not None and gradient.is_sparse:
                self._rows[i] = gradient.coalesce().indices()[0]
            if size := local_part(parameter).numel():
                is_whole = size <= _LEAST_SAMPLE and i not in self._rows
                self._kinds.setdefault((parameter.dtype, parameter.device, is_whole), []).append(i)
        self._before = [self._joined(members, is_whole) for (*_, is_whole), members in self._kinds.items()]

    def squares(self) -> list[tuple[list[int], Arriving[Squares]]]:
        """The squares of the differences, which are taken to be as large in all other elements."""
        found = []
        for ((*_, is_whole), members), (before, *_) in zip(self._kinds.items(), self._before, strict=True):
            now, counts, shares = self._joined(members, is_whole)
            norms = _norms((_wide(now) - _wide(before)).split(counts))
            found.append((members, norms.then(partial(_squares_of, shares=shares))))
        return found

    def _joined(self, members: Sequence[int], is_whole: bool) -> tuple[Any, list[int], list[float]]:
        """The samples of parameters as they are now, one after the other; how many elements each has, and its share."""
        if is_whole:  # to make a view of each takes longer than all else
            parts = [local_part(self._parameters[i]) for i in members]
            joined = torch._utils._flatten_dense_tensors(parts)  # noqa: SLF001 - as torch's DDP does
            joined = joined.clone() if len(parts) == 1 else joined  # of one it is a view, which the step would change
            return joined, [part.numel() for part in parts], [1.0] * len(parts)
        views = [self._view(i) for i in members]
        elements = [view.elements for view in views]
        return torch.cat(elements), [part.numel() for part in elements], [view.share for view in views]

    def _view(self, i: int) -> _View:
        """The parameter's sample as it is now."""
        parameter = self._parameters[i]
        if i in self._rows:
            rows = local_part(parameter.detach()).index_select(0, self._rows[i])
            return _View(rows.reshape(-1), 1.0)
        known, memory = self._views.get(i), local_part(parameter)
        if known is None or known.elements.data_ptr() != memory.data_ptr() or not memory.is_contiguous():
            known = self._views[i] = _view_of(memory.detach())
        return known


def _view_of(part: Any) -> _View:
    count, stride = _spacing(part.numel())
    elements = part.as_strided((count,), (stride,)) if part.is_contiguous() else part.reshape(-1)[::stride]
    return _View(elements, len(elements) / part.numel())


def _squares_of(norms: Squares, shares: list[float]) -> Squares:
    """The squares of all elements, of norms of shares of them."""
    squares: Squares = norms**2 / shares
    return squares


@lru_cache(maxsize=1024)
def _spacing(size: int) -> tuple[int, int]:
    """How many of so many elements are a sample, and how far they are apart."""
    stride = size // min(size, max(_LEAST_SAMPLE, min(size // _SAMPLED_SHARE, _MOST_SAMPLE)))
    while math.gcd(stride, size) > 1:  # else they might all be of the same columns
        stride += 1
    return -(-size // stride), stride


def _norms(tensors: Sequence[Any]) -> Arriving[Squares]:
    """float64[tensors]: their norms."""
    return numbers_of(norms_of(torch, tensors)).then(np.array)


def _wide(part: Any) -> Any:
    return part.float() if part.dtype.itemsize < torch.float32.itemsize else part
