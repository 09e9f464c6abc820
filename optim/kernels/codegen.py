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
64 bytes. Otherwise it measures each block after its update, when it is in the cache, array by array. The sums are the
same: see `stats`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

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
    return _RUN + "\n".join(_nested(_Update(rule).lines(report, at_once))) + "\n"


def rule_lanes(rule: Rule, dtype: str, report: bool) -> int:
    """The lanes of its vectors: fewer with many slots, or sums, for which registers run out."""
    return (64 if report or len(rule.slots) > 1 else 128) // np.dtype(dtype).itemsize


def _nested(lines: Iterable[str]) -> list[str]:
    return ["    " + line for line in lines]


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
            *_nested(self._with_report(at_once) if report else ["start, stop = 0, elements", *self._loops([], [])]),
        ]

    def _with_report(self, at_once: bool) -> list[str]:
        """Update a block and keep its moves; measure the arrays at once, or each after the update."""
        moved = f"moved = subtract({self._new[1]}, x1)"
        of_vector, of_last = ([moved, f"store(moves, {i} - start, moved)"] for i in ("i", "whole"))
        begin: list[str] = []
        results: list[str] = []
        if at_once:
            begin, add_up, results = self._sums()
            most = [f"most{k} = more({self._new[k]}, most{k})" for k in self._arrays[2:]]
            names = dict.fromkeys(["moved", "x0", *self._new.values()])
            of_vector += [*most, *add_up]
            of_last += [*most, *(f"{x} = leading({x}, stop - whole)" for x in names), *add_up]
        return [
            f"for start in range(0, elements, {BLOCK}):",
            f"    stop = min(start + {BLOCK}, elements)",
            *_nested([*begin, *self._loops(of_vector, of_last), *results, *self._measured("check_" * at_once)]),
            f"    at += {self._width}",
        ]

    def _sums(self) -> tuple[list[str], list[str], list[str]]:
        """The lines that begin the sums of a block, add a vector's elements, and store the results."""
        new, slots = self._new, self._arrays[2:]
        columns = {"squares0": SQUARES, "squares1": WEIGHT_SQUARES, "squares_moved": UPDATE_SQUARES}
        columns |= {f"squares{k}": slot_columns(k - 2).start for k in slots}
        squared = dict(zip(columns, ["x0", new[1], "moved", *(new[k] for k in slots)], strict=True))
        begin = [f"{name} = real(0.0)" for name in squared]
        begin += ["nonzero = real(0.0)", *(f"sum{k}, most{k} = real(0.0), real(-inf)" for k in slots)]
        add_up = [f"{name} = add(multiply({x}, {x}), {name})" for name, x in squared.items()]
        add_up += ["nonzero = count_nonzero(x0, nonzero)"]
        add_up += [f"sum{k} = add({new[k]}, sum{k})" for k in slots]
        results = [f"put(out, at + {column}, total({name}))" for name, column in columns.items()]
        results += [f"put(out, at + {ZEROS}, stop - start - total(nonzero))"]
        for k in slots:
            column = columns[f"squares{k}"]
            results += [f"put(out, at + {column + SUM}, total(sum{k}))"]
            results += [f"put(out, at + {column + LARGEST}, largest(most{k}))"]
        return begin, add_up, results

    def _measured(self, prefix: str) -> list[str]:
        """Call the functions of `sums` for each array: in a loop, so that each is inlined once."""
        arrays = len(self._arrays)
        return [
            f"for k in range({arrays + 1}):",
            f"    p, begin, column = moves, 0, at + {UPDATE_SQUARES}",
            f"    if k < {arrays}:",
            f"        p, begin = real_at(item(table, task * {2 + arrays} + 2 + k)), start",
            f"        column = at + (k if k < 2 else {SLOTS} + {SLOT_WIDTH} * (k - 2))",
            "    if k == 0:",
            f"        {prefix}gradient(p, begin, begin + stop - start, out, column)",
            f"    elif 2 <= k < {arrays}:",
            f"        {prefix}extent(p, begin, begin + stop - start, out, column)",
            "    else:",
            f"        {prefix}squares(p, begin, begin + stop - start, out, column)",
        ]

    def _loops(self, of_vector: Sequence[str], of_last: Sequence[str]) -> list[str]:
        """Update the elements from `start` to `stop`: whole vectors, and the last elements, which do not fill one."""
        arrays, new = self._arrays, self._new
        formula = ["g = clamp(multiply(x0, scale), low, high)", *self._formula]
        return [
            "whole = stop - (stop - start) % LANES",
            "for i in range(start, whole, LANES):",
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
