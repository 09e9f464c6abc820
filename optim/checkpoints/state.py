"""The state of an object in a checkpoint: named arrays, and how to restore them.

An optimizer or a moving average creates its own Variables only when it first needs them; a fresh process that is about
to restore does not have them yet. So `state` takes the model's variables and, for restoring, the names in the
checkpoint: its entries give the expected shape and dtype of each array, and create the Variable for it only when they
are assigned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.variable import Variable

__all__ = ["CheckpointArray", "Stateful", "check_listed"]


class CheckpointArray(NamedTuple):
    """One array of a checkpoint.

    Attributes:
        name: its name in the checkpoint.
        value: its current value; a restored array has the same shape and dtype.
        assign: takes the restored array.
        grows: whether the restored array may have another length.
    """

    name: str
    value: NDArray[Any]
    assign: Callable[[NDArray[Any]], None]
    grows: bool = False

    @classmethod
    def of_variable(cls, variable: Variable, name: str | None = None) -> CheckpointArray:
        """The entry of a Variable, under its own name or another."""
        return cls(name or variable.name, variable.value, variable.assign)

    @classmethod
    def of_count(cls, name: str, count: int, assign: Callable[[int], None]) -> CheckpointArray:
        """The entry of an integer."""
        return cls(name, np.array(count, np.int64), lambda array: assign(int(array)))


class Stateful(Protocol):
    """An object that a Saver takes besides Variables."""

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        """The entries to save or to restore.

        Args:
            variables: the model's Variables, which the Saver saves itself.
            stored: the names in the checkpoint to restore; None when saving. Nothing may change before an entry is
                assigned; if all of them fit, they are assigned in order.
        """


def check_listed(what: str, owners: Iterable[Variable], variables: Sequence[Variable]) -> None:
    """Refuse a state that a fresh process could not restore, because it belongs to variables that are not saved.

    Raises:
        ValueError: a variable in `known` is not among `variables`.
    """
    others = sorted(variable.name for variable in set(owners).difference(variables))
    if others:
        raise ValueError(f"{what} keeps state for variables that the Saver was not given: {others}")
