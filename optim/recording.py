"""What a loss does to Variables, written down as it runs: a node for each NumPy call.

While a thread records, reading a Variable gives a Box: the value, and the Node that made it. A NumPy call on boxes
gives a box again, whose node holds the call; the nodes are thereby linked from results back to Variables. `autodiff` walks
these links backwards, `trace` draws them. Outside of a recording, boxes and Variables are nothing but their values.

Strategy: recording does as little as it can, since it happens at every call of every step. Derivatives are looked up
when a gradient is asked for. Where a value that a gradient goes through would leave NumPy's sight, as in float(box) or
np.asarray(box), there is an error: the gradient would be wrong, and nobody would know.
"""

from __future__ import annotations

import operator
import re
import threading
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.array_interface import ArrayInterface
from optim.compositions import COMPOSITIONS, METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Box",
    "Node",
    "Recording",
    "call",
    "call_ufunc",
    "check_unchanged",
    "current",
    "name_scope",
    "plain",
    "recorded",
    "recording",
]

_numbers = count()
_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/-]*$")  # TensorFlow's rule

# Functions that store into an argument, so that what is stored would lose its gradient.
_IN_PLACE = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}
# Functions of no more than shapes and dtypes, or for people to read: their results are never boxes.
_QUESTIONS: set[Callable[..., Any]] = {
    *(np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.zeros_like),
    *(np.ones_like, np.empty_like, np.array_repr, np.array_str, np.array2string, np.may_share_memory),
    np.shares_memory,
}
# Piecewise constant functions whose results are of floating dtype; those of integers and booleans are known by it.
_CONSTANT: set[Callable[..., Any]] = {
    *(np.floor, np.ceil, np.rint, np.trunc, np.fix, np.round, np.around, np.sign, np.floor_divide, np.heaviside),
    *(np.spacing, np.nextafter),
}
_LEAVES = (np.ndarray, np.generic, int, float, complex, str, slice, type(None), type, np.dtype)


class Node:
    """One call, or the reading of a Variable.

    Attributes:
        function: what was called; None where a Variable was read.
        args: positional arguments; boxes where they were boxes or Variables.
        kwargs: keyword arguments, likewise.
        value: what it gave: an array or number, or a tuple or list of them; a Variable's live array.
        number: rises from node to node.
        connected: whether a gradient can go through it.
        variable: the Variable that was read, or None.
        version: the Variable's at that time.
        scope: the name scope that it was called in; "" or one that ends in "/".
        times: when it began and ended, in ns, where calls are measured.
    """

    __slots__ = ("args", "connected", "function", "kwargs", "number", "scope", "times", "value", "variable", "version")

    def __init__(self, function: Any, args: Any, kwargs: dict[str, Any], value: Any, connected: bool) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.value = value
        self.number = next(_numbers)
        self.connected = connected
        self.variable: Any = None
        self.version = 0
        self.scope = ""
        self.times = (0, 0)

    @property
    def name(self) -> str:
        """The function's name, as one would write it."""
        return name_of(self.function)


