"""The compiled engine: kernels compiled by numba, each loaded once per process.

A kernel that is not on disk takes one to three seconds to compile. It is compiled on first use, and the "optim" logger
says so; `compile_kernels` compiles ahead of time.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim import rules
from optim.kernels import codegen, plain, threads
from optim.kernels.cache import load, loading_many
from optim.kernels.stats import ARRAY_WIDTH, LARGEST, SQUARES, combined, stats_width
from optim.kernels.tasks import cut, run_tasks, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

    Kernel = Callable[..., None]

__all__ = [
    "ENGINE", "Engine", "Memory", "available", "compile_kernels", "kernel", "measure_kernel", "norm_kernel", "use",
]  # fmt: skip

_log = logging.getLogger("optim")
_made: dict[tuple[Any, ...], Any] = {}  # by `_once`
_making = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child inherits lock states: so numba's and the importer's locks are free, too
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_wanted: list[str] = []  # the setting of `use`, at most one


def use(kernels: str | None) -> None:
    """Choose what runs the formulas in this process.

    Args:
        kernels: "plain" for NumPy, "compiled" for numba. None follows the environment variable GRADLEDGER_KERNELS, read
            on first use; if it is not set, numba is used if installed.

    Raises:
        ValueError: `kernels` is not one of these.
        ImportError: `kernels` is "compiled", and numba is not installed.
    """
    if kernels not in {None, "plain", "compiled"}:
        raise ValueError(f"kernels must be 'plain', 'compiled' or None, got {kernels!r}")
    if kernels == "compiled" and not _installed():
        raise ImportError("compiled kernels need numba: pip install 'gradledger[fast]'")
    _wanted[:] = [kernels] if kernels else []


def available() -> bool:
    """Whether to use compiled kernels."""
    wanted = _wanted[0] if _wanted else _by_default()
    return wanted != "plain" and _installed() and bool(_once(_works))


@cache
def _by_default() -> str:
    told = os.environ.get("GRADLEDGER_KERNELS", "")
    if told not in {"", "plain", "compiled"}:
        _log.warning("GRADLEDGER_KERNELS must be 'plain' or 'compiled', got %r, which is ignored", told)
    return told


def compile_kernels(
    which: Iterable[Rule] | None = None,
    dtypes: Iterable[str] = ("float32",),
    reports: Iterable[bool] = (False, True),
) -> int:
    """Compile the kernels for training ahead of time, so that no step waits for it.

    Args:
        which: the rules, from `optim.rules`; by default all of them. An optimizer's rule is `optimizer.rule`.
        dtypes: "float32", "float64", or both.
        reports: False for the kernels of steps without a detailed report, True for those of steps with one, or both.

    Returns:
        The number of kernels that are ready; 0 if numba is not installed.

    Raises:
        TypeError: an item of `which` is not a rule.
        ValueError: a dtype is not one of these.

    >>> from optim import rules
    >>> compile_kernels([rules.GRADIENT_DESCENT], reports=[False]) in (0, 2)  # the rule's, and the global norm's
    True
    """
    chosen = [rule for rule in vars(rules).values() if isinstance(rule, rules.Rule)] if which is None else list(which)
    for rule in chosen:
        if not isinstance(rule, rules.Rule):
            raise TypeError(f"which must be rules, such as optimizer.rule, got {type(rule).__name__}")
    wanted, with_report = [dtypes] if isinstance(dtypes, str) else list(dtypes), list(reports)
    for dtype in wanted:
        if dtype not in codegen.DTYPES:
            raise ValueError(f"kernels are compiled for float32 and float64, got {dtype!r}")
    with loading_many():
        return sum(_compiled(chosen, dtype, with_report) for dtype in wanted) if available() else 0


def _compiled(chosen: Sequence[Rule], dtype: str, reports: Sequence[bool]) -> int:
    """Compile the kernels of one dtype; return how many are ready."""
    found = [norm_kernel(dtype), *(kernel(rule, dtype, report) for rule in chosen for report in reports)]
    if True in reports:
        found += [measure_kernel(dtype), _gradient_kernel(dtype)]  # for sparse steps and GradientMonitor
    return sum(run is not None for run in found)


def kernel(rule: Rule, dtype: str, report: bool) -> Kernel | None:
    """The rule's kernel, compiled if necessary; None if it cannot be compiled."""
    found: Kernel | None = _once(_from_rule, rule, dtype, report)
    return found


def norm_kernel(dtype: str) -> Kernel:
    """The kernel that sums squares."""
    run: Kernel = _once(_norm_module, dtype).run
    return run


def measure_kernel(dtype: str) -> Kernel:
    """The kernel that measures arrays without changing them."""
    run: Kernel = _once(_measure_module, dtype).run
    return run


def _gradient_kernel(dtype: str) -> Kernel:
    run: Kernel = _once(_gradient_module, dtype).run
    return run


class Memory(NamedTuple):
    """Where arrays of one dtype lie in the host's memory: contiguous, aligned, none of them empty.

    The caller keeps them alive.
    """

    addresses: NDArray[np.int64]  # of each array's first element
    sizes: tuple[int, ...]  # in elements
    dtype: str  # one of codegen.DTYPES


