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
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch

from optim.kernels.stats import ARRAY_WIDTH, SQUARES
from optim.telemetry.arriving import Arriving, Fetched
from optim.telemetry.rows import Rows, in_rows, joined, of_pieces
from optim.telemetry.shards import flat_groups, local_parts, over_all_ranks
from optim.wiring.versions import local_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from optim.telemetry.measuring import Observation

    Squares = NDArray[np.float64]

__all__ = ["Samples", "StepWatch"]

_LEAST_SAMPLE, _MOST_SAMPLE = 1 << 12, 1 << 16  # elements of one parameter
_SAMPLED_SHARE = 16  # one element of so many is copied


class _Parameters(Protocol):
    """What has parameters by name: `Selected`, or a mapping as Keras has them."""

    def named_parameters(self) -> Iterable[tuple[str, Any]]: ...


class StepWatch:
    """Looks at a step that is about to be made, and afterwards tells what it has added to the parameters.

    Args:
        optimizer: a torch optimizer; with `has_closure`, nothing is asked of it.
        selected: those of its parameters that are measured.
        samples: what the last one had.
        has_closure: whether the step computes the gradients itself.
    """

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def __init__(self, optimizer: Any, selected: _Parameters, samples: Samples, *, has_closure: bool) -> None:
        self._selected = selected
        self._parameters = dict(selected.named_parameters())
        self._optimizer = optimizer
        every = list(self._parameters.values())
        self._known = [] if has_closure else _exactly_known(optimizer, every)
        self._samples = [(sample, sample.copied()) for sample in samples.of(every, self._known)]

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def added_to(self, observation: Observation) -> Observation:
        """The observation of this step, with the norms of its updates: of whole tensors, whatever shards them."""
        names, parameters = list(self._parameters), list(self._parameters.values())
        known = _known(self._optimizer, parameters, self._known) if self._known else ()
        parts = [*known, *(_moved(*sample) for sample in self._samples)]
        count = len(parameters)

        def local() -> Squares:
            squares = np.zeros(count)
            for part in parts:
                np.add.at(squares, part.members, part.squares.value())
            return squares

        def whole() -> tuple[Mapping[str, float], Mapping[str, float]]:
            squares = everywhere = local()
            if shards:
                table = np.zeros((len(squares), ARRAY_WIDTH))
                table[:, SQUARES] = squares
                everywhere = over_all_ranks(table, shards, largest=False)[:, SQUARES]
            return dict(zip(names, everywhere, strict=True)), dict(zip(names, squares, strict=True))

        _, shards = local_parts(parameters, flat_groups(self._selected, self._parameters))
        found = Arriving([part.squares for part in parts], whole)
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


class _Part(NamedTuple):
    """What is known of the updates of some parameters, or of pieces of them.

    Attributes:
        members: the parameters' indices.
        squares: the sum of the squares of each one's elements.
    """

    members: list[int]
    squares: Arriving[Squares]


def _part(rows: Rows, factors: Mapping[int, float]) -> _Part:
    """Of updates, or of what times a factor is one: factors of squares, by the indices of parameters."""
    members, sizes, fetched = rows.members, rows.sizes, Fetched(rows.norms())
    of_each = np.array([factors[i] for i in members])
    return _Part(members, Arriving([fetched], lambda: of_pieces(fetched.values() ** 2, sizes) * of_each))


def _moved(sample: _Sample, before: Rows) -> _Part:
    """The squares of the differences, which are taken to be as large in all other elements."""
    added = before._replace(elements=_wide(sample.copied().elements) - _wide(before.elements))
    return _part(added, sample.factors)


def _known(optimizer: Any, parameters: Sequence[Any], known: Iterable[int]) -> Iterator[_Part]:
    """What SGD has added, after the step."""
    groups = {id(parameter): group for group in optimizer.param_groups for parameter in group["params"]}
    added: dict[Any, dict[int, Any]] = {}  # by device
    factors = {}
    for i in known:
        parameter, group = parameters[i], groups[id(parameters[i])]
        tensor = optimizer.state[parameter].get("momentum_buffer") if group["momentum"] else parameter.grad
        if tensor is not None:  # FSDP1 may give this rank no gradient
            added.setdefault(parameter.device, {})[i] = local_part(tensor.detach())
            factors[i] = float(group["lr"]) ** 2  # a fused step leaves the gradient as it has unscaled it
    for tensors in added.values():
        yield from (_part(rows, factors) for rows in in_rows(tensors))


