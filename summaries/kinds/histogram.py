"""Histogram summaries: how many values fall into each bin. Pure (no I/O).

A HistogramProto holds each bin's upper limit and count; bin i counts the values in [limit[i - 1], limit[i]). The
default limits are TensorFlow's: 0 and plus and minus 1e-12 * 1.1^k, up to 1e20.
"""

from __future__ import annotations

import struct
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.distribution import Distribution, distribution
from summaries.values import as_array, as_float, as_tag, check_tag
from summaries.wire.pb import HistogramProto, Summary
from summaries.wire.protobuf import OurBytes, field

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["histogram", "histogram_bytes", "histogram_raw"]


def histogram(
    tag: str, values: Any, bins: str | int | Sequence[float] = "tensorflow", max_bins: int | None = None
) -> Summary:
    """A Summary of how the elements of an array are distributed.

    NaN is not counted, and infinities are counted in the outermost bins; neither distorts the rest.

    Args:
        tag: the tag.
        values: an array, any shape, of any number dtype. Of complex numbers, the real parts are counted.
        bins: "tensorflow" for TensorFlow's exponential bins, a name or a number that `numpy.histogram` takes, or the
            bins' edges, ascending.
        max_bins: join bins until there are at most this many.

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is not Unicode text, the array is empty, or the bins are invalid.

    >>> proto = histogram("w", [0.0, 1.0, 1.0, 3.0], bins=3).value[0].histo
    >>> list(proto.bucket_limit), list(proto.bucket)
    ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 1.0])
    """
    text = as_tag(tag)
    return Summary.FromString(histogram_bytes(text, distribution(as_array(values), bins, max_bins)))


def histogram_raw(
    tag: str,
    min: float,  # noqa: A002 - torch's names
    max: float,  # noqa: A002
    num: float,
    sum: float,  # noqa: A002
    sum_squares: float,
    bucket_limits: Sequence[float],
    bucket_counts: Sequence[float],
) -> Summary:
    """A Summary of a histogram that was computed elsewhere.

    Args:
        tag: the tag.
        min: the smallest value.
        max: the largest value.
        num: the number of values.
        sum: their sum.
        sum_squares: the sum of their squares.
        bucket_limits: [k], the upper limit of each bin, ascending.
        bucket_counts: [k], the number of values in each bin.

    Raises:
        TypeError: the tag is not a string.
        ValueError: the tag is not Unicode text, or the numbers of counts and limits differ.

    >>> proto = histogram_raw("dice", 1, 6, 4, 14, 66, [2, 4, 6], [1, 1, 2]).value[0].histo
    >>> proto.num, list(proto.bucket)
    (4.0, [1.0, 1.0, 2.0])
    """
    check_tag(tag)
    limits, counts = as_array(bucket_limits, "bucket_limits"), as_array(bucket_counts, "bucket_counts")
    if limits.ndim != 1 or counts.ndim != 1:
        raise ValueError(f"bucket_limits and bucket_counts must be lists, got shapes {limits.shape} and {counts.shape}")
    if limits.shape != counts.shape:
        raise ValueError(
            f"bucket_limits and bucket_counts must have the same length, got {len(limits)} and {len(counts)}"
        )
    proto = HistogramProto(
        min=as_float(min, "min"),
        max=as_float(max, "max"),
        num=as_float(num, "num"),
        sum=as_float(sum, "sum"),
        sum_squares=as_float(sum_squares, "sum_squares"),
        bucket_limit=limits.astype(np.float64).tolist(),
        bucket=counts.astype(np.float64).tolist(),
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def histogram_bytes(tag: str, counted: Distribution) -> OurBytes:
    """The Summary's bytes: given a list for each of hundreds of bins, protobuf takes longer than counting."""
    moments = _MOMENTS.pack(*chain.from_iterable(zip(_MOMENT_KEYS, counted.moments, strict=True)))
    limits, counts = (column.astype("<f8").tobytes() for column in (counted.limits, counted.counts))
    histo = moments + field(_LIMITS, limits) + field(_COUNTS, counts)
    return OurBytes(field(_VALUES, field(_TAG, tag.encode()) + field(_HISTO, histo)))


_MOMENTS = struct.Struct("<" + 5 * "Bd")
_MOMENT_KEYS = 0x09, 0x11, 0x19, 0x21, 0x29  # of HistogramProto's min, max, num, sum and sum_squares
_LIMITS, _COUNTS = 0x32, 0x3A  # keys of its bucket_limit and bucket
_VALUES, _TAG, _HISTO = 0x0A, 0x0A, 0x2A  # keys of Summary.value, and of Summary.Value's tag and histo