class Engine:
    """Runs numba's kernels; uses NumPy for a rule that numba cannot compile."""

    def prepare(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> _Run:
        """Prepare a run of the rule over these arrays."""
        return _Run(rule, targets)

    def squares(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays]: the sum of the squares of each array's elements."""
        return self.squares_at(self._memory(arrays))

    def squares_at(self, memory: Memory) -> NDArray[np.float64]:
        """float64[arrays]: as `squares`."""
        return self._read(norm_kernel, memory, 1, slice(0))[:, SQUARES]

    def measure(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: an array's columns of `stats`."""
        return self.measure_at(self._memory(arrays))

    def measure_at(self, memory: Memory) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: as `measure`."""
        return self._read(measure_kernel, memory, ARRAY_WIDTH, slice(LARGEST, LARGEST + 1))

    def addresses(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """int64[arrays]: the address of each array's first element."""
        found = np.empty(len(arrays), np.int64)
        _once(_norm_module, "float32").addresses(
            np.array([id(array) for array in arrays], np.int64), object.__basicsize__, found
        )
        return found

    def measure_gradients_at(self, memory: Memory) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: as `measure`, but SUM and LARGEST are 0."""
        return self._read(_gradient_kernel, memory, ARRAY_WIDTH, slice(0))

    def _memory(self, arrays: Sequence[NDArray[Any]]) -> Memory:
        return Memory(self.addresses(arrays), tuple([array.size for array in arrays]), _NAMES[arrays[0].dtype])

    def _read(
        self, kernel_of: Callable[[str], Kernel], memory: Memory, width: int, largest: slice
    ) -> NDArray[np.float64]:
        """float64[arrays, width]: the stats of a kernel that only reads; `largest` as in `combined`."""
        parts = cut(memory.sizes, threads.get_num_threads())
        rows = table(parts, [memory.addresses], np.dtype(memory.dtype).itemsize)
        stats = np.empty((parts.rows, width))
        run_tasks(kernel_of(memory.dtype), rows, parts.pieces, _NO_NUMBERS, stats)
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
        self._offsets = self._rows[:, _GRADIENT].copy()
        self._kernels: dict[bool, Kernel | None] = {}

    def __call__(
        self, gradients: Sequence[NDArray[Any]], numbers: NDArray[np.float64], report: bool
    ) -> NDArray[np.float64] | None:
        """Update the arrays in place: see `engine.Run`."""
        run = self._kernel(report)
        if run is None:
            return self._by_numpy(gradients, numbers, report)
        rows = self._rows.copy()  # another thread may be making a step too
        rows[:, _GRADIENT] = ENGINE.addresses(gradients)[self._parts.array] + self._offsets
        stats = np.empty((self._parts.rows, self._width)) if report else _NO_STATS
        run_tasks(run, rows, self._parts.pieces, numbers, stats)
        return combined(stats, self._parts.first) if report else None

    def _kernel(self, report: bool) -> Kernel | None:
        if report not in self._kernels:
            self._kernels[report] = kernel(self._rule, _NAMES[self._dtype], report)
        return self._kernels[report]

    @cached_property
    def _by_numpy(self) -> Callable[..., NDArray[np.float64] | None]:
        return plain.ENGINE.prepare(self._rule, self._targets)


_GRADIENT = 2  # the column of the tasks with the gradient's address
_NAMES = {np.dtype(name): name for name in codegen.DTYPES}
_NO_NUMBERS = np.empty(0)
_NO_STATS = np.empty((0, 0))


def _once(make: Callable[..., Any], *arguments: Any) -> Any:
    """Return `make(*arguments)`, which is called once per process.

    It is called in a separate thread, where signal handlers do not run: numba would mistake an exception from a handler
    for an error of its own. The exception is raised in the caller instead; `make` continues, and the next caller waits
    for it.
    """
    key = (make, *arguments)
    try:
        return _made[key]
    except KeyError:
        pass
    if threading.current_thread() is threading.main_thread():
        _apart(partial(_make, key))
    else:
        _make(key)
    return _made[key]


def _make(key: tuple[Any, ...]) -> None:
    with _making:
        if key not in _made:
            _made[key] = key[0](*key[1:])


def _apart(work: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller
            errors.append(error)

    thread = threading.Thread(target=run, name="gradledger-compiler")
    try:
        thread.start()
    except RuntimeError:  # the process is ending, or cannot start more threads
        run()
    else:
        thread.join()
    for error in errors:
        raise error


def _norm_module(dtype: str) -> Any:
    return load(f"norm_{dtype}", codegen.norm_source(dtype))


def _measure_module(dtype: str) -> Any:
    return load(f"measure_{dtype}", codegen.measure_source(dtype))


def _gradient_module(dtype: str) -> Any:
    return load(f"gradients_{dtype}", codegen.gradient_source(dtype))


def _from_rule(rule: Rule, dtype: str, report: bool) -> Kernel | None:
    try:
        source = codegen.kernel_source(rule, dtype, report)
        run: Kernel = load(f"{rule.name}_{dtype}" + "_report" * report, source).run
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in numba, NumPy can run the formula
        _log.warning("the formula of %s cannot be compiled, so NumPy runs it: %s", rule.name, error)
        return None
    return run


def _works() -> bool:
    try:
        _once(_norm_module, "float32")
    except Exception as error:  # noqa: BLE001
        _log.warning("numba cannot compile here, so NumPy runs the formulas: %s", error)
        return False
    return True


@cache
def _installed() -> bool:
    return importlib.util.find_spec("numba") is not None
