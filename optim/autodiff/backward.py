"""The backward pass: from the gradients of results to those of the values they were computed from.

Each recorded call's `derivative` turns the gradient of its result into those of its arguments, the last call first.

Strategy: only calls between a y and a requested x are visited. The terms of a gradient are kept until all of them are
there, unless the aggregation method says otherwise. A gradient of rows picked from a Variable is kept as rows to the
end if that is cheaper.
"""

from __future__ import annotations

import enum
import heapq
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.autodiff.derivatives import derivative
from optim.autodiff.movement import Scattered
from optim.recording.calls import Box, boxes_in, plain
from optim.recording.nodes import UnknownGradientError, check_operands, check_unchanged, current
from optim.variable import IndexedSlices, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optim.recording.nodes import Node

    Gradient = NDArray[Any] | IndexedSlices | None

__all__ = ["AggregationMethod", "Gradient", "backward"]

# What autograd's derivatives raise for arguments that they do not support: they check few of them, and fail somewhere.
_UNSUPPORTED = (
    NotImplementedError, AssertionError, TypeError, ValueError, KeyError, IndexError, AttributeError,
)  # fmt: skip
_LARGE = 1024  # elements: below, a dense gradient costs next to nothing


class AggregationMethod(enum.IntEnum):
    """How the terms of a gradient are added up if a value was used several times.

    The results differ in rounding only, and each is the same from run to run.

    - ADD_N: in order of arrival, once all of them are there. Each is kept in memory until then.
    - DEFAULT: ADD_N.
    - EXPERIMENTAL_TREE: once all are there, in pairs, and pairs of pairs: the rounding error of n terms grows as log n.
    - EXPERIMENTAL_ACCUMULATE_N: each on arrival, into one array: memory for one.
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def backward(seeds: Sequence[tuple[Box, Any]], xs: Sequence[Any], method: AggregationMethod) -> list[Gradient]:
    """The gradient of each x.

    Args:
        seeds: for each y, a Box, its initial gradient, of its shape and dtype.
        xs: Variables and boxes.
        method: how terms are added up.

    Raises:
        LookupError: a call between a y and an x has no gradient.
    """
    walk = _Walk(xs, [y.node for y, _ in seeds], method)
    gradients = walk.run(seeds)
    return [walk.result(x, gradients) for x in xs]


class _OutputGradient:
    """The gradient of one result of a call that has several."""

    __slots__ = ("gradient", "output")

    def __init__(self, gradient: Any, output: int) -> None:
        self.gradient = gradient
        self.output = output


class _Walk:
    """One backward pass.

    `between` holds the nodes from which an x can be reached, `terms` the terms that have arrived for each node.
    """

    def __init__(self, xs: Sequence[Any], ends: Sequence[Node], method: AggregationMethod) -> None:
        self._method = method
        # During an outer recording, for derivatives of higher order, values are boxes.
        self._plainly = current() is None
        self._nodes = {x: x.node for x in xs if isinstance(x, Box)}
        self._between = self._find({x for x in xs if isinstance(x, Variable)}, ends)
        self._wanted = set(self._nodes.values())
        self._terms: dict[Node, list[Any]] = {}
        self._own: set[Node] = set()  # nodes whose first term is our own array, which may be added to
        self._queue: list[tuple[int, Node]] = []

    def _find(self, variables: set[Variable], ends: Sequence[Node]) -> set[Node]:
        """The nodes between the ys and the xs; the Variables' own are added to `nodes`."""
        parents: dict[Node, list[Node]] = {}
        waiting = list(ends)
        while waiting:
            node = waiting.pop()
            if node not in parents:
                boxes = boxes_in((*node.args, *node.kwargs.values()))
                parents[node] = [box.node for box in boxes if box.node.connected]
                waiting += parents[node]
        check_unchanged({node.variable: node.version for node in parents if node.variable is not None})
        for node in parents:
            if node.variable is not None:
                check_operands(node)
        between = set(self._nodes.values())
        for node in sorted(parents, key=attrgetter("number")):
            if node.variable is not None and node.variable in variables:
                self._nodes.setdefault(node.variable, node)  # the earliest: all reads of a Variable share one node
                between.add(node)
            elif not between.isdisjoint(parents[node]):
                between.add(node)
        return between

    def run(self, seeds: Sequence[tuple[Box, Any]]) -> dict[Node, Any]:
        """The gradients of the requested nodes."""
        gradients: dict[Node, Any] = {}
        for y, seed in seeds:
            self._arrive(y, seed)
        while self._queue:
            node = heapq.heappop(self._queue)[1]
            terms = self._terms.pop(node)
            if node.variable is not None:
                gradients[node] = _as_slices(terms, node.value) or self._sum(terms, node.value, node)
                continue
            gradient = self._sums(terms, node)
            if node in self._wanted:
                gradients[node] = gradient
            if node.function is not None:
                self._pass_on(node, gradient)
        return gradients

    def result(self, x: Any, gradients: dict[Node, Any]) -> Gradient:
        """An x's gradient, in the form returned to the caller."""
        gradient = gradients.get(self._nodes[x]) if x in self._nodes else None
        if isinstance(gradient, list):
            gradient = gradient[x.output]
        if isinstance(gradient, Box) or gradient is None or isinstance(gradient, IndexedSlices):
            return gradient  # type: ignore[return-value] # a Box only during an outer recording
        return np.asarray(gradient)

    def _arrive(self, box: Box, gradient: Any) -> None:
        """Take a term of a value's gradient."""
        node = box.node
        if node not in self._between:
            return
        if node.variable is not None:
            node = self._nodes.get(node.variable, node)
        term = gradient if box.output is None else _OutputGradient(gradient, box.output)
        terms = self._terms.get(node)
        if terms is None:
            self._terms[node] = [term]
            heapq.heappush(self._queue, (-node.number, node))
        elif self._method is AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and _are_arrays(terms[0], term):
            if node not in self._own:
                self._own.add(node)
                terms[0] = np.array(terms[0])
            terms[0] += term
        else:
            terms.append(term)

    def _sums(self, terms: list[Any], node: Node) -> Any:
        """A node's gradient; the list of its results' gradients if it has several."""
        if not isinstance(node.value, tuple | list):
            return self._sum(terms, node.value, node)
        of_each: list[list[Any]] = [[] for _ in node.value]
        for term in terms:
            of_each[term.output].append(term.gradient)
        return [
            self._sum(mine, value) if mine else np.zeros(np.shape(value), np.result_type(value))
            for mine, value in zip(of_each, node.value, strict=True)
        ]

    def _sum(self, terms: list[Any], value: Any, node: Node | None = None) -> Any:
        """The sum of the terms."""
        if len(terms) == 1 and not isinstance(terms[0], Scattered):
            return terms[0]
        if not self._plainly or self._method is AggregationMethod.EXPERIMENTAL_TREE:
            whole = [term.whole() if isinstance(term, Scattered) else term for term in terms]
            while len(whole) > 1:
                whole = [sum(whole[i + 1 : i + 2], whole[i]) for i in range(0, len(whole), 2)]
            return whole[0]
        if node in self._own:
            total, terms = terms[0], terms[1:]
        else:
            total = np.zeros(np.shape(value), np.result_type(value))
        for term in terms:
            if isinstance(term, Scattered):
                term.add_to(total)
            else:
                total += term
        return total

    def _pass_on(self, node: Node, gradient: Any) -> None:
        """Turn the gradient of a call's result into those of its arguments."""
        check_operands(node)
        arguments = list(self._boxes_with_positions(node))
        args, kwargs, ans = node.args, node.kwargs, node.value
        if self._plainly:
            args = [plain(arg) for arg in args]
            kwargs = {key: plain(value) for key, value in kwargs.items()} if kwargs else kwargs
        elif isinstance(ans, tuple | list):
            ans = [Box(value, node, i) for i, value in enumerate(ans)]
        else:
            ans = Box(ans, node)
        try:
            vjp = derivative(node.function)([position for position, _ in arguments], ans, args, kwargs)
            for (_, box), term in zip(arguments, vjp(gradient), strict=True):
                self._arrive(box, _fitted(term, box))
        except np.linalg.LinAlgError:  # a ValueError, but about the numbers
            raise
        except (UnknownGradientError, *_UNSUPPORTED) as error:
            raise LookupError(f"no gradient of np.{node.name} with these arguments is known: {error}") from error

    def _boxes_with_positions(self, node: Node) -> Iterator[tuple[Any, Box]]:
        """The boxes among a call's arguments that need gradients, each with its position.

        That is a number, a pair of numbers for an item of a list, or a name.
        """
        for position, arg in chain(enumerate(node.args), node.kwargs.items()):
            if type(arg) is Box:
                if arg.node in self._between:
                    yield position, arg
            elif type(arg) in (list, tuple):
                for j, part in enumerate(arg):
                    if any(box.node in self._between for box in boxes_in([part])):
                        if type(part) is not Box or isinstance(position, str):
                            raise LookupError(f"no gradient of np.{node.name} of lists like this one is known")
                        yield (position, j), part


