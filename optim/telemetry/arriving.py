"""What is measured on a device, without a wait: its numbers are fetched while the next step is made.

A transfer that waits keeps the device idle until the next work is sent to it, which can cost a fifth of a step.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Arriving", "Fetched", "numbers_of"]

Value = TypeVar("Value")
Other = TypeVar("Other")


class _Arrives(Protocol):
    @property
    def has_arrived(self) -> bool: ...


class Fetched:
    """Numbers on their way from a device.

    Args:
        numbers: a torch tensor of one dimension. From CUDA it comes without a wait; elsewhere `values` waits.
    """

    def __init__(self, numbers: Any) -> None:
        self._numbers, self._event = numbers, None
        if numbers.is_cuda:
            torch = sys.modules["torch"]
            self._numbers = numbers.to("cpu", non_blocking=True)  # into memory that is pinned
            self._event = torch.cuda.Event()
            self._event.record(torch.cuda.current_stream(numbers.device))

    @property
    def has_arrived(self) -> bool:
        """Whether `values` returns at once."""
        return self._event is None or bool(self._event.query())

    def values(self) -> NDArray[np.float64]:
        """float64[numbers], once they are there; the caller may change them."""
        if self._event is not None:
            self._event.synchronize()
        values: NDArray[np.float64] = self._numbers.detach().cpu().double().numpy()
        return values


class Arriving(Generic[Value]):
    """A value that is made once all numbers that it needs are there.

    Args:
        needs: `Fetched`, or other values that arrive.
        make: makes the value; called once.

    Attributes:
        is_at_hand: whether it needed nothing from elsewhere.

    >>> Arriving.of(3).then(lambda number: number + 1).value()
    4
    """

    def __init__(self, needs: Sequence[_Arrives], make: Callable[[], Value]) -> None:
        self.is_at_hand: bool = not needs
        self._needs, self._make = needs, make
        self._made: list[Value] = []

    @classmethod
    def of(cls, value: Value) -> Self:
        """A value that is there."""
        return cls((), lambda: value)

    @property
    def has_arrived(self) -> bool:
        """Whether `value` returns at once."""
        return bool(self._made) or all(need.has_arrived for need in self._needs)

    def value(self) -> Value:
        """The value; waits for it."""
        if not self._made:
            self._made.append(self._make())
            self._needs = ()
            del self._make  # and what it holds
        return self._made[0]

    def then(self, make: Callable[[Value], Other], *needs: _Arrives) -> Arriving[Other]:
        """What becomes of the value, and perhaps of more numbers."""
        return Arriving((self, *needs), lambda: make(self.value()))


def numbers_of(tensors: Sequence[Any]) -> Arriving[list[float]]:
    """The numbers that torch tensors of no dimension hold, which may be of any dtype and on any device."""
    alike: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensors):
        alike.setdefault((tensor.device, tensor.dtype), []).append(i)
    torch = sys.modules["torch"]
    fetched = [(there, Fetched(torch.stack([tensors[i] for i in there]))) for there in alike.values()]

    def filled() -> list[float]:
        numbers = [math.nan] * len(tensors)
        for there, values in fetched:
            for i, value in zip(there, values.values().tolist(), strict=True):
                numbers[i] = value
        return numbers

    return Arriving([values for _, values in fetched], filled)
