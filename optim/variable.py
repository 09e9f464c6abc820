"""Variable: an array that training changes in place. IndexedSlices: a gradient of some rows of an array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.recording.array_interface import ArrayInterface
from optim.recording.calls import Box, call, call_ufunc
from optim.recording.nodes import current
from summaries.foreign_arrays import array_like

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from optim.recording.nodes import Recording

__all__ = ["FLOATING", "NATIVE_FLOATING", "IndexedSlices", "Variable", "global_step", "next_global_step"]

FLOATING = ("float16", "bfloat16", "float32", "float64")
"""The names of the dtypes that can be trained and averaged."""

NATIVE_FLOATING = {np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)}
"""Those that NumPy has itself, in this machine's byte order: quicker to look up than a dtype's name."""


class Variable(ArrayInterface):
    """A named array that optimizers update in place.

    In NumPy expressions it behaves like an array. Inside a loss whose gradients are computed, these expressions are
    recorded, and operations that would lose the gradient, such as np.asarray(variable), raise an error.

    Args:
        initial_value: array-like, any shape; copied.
        trainable: whether an optimizer trains it by default, without a list of variables.
        name: its name in summaries and checkpoints.
        dtype: the array's dtype; by default the initial value's, and float32 for Python floats, as in TensorFlow.
        constraint: a function of an array that returns it projected onto what is allowed, such as `np.abs`; optimizers
            call it after each update. Reports tell of the update before.

    Attributes:
        value: the live array. It stays the same object through every update. A loss that uses it, rather than the
            Variable, treats it as a constant.
        version: the number of assignments and updates.

    >>> w = Variable([1.0, 2.0], name="w")
    >>> np.asarray(w) * 2
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        initial_value: ArrayLike,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        constraint: Callable[[NDArray[Any]], ArrayLike] | None = None,
    ) -> None:
        if isinstance(initial_value, Variable):
            initial_value = initial_value.value
        array = np.array(array_like(initial_value), dtype)
        if dtype is None and array.dtype == np.float64 and not hasattr(initial_value, "dtype"):
            array = array.astype(np.float32)
        self._become(array, trainable, name, constraint)

    @classmethod
    def wrap(cls, array: NDArray[Any], *, trainable: bool = True, name: str | None = None) -> Self:
        """A Variable whose value is `array` itself, so that training changes your array.

        Args:
            array: a NumPy array of any shape and dtype, writable.
            trainable: whether `minimize` updates it if it is not told which variables to.
            name: for slots, tags and checkpoints; None means "Variable".

        Raises:
            TypeError: `array` is not a NumPy array.
            ValueError: `array` is read-only.

        >>> weights = np.zeros(2)
        >>> Variable.wrap(weights, name="w").assign([1.0, 2.0])
        >>> weights
        array([1., 2.])
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"Variable.wrap needs a NumPy array, got {type(array).__name__}")
        if not array.flags.writeable:
            raise ValueError("Variable.wrap needs a writable array, got a read-only one")
        variable = cls.__new__(cls)
        variable._become(array, trainable, name)  # noqa: SLF001 - the class's own
        return variable

    def _become(
        self,
        array: NDArray[Any],
        trainable: bool,
        name: str | None,
        constraint: Callable[[NDArray[Any]], ArrayLike] | None = None,
    ) -> None:
        self.value = array
        self.trainable = trainable
        self.name: str = name or "Variable"
        self.version: int = 0
        self.constraint = constraint

    def assign(self, value: ArrayLike) -> None:
        """Write a value into the array.

        Args:
            value: an array of the variable's shape, which is converted to its dtype.

        Raises:
            ValueError: its shape differs.
        """
        new = array_like(value)
        if new.shape != self.shape:
            raise ValueError(f"variable {self.name!r} has shape {self.shape}, got a value of shape {new.shape}")
        self.value[...] = new
        self.version += 1

    def _plain(self) -> NDArray[Any]:
        return self.value

    def _written(self) -> None:
        self.version += 1

    def _read(self, recording: Recording) -> Any:
        node = recording.read(self)
        return self.value if node is None else Box(node.value, node)

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call(function, args, kwargs)

    def _ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def _leave(self, what: str) -> Any:
        active = current()
        value = self.value if active is None else self._read(active)
        return value._leave(what) if type(value) is Box else value  # noqa: SLF001 - of the same interface

    def __index__(self) -> int:
        return super().__index__() if self.value.ndim == 0 else operator.index(self.item())

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, shape={self.shape}, dtype={self.dtype})"


class IndexedSlices:
    """Some rows of an array that is zero elsewhere: the gradient of a table from which rows were picked.

    Args:
        values: array [n, ...]: the rows.
        indices: integers [n]: the position of each row; rows with the same index are summed.
        dense_shape: the whole array's shape, if known.

    Raises:
        ValueError: the numbers of indices and rows differ.
        TypeError: the indices are not integers, or the shape is not a tuple.
    """

    def __init__(self, values: ArrayLike, indices: ArrayLike, dense_shape: tuple[int, ...] | None = None) -> None:
        self.values: NDArray[Any] = array_like(values)
        self.indices: NDArray[Any] = array_like(indices)
        if not self.indices.size and isinstance(indices, list | tuple):
            self.indices = self.indices.astype(np.int64)  # NumPy makes an empty list floats
        self.dense_shape = dense_shape
        if dense_shape is not None and not hasattr(dense_shape, "__len__"):
            raise TypeError(f"dense_shape must be a tuple of integers, got {dense_shape!r}")
        if not np.issubdtype(self.indices.dtype, np.integer):
            raise TypeError(f"indices must be integers, got {self.indices.dtype}")
        if self.values.ndim < 1 or self.indices.shape != self.values.shape[:1]:
            raise ValueError(
                f"indices must contain one index for each row of {self.values.shape}, got {self.indices.shape}"
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The rows' dtype."""
        return self.values.dtype

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if self.dense_shape is None:
            raise ValueError("IndexedSlices without a dense_shape cannot be converted to an array")
        whole = np.zeros(self.dense_shape, self.dtype)
        np.add.at(whole, self.indices, self.values)
        return whole if dtype is None else whole.astype(dtype)

    def __repr__(self) -> str:
        return f"IndexedSlices(values of shape {self.values.shape}, dense_shape={self.dense_shape})"


def global_step(variable: Variable) -> int:
    """The number of steps that a global-step Variable has counted.

    Args:
        variable: a Variable of one integer.

    Raises:
        TypeError: `variable` is not an integer Variable of one element.

    >>> global_step(Variable(3, trainable=False, name="global_step"))
    3
    """
    value = np.asarray(variable)
    if value.size != 1 or not np.issubdtype(value.dtype, np.integer):
        raise TypeError(f"global_step must be one integer, got {value.dtype} of shape {value.shape}")
    return int(value.reshape(()))


def next_global_step(variable: Variable) -> int:
    """The number of the next step, which the Variable can hold.

    Raises:
        TypeError: `variable` is not an integer Variable of one element.
        ValueError: `variable` is read-only, or its dtype cannot hold the number.
    """
    if not isinstance(variable, Variable):
        raise TypeError(f"global_step must be a Variable, got {type(variable).__name__}: {variable!r}")
    number = global_step(variable) + 1
    if not variable.value.flags.writeable:
        raise ValueError(f"global_step {variable.name!r} must be writable, got a read-only array")
    if number > np.iinfo(variable.dtype).max:
        raise ValueError(f"global_step {variable.name!r} must be wider than {variable.dtype} to count to {number}")
    return number
