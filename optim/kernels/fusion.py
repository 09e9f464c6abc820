"""A rule's formula → Python source that runs it on blocks: NumPy operations that write into a few scratch blocks.

Run directly, a formula allocates an array for each of its operations, which takes longer than the arithmetic. So its
trace becomes a function:

    def prepare(learning_rate):
        # operations that depend on hyperparameters alone come here: they run once per call
        def update(g, v, block0):  # blocks of the gradient, the variable, the slots; and scratch blocks
            np_multiply(learning_rate, g, block0)
            np_subtract(v, block0, v)
        return update

A function is used, not an interpreted list: two threads pass each other the GIL at every operation, and each
microsecond of Python between operations makes one wait for the other.

Strategy: a scratch block is free again after the last use of its contents. An operation that computes a new variable or
slot writes it in place if the old value is no longer needed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels.tracing import COMPARISONS, Operation, Traced, trace, where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["Program", "program"]


class Program:
    """A rule as a function on one block.

    Attributes:
        source: the source text of `prepare`.
        scratch: the names of the scratch blocks that `update` takes.
    """

    def __init__(self, rule: Rule) -> None:
        arrays = 2 + len(rule.slots)
        inputs, tape, results = trace(rule)
        self._names = {id(x): name for x, name in zip(inputs, rule.parameters, strict=True)}
        self._blocks = list(rule.parameters[:arrays])
        self._targets = {id(result): 1 + k for k, result in enumerate(results)}
        self._last_use = {id(x): i for i, line in enumerate(tape) for x in line.inputs}
        self._last_use |= dict.fromkeys(self._targets, len(tape))
        self._old = [self._last_use.get(id(x), -1) for x in inputs[:arrays]]
        self._free: list[str] = []
        self._known: dict[str, Any] = {"np_asarray": np.asarray, "np_copyto": np.copyto, "inf": np.inf, "nan": np.nan}
        self.scratch: list[str] = []
        before = ["def prepare(" + ", ".join(rule.parameters[arrays:]) + "):"]
        within = list[str]()
        for i, operation in enumerate(tape):
            (within if operation.result.varies else before).append(self._line(i, operation))
        within += self._copies(results) or ["pass"]
        before.append(f"def update({', '.join(self._blocks + self.scratch)}):")
        self.source = "\n    ".join([*before, *("    " + line for line in within), "return update"])
        exec(self.source, self._known)  # noqa: S102 - made only from a rule's formula

    def prepare(self, hyperparameters: Sequence[NDArray[Any]]) -> Callable[..., None]:
        """Return `update`, with everything computed that is the same for all blocks.

        Args:
            hyperparameters: in the rule's order, each a zero-dimensional array of the blocks' dtype.
        """
        made: Callable[..., None] = self._known["prepare"](*hyperparameters)
        return made

    def _copies(self, results: Sequence[Traced]) -> list[str]:
        """Lines that write the results that are elsewhere; first they save an array's old value that is another's."""
        wanted = {
            target: name
            for target, result in zip(self._blocks[1:], results, strict=True)
            if (name := self._names[id(result)]) != target
        }
        saved = {name: f"old_{name}" for name in wanted.values() if name in wanted}
        copies = (f"np_copyto({target}, {saved.get(name, name)})" for target, name in wanted.items())
        return [*(f"{old} = {name}.copy()" for name, old in saved.items()), *copies]

    def _line(self, i: int, operation: Operation) -> str:
        function, inputs, result = operation
        called = f"np_{function.__name__}"  # prefixed, because "power" is also a hyperparameter
        self._known[called] = function
        arguments = [self._name(x) for x in inputs]
        ended = {self._names[id(x)] for x in inputs if self._last_use[id(x)] == i and id(x) in self._names}
        ended &= set(self.scratch)
        if not result.varies or function in COMPARISONS:  # a number, or booleans, which do not fit in a scratch block
            name = self._names[id(result)] = f"number{i}"
            self._free += sorted(ended)
            made = f"{called}({', '.join(arguments)})"
            return f"{name} = {made}" if result.varies else f"{name} = np_asarray({made})"
        if function is not where:  # a ufunc may overwrite its inputs element by element
            self._free += sorted(ended)
        output = self._names[id(result)] = self._output(i, operation)
        if function is where:
            self._free += sorted(ended)
        given = f"out={output}" if function in _BY_KEYWORD else output
        return f"{called}({', '.join([*arguments, given])})"

    def _output(self, i: int, operation: Operation) -> str:
        """Where to write: over the old value if it is no longer needed, or to a scratch block."""
        target = self._targets.get(id(operation.result))
        if target is not None and self._old[target] < i + (operation.function is not where):
            return self._blocks[target]
        if self._free:
            return self._free.pop()
        self.scratch.append(f"block{len(self.scratch)}")
        return self.scratch[-1]

    def _name(self, value: Any) -> str:
        return self._names[id(value)] if isinstance(value, Traced) else repr(value)


_BY_KEYWORD = {np.maximum, np.minimum}  # these need `out=`; for the others it would cost a seventh of a call


@cache
def program(rule: Rule) -> Program:
    """The rule's program."""
    return Program(rule)
