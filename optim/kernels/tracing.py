"""Records a formula: run once on objects that note each operation, it becomes a list of them.

`plain` does the operations on blocks, and `codegen` makes them operations on vector registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from optim.rules import Rule

__all__ = ["Operation", "Trace", "Traced", "trace"]

_COMPARISONS = {np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal}
_MAY_USE = "a formula may use arithmetic, comparisons, np.where, and functions of one element such as np.sqrt"
_NO_BRANCH = (
    "a formula runs once for all elements, so it cannot ask whether a comparison holds: write np.where(a, x, y) "
    "instead of `if`, `and`, max or min"
)
_NO_NUMBER = (
    "a formula runs once for all elements, so none of them is a number: leave out float and int, and write np.sqrt "
    "instead of math.sqrt"
)
_NO_ELEMENTS = (
    "a formula runs once for all elements, so it cannot pick one or count them: leave out len, loops and indices, "
    "and write what happens to each element"
)
_NO_ARRAY = "a formula works on its arguments and on numbers"
_CONDITIONS = "in conditions, write x != x for np.isnan(x), and np.where(a, np.where(b, x, y), y) for a & b"


class Operation(NamedTuple):
    """One operation of a formula: a ufunc, or np.where."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]  # Traced, or numbers
    result: Traced
    ended: Sequence[Traced] = ()  # what is not needed after it


class Traced(NDArrayOperatorsMixin):
    """Stands for an array or a number, and records the operations on it.

    Attributes:
        varies: whether it differs from element to element.
    """

    def __init__(self, operations: list[Operation], *, varies: bool) -> None:
        self._operations = operations
        self.varies = varies

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Traced:
        name = f"np.{ufunc.__name__}" + f".{method}" * (method != "__call__")
        if method != "__call__" or not (ufunc in _COMPARISONS or f"{'f' * ufunc.nin}->f" in ufunc.types):
            raise TypeError(f"{_MAY_USE}, got {name}; {_CONDITIONS}")
        return self._note(ufunc, inputs)

    def __bool__(self) -> NoReturn:
        raise TypeError(_NO_BRANCH)

    def __float__(self) -> NoReturn:
        raise TypeError(_NO_NUMBER)

    __int__: Callable[[Traced], NoReturn] = __float__
    __index__: Callable[[Traced], NoReturn] = __float__

    def __getitem__(self, *_: Any) -> NoReturn:
        raise TypeError(_NO_ELEMENTS)

    __len__: Callable[[Traced], NoReturn] = __getitem__
    __iter__: Callable[[Traced], NoReturn] = __getitem__

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Traced:
        if function is not np.where:
            raise TypeError(f"{_MAY_USE}, got np.{function.__name__}; {_CONDITIONS}")
        return self._note(np.where, inputs)

    def _note(self, function: Callable[..., Any], inputs: tuple[Any, ...]) -> Traced:
        return _noted(self._operations, function, inputs)


def _noted(operations: list[Operation], function: Callable[..., Any], inputs: tuple[Any, ...]) -> Traced:
    # Numbers take the arrays' dtype. NumPy makes an array without axes of the one in `np.float64(1) > g`.
    inputs = tuple(x.item() if isinstance(x, (np.generic, np.ndarray)) and x.ndim == 0 else x for x in inputs)
    for x in inputs:
        if not isinstance(x, (Traced, int, float)):
            raise TypeError(f"{_NO_ARRAY}, got {type(x).__name__}")
    result = Traced(operations, varies=any(isinstance(x, Traced) and x.varies for x in inputs))
    operations.append(Operation(function, inputs, result))
    return result


class Trace(NamedTuple):
    """A formula as operations.

    Attributes:
        inputs: the formula's arguments.
        operations: in the order in which it makes them.
        results: the new variable and the new slots.
    """

    inputs: list[Traced]
    operations: list[Operation]
    results: Sequence[Traced]


def trace(rule: Rule) -> Trace:
    """Record the rule's formula."""
    operations: list[Operation] = []
    arrays = 2 + len(rule.slots)
    inputs = [Traced(operations, varies=i < arrays) for i in range(len(rule.parameters))]
    found = rule.formula(*inputs)
    made = {id(operation.result) for operation in operations}
    results = [x if id(x) in made else _noted(operations, np.multiply, (x, 1.0)) for x in found]
    needed = {id(x) for x in results}
    for i, operation in reversed([*enumerate(operations)]):
        ended = {id(x): x for x in operation.inputs if isinstance(x, Traced) and id(x) not in needed}
        operations[i] = operation._replace(ended=[*ended.values()])
        needed |= set(ended)
    return Trace(inputs, operations, results)