class Samples:
    """Which elements of parameters are looked at: found anew when a parameter lies somewhere else."""

    def __init__(self) -> None:
        self._lie: list[tuple[int, int, int, Any]] = []  # indices of parameters, where they are, and how many elements
        self._kinds: list[_Sample] = []

    def of(self, parameters: Sequence[Any], known: Iterable[int]) -> list[_Sample]:
        """Samples of dtypes and devices of their own, of all parameters but those whose updates are known."""
        others = set(range(len(parameters))).difference(known)
        of_rows = {i for i in others if (gradient := parameters[i].grad) is not None and gradient.is_sparse}
        parts = {i: part for i in others - of_rows if (part := local_part(parameters[i])).numel()}
        lie = [(i, part.data_ptr(), part.numel(), part.dtype) for i, part in parts.items()]
        if lie != self._lie or not all(part.is_contiguous() for part in parts.values()):
            self._lie, self._kinds = lie, _kinds_of({i: part.detach() for i, part in parts.items()})
        return [*self._kinds, *(_Sample.of_rows(i, parameters[i]) for i in sorted(of_rows))]


class _Sample(NamedTuple):
    """Some elements of parameters of one dtype on one device.

    Attributes:
        members: the parameters' indices.
        sizes: how many elements of each.
        factors: by members, for how many of the parameter's elements one stands.
        now: returns the elements as they are now, for each parameter in one dimension.
    """

    members: list[int]
    sizes: list[int]
    factors: dict[int, float]
    now: Callable[[], list[Any]]

    @classmethod
    def of_rows(cls, i: int, parameter: Any) -> Self:
        """Of those rows that a sparse gradient names: all others are taken to stay."""
        rows = parameter.grad.coalesce().indices()[0]

        def elements() -> list[Any]:
            return [local_part(parameter.detach()).index_select(0, rows).reshape(-1)]

        return cls([i], [elements()[0].numel()], {i: 1.0}, elements)

    def copied(self) -> Rows:
        """The elements as they are now."""
        return Rows(joined(self.now(), self.sizes), self.members, self.sizes)


def _kinds_of(parts: Mapping[int, Any]) -> list[_Sample]:
    alike: dict[Any, dict[int, Any]] = {}
    for i, part in parts.items():
        alike.setdefault((part.dtype, part.device, part.is_contiguous()), {})[i] = part
    kinds = []
    for (*_, contiguous), of_kind in alike.items():
        views = [_view_of(part) for part in of_kind.values()]
        sizes = [view.numel() for view in views]
        factors = {i: part.numel() / size for (i, part), size in zip(of_kind.items(), sizes, strict=True)}
        again = partial(_views, list(of_kind.values()))  # of others, what looks like a view may be a copy
        kinds.append(_Sample(list(of_kind), sizes, factors, partial(list, views) if contiguous else again))
    return kinds


def _views(parts: Iterable[Any]) -> list[Any]:
    return [_view_of(part) for part in parts]


def _view_of(part: Any) -> Any:
    """Evenly spaced elements of a tensor, in one dimension."""
    if part.numel() <= _LEAST_SAMPLE:
        return part.reshape(-1)
    count, stride = _spacing(part.numel())
    return part.as_strided((count,), (stride,)) if part.is_contiguous() else part.reshape(-1)[::stride]


@lru_cache(maxsize=1024)
def _spacing(size: int) -> tuple[int, int]:
    """How many of so many elements are a sample, and how far they are apart."""
    stride = size // min(size, max(_LEAST_SAMPLE, min(size // _SAMPLED_SHARE, _MOST_SAMPLE)))
    while math.gcd(stride, size) > 1:  # else they might all be of the same columns
        stride += 1
    return -(-size // stride), stride


def _wide(part: Any) -> Any:
    return part.float() if part.dtype.itemsize < torch.float32.itemsize else part
