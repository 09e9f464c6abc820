"""Checks gradients against their variables, and sums rows of the same index."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.variable import FLOATING, NATIVE_FLOATING, IndexedSlices, Variable
from summaries.foreign_arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["checked_pairs", "unique_rows"]

_PAIR = (tuple, list)  # for `isinstance`, which takes three times as long with a union made anew
_UNKNOWN_SHAPE = (1,)  # TensorFlow does not look at a dense_shape here, and programs give this one for any variable


def checked_pairs(
    grads_and_vars: Iterable[tuple[Any, Variable]],
) -> tuple[list[NDArray[Any] | IndexedSlices], list[Variable]]:
    """Return the gradients that are not None, as arrays, and their variables.

    Raises:
        TypeError: an item is not a pair, a gradient is not an array, or a variable is not a Variable.
        ValueError: there is no gradient; a gradient does not fit its variable; a variable is read-only, or given twice.
    """
    try:
        given = iter(grads_and_vars)
    except TypeError:
        raise TypeError(f"grads_and_vars must be pairs (gradient, Variable), got {_brief(grads_and_vars)}") from None
    pairs = list(given)
    if not pairs:
        raise ValueError("No variables provided: grads_and_vars is empty")
    gradients: list[NDArray[Any] | IndexedSlices] = []
    variables: list[Variable] = []
    seen: set[int] = set()
    for pair in pairs:
        if not isinstance(pair, _PAIR) or len(pair) != 2:  # noqa: PLR2004
            raise TypeError(f"grads_and_vars must be pairs (gradient, Variable), got one that is {_brief(pair)}")
        gradient, variable = pair
        if not isinstance(variable, Variable):
            raise TypeError(f"variable must be a Variable, got {_brief(variable)}")
        if gradient is None:
            continue
        _check_writeable(variable)
        if id(variable) in seen:
            raise ValueError(f"variable {variable.name!r} is given twice")
        seen.add(id(variable))
        gradients.append(_gradient_for(variable, gradient))
        variables.append(variable)
    if not variables:
        names = [variable.name for _, variable in pairs]
        raise ValueError(f"No gradients provided for any variable: {names}")
    return gradients, variables


def _check_writeable(variable: Variable) -> None:
    try:
        writeable = variable.value.flags.writeable
    except AttributeError:  # the caller has set it to something else
        got = _brief(variable.value)
        raise TypeError(f"the value of variable {variable.name!r} must be a NumPy array, got {got}") from None
    if not writeable:
        raise ValueError(f"variable {variable.name!r} must be writable, got a read-only array")


def _brief(value: object) -> str:
    return f"{type(value).__name__}: {reprlib.repr(value)}"


def _gradient_for(variable: Variable, gradient: Any) -> NDArray[Any] | IndexedSlices:
    """Check a gradient against its variable, and return it as an array or IndexedSlices.

    Raises:
        TypeError: the gradient is neither an array nor IndexedSlices.
        ValueError: the shape or dtype is not the variable's; indices are out of range; the variable does not have a
            floating dtype.
    """
    value = variable.value
    if (
        type(gradient) is np.ndarray and gradient.dtype in NATIVE_FLOATING and gradient.dtype == value.dtype
    ):  # the usual case
        array: NDArray[Any] | None = gradient
    else:
        array = _converted(variable, gradient)
    if array is not None and array.shape == value.shape:
        return array
    if isinstance(gradient, IndexedSlices):
        return _rows_for(variable, gradient)
    shape = getattr(array, "shape", None)
    raise ValueError(f"gradient of {variable.name!r} must have the variable's shape {value.shape}, got {shape}")


def _converted(variable: Variable, gradient: Any) -> NDArray[Any] | None:
    """The gradient as an array of the variable's dtype; None for IndexedSlices of that dtype."""
    what, value = f"gradient of {variable.name!r}", variable.value
    array = to_numpy(gradient.values if isinstance(gradient, IndexedSlices) else gradient, what)
    if array is None:
        raise TypeError(f"{what} must be an array, IndexedSlices or None, got {_brief(gradient)}")
    if value.dtype.name not in FLOATING:
        raise ValueError(f"variable {variable.name!r} must be of {', '.join(FLOATING)}, got {value.dtype}")
    if array.dtype.newbyteorder("=") != value.dtype.newbyteorder("="):
        raise ValueError(f"{what} must have the variable's dtype {value.dtype}, got {array.dtype}")
    return None if isinstance(gradient, IndexedSlices) else array.astype(value.dtype, copy=False)


def _rows_for(variable: Variable, gradient: IndexedSlices) -> IndexedSlices:
    what = f"gradient of {variable.name!r}"
    shape, rows = variable.shape, gradient.values
    if not shape:
        raise ValueError(f"{what} must be one number, like the variable, got IndexedSlices")
    if rows.shape[1:] != shape[1:]:
        raise ValueError(f"{what} must have rows of the variable's shape {shape[1:]}, got {rows.shape[1:]}")
    if gradient.dense_shape is not None and tuple(gradient.dense_shape) not in (shape, _UNKNOWN_SHAPE):
        raise ValueError(f"{what} must have the variable's shape {shape}, got a dense_shape of {gradient.dense_shape}")
    if gradient.indices.size:
        least, most = int(gradient.indices.min()), int(gradient.indices.max())
        if least < 0 or most >= shape[0]:
            wrong = least if least < 0 else most
            right = f"indices from 0 to {shape[0] - 1}" if shape[0] else "no indices, since the variable has no rows"
            raise ValueError(f"{what} must have {right}, got {wrong}")
    return gradient


def unique_rows(gradient: IndexedSlices) -> tuple[NDArray[Any], NDArray[Any]]:
    """(indices, rows): unique indices in ascending order, with rows of the same index summed."""
    indices = gradient.indices.astype(np.intp, copy=False)
    unique, where = np.unique(indices, return_inverse=True)
    if len(unique) == len(indices):
        return unique, gradient.values[np.argsort(indices)]
    summed = np.zeros((len(unique), *gradient.values.shape[1:]), gradient.dtype)
    np.add.at(summed, where.reshape(-1), gradient.values)
    return unique, summed
