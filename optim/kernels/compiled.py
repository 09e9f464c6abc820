"""The compiled engine: kernels that come with the package, and those of rules of one's own."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels import codegen, own, plain, threads
from optim.kernels.stats import ARRAY_WIDTH, LARGEST, SQUARES, combined, stats_width
from optim.kernels.tasks import cut, run_tasks, table
from summaries.native import library
from summaries.native.calls import address
from summaries.native.library import function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule
    from summaries.native.calls import Function

__all__ = ["ENGINE", "Arrays", "Engine", "Memory", "is_available", "is_ready", "kernel"]


_SHIPPED = {(rule.formula, dtype, report) for rule, dtype, report in codegen.SHIPPED}


def is_available() -> bool:
    """Whether compiled kernels are to be used: there are none for x86 processors without AVX2 and FMA."""
    return library.is_available() and _are_for_this_processor()


@cache
def _are_for_this_processor() -> bool:
    try:
        function("addresses")
    except LookupError:
        return False
    return True


def kernel(rule: Rule, dtype: str, report: bool) -> Function | None:
    """The rule's kernel; None if there is none, and NumPy runs the formula."""
    if (rule.formula, dtype, report) in _SHIPPED:
        return function(codegen.kernel_name(rule, dtype, report))
    return own.kernel(rule, dtype, report)


class Memory(NamedTuple):
    """Where arrays of one dtype lie in the host's memory: contiguous, aligned, none of them empty.

    The caller keeps them alive.
    """

    addresses: NDArray[np.int64]  # of each array's first element
    sizes: tuple[int, ...]  # in elements
    dtype: str  # one of codegen.DTYPES


class Arrays(tuple["NDArray[Any]", ...]):  # noqa: SLOT001 - it has an attribute, which no tuple with slots can
    """Arrays that more than one call reads, as the norm of gradients and their update do.

    Attributes:
        memory: where they lie; None unless one call of compiled code can read all of them there.
    """

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        # What `is_ready` asks, of all of them: there may be many small ones.
        dtypes, sizes = {array.dtype for array in arrays}, tuple([array.size for array in arrays])
        name = _NAMES.get(dtypes.pop()) if len(dtypes) == 1 else None
        is_one_call = name and 0 not in sizes and _can_be_read({array.flags.num for array in arrays}) and is_available()
        self.memory: Memory | None = Memory(ENGINE.addresses(arrays), sizes, name) if name and is_one_call else None

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any]]) -> Arrays:
        """These arrays, which are looked up only if that was not done before."""
        return arrays if isinstance(arrays, cls) else cls(arrays)

    def by_dtype(self) -> dict[np.dtype[Any], list[int]]:
        """The arrays' indices, by their dtypes."""
        if self.memory is not None:  # the usual case: there is one
            return {self[0].dtype: list(range(len(self)))}
        indices: dict[np.dtype[Any], list[int]] = {}
        for i, array in enumerate(self):
            indices.setdefault(array.dtype, []).append(i)
        return indices


def is_ready(array: NDArray[Any]) -> bool:
    """Whether compiled code can iterate over the array's memory. `plain` also handles all other arrays."""
    return array.dtype in _NAMES and array.size > 0 and _can_be_read({array.flags.num})


def _can_be_read(flags: set[int]) -> bool:
    return all(each & _READABLE == _READABLE for each in flags)


class Engine:
    """Runs compiled kernels; uses NumPy for a rule that has none."""

    def prepare(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> _Run:
        """Prepare a run of the rule over these arrays."""
        return _Run(rule, targets)

    def squares(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays]: the sum of the squares of each array's elements."""
        return self.squares_at(self.memory(arrays))

    def squares_at(self, memory: Memory) -> NDArray[np.float64]:
        """float64[arrays]: as `squares`."""
        return self._read("norm", memory, 1, slice(0))[:, SQUARES]

    def measure(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: an array's columns of `stats`."""
        return self.measure_at(self.memory(arrays))

    def measure_at(self, memory: Memory) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: as `measure`."""
        return self._read("measure", memory, ARRAY_WIDTH, slice(LARGEST, LARGEST + 1))

    def addresses(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """int64[arrays]: the address of each array's first element."""
        found = np.fromiter(map(id, arrays), np.int64, len(arrays))  # of the objects; the call replaces them
        words = address(found), len(found)
        function("addresses").with_words(*words, object.__basicsize__, *words)
        return found

    def measure_gradients_at(self, memory: Memory) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: as `measure`, but SUM and LARGEST are 0."""
        return self._read("gradients", memory, ARRAY_WIDTH, slice(0))

    def memory(self, arrays: Sequence[NDArray[Any]]) -> Memory:
        """Where arrays lie, which are ready and of one dtype."""
        return Memory(self.addresses(arrays), tuple([array.size for array in arrays]), _NAMES[arrays[0].dtype])

    def _read(self, name: str, memory: Memory, width: int, largest: slice) -> NDArray[np.float64]:
        """float64[arrays, width]: the stats of a kernel that only reads; `largest` as in `combined`."""
        parts = cut(memory.sizes, threads.get_num_threads())
        rows = table(parts, [memory.addresses], _ITEMSIZES[memory.dtype])
        stats = np.empty((parts.rows, width))
        run_tasks(function(f"{name}_{memory.dtype}"), rows, parts.pieces, None, stats)
        return combined(stats, parts.first, largest)


ENGINE = Engine()


class _Run:
    """A rule's kernel over arrays at fixed addresses, cut for the current number of threads."""

    def __init__(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        first = [arrays[0] for arrays in targets]
        self._rule, self._targets = rule, targets
        self._dtype = first[0].dtype
        self._width = stats_width(len(rule.slots))
        self._parts = cut(tuple([array.size for array in first]), threads.get_num_threads())
        columns = [ENGINE.addresses(arrays) for arrays in zip(*targets, strict=True)]
        self._rows = table(self._parts, [np.zeros_like(columns[0]), *columns], self._dtype.itemsize)
        self._kernels: dict[bool, Function | None] = {}

    def __call__(
        self, gradients: Sequence[NDArray[Any]], numbers: NDArray[np.float64], report: bool
    ) -> NDArray[np.float64] | None:
        """Update the arrays in place: see `engine.Run`."""
        run = self._kernel(report)
        if run is None:
            return self._by_numpy(gradients, numbers, report)
        memory = Arrays.of(gradients).memory
        assert memory is not None  # all are ready
        rows = self._rows.copy()  # another thread may be making a step too
        rows[:, _GRADIENT] = self._parts.starts(memory.addresses, self._dtype.itemsize)
        stats = np.empty((self._parts.rows, self._width)) if report else None
        run_tasks(run, rows, self._parts.pieces, numbers, stats)
        return None if stats is None else combined(stats, self._parts.first)

    def _kernel(self, report: bool) -> Function | None:
        if report not in self._kernels:
            self._kernels[report] = kernel(self._rule, _NAMES[self._dtype], report)
        return self._kernels[report]

    @cached_property
    def _by_numpy(self) -> Callable[..., NDArray[np.float64] | None]:
        return plain.ENGINE.prepare(self._rule, self._targets)


_READABLE = 0x001 | 0x100  # NumPy's NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED
_GRADIENT = 2  # the column of the tasks with the gradient's address
_NAMES = {np.dtype(name): name for name in codegen.DTYPES}
_ITEMSIZES = {name: np.dtype(name).itemsize for name in codegen.DTYPES}
