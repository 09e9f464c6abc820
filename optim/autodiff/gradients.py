"""Gradients of losses that are written in plain NumPy.

A loss is a callable without arguments that reads Variables. `recording` records its calls; `backward` walks the record
from the loss back to the Variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.autodiff.backward import AggregationMethod, backward
from optim.recording.calls import Box, call, recorded, stopped
from optim.recording.nodes import Recording, check_unchanged, current, recording
from optim.variable import IndexedSlices, Variable
from summaries.foreign_arrays import array_like

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    Gradient = NDArray[Any] | IndexedSlices | None

__all__ = ["AggregationMethod", "GradientTape", "gradients", "gradients_of_loss", "stop_gradient"]


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: AggregationMethod | int | None = None,
) -> list[Gradient]:
    r"""The gradients of the sum of all `ys` with respect to each x.

    .. math:: \sum_{y} \sum_i \bar y_i \, \partial y_i / \partial x

    where the weights are `grad_ys`, or 1.

    Args:
        ys: a loss: a callable without arguments that reads Variables and returns an array or number, or several; or a
            value recorded by a GradientTape; or a list of these.
        xs: a Variable or a recorded value, or a list of these; of floating dtype.
        grad_ys: for each y the weights of its elements, an array of its shape, or None for ones.
        name: accepted for compatibility with TF1; unused.
        colocate_gradients_with_ops: accepted for compatibility with TF1; unused.
        gate_gradients: accepted for compatibility with TF1: an operation's gradients are always all computed before any
            of them is used.
        aggregation_method: how terms are added up; by default ADD_N.

    Returns:
        For each x, an array of its shape and dtype; None if no y depends on it; IndexedSlices if the ys only use rows
        of a large table, fewer than half of them, picked by `table[rows]` or `np.take(table, rows, axis=0)`.

    Raises:
        TypeError: an x is neither a Variable nor a recorded value, or has an integer dtype; a y is not recorded.
        ValueError: the weights do not fit.
        LookupError: an operation between a y and an x has no gradient; the error names it.
        RuntimeError: an array that the loss used, or a Variable, was changed before the gradients were computed; or
            another thread used a recorded value.

    Two things go undetected. A Variable that a loss reads in another thread, such as a pool's worker, is a constant
    there: read it in the loss's own thread. And arrays of more than 1 MiB are not checked for changes in place after
    their use: pass a copy of such a buffer to NumPy.

    >>> from optim import Variable
    >>> w, b = Variable([1.0, 2.0]), Variable(0.5)
    >>> gradients(lambda: np.sum(np.square(w)), [w, b])
    [array([2., 4.], dtype=float32), None]

    References: the derivatives are HIPS autograd's, https://github.com/HIPS/autograd, with additions.
    """
    sources = _as_list(xs)
    _check_sources(sources)
    values, _ = _run(ys, [x for x in sources if isinstance(x, Variable)])
    return _gradients(values, sources, grad_ys, aggregation_method)


def gradients_of_loss(
    loss: Any,
    variables: Sequence[Variable] | None,
    grad_loss: ArrayLike | None = None,
    aggregation_method: AggregationMethod | int | None = None,
) -> tuple[list[tuple[Gradient, Variable]], float]:
    """The pairs (gradient, variable) for an optimizer, and the loss's value: the sum of its elements.

    Args:
        loss: as `ys` in `gradients`.
        variables: None means the trainable Variables that the loss read, in the order in which it read them.
        grad_loss: the weights of its elements; None for ones.
        aggregation_method: how terms are added up.

    Raises:
        ValueError: there are no variables.
    """
    if variables is not None:
        variables = _as_list(variables)
        _check_sources(variables)
    values, read = _run(loss, variables or ())
    if variables is None:
        variables = [v for v in read if v.trainable and v.value.dtype.kind not in "biu"]
        if not variables:
            raise ValueError("No variables to optimize: the loss read no trainable Variable of floating dtype")
    slopes = _gradients(values, variables, grad_loss, aggregation_method)
    value = float(sum(np.sum(y._plain()) if isinstance(y, Box) else np.sum(y) for y in values))
    return list(zip(slopes, variables, strict=True)), value


def stop_gradient(input: Any, name: str | None = None) -> Any:  # noqa: A002 - TF1's name
    """The input's current value as a constant: no gradient flows through it.

    Args:
        input: a Variable, a recorded value, or an array.
        name: accepted for compatibility with TF1; unused.

    Returns:
        A copy: an array of the input's shape and dtype.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0])
    >>> gradients(lambda: np.sum(w * stop_gradient(w)), w)
    [array([1., 2.], dtype=float32)]
    """
    return call(stopped, (input,), {})


class GradientTape:
    """Records computations on Variables inside its `with` block, and computes their gradients afterwards.

    Args:
        persistent: whether `gradient` may be called more than once.
        watch_accessed_variables: whether trainable Variables are watched as soon as they are read.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0])
    >>> with GradientTape() as tape:
    ...     loss = np.sum(w**3)
    >>> float(loss), tape.gradient(loss, w)
    (9.0, array([ 3., 12.], dtype=float32))
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._automatic = watch_accessed_variables
        self._used = False
        self._recording: Recording | None = None
        self._before: tuple[Recording | None, bool] | None = None

    def __enter__(self) -> Self:
        if self._before is not None:
            raise ValueError("the tape is already recording")
        outer = current()
        self._recording = outer or self._recording or Recording()
        self._before = outer, self._recording.automatic
        self._recording.automatic = self._automatic or (outer is not None and outer.automatic)
        self._switch = recording(self._recording)
        self._switch.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._before is not None and self._recording is not None:
            _, self._recording.automatic = self._before
            self._before = None
            self._switch.__exit__(None, None, None)

    def watch(self, tensor: Any) -> None:
        """Record computations on a Variable that is not trainable, or on a list of them.

        Args:
            tensor: a Variable, or a list of them; of floating dtype.

        Raises:
            TypeError: `tensor` is not a Variable (operations on plain arrays cannot be recorded), or has an integer
                dtype.
            ValueError: the tape is not recording.
        """
        for variable in _as_list(tensor):
            if isinstance(variable, Box):
                continue
            if not isinstance(variable, Variable):
                raise TypeError(f"watch needs a Variable, got {type(variable).__name__}: wrap it as Variable(array)")
            _check_sources([variable])
            if self._before is None or self._recording is None:
                raise ValueError("the tape is not recording: call watch inside its with block")
            self._recording.watched.add(variable)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None) -> Any:
        """The gradients of the recorded target, or of the sum of several.

        Args:
            target: a recorded value, or a list of them.
            sources: a Variable or a recorded value; or a list, tuple or dict of them.
            output_gradients: weights, as `grad_ys` of `gradients`.

        Returns:
            What `gradients` returns, in the structure of `sources`.

        Raises:
            RuntimeError: it is called a second time on a tape that is not persistent.
            TypeError, ValueError, LookupError: as for `gradients`.
        """
        if self._used and not self._persistent:
            raise RuntimeError("a tape computes gradients once: use GradientTape(persistent=True) to compute more")
        if self._recording is None:
            raise RuntimeError("the tape has recorded nothing: compute the target inside its with block")
        if not self._persistent:
            self._stop()
        check_unchanged(self._recording.reads)
        flat = list(sources.values()) if isinstance(sources, dict) else _as_list(sources)
        _check_sources(flat)
        slopes = _gradients(_recorded_values(_as_list(target)), flat, output_gradients, None)
        self._used = True
        if isinstance(sources, dict):
            return dict(zip(sources, slopes, strict=True))
        return type(sources)(slopes) if isinstance(sources, list | tuple) else slopes[0]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _check_sources(sources: Sequence[Any]) -> None:
    for x in sources:
        if not isinstance(x, Variable | Box):
            raise TypeError(f"each x must be a Variable or a recorded value, got {type(x).__name__}: {x!r}")
        if x.dtype.kind in "biu":
            what = f"variable {x.name!r}" if isinstance(x, Variable) else "a recorded value"
            raise TypeError(f"{what} must be of floating dtype to have a gradient, got {x.dtype}")


