"""ArrayInterface: NumPy's operators, methods and attributes for objects that stand for an array.

Every operator and method calls the equivalent NumPy function, and NumPy's two protocols (`__array_ufunc__`, NEP 13;
`__array_function__`, NEP 18) route every NumPy function to one place: `_call`. Changes in place, and conversions to a
plain array that bypass these protocols, are refused.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import DTypeLike, NDArray

__all__ = ["ArrayInterface"]


def _method(function: Callable[..., Any]) -> Any:
    """The NumPy function as a method."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = f"See numpy.{function.__name__}."
    return method


class ArrayInterface(NDArrayOperatorsMixin):
    """Behaves like an array in NumPy expressions."""

    __slots__ = ()
    __hash__ = object.__hash__  # == compares elementwise; as a key, an object is compared by identity

    @abstractmethod
    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a function for arguments that include this object."""

    @abstractmethod
    def _ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a ufunc, or of one of its methods, for inputs that include this object."""

    @abstractmethod
    def _plain(self) -> NDArray[Any]:
        """The current array, for queries without a gradient: shape, dtype, truth value."""

    @abstractmethod
    def _written(self) -> None:
        """Take note that a NumPy function has written into the array."""

    @abstractmethod
    def _leave(self, what: str) -> Any:
        """The value, for code that does not record; an error that says `what` if that would lose a gradient."""

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._leave("conversion to a plain array"), dtype, copy=copy)

    def __float__(self) -> float:
        return float(self._leave("float()"))

    def __complex__(self) -> complex:
        return complex(self._leave("complex()"))

    def __int__(self) -> int:
        return int(self._leave("int()"))

    def __index__(self) -> int:
        return operator.index(self._leave("use as an index"))

    def item(self, *index: Any) -> Any:
        """One element as a Python number."""
        return np.asarray(self._leave("item()")).item(*index)

    def tolist(self) -> Any:
        """All elements as Python numbers."""
        return np.asarray(self._leave("tolist()")).tolist()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self._call(function, args, kwargs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's shape."""
        return self._plain().shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._plain().ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._plain().size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The array's dtype."""
        return self._plain().dtype

    def __len__(self) -> int:
        return len(self._plain())

    def __bool__(self) -> bool:
        return bool(self._plain())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self._call(operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            f"{type(self).__name__} does not support item assignment: "
            f"build the array with np.where, np.concatenate or np.stack"
        )

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """The array with its axes in reverse order."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        """The array with its last two axes exchanged."""
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        """The real part."""
        return np.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return np.imag(self)

    def reshape(self, *shape: Any, order: Any = "C") -> Any:
        """The same elements in another shape, given as one tuple or as several numbers."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)

    def transpose(self, *axes: Any) -> Any:
        """The array with its axes in another order, given as one tuple or as several numbers."""
        return np.transpose(self, (axes[0] if len(axes) == 1 else axes) if axes else None)

    def flatten(self, order: Any = "C") -> Any:
        """All elements along one axis."""
        return np.ravel(self, order=order)

    def compress(self, condition: Any, axis: Any = None) -> Any:
        """The slices along an axis for which the condition holds."""
        return np.compress(condition, self, axis=axis)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """The array in another dtype."""
        return self._call(np.ndarray.astype, (self, dtype, *args), kwargs)

    all: Callable[..., Any] = _method(np.all)
    any: Callable[..., Any] = _method(np.any)
    argmax: Callable[..., Any] = _method(np.argmax)
    argmin: Callable[..., Any] = _method(np.argmin)
    argpartition: Callable[..., Any] = _method(np.argpartition)
    argsort: Callable[..., Any] = _method(np.argsort)
    clip: Callable[..., Any] = _method(np.clip)
    conj: Callable[..., Any] = _method(np.conj)
    copy: Callable[..., Any] = _method(np.copy)
    cumprod: Callable[..., Any] = _method(np.cumprod)
    cumsum: Callable[..., Any] = _method(np.cumsum)
    diagonal: Callable[..., Any] = _method(np.diagonal)
    dot: Callable[..., Any] = _method(np.dot)
    max: Callable[..., Any] = _method(np.max)
    mean: Callable[..., Any] = _method(np.mean)
    min: Callable[..., Any] = _method(np.min)
    nonzero: Callable[..., Any] = _method(np.nonzero)
    prod: Callable[..., Any] = _method(np.prod)
    ravel: Callable[..., Any] = _method(np.ravel)
    repeat: Callable[..., Any] = _method(np.repeat)
    round: Callable[..., Any] = _method(np.round)
    searchsorted: Callable[..., Any] = _method(np.searchsorted)
    squeeze: Callable[..., Any] = _method(np.squeeze)
    std: Callable[..., Any] = _method(np.std)
    sum: Callable[..., Any] = _method(np.sum)
    swapaxes: Callable[..., Any] = _method(np.swapaxes)
    take: Callable[..., Any] = _method(np.take)
    trace: Callable[..., Any] = _method(np.trace)
    var: Callable[..., Any] = _method(np.var)