class Box(ArrayInterface):
    """A value that remembers where it came from, and otherwise behaves like the array that it is.

    Attributes:
        node: what made it.
        output: which of the node's results it is, where these are several; else None.
    """

    __slots__ = ("_value", "_viewed", "node", "output")

    def __init__(self, value: Any, node: Node, output: int | None = None) -> None:
        self._value = value
        self.node = node
        self.output = output
        self._viewed = False

    def _plain(self) -> Any:
        return self._value

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call(function, args, kwargs)

    def _ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def _read(self, recording: Recording) -> Box:
        return self

    def _leave(self, what: str) -> Any:
        """The value, for somebody who does not record; an error where a gradient would be lost by that."""
        if _state.recording is not None and self.node.connected:
            raise TypeError(
                f"{what} would lose the gradient of a recorded value of shape {np.shape(self._value)}: NumPy does not "
                f"let it be differentiated. Use NumPy functions on the value itself (np.stack([a, b]) for "
                f"np.array([a, b]), np.dot(a, b) for a.dot(b)), or stop_gradient(value) where no gradient is wanted"
            )
        return self._value

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        value = self._leave("making a plain array of it")
        return np.array(value, dtype, copy=copy)

    def __float__(self) -> float:
        return float(self._leave("float()"))

    def __complex__(self) -> complex:
        return complex(self._leave("complex()"))

    def __int__(self) -> int:
        return int(self._leave("int()"))

    def __index__(self) -> int:
        return operator.index(self._leave("its use as an index"))

    def item(self, *index: Any) -> Any:
        """One element as a Python number."""
        return np.asarray(self._leave("item()")).item(*index)

    def tolist(self) -> Any:
        """All elements as Python numbers."""
        return np.asarray(self._leave("tolist()")).tolist()

    def __round__(self, digits: int = 0) -> Any:
        return np.round(self, digits)

    def __repr__(self) -> str:
        return f"Box({self._value!r})"

    def __format__(self, spec: str) -> str:
        return format(self._value, spec)

    def __deepcopy__(self, memo: Any) -> Box:
        return Box(self._value, self.node, self.output)

    def become(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Box:
        """`x += y`: the box itself is the result from now on, and so are its other names.

        Raises:
            TypeError: it shares memory with another value, which NumPy would change too; or the result's dtype or shape
                is another.
        """
        if self._viewed or any(np.may_share_memory(self._value, box._value) for box in boxes_in(self.node.args)):
            raise TypeError(
                f"np.{ufunc.__name__} in place, on a recorded value that shares its memory with another, would change "
                f"both: write x = x + y instead of x += y"
            )
        before = Box(self._value, self.node, self.output)
        result = ufunc(*(before if value is self else value for value in inputs))
        value = result._plain()
        if np.shape(value) != np.shape(self._value) or not np.can_cast(value.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"np.{ufunc.__name__} in place gives {value.dtype} of shape {np.shape(value)}, which does not fit into "
                f"{self.dtype} of shape {self.shape}"
            )
        if value.dtype != self.dtype:
            result = result.astype(self.dtype)
        self._value, self.node, self.output = result._value, result.node, result.output
        return self


class Recording:
    """What a thread has recorded so far.

    Args:
        clock: the time in ns; where there is one, every call is kept and timed, and no gradients are expected.

    Attributes:
        watched: the Variables whose gradients may be asked for although they are not trainable.
        automatic: whether all trainable Variables that are read are watched.
        traced: whether every call is kept, in `nodes`, not only those that gradients go through.
        reads: the Variables read, and their versions at that time.
    """

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        self.watched: set[Any] = set()
        self.automatic = clock is None
        self.traced = clock is not None
        self.clock = clock or (lambda: 0)
        self.reads: dict[Any, int] = {}
        self.nodes: list[Node] = []
        self.scope = ""
        self._roots: dict[Any, Box] = {}
        self._scopes: dict[str, int] = {}

    def read(self, variable: Any) -> Any:
        """The Variable's Box; its array, where there is no use for a box."""
        box = self._roots.get(variable)
        if variable not in self.reads:
            self.reads[variable] = variable.version
        if box is not None and (box.node.connected or variable not in self.watched):
            return box
        value = variable.value
        connected = value.dtype.kind == "f" or value.dtype.name == "bfloat16"
        connected &= (self.automatic and variable.trainable) or variable in self.watched
        if not connected and not self.traced:
            return value
        node = Node(None, (), {}, value, connected)
        node.variable, node.version = variable, variable.version
        if self.traced:
            self.nodes.append(node)
        box = self._roots[variable] = Box(value, node)
        return box

    def enter(self, scope: str) -> str:
        """Enter a name scope, under a name of its own; the one that was left."""
        before, path = self.scope, self.scope + scope
        times = self._scopes.get(path, 0)
        self._scopes[path] = times + 1
        self.scope = f"{path}_{times}/" if times else f"{path}/"
        return before


class _State(threading.local):
    recording: Recording | None = None


_state = _State()


def current() -> Recording | None:
    """What this thread records into, if it does."""
    return _state.recording


@contextmanager
def recording(new: Recording | None) -> Iterator[Recording | None]:
    """Record into this; None pauses."""
    before, _state.recording = _state.recording, new
    try:
        yield new
    finally:
        _state.recording = before


@contextmanager
def name_scope(name: str) -> Iterator[None]:
    """Name what is called inside: in the graph of the loss, `name/` stands before the names of these nodes.

    A name that was used before gets a number behind it, as in TF1. Without a trace, nothing happens.

    Args:
        name: letters, digits, ".", "_", "-" and "/".

    Raises:
        ValueError: it has other characters.

    >>> from optim import Variable, trace_graph
    >>> w = Variable([1.0, 2.0], name="w")
    >>> def loss():
    ...     with name_scope("layer1"):
    ...         return np.sum(np.tanh(w))
    >>> [node.name for node in trace_graph(loss).node if node.op in ("Tanh", "Sum")]
    ['layer1/Tanh', 'layer1/Sum']
    """
    if not _SCOPE.match(name):
        raise ValueError(f"name must be of letters, digits, '.', '_', '-' and '/', and begin with no '_', got {name!r}")
    active = _state.recording
    if active is None:
        yield
        return
    before = active.enter(name.strip("/"))
    try:
        yield
    finally:
        active.scope = before


def call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the function gives, recorded where the thread records.

    Raises:
        TypeError: it would store a recorded value in an array.
    """
    active = _state.recording
    if active is None:
        return function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})
    composition = COMPOSITIONS.get(function)
    if composition is not None and (result := composition(*args, **kwargs)) is not NotImplemented:
        return result
    if function in _QUESTIONS:
        with recording(None):
            return call(function, args, kwargs)
    boxes: list[Box] = []
    # One loop for what nearly every call is: arrays, boxes, Variables and numbers; the rest looks inside.
    values: list[Any] = []
    kept: list[Any] = []
    for arg in args:
        if isinstance(arg, _LEAVES):
            values.append(arg)
            kept.append(arg)
        else:
            recorded_arg = _recorded(arg, active, boxes)
            kept.append(recorded_arg)
            values.append(recorded_arg._value if type(recorded_arg) is Box else plain(recorded_arg))
    if kwargs:
        kwargs = {key: _recorded(value, active, boxes) for key, value in kwargs.items()}
        return _run(active, function, kept, values, kwargs, {key: plain(v) for key, v in kwargs.items()}, boxes)
    return _run(active, function, kept, values, kwargs, kwargs, boxes)


def _run(
    active: Recording,
    function: Callable[..., Any],
    args: list[Any],
    values: list[Any],
    kwargs: dict[str, Any],
    plain_kwargs: dict[str, Any],
    boxes: list[Box],
) -> Any:
    """Call the function with the plain values, and write it down."""
    connected = False
    for box in boxes:
        if box.node.connected:
            connected = True
            break
    if connected and (function in _IN_PLACE or plain_kwargs.get("out") is not None):
        raise TypeError(
            f"np.{name_of(function)} would store a recorded value in an array, and its gradient would be lost: "
            f"use the function's result instead of out=, +=, or assignment in place"
        )
    if active.traced:
        started = active.clock()
        result = function(*values, **plain_kwargs)
        times = started, active.clock()
    else:
        result = function(*values, **plain_kwargs)
        if not connected:
            return result
    connected = connected and function not in _CONSTANT and function is not stopped
    node = Node(function, args, kwargs, result, connected)
    if active.traced:
        node.scope, node.times = active.scope, times
        if not boxes:
            return result
        active.nodes.append(node)
    return _boxed(result, node, boxes, keep=active.traced)


def _boxed(result: Any, node: Node, boxes: list[Box], *, keep: bool) -> Any:
    """The result as a Box, or as a tuple or list of boxes."""
    if isinstance(result, np.ndarray | np.generic):
        # What is of integers or booleans changes in jumps, or not at all.
        if node.connected and result.dtype.kind in "biu":
            node.connected = False
        if not node.connected and not keep:
            return result
        if getattr(result, "base", None) is not None:
            for box in boxes:
                box._viewed = True
        if not (node.connected and result.dtype.kind == "O"):
            return Box(result, node)
    if isinstance(result, tuple | list) and all(isinstance(part, np.ndarray | np.generic) for part in result):
        parts = [
            Box(part, node, i) if keep or (node.connected and part.dtype.kind not in "biu") else part
            for i, part in enumerate(result)
        ]
        for box in boxes:
            box._viewed = True
        return type(result)(parts) if type(result) in (list, tuple) else type(result)(*parts)
    if node.connected and isinstance(result, float | complex | tuple | list | np.ndarray):
        raise TypeError(f"np.{node.name} gives {type(result).__name__} that NumPy's gradients cannot go through")
    return result


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a ufunc, or one of its methods, gives.

    Raises:
        TypeError: it would change a Variable, or store a recorded value in an array.
        LookupError: a method without a differentiable twin, of recorded values.
    """
    inputs = tuple(np.asarray(value) if type(value) in (list, tuple) else value for value in inputs)
    out = kwargs.pop("out", None)
    if out is not None and any(isinstance(target, ArrayInterface) for target in out):
        if len(out) == 1 and method == "__call__" and type(out[0]) is Box and not kwargs:
            return out[0].become(ufunc, inputs) if _state.recording is not None else call(ufunc, inputs, kwargs)
        raise TypeError(
            f"np.{ufunc.__name__} cannot write into a {type(out[0]).__name__}: "
            f"use variable.assign(...), or x = x + y instead of x += y"
        )
    if out is not None and any(target is not None for target in out):
        kwargs["out"] = out
    if method == "__call__":
        if kwargs.get("where", True) is not True and _state.recording is not None:
            raise TypeError(f"np.{ufunc.__name__} with where= leaves elements undefined: use np.where")
        return call(ufunc, inputs, kwargs)
    function = getattr(ufunc, method)
    if _state.recording is None:
        return call(function, inputs, kwargs)
    twin = METHODS.get((ufunc, method)) or METHODS.get(method)
    if twin is None:
        raise LookupError(f"no gradient of np.{ufunc.__name__}.{method} is known")
    return twin(ufunc, *inputs, **kwargs)


def check_unchanged(read: dict[Any, int]) -> None:
    """See that the Variables still have the versions that were read.

    Raises:
        RuntimeError: one has not.
    """
    changed = [variable.name for variable, version in read.items() if variable.version != version]
    if changed:
        raise RuntimeError(
            f"variables {changed} were changed after the loss had read them, and its gradients would be of neither "
            f"state: read such a variable as stop_gradient(variable), or assign to it after the step"
        )


def plain(value: Any) -> Any:
    """The value without boxes and Variables: their arrays instead, in lists and tuples too."""
    if isinstance(value, ArrayInterface):
        return value._plain()
    if type(value) in (list, tuple):
        return type(value)([plain(part) for part in value])
    return value


def _recorded(value: Any, active: Recording, boxes: list[Box]) -> Any:
    """The value with boxes for Variables, in lists and tuples too; the boxes are appended to `boxes`."""
    if isinstance(value, ArrayInterface):
        box = value._read(active)  # type: ignore[attr-defined]
        if type(box) is Box:
            boxes.append(box)
        return box
    if type(value) in (list, tuple):
        return type(value)([_recorded(part, active, boxes) for part in value])
    return value


def recorded(value: Any) -> Any:
    """The Box of a Variable, where the thread records; anything else as it is."""
    active = _state.recording
    return value._read(active) if active is not None and isinstance(value, ArrayInterface) else value  # type: ignore[attr-defined]


def boxes_in(args: Any) -> Iterator[Box]:
    """All boxes among arguments, in lists and tuples too."""
    for arg in args:
        if type(arg) is Box:
            yield arg
        elif type(arg) in (list, tuple):
            yield from boxes_in(arg)


def stopped(value: Any) -> Any:
    """The value, and no gradient goes through."""
    return np.array(value)


def name_of(function: Any) -> str:
    """The function's name, with its submodule: "linalg.svd"."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", repr(function))
    return f"{module.removeprefix('numpy.')}.{name}" if module in ("numpy.linalg", "numpy.fft") else name
