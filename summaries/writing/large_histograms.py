"""Large histograms: the call copies the array, the background thread counts it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries import kinds
from summaries.native import library
from summaries.wire.scalars import encode_summary_event
from summaries.writing.deferred import Deferred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["LargeHistograms", "is_worth_deferring"]

_LARGE = 1 << 15  # elements: counting a smaller array takes no longer than deferring it


def is_worth_deferring(array: NDArray[Any], bins: Any) -> bool:
    """Whether counting takes much longer than copying the array; the histogram is the same either way."""
    is_compiled = isinstance(bins, str) and bins == "tensorflow" and library.is_available()
    return array.size > _LARGE and not is_compiled


class LargeHistograms:
    """Makes deferred records, and reuses the memory of finished ones: fresh pages take longer to get than to fill.

    Args:
        most_bytes: the memory of larger arrays is not kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._spare: deque[NDArray[Any]] = deque(maxlen=2)

    def deferred(
        self,
        tag: str,
        array: NDArray[Any],
        bins: str | int | Sequence[float],
        max_bins: int | None,
        step: int,
        wall_time: float,
    ) -> tuple[Deferred, int]:
        """The record of a histogram of the array as it is now, and the bytes that it holds until it is computed.

        Raises:
            TypeError: `max_bins` is not an integer, or the bins are not numbers.
            ValueError: the bins are invalid.
        """
        kinds.distribution.check_bins(bins, max_bins)
        copy = self._copied(array)

        def make() -> bytes:
            try:
                summary = kinds.histogram.histogram(tag, copy, bins, max_bins)
            except Exception as error:
                error.add_note(
                    f"histogram {tag!r} of step {step} could not be counted in the background and is not logged"
                )
                raise
            return encode_summary_event(summary.SerializeToString(), step, wall_time)

        def release() -> None:
            if copy.nbytes <= self._most_bytes:
                self._spare.append(copy)

        return Deferred(make, release), copy.nbytes

    def clear(self) -> None:
        """Release the memory kept for reuse."""
        self._spare.clear()

    def _copied(self, array: NDArray[Any]) -> NDArray[Any]:
        """The elements, in the order in which they are summed up."""
        flat = array.reshape(-1, order="A")
        try:
            spare = self._spare.pop()
        except IndexError:
            spare = flat[:0]
        if spare.shape != flat.shape or spare.dtype != flat.dtype:
            spare = np.empty_like(flat)
        np.copyto(spare, flat)
        return spare
