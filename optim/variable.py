"""Variable: an array that training changes in place. IndexedSlices: a gradient that names the rows it is about."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.arrays import as_array

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["IndexedSlices", "Variable", "global_step", "next_global_step"]


class Variable:
    """A named array that optimizers update in place.

    Args:
        initial_value: array-like, any shape; copied.
        trainable: whether an optimizer that is given no list of variables trains it.
        name: what summaries and checkpoints call it.
        dtype: the array's dtype; by default the initial value's, and float32 for Python floats, as in TensorFlow.

    Attributes:
        value: the live array. It stays the same object through every update.

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
    ) -> None:
        if isinstance(initial_value, Variable):
            initial_value = initial_value.value
        array = np.array(_as_array(initial_value), dtype)
        if dtype is None and array.dtype == np.float64 and not hasattr(initial_value, "dtype"):
            array = array.astype(np.float32)
        self._become(array, trainable, name)

    @classmethod
    def wrap(cls, array: NDArray[Any], *, trainable: bool = True, name: str | None = None) -> Self:
        """A Variable whose value is `array` itself, so that training changes your array.

        Raises:
            TypeError: it is no NumPy array.
            ValueError: it is read-only.

        >>> weights = np.zeros(2)
        >>> Variable.wrap(weights, name="w").assign([1.0, 2.0])
        >>> weights
        array([1., 2.])
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"Variable.wrap needs a NumPy array, got {type(array).__name__}")
        if not array.flags.writeable:
            raise ValueError("Variable.wrap needs an array that can be written to, got a read-only one")
        variable = cls.__new__(cls)
        variable._become(array, trainable, name)  # noqa: SLF001 - the class's own
        return variable

    def _become(self, array: NDArray[Any], trainable: bool, name: str | None) -> None:
        self.value = array
        self.trainable = trainable
        self.name = name or "Variable"

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's shape."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The array's dtype."""
        return self.value.dtype

    def assign(self, value: ArrayLike) -> None:
        """Write `value` into the array.

        Raises:
            ValueError: its shape is another.
        """
        new = _as_array(value)
        if new.shape != self.shape:
            raise ValueError(f"variable {self.name!r} has shape {self.shape}, got a value of shape {new.shape}")
        self.value[...] = new

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype, copy=copy)

    def __index__(self) -> int:
        return operator.index(self.value.item())

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, shape={self.shape}, dtype={self.dtype})"


class IndexedSlices:
    """Some rows of an array, the rest of which is zero: the gradient of a table from which rows were picked.

    Args:
        values: array [n, ...]: the rows.
        indices: integers [n]: where each belongs; one that stands twice means the sum of both rows.
        dense_shape: the whole array's shape, where known.

    Raises:
        ValueError: there are not as many indices as rows.
        TypeError: the indices are no integers.
    """

    def __init__(self, values: ArrayLike, indices: ArrayLike, dense_shape: tuple[int, ...] | None = None) -> None:
        self.values = _as_array(values)
        self.indices = _as_array(indices)
        if not self.indices.size and isinstance(indices, list | tuple):
            self.indices = self.indices.astype(np.int64)  # NumPy takes an empty list for floats
        self.dense_shape = dense_shape
        if not np.issubdtype(self.indices.dtype, np.integer):
            raise TypeError(f"indices must be integers, got {self.indices.dtype}")
        if self.values.ndim < 1 or self.indices.shape != self.values.shape[:1]:
            raise ValueError(f"indices must be one for each row of {self.values.shape}, got {self.indices.shape}")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The rows' dtype."""
        return self.values.dtype

    def __repr__(self) -> str:
        return f"IndexedSlices(values of shape {self.values.shape}, dense_shape={self.dense_shape})"


def _as_array(tensor: ArrayLike) -> NDArray[Any]:
    array = as_array(tensor)
    return np.asarray(tensor) if array is None else array


def global_step(variable: Variable) -> int:
    """The number of steps that a global-step Variable has counted.

    Raises:
        TypeError: it is no integer Variable of one element.

    >>> global_step(Variable(3, trainable=False, name="global_step"))
    3
    """
    value = np.asarray(variable)
    if value.size != 1 or not np.issubdtype(value.dtype, np.integer):
        raise TypeError(f"global_step must be one integer, got {value.dtype} of shape {value.shape}")
    return int(value.reshape(()))


def next_global_step(variable: Variable) -> int:
    """The number of the step to come, which the Variable can hold.

    Raises:
        TypeError: it is no integer Variable of one element.
        ValueError: it is read-only, or counts no further.
    """
    if not isinstance(variable, Variable):
        raise TypeError(f"global_step must be a Variable, got {type(variable).__name__}: {variable!r}")
    number = global_step(variable) + 1
    if not variable.value.flags.writeable:
        raise ValueError(f"global_step {variable.name!r} must be one that can be written to, got a read-only array")
    if number > np.iinfo(variable.dtype).max:
        raise ValueError(f"global_step {variable.name!r} must be wider than {variable.dtype} to count to {number}")
    return number
