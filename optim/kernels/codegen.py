"""A rule → the source text of its kernel: one loop over any number of arrays, with or without the report. Pure.

    run(tasks, first, last, numbers, stats)    (the arguments are a row of words: see `summaries.native.calls`)
        tasks    int64[n, 2 + arrays]: elements, the first row of stats, then the address of the gradient, the variable
                 and each slot
        first, last    the range of tasks to run
        numbers  float64: scale, low, high, then the hyperparameters; rounded to the arrays' dtype first
        stats    float64[blocks, width]: one row per block, with the columns of `stats`; unused without a report
        scratch  the address of memory for the moves of a block, as float64s, and for a vector more; likewise

The gradient is multiplied by scale and then clipped to [low, high], which covers every kind of clipping.

Strategy: the loop takes a vector of elements at a time; the last elements, which do not fill one, are masked. The
report's sums are defined in `stats`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optim import rules
from optim.kernels.stats import (
    BLOCK,
    LARGEST,
    NONFINITE,
    SLOT_WIDTH,
    SLOTS,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
    lanes,
    slot_columns,
    stats_width,
)
from optim.kernels.sums import check_source
from optim.kernels.tracing import Traced, trace
from optim.rules import Rule
from summaries.native.calls import INTEGER, Array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["ARGUMENTS", "DTYPES", "SHIPPED", "kernel_name", "kernel_source", "rule_lanes"]

DTYPES = ("float32", "float64")  # of compiled kernels

# A library without an operating system's has no powers: FTRL with another power than 1/2 is run by NumPy.
_HERE = [rule for rule in vars(rules).values() if isinstance(rule, Rule) and rule is not rules.FTRL]
SHIPPED = dict.fromkeys(each for rule in _HERE for each in (rule, rule.sparse) if each)
"""The rules whose kernels come compiled."""

ARGUMENTS = (Array("int64", 2), INTEGER, INTEGER, Array("float64"), Array("float64", 2), INTEGER)

_RUN = """
@compiled
def run(words):
    tasks, first, last, numbers, stats, scratch = arguments(words)
"""


def kernel_name(rule: Rule, dtype: str, report: bool) -> str:
    """The name of a rule's kernel."""
    return f"{rule.name}_{dtype}" + "_report" * report


def kernel_source(rule: Rule, dtype: str, report: bool) -> str:
    """The source of a rule's kernel.

    Args:
        rule: the formula.
        dtype: "float32" or "float64".
        report: whether the kernel fills its stats.

    Raises:
        TypeError: the formula uses a function that it may not use.
    """
    return check_source(dtype) * report + _RUN + "\n".join(_nested(_Update(rule).lines(report))) + "\n"


def rule_lanes(rule: Rule, dtype: str, report: bool) -> int:
    """The lanes of its vectors."""
    short = len(rule.slots) < 2 and not report  # noqa: PLR2004 - with more, registers run out
    return lanes(dtype, of_rule=not short)


def _nested(lines: Iterable[str]) -> list[str]:
    return ["    " + line for line in lines]


def _in_blocks(columns: Mapping[int, str], sum_up: Iterable[str], checks: Iterable[str]) -> list[str]:
    """Fill a row of stats for each block of a task.

    Args:
        columns: the value of each column.
        sum_up: lines that find what these values consist of, for the elements from `start` to `stop`.
        checks: lines that correct the row, whose first column is at `at`.
    """
    row = [f"put(out, at + {column}, {value})" for column, value in columns.items()]
    return [
        f"for start in range(0, elements, {BLOCK}):",
        f"    stop = min(start + {BLOCK}, elements)",
        *_nested([*sum_up, *row, *checks, f"at += {len(columns)}"]),
    ]


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

    def lines(self, report: bool) -> list[str]:
        """The body of `run`."""
        row = f"task * {2 + len(self._arrays)}"
        rooms = ["moves, out = real_at((scratch + 63) // 64 * 64), data(stats)"]
        return [
            *(f"{name} = real(numbers[{i}])" for i, name in enumerate(self._numbers)),
            *self._once,
            "table = data(tasks)",
            *(rooms if report else []),
            "for task in range(first, last):",
            f"    elements, at = item(table, {row}), item(table, {row} + 1) * {self._width}",
            *(f"    a{k} = real_at(item(table, {row} + {k + 2}))" for k in self._arrays),
            *_nested(self._with_report() if report else ["start, stop = 0, elements", *self._loops([], [])]),
        ]

    def _with_report(self) -> list[str]:
        slots, new = self._arrays[2:], self._new
        squares = {SQUARES: 0, WEIGHT_SQUARES: 1} | {slot_columns(k - 2).start: k for k in slots}
        columns = {column: f"total(squares{k})" for column, k in squares.items()}
        columns |= {UPDATE_SQUARES: "total(moved)", ZEROS: "stop - start - count(nonzero)", NONFINITE: "0.0"}
        for k in slots:
            column = slot_columns(k - 2).start
            columns |= {column + SUM: f"total(sum{k})", column + LARGEST: f"largest(most{k})"}
        begin = [
            "moved, nonzero = real(0.0), none()",
            *(f"squares{k} = real(0.0)" for k in self._arrays),
            *(f"sum{k}, most{k} = real(0.0), real(-inf)" for k in slots),
        ]
        step = [f"step = subtract({new[1]}, x1)", *(f"most{k} = more({new[k]}, most{k})" for k in slots)]
        sums = [
            "moved = add(multiply(step, step), moved)",
            "nonzero = count_nonzero(x0, nonzero)",
            *(f"squares{k} = add(multiply({x}, {x}), squares{k})" for k, x in {0: "x0", **new}.items()),
            *(f"sum{k} = add({new[k]}, sum{k})" for k in slots),
        ]
        masked = [f"{x} = leading({x}, stop - whole)" for x in dict.fromkeys(["step", "x0", *new.values()])]
        kept = "store(moves, {} - start, step)"
        loops = self._loops([*step, kept.format("i"), *sums], [*step, kept.format("whole"), *masked, *sums])
        return _in_blocks(dict(sorted(columns.items())), [*begin, *loops], self._checks())

    def _checks(self) -> list[str]:
        """Check the sums of squares of the arrays and the moves: in a loop, so that `check` is inlined only once."""
        arrays = len(self._arrays)
        return [
            f"for k in range({arrays + 1}):",
            f"    p, begin, column = moves, 0, at + {UPDATE_SQUARES}",
            f"    if k < {arrays}:",
            f"        p, begin = real_at(item(table, task * {2 + arrays} + 2 + k)), start",
            f"        column = at + (k if k < 2 else {SLOTS} + {SLOT_WIDTH} * (k - 2))",
            f"    of_sum = column + {SUM} if 2 <= k < {arrays} else -1",
            f"    check(p, begin, begin + stop - start, out, column, of_sum, at + {NONFINITE} if k == 0 else -1)",
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
