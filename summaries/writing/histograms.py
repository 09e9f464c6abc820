"""Histograms. Of a large array, the call makes a copy, and the background thread counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries import kinds
from summaries.native import library
from summaries.values import as_array, as_tag
from summaries.wire.scalars import encode_summary_event
from summaries.writing.event_file_writer import EventFileWriter
from summaries.writing.event_queue import Deferred

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["HistogramMethods", "deferred_histogram", "is_worth_deferring"]

_LARGE = 1 << 15  # elements: counting a smaller array takes no longer than deferring it


class HistogramMethods(EventFileWriter):
    """Methods that log histograms."""

    def __init__(self, logdir: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(logdir, **options)
        self._default_bins: Any = None

    @property
    def default_bins(self) -> Any:
        """What `add_histogram` takes for bins="tensorflow": the list of TensorFlow's edges, or what is set instead."""
        return kinds.tensorflow_bins.tensorflow_edges().tolist() if self._default_bins is None else self._default_bins

    @default_bins.setter
    def default_bins(self, bins: str | int | list[float]) -> None:
        self._default_bins = bins

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: str | int | Sequence[float] = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log how the elements of an array are distributed.

        NaN is not counted, and infinities are counted in the outermost bins, with a warning once per tag. A large array
        is copied, and counted in the background, unless compiled code counts it about as fast.

        Args:
            tag: the tag.
            values: array of any shape, of any number dtype; not empty. Of complex numbers, the real parts are counted.
            global_step: as in `add_scalar`.
            bins: "tensorflow" for TensorFlow's exponential bins, a name or a number that `numpy.histogram` takes, or
                the bins' edges, ascending.
            walltime: as in `add_scalar`.
            max_bins: join bins until there are at most this many; None leaves them.

        Raises:
            TypeError: the tag is not a string, or the array is not numeric.
            ValueError: the tag is not Unicode text, the array is empty, or the bins are invalid.

        Warns:
            NonFiniteWarning: the array has elements that are not finite.

        >>> import tempfile
        >>> from summaries import SummaryWriter, read_run
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_histogram("weights", np.arange(100.0), 0, bins=4)
        >>> read_run(writer.path).histograms["weights"][0].shape  # left, right and count of each bin
        (4, 3)
        """
        tag = as_tag(tag)
        if self._default_bins is not None and isinstance(bins, str) and bins == "tensorflow":
            bins = self._default_bins
        array = as_array(values)
        if is_worth_deferring(array, bins):
            step, now = self._event_step(global_step), self._event_time(walltime)
            self._run_file.add_record(*deferred_histogram(tag, array, bins, max_bins, step, now))
            self._run_file.flusher.wake()
            all_finite = bool(np.isfinite(array).all())
        else:
            distribution = kinds.distribution.distribution(array, bins, max_bins)
            self.add_summary(kinds.histogram.histogram_bytes(tag, distribution), global_step, walltime)
            all_finite = distribution.all_finite
        if not all_finite:
            written = "counts in the outermost bins, NaN in none"
            self._nonfinite_warnings.warn(tag, "values that are not finite", global_step, written)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,  # noqa: A002 - torch's names
        max: float,  # noqa: A002
        num: float,
        sum: float,  # noqa: A002
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a histogram that was computed elsewhere.

        Args:
            tag: the tag.
            min: the smallest value.
            max: the largest value.
            num: the number of values.
            sum: their sum.
            sum_squares: the sum of their squares.
            bucket_limits: [k], the upper limit of each bin, ascending.
            bucket_counts: [k], the number of values in each bin.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string.
            ValueError: the tag is not Unicode text, or the numbers of counts and limits differ.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_histogram_raw("dice", 1, 6, 4, 14, 66, [2, 4, 6], [1, 1, 2], 0)
        """
        summary = kinds.histogram.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self.add_summary(summary, global_step, walltime)


def is_worth_deferring(array: NDArray[Any], bins: Any) -> bool:
    """Whether counting takes much longer than copying the array; the histogram is the same either way."""
    is_compiled = isinstance(bins, str) and bins == "tensorflow" and library.is_available()
    return array.size > _LARGE and not is_compiled


def deferred_histogram(
    tag: str, array: NDArray[Any], bins: str | int | Sequence[float], max_bins: int | None, step: int, wall_time: float
) -> tuple[Deferred, int]:
    """The record of a histogram of the array as it is now, and the bytes that it holds until it is computed.

    Raises:
        TypeError: `max_bins` is not an integer, or the bins are not numbers.
        ValueError: the bins are invalid.
    """
    kinds.distribution.check_bins(bins, max_bins)
    values = array.reshape(-1, order="A").copy()  # in the order in which they are summed up

    def make() -> bytes:
        try:
            counted = kinds.distribution.distribution(values, bins, max_bins)
        except Exception as error:
            error.add_note(f"histogram {tag!r} of step {step} could not be counted in the background and is not logged")
            raise
        return encode_summary_event(kinds.histogram.histogram_bytes(tag, counted), step, wall_time)

    return Deferred(make), values.nbytes
