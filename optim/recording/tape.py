"""What a loss does to Variables, written down as it runs: a node for each NumPy call.

While a thread records, reading a Variable gives a Box (see `boxes`): the value, and the Node that made it. A NumPy call
on boxes gives a box again, whose node holds the call; so nodes are linked from results back to Variables. `backward`
walks these links, `trace` draws them. Outside of a recording, boxes and Variables are nothing but their values.

Strategy: recording does as little as it can, since it happens at every call of every step. Derivatives are looked up
when a gradient is asked for.
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

_CHECKED = 2**20  # bytes: a larger array's checksum takes longer than many a call
_numbers = count()
_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/-]*$")  # TensorFlow's rule


class UnknownGradientError(Exception):
    """A derivative does not know these arguments. `backward` makes it a LookupError that names the function."""


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
        recording: what it was recorded into; None where that is not known.
        seen: arrays that the way back needs, which others may change, and their checksums at that time.
        scope: the name scope that it was called in; "" or one that ends in "/".
        times: when it began and ended, in ns, where calls are measured.
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
        self.number = next(_numbers)
        self.connected = connected
        self.variable: Any = None
        self.version = 0
        self.recording: Recording | None = None
        self.seen: list[tuple[NDArray[Any], int]] = []
        self.scope = ""
        self.times = (0, 0)

    @property
    def name(self) -> str:
        """The function's name, as one would write it."""
        return name_of(self.function)


class Recording:
    """What a thread has recorded so far.

    Args:
        clock: the time in ns; where there is one, every call is kept and timed, and no gradients are expected.

    Attributes:
        watched: the Variables whose gradients may be asked for although they are not trainable.
        automatic: whether all trainable Variables that are read are watched.
        traced: whether every call is kept, in `nodes`, not only those that gradients go through.
        thread: the thread that records into it now, or None.
        reads: the Variables read, and their versions at that time.
    """

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        self.watched: set[Any] = set()
        self.automatic = clock is None
        self.traced = clock is not None
        self.clock = clock or (lambda: 0)
        self.reads: dict[Any, int] = {}
        self.nodes: list[Node] = []
        self.thread: int | None = None
        self.scope = ""
        self._roots: dict[Any, Node] = {}
        self._scopes: dict[str, int] = {}

    def read(self, variable: Any) -> Node | None:
        """The node of a Variable that is read; None where nobody will ask for it."""
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


def check_thread(node: Node) -> None:
    """See that no other thread still records what a gradient goes through, of which this thread would record nothing.

    Raises:
        RuntimeError: one does.
    """
    home = node.recording
    if node.connected and home is not None and home.thread not in (None, threading.get_ident()):
        raise RuntimeError(
            "a recorded value was used in another thread than the loss's, where nothing is recorded, and its gradient "
            "would be lost: compute it in the loss's own thread, or use stop_gradient(value) there first"
        )


def checksums(arrays: Iterable[NDArray[Any]]) -> list[tuple[NDArray[Any], int]]:
    """The arrays, but those of more than 1 MiB, each with a checksum of what is in it."""
    return [(array, crc32c(array.tobytes())) for array in arrays if array.nbytes <= _CHECKED]


def check_operands(node: Node) -> None:
    """See that the arrays of a call, or the array of a Variable, are still what they were.

    Raises:
        RuntimeError: one is not.
    """
    for array, checksum in node.seen:
        if crc32c(array.tobytes()) != checksum:
            raise RuntimeError(
                f"variable {node.variable.name!r} was changed through its array after the loss had read it, and the "
                f"gradients would be of neither state: change it with assign, after the step"
                if node.variable is not None
                else f"np.{node.name} was given an array of shape {array.shape} that was changed afterwards, and its "
                f"gradient would be of neither state: give it a copy"
            )


def name_of(function: Any) -> str:
    """The function's name, with its submodule: "linalg.svd"."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", repr(function))
    return f"{module.removeprefix('numpy.')}.{name}" if module in ("numpy.linalg", "numpy.fft") else name
