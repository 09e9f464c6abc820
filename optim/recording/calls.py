"""Records a loss as it runs: the one place that handles every NumPy call on boxes, and adds a Node for it.

A Box is a value that remembers how it was computed. If a value with a gradient would leave NumPy, as in float(box) or
np.asarray(box), an error is raised: otherwise the gradient would be silently wrong.
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.recording.array_interface import ArrayInterface
from optim.recording.compositions import COMPOSITIONS, METHODS
from optim.recording.nodes import Node, Recording, check_thread, checksums, current, name_of, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["Box", "boxes_in", "call", "call_ufunc", "plain", "recorded", "stopped"]

# Functions that store into their first argument, so that stored values would lose their gradients; then those that do
# so by an option.
_IN_PLACE = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}
_OVERWRITING: dict[Callable[..., Any], tuple[str, bool]] = {
    np.nan_to_num: ("copy", False),
    **dict.fromkeys((np.median, np.percentile, np.quantile), ("overwrite_input", True)),
    **dict.fromkeys((np.nanmedian, np.nanpercentile, np.nanquantile), ("overwrite_input", True)),
}
# Functions of shapes and dtypes only, or that return text: their results are never boxes.
_QUESTIONS: set[Callable[..., Any]] = {
    *(np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.zeros_like),
    *(np.ones_like, np.empty_like, np.array_repr, np.array_str, np.array2string, np.may_share_memory),
    np.shares_memory,
}
# Piecewise constant functions with results of floating dtype; all others return integers or booleans.
_CONSTANT: set[Callable[..., Any]] = {
    *(np.floor, np.ceil, np.rint, np.trunc, np.fix, np.round, np.around, np.sign, np.floor_divide, np.heaviside),
    *(np.spacing, np.nextafter),
}
# Functions whose derivative needs only their arguments' shapes.
_SHAPES_ONLY: set[Callable[..., Any]] = {
    *(np.add, np.subtract, np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.dstack)
}
_LEAVES = (np.ndarray, np.generic, int, float, complex, str, slice, type(None), type, np.dtype)


class Box(ArrayInterface):
    """A value that remembers how it was computed, and otherwise behaves like an array.

    Attributes:
        node: the call that produced it.
        output: the number of the node's result if it has several; else None.
    """

    __slots__ = ("_value", "_viewed", "node", "output")

    def __init__(self, value: Any, node: Node, output: int | None = None) -> None:
        self._value = value
        self.node: Node = node
        self.output: int | None = output
        self._viewed = False

    def _plain(self) -> Any:
        return self._value

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call(function, args, kwargs)

    def _ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def _read(self, recording: Recording) -> Box:
        return self

    def _written(self) -> None:
        """Do nothing: outside a recording, a box is just its value."""

    def _leave(self, what: str) -> Any:
        """The value, for code that does not record; an error if that would lose a gradient."""
        check_thread(self.node)
        if current() is not None and self.node.connected:
            raise TypeError(
                f"{what} would lose the gradient of a recorded value of shape {np.shape(self._value)}. Use NumPy "
                f"functions on the value itself (np.stack([a, b]) for np.array([a, b]), np.dot(a, b) for a.dot(b)), or "
                f"stop_gradient(value) if no gradient is wanted"
            )
        return self._value

    def __round__(self, digits: int = 0) -> Any:
        return np.round(self, digits)

    def __repr__(self) -> str:
        return f"Box({self._value!r})"

    def __format__(self, spec: str) -> str:
        return format(self._value, spec)

    def __deepcopy__(self, memo: Any) -> Box:
        return Box(self._value, self.node, self.output)

    def become(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Box:
        """`x += y`: the box itself becomes the result, under all of its names, as with NumPy's arrays.

        Raises:
            TypeError: the box shares memory with another value, which NumPy would change too; or the result's dtype or
                shape differs.
        """
        if isinstance(self._value, np.generic) and inputs[0] is self:
            return ufunc(*inputs)  # type: ignore[no-any-return] # a NumPy scalar never changes: x is another, its aliases are not
        if self._viewed or any(np.may_share_memory(self._value, box._value) for box in boxes_in(self.node.args)):
            raise TypeError(
                f"np.{ufunc.__name__} in place would change two recorded values that share memory: "
                f"write x = x + y instead of x += y"
            )
        before = Box(self._value, self.node, self.output)
        result = ufunc(*(before if value is self else value for value in inputs))
        value = result._plain()
        if np.shape(value) != np.shape(self._value) or not np.can_cast(value.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"np.{ufunc.__name__} in place computes {value.dtype} of shape {np.shape(value)}, which does not fit "
                f"into {self.dtype} of shape {self.shape}"
            )
        if value.dtype != self.dtype:
            result = result.astype(self.dtype)
        self._value, self.node, self.output = result._value, result.node, result.output
        return self


def call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function's result, recorded if the thread records.

    Raises:
        TypeError: the call would store a recorded value in an array, or change a recorded value.
    """
    active = current()
    out = _option(function, args, kwargs, "out")
    target = out if out is not None else _overwritten(function, args, kwargs)
    if active is None:
        return _unrecorded(function, args, kwargs, target)
    if isinstance(target, ArrayInterface):
        raise TypeError(
            f"np.{name_of(function)} would write into a recorded {type(target).__name__}: "
            f"use the function's result instead of out= or overwriting"
        )
    composition = COMPOSITIONS.get(function) if out is None else None
    if composition is not None and (result := composition(*args, **kwargs)) is not NotImplemented:
        return result
    if function in _QUESTIONS:
        with recording(None):
            return call(function, args, kwargs)
    boxes: list[Box] = []
    # One loop for what nearly every call has: arrays, boxes, Variables and numbers; the rest is searched recursively.
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
        plain_kwargs = {key: plain(value) for key, value in kwargs.items()}
    else:
        plain_kwargs = kwargs
    if (out is not None or function in _IN_PLACE) and any(box.node.connected for box in boxes):
        raise TypeError(
            f"np.{name_of(function)} would store a recorded value in an array and lose its gradient: "
            f"use the function's result instead of out=, +=, or assignment in place"
        )
    return _run(active, function, kept, values, kwargs, plain_kwargs, boxes)


