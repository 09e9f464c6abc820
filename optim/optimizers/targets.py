"""Targets: the arrays that steps over the same variables change, as long as these are the same arrays."""

from __future__ import annotations

import operator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels.engine import engine
from optim.kernels.plan import Plan
from optim.variable import IndexedSlices, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["Targets", "check_slots"]

_value = operator.attrgetter("value")


def check_slots(variable: Variable, slots: dict[str, Variable]) -> None:
    """Check that slots fit the variable: a kernel would write past the end of smaller ones.

    Raises:
        ValueError: a slot's array does not have the variable's shape and dtype, or is read-only.
    """
    wanted = variable.value
    for name, slot in slots.items():
        array = slot.value
        what = f"slot {name!r} of {variable.name!r}"
        if (array.shape, array.dtype) != (wanted.shape, wanted.dtype):
            right, got = (f"{each.dtype} of shape {each.shape}" for each in (wanted, array))
            raise ValueError(f"{what} must be {right} to match the variable, got {got}")
        if not array.flags.writeable:
            raise ValueError(f"{what} must be a writable array, got a read-only one")


class Targets:
    """The arrays that steps over the same variables change, and the plans for them.

    Args:
        rule: the formula.
        groups: for each variable, the variable itself and its slots.

    Attributes:
        arrays: for each variable, its array and its slots'.
        sizes: int64[variables]: their numbers of elements.
    """

    def __init__(self, rule: Rule, groups: Sequence[Sequence[Variable]]) -> None:
        self._rule = rule
        self._holders = tuple(chain.from_iterable(groups))
        self._flat: tuple[NDArray[Any], ...] = tuple(map(_value, self._holders))
        self.arrays: list[tuple[Any, ...]] = [tuple(map(_value, group)) for group in groups]
        self.sizes: NDArray[np.int64] = np.array([arrays[0].size for arrays in self.arrays], np.int64)
        self._plans: dict[tuple[int, ...], Plan] = {}
        self._learn_memory()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_owners": None, "_ranges": None}  # a copy's arrays are elsewhere

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._learn_memory()

    def _learn_memory(self) -> None:
        owners = [_owner(array) for array in self._flat]
        self._owners = None if None in owners else frozenset(owners)
        self._ranges = _ranges(self._flat)

    def are_current(self) -> bool:
        """Whether every Variable still has the same array."""
        return all(map(operator.is_, map(_value, self._holders), self._flat))

    def plan(self, chosen: Sequence[int]) -> Plan:
        """The plan for these of the variables, which must have the same dtype."""
        key = tuple(chosen)
        if key not in self._plans:
            self._plans[key] = Plan(self._rule, [self.arrays[i] for i in chosen])
        return self._plans[key]

    def apart(self, gradients: Sequence[NDArray[Any] | IndexedSlices]) -> Sequence[NDArray[Any] | IndexedSlices]:
        """The gradients; those that share memory with arrays that the step changes are copied."""
        owners = self._owners
        suspects = [
            i
            for i, gradient in enumerate(gradients)
            if owners is None
            or (owner := _owner(gradient.values if isinstance(gradient, IndexedSlices) else gradient)) is None
            or owner in owners
        ]
        if not suspects:
            return gradients
        ranges = _ranges([g.values if isinstance(g, IndexedSlices) else g for g in (gradients[i] for i in suspects)])
        shared = (ranges[:, :1] < self._ranges[:, 1]) & (self._ranges[:, 0] < ranges[:, 1:])
        apart = list(gradients)
        for k in np.flatnonzero(shared.any(axis=1)).tolist():
            apart[suspects[k]] = _copied(gradients[suspects[k]])
        return apart


def _owner(array: NDArray[Any]) -> int | None:
    """The id of the NumPy array that owns the elements' memory; None if no NumPy array owns it."""
    while not array.flags.owndata:
        base = array.base
        if not isinstance(base, np.ndarray):
            return None
        array = base
    return id(array)


def _ranges(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """int64[arrays, 2]: the start and end address of each array."""
    ranges = np.empty((len(arrays), 2), np.int64)
    ranges[:, 0] = engine().addresses(arrays)
    ranges[:, 1] = ranges[:, 0] + [array.nbytes for array in arrays]
    for i, array in enumerate(arrays):
        if not array.flags.c_contiguous:
            ranges[i] = np.lib.array_utils.byte_bounds(array)
    return ranges


def _copied(gradient: NDArray[Any] | IndexedSlices) -> NDArray[Any] | IndexedSlices:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values.copy(), gradient.indices, gradient.dense_shape)
    return gradient.copy()
