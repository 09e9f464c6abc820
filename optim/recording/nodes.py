"""What a recording holds: a node for each NumPy call, linked to the nodes of its arguments.

While a thread records, reading a Variable returns a Box (see `calls`): the value, and the Node that produced it. A
NumPy call on boxes returns another box, whose node holds the call; so nodes are linked from results back to Variables.
`backward` walks these links, `trace` draws them. Outside a recording, boxes and Variables are just their values.

Strategy: recording does as little as possible, since it runs at every call of every step. Derivatives are looked up
when a gradient is requested.
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from google_crc32c import value as crc32c

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "Node",
    "Recording",
    "UnknownGradientError",
    "check_operands",
    "check_thread",
    "check_unchanged",
    "checksums",
    "current",
    "name_of",
    "name_scope",
    "recording",
]

_CHECKED = 2**20  # bytes: a larger array's checksum would take longer than many calls
_numbers = count()
_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/-]*$")  # TensorFlow's rule


class UnknownGradientError(Exception):
    """A derivative does not support these arguments. `backward` turns it into a LookupError that names the function."""


class Node:
    """One call, or one read of a Variable.

    Attributes:
        function: the called function; None for the read of a Variable.
        args: positional arguments, with boxes for boxes and Variables.
        kwargs: keyword arguments, likewise.
        value: the result: an array or number, or a tuple or list of them; a Variable's live array.
        number: increases from node to node.
        connected: whether a gradient can flow through it.
        variable: the Variable that was read, or None.
        version: the Variable's version at that time.
        recording: the Recording that it belongs to; None if unknown.
        seen: arrays that the backward pass needs and others may change, with their checksums at that time.
        scope: the name scope of the call; "" or one that ends in "/".
        times: when it began and ended, in ns, if calls are timed.
    """

    __slots__ = (
        *("args", "connected", "function", "kwargs", "number", "recording", "scope", "seen", "times", "value"),
        *("variable", "version"),
    )

    def __init__(self, function: Any, args: Any, kwargs: dict[str, Any], value: Any, connected: bool) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.value = value
        self.number: int = next(_numbers)
        self.connected = connected
        self.variable: Any = None
        self.version = 0
        self.recording: Recording | None = None
        self.seen: list[tuple[NDArray[Any], int]] = []
        self.scope: str = ""
        self.times: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """The function's name, as written in code."""
        return name_of(self.function)


class Recording:
    """The calls that a thread has recorded so far.

    Args:
        clock: returns the time in ns. If given, every call is kept and timed, and no gradients are expected.

    Attributes:
        watched: Variables whose gradients may be requested although they are not trainable.
        automatic: whether all trainable Variables that are read are watched.
        traced: whether every call is kept, in `nodes`, not only those with gradients.
        thread: the thread that is recording into it, or None.
        reads: the Variables that were read, and their versions at that time.
    """

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        self.watched: set[Any] = set()
        self.automatic: bool = clock is None
        self.traced: bool = clock is not None
        self.clock: Callable[[], int] = clock or (lambda: 0)
        self.reads: dict[Any, int] = {}
        self.nodes: list[Node] = []
        self.thread: int | None = None
        self.scope: str = ""
        self._roots: dict[Any, Node] = {}
        self._scopes: dict[str, int] = {}

    def read(self, variable: Any) -> Node | None:
        """The node of a Variable that is read; None if it is not needed."""
        node = self._roots.get(variable)
        self.reads.setdefault(variable, variable.version)
        if node is not None and node.version == variable.version and (node.connected or variable not in self.watched):
            return node
        value = variable.value
        connected = value.dtype.kind == "f" or value.dtype.name == "bfloat16"
        connected &= (self.automatic and variable.trainable) or variable in self.watched
        if not connected and not self.traced:
            return None
        node = Node(None, (), {}, value, connected)
        node.variable, node.version = variable, variable.version
        node.recording = self
        node.seen = checksums([value])
        if self.traced:
            self.nodes.append(node)
        self._roots[variable] = node
        return node

    def enter(self, scope: str) -> str:
        """Enter a name scope under a unique name; return the previous scope."""
        before, path = self.scope, self.scope + scope
        times = self._scopes.get(path, 0)
        self._scopes[path] = times + 1
        self.scope = f"{path}_{times}/" if times else f"{path}/"
        return before


