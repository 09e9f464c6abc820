"""What a checkpoint keeps of an object: named arrays, and the way back.

An optimizer or a moving average makes the Variables that it keeps beside those of a model only when it first needs
them; a process that has just begun, and is about to restore, has none yet. So such an object is asked for its `state`
with the model's variables, and on the way back with what the checkpoint holds: its entries say what each array of the
checkpoint has to look like, and make what is to hold it, but only when they are assigned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.variable import Variable

__all__ = ["Entry", "Stateful", "check_listed"]


class Entry(NamedTuple):
    """One array of a checkpoint.

    Attributes:
        name: what the checkpoint calls it.
        value: what it is now; what is restored has this shape and dtype.
        assign: takes what was restored.
        grows: whether it may come back with another length.
    """

    name: str
    value: NDArray[Any]
    assign: Callable[[NDArray[Any]], None]
    grows: bool = False

    @classmethod
    def of_variable(cls, variable: Variable, name: str | None = None) -> Entry:
        """A Variable, under its own name or another."""
        return cls(name or variable.name, variable.value, variable.assign)

    @classmethod
    def of_count(cls, name: str, count: int, assign: Callable[[int], None]) -> Entry:
        """A whole number."""
        return cls(name, np.array(count, np.int64), lambda array: assign(int(array)))


class Stateful(Protocol):
    """What a Saver takes beside Variables."""

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[Entry]:
        """What there is to save, or to restore.

        Args:
            variables: the model's, which are saved beside.
            stored: the names in the checkpoint that is to be restored; None, where one is to be made. Nothing may
                change before an entry is assigned; they are, in order, if they all fit.
        """


def check_listed(what: str, known: Iterable[Variable], variables: Sequence[Variable]) -> None:
    """Refuse a state that no fresh process could restore, because it belongs to variables that are not saved.

    Raises:
        ValueError: one that is known is not among the variables.
    """
    others = sorted(variable.name for variable in set(known).difference(variables))
    if others:
        raise ValueError(f"{what} keeps something for variables that the Saver was not given: {others}")