def _run(ys: Any, watched: Sequence[Variable]) -> tuple[list[Any], list[Variable]]:
    """The recorded ys, and the Variables that were read to compute them."""
    outer = current()
    record = outer or Recording()
    before, added = record.reads, set(watched) - record.watched
    record.reads = {}
    record.watched |= added
    automatic, record.automatic = record.automatic, True
    try:
        with recording(record):
            values: list[Any] = []
            for y in _as_list(ys):
                values += _as_list(y()) if callable(y) else [y]
            values = [recorded(y) for y in values]  # a loss may be a Variable itself
    finally:
        read, record.reads = record.reads, {**record.reads, **before}
        record.watched -= added
        record.automatic = automatic
    check_unchanged(read)
    return _recorded_values(values, of_callable=any(callable(y) for y in _as_list(ys))), list(read)


def _recorded_values(ys: list[Any], *, of_callable: bool = False) -> list[Any]:
    """The ys, each a Box or, from a callable, a number that depends on no Variable."""
    for y in ys:
        if not isinstance(y, Box) and not (of_callable and isinstance(y, np.ndarray | np.generic | int | float)):
            wanted = (
                "a loss must return an array or number" if of_callable else "a y must be a recorded value or a loss"
            )
            raise TypeError(f"{wanted}, got {type(y).__name__}: {y!r}")
        if np.asarray(y._plain() if isinstance(y, Box) else y).dtype.kind not in "fiubcV":
            raise TypeError("a loss must be numeric, got an array of objects")
    return ys


def _gradients(
    ys: list[Any], xs: Sequence[Any], grad_ys: Any, method: AggregationMethod | int | None
) -> list[Gradient]:
    try:
        method = AggregationMethod(AggregationMethod.DEFAULT if method is None else method)
    except ValueError:
        raise ValueError(f"aggregation_method must be an AggregationMethod, got {method!r}") from None
    weights = _as_list(grad_ys) if grad_ys is not None else [None] * len(ys)
    if len(weights) != len(ys):
        raise ValueError(f"grad_ys must contain one array for each of {len(ys)} ys, got {len(weights)}")
    seeds = [(y, _seed(y, weight)) for y, weight in zip(ys, weights, strict=True) if isinstance(y, Box)]
    return backward([(y, seed) for y, seed in seeds if y.node.connected], xs, method)


def _seed(y: Box, weight: Any) -> Any:
    """The initial gradient: the weights of a y's elements."""
    value = np.asarray(y._plain())
    if value.dtype.kind == "c":
        raise TypeError(f"a loss must be real, got {value.dtype}: take np.real or np.abs of it")
    if weight is None:
        return np.ones(value.shape, value.dtype)
    if isinstance(weight, Box | Variable):
        seed = recorded(weight)
    else:
        seed = np.asarray(array_like(weight, "grad_ys"), value.dtype)
    if np.shape(seed) != value.shape:
        raise ValueError(f"grad_ys must have the shape {value.shape} of its y, got {np.shape(seed)}")
    return seed
