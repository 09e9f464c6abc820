"""The batches of the first steps: of one example under batch norm, or each as often as there are workers."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from optim.telemetry.arriving import numbers_of
from optim.wiring.ears import Ear
from optim.wiring.loop import alive
from optim.wiring.mistake import Check, Mistake
from optim.wiring.versions import is_same, version
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from optim.telemetry.arriving import Arriving
    from optim.wiring.loop import Loop
    from optim.wiring.versions import Version

__all__ = ["BatchesOfOne", "BatchesRepeat"]

_SURE = 2  # steps
_LAST = 48  # steps that are looked at
_GROUPS = 3  # of equal batches
_ELEMENTS = 256  # of a batch


class BatchesOfOne(Check):
    """GL742: batch norm in training whose batches have one example."""

    def __init__(self, loop: Loop) -> None:
        self._handles: list[Any] = []
        self._ear = Ear(self._called)
        self._sizes: list[int] = []
        kinds = torch.nn.modules.batchnorm._BatchNorm  # noqa: SLF001 - the class of all of them
        for module in () if loop.compiled else loop.modules:
            if isinstance(module, kinds) and not isinstance(module, torch.nn.SyncBatchNorm):
                self._handles.append(module.register_forward_pre_hook(self._ear))

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps != _SURE:
            return
        self._ear.stop()
        if self._sizes and max(self._sizes) == 1:
            names = tuple(name for name, m in loop.model.named_modules() if "BatchNorm" in type(m).__name__)
            message = f"batch norm is given batches of one example ({listed(names)}): its statistics are those of each "
            yield Mistake("GL742", message + "example alone", names)

    def end(self, loop: Loop) -> Iterable[Mistake]:
        while self._handles:
            self._handles.pop().remove()
        return ()

    def _called(self, module: Any, inputs: tuple[Any, ...]) -> None:
        if module.training and torch.is_grad_enabled() and inputs:
            self._sizes.append(inputs[0].shape[0])


class BatchesRepeat(Check):
    """GL743: each batch comes as many times in a row as the data loader has workers."""

    def __init__(self, loop: Loop) -> None:
        self._sums: list[Arriving[list[float]]] = []
        self._last: Version | None = None  # the batch that came last
        self._ear = Ear(self._called)
        self._handle: Any = None
        if not loop.compiled:
            self._handle = loop.model.register_forward_pre_hook(self._ear, with_kwargs=True)

    def before_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps % 2 or loop.steps > _LAST:
            return
        if loop.steps == _LAST:
            self._ear.stop()
        times = repeated([number for numbers in self._sums for number in numbers.value()])
        if times and any(reader.workers == times and reader.given >= len(self._sums) - 1 for reader in _readers()):
            self._ear.stop()
            message = f"each batch comes {times} times in a row, and the data loader has {times} workers: each of them "
            yield Mistake("GL743", message + "makes the same batches")

    def end(self, loop: Loop) -> Iterable[Mistake]:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        return ()

    def _called(self, module: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not module.training or not torch.is_grad_enabled():
            return
        first = next((value for value in (*inputs, *named.values()) if isinstance(value, torch.Tensor)), None)
        if first is not None and is_same(self._last, version(first)):
            return  # the loop uses it again
        self._last = None if first is None else version(first)
        if first is not None and first.numel() and not first.is_sparse and not first.is_complex():
            flat = first.detach().reshape(-1)
            wide = torch.float32 if flat.device.type == "mps" else torch.float64
            weights = torch.arange(1, _ELEMENTS + 1, device=flat.device, dtype=wide)
            some = flat[:: max(1, flat.numel() // _ELEMENTS)][:_ELEMENTS].to(wide)
            self._sums.append(numbers_of([(some * weights[: len(some)]).sum()]))


def repeated(values: list[float]) -> int:
    """How many times in a row each value comes, if that is more than once and the same for three values or more.

    >>> repeated([1, 1, 2, 2, 3, 3]), repeated([1, 1, 1, 1]), repeated([1, 2, 2, 3, 3])
    (2, 0, 0)
    """
    groups = [(value, len(list(group))) for value, group in groupby(values)]
    lengths = {length for _, length in groups[:-1]}
    full = groups if groups and groups[-1][1] in lengths else groups[:-1]
    distinct = len({value for value, _ in full}) == len(full)
    (times,) = lengths if len(lengths) == 1 else (0,)
    return times if times > 1 and len(full) >= _GROUPS and distinct else 0


class _Reader(NamedTuple):
    """A data loader that is being read by so many processes, and the batches that it has given in this epoch."""

    workers: int
    given: int


def _readers() -> Iterator[_Reader]:
    kind = torch.utils.data.dataloader._MultiProcessingDataLoaderIter  # noqa: SLF001 - nothing else knows
    return (_Reader(reader._num_workers, reader._num_yielded) for reader in alive(kind))  # noqa: SLF001 - likewise
