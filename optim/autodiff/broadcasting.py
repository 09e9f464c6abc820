"""Helpers of derivatives: undo broadcasting or a reduction, and divide with 0 / 0 = 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from optim.recording.compositions import NO_VALUE

__all__ = ["expanded", "quotient", "unbroadcast"]


def unbroadcast(g: Any, target: Any) -> Any:
    """The gradient of the array that was broadcast: summed over the added or stretched axes."""
    shape = np.shape(target)
    if np.shape(g) == shape:
        return g
    ndim = np.ndim(g)
    lead = ndim - len(shape)
    axes = (*range(lead), *(i + lead for i, size in enumerate(shape) if size == 1 and np.shape(g)[i + lead] != 1))
    summed = np.sum(g, axis=axes) if axes else g
    return np.reshape(summed, shape)


def expanded(g: Any, shape: tuple[int, ...], axis: Any, keepdims: Any) -> Any:
    """A reduction's result with the reduced axes restored, at length 1."""
    if not keepdims or keepdims is NO_VALUE:
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        reduced = {a % len(shape) for a in axes} if shape else set()
        g = np.reshape(g, [1 if i in reduced else size for i, size in enumerate(shape)])
    return g


def quotient(a: Any, b: Any) -> Any:
    """The quotient a / b; 0 where b is 0."""
    zero = np.equal(b, 0)
    return np.where(zero, np.zeros((), np.result_type(a)), a / np.where(zero, np.ones((), np.result_type(b)), b))
