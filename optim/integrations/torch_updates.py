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
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from optim.kernels.stats import ARRAY_WIDTH, SQUARES
from optim.telemetry.shards import flat_groups, local_parts, over_all_ranks
from optim.wiring.versions import local_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

    def __init__(self, optimizer: Any, selected: Selected, *, has_closure: bool) -> None:
        self._selected = selected
        self._parameters = dict(selected.named_parameters())
        self._optimizer = optimizer
        every = list(self._parameters.values())
        self._known = [] if has_closure else _exactly_known(optimizer, every)
        self._samples = _Samples(every, self._known)

    def added_to(self, observation: Observation) -> Observation:
        """The observation of this step, with the norms of its updates: of whole tensors, whatever shards them."""
        parameters, squares = self._parameters, np.zeros(len(self._parameters))
        _add_known(squares, self._optimizer, list(parameters.values()), self._known)
        self._samples.add_squares(squares)
        whole = squares
        _, shards = local_parts(list(parameters.values()), flat_groups(self._selected, parameters))
        if shards:
            table = np.zeros((len(squares), ARRAY_WIDTH))
            table[:, SQUARES] = squares
            whole = over_all_ranks(table, shards, largest=False)[:, SQUARES]
        return observation.with_updates(*(dict(zip(parameters, each, strict=True)) for each in (whole, squares)))


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


def _add_known(squares: Squares, optimizer: Any, parameters: Sequence[Any], known: Iterable[int]) -> None:
    """Fill in the squares of SGD's updates, after the step."""
    groups = {id(parameter): group for group in optimizer.param_groups for parameter in group["params"]}
    added: dict[int, Any] = {}
    factors = []
    for i in known:
        parameter, group = parameters[i], groups[id(parameters[i])]
        tensor = optimizer.state[parameter].get("momentum_buffer") if group["momentum"] else parameter.grad
        if tensor is not None:  # FSDP1 may give this rank no gradient
            added[i] = local_part(tensor.detach())
            factors.append(float(group["lr"]))  # a fused step leaves the gradient as it has unscaled it
    squares[list(added)] = (_norms(list(added.values())) * factors) ** 2


class _Samples:
    """Some elements of parameters, as they were before the step."""

    def __init__(self, parameters: Sequence[Any], known: Iterable[int]) -> None:
        self._parameters = parameters
        self._rows: dict[int, Any] = {}  # of parameters with sparse gradients
        self._kinds: dict[Any, list[int]] = {}  # the indices of parameters whose elements can be joined
        for i in set(range(len(parameters))).difference(known):
            part, gradient = local_part(parameters[i].detach()), parameters[i].grad
            if gradient is not None and gradient.is_sparse:
                self._rows[i] = gradient.coalesce().indices()[0]
            if part.numel():
                self._kinds.setdefault((part.dtype, part.device), []).append(i)
        self._before = [self._joined(members)[0] for members in self._kinds.values()]

    def add_squares(self, squares: Squares) -> None:
        """Fill in the squares of the differences, which are taken to be as large in all other elements."""
        for members, before in zip(self._kinds.values(), self._before, strict=True):
            after, counts = self._joined(members)
            shares = [
                1.0 if i in self._rows else count / local_part(self._parameters[i]).numel()
                for i, count in zip(members, counts, strict=True)
            ]
            squares[members] = _norms((_wide(after) - _wide(before)).split(counts)) ** 2 / shares

    def _joined(self, members: Sequence[int]) -> tuple[Any, list[int]]:
        """The samples of these parameters as they are now, one after the other, and the number of elements of each."""
        parts = [self._sample(i) for i in members]
        return torch.cat(parts), [len(part) for part in parts]

    def _sample(self, i: int) -> Any:
        part = local_part(self._parameters[i].detach())
        if i in self._rows:
            return part.index_select(0, self._rows[i]).reshape(-1)
        count, stride = _spacing(part.numel())
        return part.as_strided((count,), (stride,)) if part.is_contiguous() else part.reshape(-1)[::stride]


@lru_cache(maxsize=1024)
def _spacing(size: int) -> tuple[int, int]:
    """How many of so many elements are a sample, and how far they are apart."""
    stride = size // min(size, max(_LEAST_SAMPLE, min(size // _SAMPLED_SHARE, _MOST_SAMPLE)))
    while math.gcd(stride, size) > 1:  # else they might all be of the same columns
        stride += 1
    return -(-size // stride), stride


def _norms(tensors: Sequence[Any]) -> Squares:
    """float64[tensors]: their norms, by one transfer from each device."""
    found = np.zeros(len(tensors))
    devices: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensors):
        if tensor.numel():
            devices.setdefault((tensor.device, tensor.dtype), []).append(i)
    for there in devices.values():
        norms = torch._foreach_norm([tensors[i] for i in there])  # noqa: SLF001 - it has no public name
        found[there] = torch.stack(norms).tolist()
    return found


def _wide(part: Any) -> Any:
    return part.float() if part.dtype.itemsize < torch.float32.itemsize else part