def _unrecorded(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], target: Any) -> Any:
    """The function's result, unrecorded; a Variable that it writes into gets a new version."""
    for box in boxes_in((*args, *kwargs.values())):
        check_thread(box.node)
    result = function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})
    if isinstance(target, ArrayInterface):
        target._written()
    return result


def _option(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    """The value of an argument, given by name or by position; None if it was not given."""
    position = _position(function, name)
    return args[position] if position < len(args) else kwargs.get(name)


@cache
def _position(function: Callable[..., Any], name: str) -> int:
    """The position of a function's argument; beyond all positions if it cannot be given by position."""
    try:
        parameters = [] if isinstance(function, np.ufunc) else list(inspect.signature(function).parameters.values())
    except ValueError:  # functions in C have signatures since NumPy 2.4
        return 2 if name == "out" and function in {np.dot, np.concatenate} else sys.maxsize
    for position, parameter in enumerate(parameters):
        if parameter.name == name and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            return position
    return sys.maxsize


def _overwritten(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The argument that a function stores into; None if there is none."""
    name, value = _OVERWRITING.get(function, ("", None))
    if function in _IN_PLACE or (name and _option(function, args, kwargs, name) is value):
        return args[0] if args else next(iter(kwargs.values()))
    return None


def _run(
    active: Recording,
    function: Callable[..., Any],
    args: list[Any],
    values: list[Any],
    kwargs: dict[str, Any],
    plain_kwargs: dict[str, Any],
    boxes: list[Box],
) -> Any:
    """Call the function with the plain values, and record it."""
    connected = False
    for box in boxes:
        if box.node.connected:
            connected = True
            break
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
    node.recording = active
    if function not in _SHAPES_ONLY or active.traced:
        node.seen = checksums(_all_in((*args, *kwargs.values()) if kwargs else args, np.ndarray))
    if active.traced:
        node.scope, node.times = active.scope, times
        if not boxes:
            return result
        active.nodes.append(node)
    return _boxed(result, node, boxes, keep=active.traced)


def _boxed(result: Any, node: Node, boxes: list[Box], *, keep: bool) -> Any:
    """The result as a Box, or as a tuple or list of boxes."""
    if isinstance(result, np.ndarray | np.generic):
        # Integers and booleans are piecewise constant.
        if node.connected and result.dtype.kind in "biu":
            node.connected = False
        if not node.connected and not keep:
            return result
        shares = getattr(result, "base", None) is not None
        for box in boxes:
            if shares or box._value is result:  # np.real of a real array returns the array itself
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
        raise TypeError(f"np.{node.name} returns {type(result).__name__}, which gradients cannot pass through")
    return result


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a ufunc, or of one of its methods.

    Raises:
        TypeError: the call would change a Variable, or store a recorded value in an array.
        LookupError: the method has no differentiable equivalent, and the thread records.
    """
    inputs = tuple(np.asarray(value) if type(value) in (list, tuple) else value for value in inputs)
    out = kwargs.pop("out", None)
    if out is not None and any(isinstance(target, ArrayInterface) for target in out):
        if len(out) == 1 and method == "__call__" and type(out[0]) is Box and not kwargs:
            return out[0].become(ufunc, inputs) if current() is not None else call(ufunc, inputs, kwargs)
        raise TypeError(
            f"np.{ufunc.__name__} cannot write into a {type(out[0]).__name__}: "
            f"use variable.assign(...), or x = x + y instead of x += y"
        )
    if out is not None and any(target is not None for target in out):
        kwargs["out"] = out
    if method == "__call__":
        if kwargs.get("where", True) is not True and current() is not None:
            raise TypeError(f"np.{ufunc.__name__} with where= leaves elements undefined: use np.where")
        return call(ufunc, inputs, kwargs)
    function = getattr(ufunc, method)
    if current() is None:
        return call(function, inputs, kwargs)
    twin = METHODS.get((ufunc, method)) or METHODS.get(method)
    if twin is None:
        raise LookupError(f"no gradient of np.{ufunc.__name__}.{method} is known")
    return twin(ufunc, *inputs, **kwargs)


def plain(value: Any) -> Any:
    """The value with arrays in place of boxes and Variables, in lists and tuples too."""
    if isinstance(value, ArrayInterface):
        return value._plain()
    if type(value) in (list, tuple):
        return type(value)([plain(part) for part in value])
    return value


def _recorded(value: Any, active: Recording, boxes: list[Box]) -> Any:
    """The value with boxes in place of Variables, in lists and tuples too; the boxes are appended to `boxes`."""
    if isinstance(value, ArrayInterface):
        box = value._read(active)  # type: ignore[attr-defined]
        if type(box) is Box:
            boxes.append(box)
            if box is value:  # record it as it is now: `become` may change the caller's box
                return Box(box._value, box.node, box.output)
        return box
    if type(value) in (list, tuple):
        return type(value)([_recorded(part, active, boxes) for part in value])
    return value


def recorded(value: Any) -> Any:
    """The Box of a Variable if the thread records; anything else unchanged."""
    active = current()
    return value._read(active) if active is not None and isinstance(value, ArrayInterface) else value  # type: ignore[attr-defined]


def boxes_in(args: Any) -> Iterator[Box]:
    """All boxes among arguments, in lists and tuples too."""
    return _all_in(args, Box)


def _all_in(args: Any, kind: type[Any]) -> Iterator[Any]:
    """All objects of this kind among arguments, in lists and tuples too."""
    for arg in args:
        if isinstance(arg, kind):
            yield arg
        elif type(arg) in (list, tuple):
            yield from _all_in(arg, kind)


def stopped(value: Any) -> Any:
    """The value as a constant, through which no gradient flows."""
    return np.array(value)
