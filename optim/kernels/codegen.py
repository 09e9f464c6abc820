"""A rule → the source text of its kernel: one loop over any number of arrays, with or without the report. Pure.

    run(tasks, first, last, numbers, stats)    (the arguments are a row of words: see `summaries.native.calls`)
        tasks    int64[n, 2 + arrays]: elements, the first row of stats, then the address of the gradient, the variable
                 and each slot
        first, last    the range of tasks to run
        numbers  float64: scale, low, high, then the hyperparameters; rounded to the arrays' dtype first
        stats    float64[blocks, width]: one row per block, with the columns of `stats`; unused without a report
        scratch  the address of memory for the moves of a block, as float64s, and for a vector more; likewise

The gradient is multiplied by scale and then clipped to [low, high], which covers every kind of clipping.

Strategy: the loop takes a vector of elements at a time; the last elements, which do not fill one, are masked. A report
has the sums of all arrays at once in this loop, where they wait for nothing, if the processor has the registers: 32 of
64 bytes, or half of them for a rule of few slots. Otherwise it measures each piece of a block after its update, in a
few loops with fewer sums: the piece is in the first-level cache, and memory goes on being fetched for the next ones.
The sums are the same: see `stats`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim import rules
from optim.kernels.stats import (
    BLOCK,
    LARGEST,
    SLOT_WIDTH,
    SLOTS,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
    slot_columns,
    stats_width,
)
from optim.kernels.tracing import Traced, trace
from optim.rules import Rule
from summaries.native.calls import INTEGER, Array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ARGUMENTS", "DTYPES", "SHIPPED", "kernel_name", "kernel_source", "rule_lanes"]

DTYPES = ("float32", "float64")  # of compiled kernels

# A library without an operating system's has no powers: FTRL with another power than 1/2 is run by NumPy.
_HERE = [rule for rule in vars(rules).values() if isinstance(rule, Rule) and rule is not rules.FTRL]
_RULES = dict.fromkeys(each for rule in _HERE for each in (rule, rule.sparse) if each)
SHIPPED = [
    (rule, dtype, report)
    for dtype, rule, report in product(DTYPES, _RULES, (False, True))
    if rule.reports or not report
]
"""The kernels that come compiled: a rule, a dtype, and whether it has the report."""

ARGUMENTS = (Array("int64", 2), INTEGER, INTEGER, Array("float64"), Array("float64", 2), INTEGER)

_FEW_SLOTS = 1  # whose sums and formula fit into 16 registers
_PIECE = 512  # elements: so few that those of all arrays stay in a first-level cache of 32 kB

_RUN = """
@compiled
def run(words):
    tasks, first, last, numbers, stats, scratch = arguments(words)
"""


def kernel_name(rule: Rule, dtype: str, report: bool) -> str:
    """The name of a rule's kernel."""
    return f"{rule.name}_{dtype}" + "_report" * report


def kernel_source(rule: Rule, dtype: str, report: bool, *, at_once: bool = False) -> str:
    """The source of a rule's kernel.

    Args:
        rule: the formula.
        dtype: "float32" or "float64".
        report: whether the kernel fills its stats.
        at_once: whether it measures all arrays at once, in the update's own loop.

    Raises:
        TypeError: the formula uses a function that it may not use.
    """
    at_once = at_once or len(rule.slots) <= _FEW_SLOTS
    return _RUN + "\n".join(_nested(_Update(rule).lines(report, at_once))) + "\n"


def rule_lanes(rule: Rule, dtype: str, report: bool) -> int:
    """The lanes of its vectors: fewer with many slots, or sums, for which registers run out."""
    return (64 if report or len(rule.slots) > 1 else 128) // np.dtype(dtype).itemsize


def _nested(lines: Iterable[str]) -> list[str]:
    return ["    " + line for line in lines]


_NOTHING = "real(0.0)"


class _Sum(NamedTuple):
    """A sum of a report: its name, the vector that it is of, and how that is added, and the sum put into a column."""

    name: str
    of: str
    added: str
    reduced: str
    column: int
    empty: str = _NOTHING