class _State(threading.local):
    recording: Recording | None = None


_state = _State()


def current() -> Recording | None:
    """The Recording of this thread, or None."""
    return _state.recording


@contextmanager
def recording(new: Recording | None) -> Iterator[Recording | None]:
    """Record into this; None pauses."""
    before, _state.recording = _state.recording, new
    thread = None if new is None else new.thread
    if new is not None:
        new.thread = threading.get_ident()
    try:
        yield new
    finally:
        _state.recording = before
        if new is not None:
            new.thread = thread


@contextmanager
def name_scope(name: str) -> Iterator[None]:
    """Name the calls inside: in the graph of the loss, their nodes' names begin with `name/`.

    A number is appended to a name that was used before, as in TF1. Without a trace, nothing happens.

    Args:
        name: letters, digits, ".", "_", "-" and "/".

    Raises:
        ValueError: the name has other characters.

    >>> from optim import Variable, trace_graph
    >>> w = Variable([1.0, 2.0], name="w")
    >>> def loss():
    ...     with name_scope("layer1"):
    ...         return np.sum(np.tanh(w))
    >>> [node.name for node in trace_graph(loss).node if node.op in ("Tanh", "Sum")]
    ['layer1/Tanh', 'layer1/Sum']
    """
    if not _SCOPE.match(name):
        raise ValueError(
            f"name must consist of letters, digits, '.', '_', '-', '/' and not begin with '_', got {name!r}"
        )
    active = _state.recording
    if active is None:
        yield
        return
    before = active.enter(name.strip("/"))
    try:
        yield
    finally:
        active.scope = before


def check_unchanged(read: dict[Any, int]) -> None:
    """Check that the Variables still have the versions that were read.

    Raises:
        RuntimeError: a Variable has changed.
    """
    changed = [variable.name for variable, version in read.items() if variable.version != version]
    if changed:
        raise RuntimeError(
            f"variables {changed} were changed after the loss read them, so its gradients would match neither state: "
            f"read such a variable as stop_gradient(variable), or assign to it after the step"
        )


def check_thread(node: Node) -> None:
    """Check that no other thread is still recording this node: this thread would not record its use.

    Raises:
        RuntimeError: another thread is.
    """
    home = node.recording
    if node.connected and home is not None and home.thread not in (None, threading.get_ident()):
        raise RuntimeError(
            "a recorded value was used outside the loss's thread, where nothing is recorded and its gradient would be "
            "lost: compute it in the loss's own thread, or use stop_gradient(value) there first"
        )


def checksums(arrays: Iterable[NDArray[Any]]) -> list[tuple[NDArray[Any], int]]:
    """The arrays of at most 1 MiB, each with a checksum of its contents."""
    return [(array, crc32c(array.tobytes())) for array in arrays if array.nbytes <= _CHECKED]


def check_operands(node: Node) -> None:
    """Check that the arrays of a call, or the array of a Variable, are unchanged.

    Raises:
        RuntimeError: an array has changed.
    """
    for array, checksum in node.seen:
        if crc32c(array.tobytes()) != checksum:
            raise RuntimeError(
                f"variable {node.variable.name!r} was changed through its array after the loss read it, so the "
                f"gradients would match neither state: change it with assign, after the step"
                if node.variable is not None
                else f"an array of shape {array.shape} was changed after np.{node.name} used it, so its gradient would "
                f"match neither state: pass a copy"
            )


def name_of(function: Any) -> str:
    """The function's name with its submodule, such as "linalg.svd"."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", repr(function))
    return f"{module.removeprefix('numpy.')}.{name}" if module in ("numpy.linalg", "numpy.fft") else name