def _are_arrays(*terms: Any) -> bool:
    return all(isinstance(term, np.ndarray | np.generic) for term in terms)


def _fitted(term: Any, box: Box) -> Any:
    """The gradient, cast to its value's dtype and checked against its shape."""
    value = box._plain()
    dtype = np.result_type(value)
    if isinstance(term, Scattered):
        if term.values.dtype != dtype:
            term.values = term.values.astype(dtype)
        return term
    if np.shape(term) != np.shape(value):
        raise UnknownGradientError(
            f"its gradient has shape {np.shape(term)}, but its value has shape {np.shape(value)}"
        )
    if term.dtype != dtype:
        if term.dtype.kind == "c" and dtype.kind != "c":
            term = np.real(term)
        term = term.astype(dtype)
    return term


def _as_slices(terms: list[Any], table: NDArray[Any]) -> IndexedSlices | None:
    """The gradient of a table as IndexedSlices, if all terms are picked rows and that is cheaper; else None."""
    if table.size < _LARGE or not all(isinstance(term, Scattered) and term.rows is not None for term in terms):
        return None
    indices = np.concatenate([np.ravel(term.rows) for term in terms])
    if 2 * len(indices) >= len(table):
        return None
    if any(isinstance(term.values, Box) for term in terms):
        return None
    rows = np.concatenate([np.reshape(term.values, (-1, *table.shape[1:])) for term in terms])
    return IndexedSlices(rows, indices % len(table), table.shape)