class _Update:
    """The lines of a rule's kernel.

    Pointers are a0 (gradient), a1 (variable), a2 … (slots), and x0 … the vectors that are read from them.
    """

    def __init__(self, rule: Rule) -> None:
        inputs, operations, results = trace(rule)
        self._arrays = range(2 + len(rule.slots))
        self._width = stats_width(len(rule.slots))
        self._numbers = ["scale", "low", "high", *(f"h{i}" for i in range(len(rule.hyperparameters)))]
        names = ["g", *(f"x{k}" for k in self._arrays[1:]), *self._numbers[3:]]
        self._names = {id(x): name for x, name in zip(inputs, names, strict=True)}
        self._once: list[str] = []
        self._formula: list[str] = []
        for i, (function, arguments, result, _) in enumerate(operations):
            line = f"t{i} = {function.__name__}({', '.join(map(self._name, arguments))})"
            self._names[id(result)] = f"t{i}"
            (self._formula if result.varies else self._once).append(line)
        self._new = dict(zip(self._arrays[1:], map(self._name, results), strict=True))
        for k, result in zip(self._arrays[1:], results, strict=True):
            if not result.varies:  # a report masks the last vector's: the next array needs the number again
                self._formula.append(f"n{k} = {self._new[k]}")
                self._new[k] = f"n{k}"

    def _name(self, value: Any) -> str:
        return self._names[id(value)] if isinstance(value, Traced) else f"real({value!r})"

    def lines(self, report: bool, at_once: bool) -> list[str]:
        """The body of `run`."""
        width = 2 + len(self._arrays)
        row = f"task * {width}"
        rooms = ["moves, out = real_at((scratch + 63) // 64 * 64), data(stats)"]
        return [
            "table, given = data(tasks), data(numbers)",
            *(f"{name} = real(item(given, {i}))" for i, name in enumerate(self._numbers)),
            *self._once,
            *(rooms if report else []),
            "for task in range(first, last):",
            f"    elements, at = item(table, {row}), item(table, {row} + 1) * {self._width}",
            *(f"    a{k} = real_at(item(table, {row} + {k + 2}))" for k in self._arrays),
            "    if task + 1 < last:",  # the next task's first vectors lie where no processor looks ahead
            *(f"        fetch_first(real_at(item(table, {row} + {width + k + 2})))" for k in self._arrays),
            *_nested(self._with_report(at_once) if report else ["begin, stop = 0, elements", *self._loops([], [])]),
        ]

    def _with_report(self, at_once: bool) -> list[str]:
        """Update a block and keep its moves; measure the arrays at once, or after the update of each piece."""
        moved = f"moved = subtract({self._new[1]}, x1)"
        of_vector, of_last = ([moved, f"store(moves, {i} - start, moved)"] for i in ("i", "whole"))
        sums = self._sums()
        if at_once:
            added = self._added(sums)
            updated = ["begin, stop = start, end", *self._loops([*of_vector, *added[0]], [*of_last, *added[1]])]
        else:
            of_three = "squares0, squares1, squares_moved, nonzero"
            measured = [f"{of_three} = add_moved(({of_three}), a0, a1, moves, start, begin, stop)"]
            for k in self._arrays[2:]:
                of_slot = f"squares{k}, sum{k}, most{k}"
                measured += [f"{of_slot} = add_slot(({of_slot}), a{k}, begin, stop)"]
            updated = [
                f"for begin in range(start, end, {_PIECE}):",
                f"    stop = min(begin + {_PIECE}, end)",
                *_nested([*self._loops(of_vector, of_last), *measured]),
            ]
        return [
            f"for start in range(0, elements, {BLOCK}):",
            f"    end = min(start + {BLOCK}, elements)",
            *(f"    {one.name} = {one.empty}" for one in sums),
            *_nested(updated),
            *(f"    put(out, at + {one.column}, {one.reduced})" for one in sums),
            *_nested(self._checked()),
            f"    at += {self._width}",
        ]

    def _sums(self) -> list[_Sum]:
        """All sums of a report."""
        arrays = [("0", "x0", SQUARES), ("1", self._new[1], WEIGHT_SQUARES), ("_moved", "moved", UPDATE_SQUARES)]
        arrays += [(str(k), self._new[k], slot_columns(k - 2).start) for k in self._arrays[2:]]
        sums = [_Sum("nonzero", "x0", "count_nonzero(x0, nonzero)", "end - start - total(nonzero)", ZEROS)]
        for k, x, column in arrays:
            squares, summed, most = f"squares{k}", f"sum{k}", f"most{k}"
            sums.append(_Sum(squares, x, f"add(multiply({x}, {x}), {squares})", f"total({squares})", column))
            if column >= SLOTS:
                sums.append(_Sum(summed, x, f"add({x}, {summed})", f"total({summed})", column + SUM))
                sums.append(_Sum(most, x, f"more({x}, {most})", f"largest({most})", column + LARGEST, "real(-inf)"))
        return sums

    def _added(self, sums: Sequence[_Sum]) -> tuple[list[str], list[str]]:
        """The lines that add a vector's elements, and those of the last one, to sums."""
        most = [f"{one.name} = {one.added}" for one in sums if one.empty != _NOTHING]  # whose elements are no zeros
        others = [f"{one.name} = {one.added}" for one in sums if one.empty == _NOTHING]
        masked = [f"{x} = leading({x}, stop - whole)" for x in dict.fromkeys(one.of for one in sums)]
        return [*most, *others], [*most, *masked, *others]

    def _checked(self) -> list[str]:
        """Look again at sums that are out of bounds: in a loop, so that each function is inlined once."""
        arrays = len(self._arrays)
        return [
            f"for k in range({arrays + 1}):",
            f"    p, first_one, column = moves, 0, at + {UPDATE_SQUARES}",
            f"    if k < {arrays}:",
            f"        p, first_one = real_at(item(table, task * {2 + arrays} + 2 + k)), start",
            f"        column = at + (k if k < 2 else {SLOTS} + {SLOT_WIDTH} * (k - 2))",
            "    if k == 0:",
            "        check_gradient(p, first_one, first_one + end - start, out, column)",
            f"    elif 2 <= k < {arrays}:",
            "        check_extent(p, first_one, first_one + end - start, out, column)",
            "    else:",
            "        check_squares(p, first_one, first_one + end - start, out, column)",
        ]

    def _loops(self, of_vector: Sequence[str], of_last: Sequence[str]) -> list[str]:
        """Update the elements from `begin` to `stop`: whole vectors, and the last elements, which do not fill one."""
        arrays, new = self._arrays, self._new
        formula = ["g = clamp(multiply(x0, scale), low, high)", *self._formula]
        return [
            "whole = stop - (stop - begin) % LANES",
            "for i in range(begin, whole, LANES):",
            *(f"    fetch(a{k}, i + AHEAD)" for k in arrays),
            *(f"    x{k} = load(a{k}, i)" for k in arrays),
            *_nested(formula),
            *(f"    store(a{k}, i, {x})" for k, x in new.items()),
            *_nested(of_vector),
            "if whole < stop:",
            *(f"    x{k} = load_first(a{k}, whole, stop - whole)" for k in arrays),
            *_nested(formula),
            *(f"    store_first(a{k}, whole, stop - whole, {x})" for k, x in new.items()),
            *_nested(of_last),
        ]
