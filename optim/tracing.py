"""A rule's formula → a list of NumPy operations that write into a few scratch blocks.

Run as it stands, a formula allocates an array for each of its operations, and that takes longer than the arithmetic.
So it is run once on objects that write down what is done to them; the list is then run on every block, with `out=`.

Strategy: what depends on hyperparameters alone is computed once a call. A scratch block is free again after the last
use of what is in it. An operation that makes a new variable or slot writes it in place, where nothing needs the old.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["Program", "program"]


class _Operation(NamedTuple):
    function: Callable[..., Any]
    inputs: tuple[Any, ...]  # _Traced, or numbers
    result: _Traced


class _Traced(NDArrayOperatorsMixin):
    """Stands for an array or a number, and writes down what is done to it."""

    def __init__(self, tape: list[_Operation], *, varies: bool) -> None:
        self.tape = tape
        self.varies = varies  # from element to element

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> _Traced:
        return self._note(ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> _Traced:
        if function is not np.where:
            raise TypeError(f"a formula may use np.where and elementwise operations, got {function.__name__}")
        return self._note(_choose, inputs)

    def _note(self, function: Callable[..., Any], inputs: tuple[Any, ...]) -> _Traced:
        result = _Traced(self.tape, varies=any(isinstance(x, _Traced) and x.varies for x in inputs))
        self.tape.append(_Operation(function, inputs, result))
        return result


def _choose(condition: NDArray[Any], chosen: Any, other: Any, out: NDArray[Any]) -> None:
    np.copyto(out, other)
    np.copyto(out, chosen, where=condition)


class _Line(NamedTuple):
    """An operation on places of a list that holds arrays, numbers and scratch blocks."""

    function: Callable[..., Any]
    inputs: tuple[int, ...]
    output: int
    allocates: bool  # a number, or the booleans of a comparison, which no scratch block holds


class Program:
    """What a rule does to one block.

    Attributes:
        values: the list to begin with: arrays and hyperparameters are to be filled in, constants are there.
        scratch: the places that need a scratch block.
        results: for the variable and each slot, the place of what is new.
    """

    def __init__(self, rule: Rule) -> None:
        tape: list[_Operation] = []
        self._arrays = 2 + len(rule.slots)
        inputs = [_Traced(tape, varies=i < self._arrays) for i in range(len(rule.parameters))]
        results = rule.formula(*inputs)
        self._tape = tape
        self._targets = {id(result): 1 + k for k, result in enumerate(results)}
        self._places = {id(value): place for place, value in enumerate(inputs)}
        self._last_use = {id(x): i for i, line in enumerate(tape) for x in line.inputs}
        self._last_use |= dict.fromkeys(self._targets, len(tape))
        self._old = {1 + k: self._last_use.get(id(x), -1) for k, x in enumerate(inputs[1 : self._arrays])}
        self.values: list[Any] = [None] * len(inputs)
        self.scratch: list[int] = []
        lines = [self._line(i, free) for free in [list[int]()] for i in range(len(tape))]
        self._setup = [line for line, operation in zip(lines, tape, strict=True) if not operation.result.varies]
        self._lines = [line for line, operation in zip(lines, tape, strict=True) if operation.result.varies]
        self.results = [self._places[id(result)] for result in results]

    def set_up(self, hyperparameters: Sequence[Any]) -> list[Any]:
        """The list, with everything in it that is the same for all blocks."""
        values = self.values.copy()
        values[self._arrays : self._arrays + len(hyperparameters)] = hyperparameters
        _execute(self._setup, values)
        return values

    def run(self, values: list[Any], blocks: Sequence[NDArray[Any]]) -> None:
        """Update blocks[1:] in place, by the gradient blocks[0]; the scratch blocks in `values` are of their size."""
        values[: self._arrays] = blocks
        _execute(self._lines, values)
        for place, result in enumerate(self.results, 1):
            if result != place:
                np.copyto(blocks[place], values[result])

    def _line(self, i: int, free: list[int]) -> _Line:
        function, inputs, result = self._tape[i]
        places = tuple(self._place(x) for x in inputs)
        ended = {self._places[id(x)] for x in inputs if self._last_use[id(x)] == i and id(x) in self._places}
        ended &= set(self.scratch)
        allocates = not result.varies or function in _COMPARISONS
        if function is not _choose:  # a ufunc may write over what it reads, element by element
            free += ended
        output = self._new(None) if allocates else self._output(i, result, function, free)
        if function is _choose:
            free += ended
        self._places[id(result)] = output
        return _Line(function, places, output, allocates)

    def _output(self, i: int, result: _Traced, function: Callable[..., Any], free: list[int]) -> int:
        """Where to write: over the old value, where it is not needed any more; or a scratch block."""
        target = self._targets.get(id(result))
        if target is not None and self._old[target] < i + (function is not _choose):
            return target
        if free:
            return free.pop()
        self.scratch.append(self._new(None))
        return self.scratch[-1]

    def _place(self, value: Any) -> int:
        return self._places[id(value)] if isinstance(value, _Traced) else self._new(value)

    def _new(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1


def _execute(lines: Sequence[_Line], values: list[Any]) -> None:
    for function, inputs, output, allocates in lines:
        if allocates:
            values[output] = function(*(values[place] for place in inputs))
        else:
            function(*(values[place] for place in inputs), out=values[output])


_COMPARISONS = {np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal}


@cache
def program(rule: Rule) -> Program:
    """The rule's program."""
    return Program(rule)
