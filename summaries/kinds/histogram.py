"""Histogram summaries: how many values fall into each bin. Pure (no I/O).

A HistogramProto holds each bin's upper limit and count; bin i counts the values in [limit[i - 1], limit[i]). The
default limits are TensorFlow's: 0 and plus and minus 1e-12 * 1.1^k, up to 1e20.
"""

from __future__ import annotations

import math
import struct
import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.values import as_array, as_count, as_float, check_tag
from summaries.wire.pb import HistogramProto, Summary
from summaries.wire.protobuf import varint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    # Edges, counts, and (the smallest value, the largest, how many, their sum, the sum of their squares).
    _Counted = tuple[NDArray[np.float64], NDArray[Any], tuple[float, ...]]

__all__ = ["all_finite", "check_bins", "histogram", "histogram_raw", "make_histogram"]

_MAX_BINS = 4096  # 'auto' and similar rules may ask for billions when values lie far apart
_MOST_BINS = 1 << 20  # the most that a caller may ask for by number
_OUTERMOST = 1e20  # where TensorFlow's bins end
_SMALL = 1 << 9  # elements: NumPy counts fewer as fast as the compiled counter
_LARGE = 1 << 17  # elements: only for such arrays is the compiled counter loaded,
_MANY = 1 << 24  # and is loaded after this many in such arrays: counting them took as long as loading it does
_BLOCK = 1 << 12  # elements: that many float32 squares are summed in float32, and the sums in float64
_DOUBLE = struct.Struct("<d")
_large_elements = 0


def histogram(
    tag: str, values: Any, bins: str | int | Sequence[float] = "tensorflow", max_bins: int | None = None
) -> Summary:
    """A Summary of how the elements of an array are distributed.

    NaN is not counted, and infinities are counted in the outermost bins; neither distorts the rest.

    Args:
        tag: the tag.
        values: an array, any shape, of any number dtype.
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
    check_tag(tag)
    check_bins(bins, max_bins)
    array = as_array(values)
    if not array.size:
        raise ValueError("values must have at least one element, got an empty array")
    return Summary(value=[Summary.Value(tag=tag, histo=make_histogram(array, bins, max_bins))])


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


def all_finite(array: NDArray[Any]) -> bool:
    """Whether the array holds neither NaN nor infinity. A sum of squares nearly always decides it in one pass."""
    flat = array.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(flat, flat)) or np.isfinite(flat).all())


def check_bins(bins: Any, max_bins: int | None) -> None:
    """Refuse invalid bins, before any work is deferred.

    Raises:
        TypeError: `max_bins` is not an integer, or the edges are not numbers.
        ValueError: the name is unknown, a number is out of range, or the edges are not finite and ascending.
    """
    if max_bins is not None:
        as_count(max_bins, "max_bins")
    if isinstance(bins, str):
        if bins != "tensorflow" and bins not in _RULES:
            raise ValueError(f"bins must be one of {['tensorflow', *_RULES]}, a number or edges, got {bins!r}")
    elif isinstance(bins, (int, np.integer)):
        as_count(bins, "bins", most=_MOST_BINS)
    elif np.ndim(bins) != 1:
        raise ValueError(f"bins must be a name, a number or a list of edges, got {bins!r}")
    else:
        edges = as_array(bins, "bins")
        if len(edges) < 2 or not np.isfinite(edges).all() or np.any(edges[1:] < edges[:-1]):  # noqa: PLR2004 - one bin
            raise ValueError(f"bins must be at least two edges, finite and ascending, got {list(bins)}")


def make_histogram(array: NDArray[Any], bins: Any = "tensorflow", max_bins: int | None = None) -> HistogramProto:
    """The HistogramProto of an array that is not empty, for bins that `check_bins` accepted."""
    values = array.reshape(-1)
    fast = isinstance(bins, str) and bins == "tensorflow" and _is_compiled_worth_it(values)
    counted = (_tallied(values) if fast else None) or _counted(values, bins)
    if counted is None:  # nothing but NaN
        return HistogramProto(bucket_limit=[0.0], bucket=[0.0])
    edges, counts, moments = counted
    if max_bins is not None:
        edges, counts = _join(edges, counts, max_bins)
    return _encoded(*_trim(edges, counts), moments)


def _counted(values: NDArray[Any], bins: Any) -> _Counted | None:
    """What NumPy counts; None if there is nothing but NaN."""
    values = _finite(values)
    if not values.size:
        return None
    lowest, highest = float(values.min()), float(values.max())
    edges = _edges(values, bins, lowest, highest)
    total = float(np.sum(values, dtype=np.float64))
    moments = lowest, highest, values.size, total, _sum_of_squares(values)
    return edges, np.histogram(values, edges)[0], moments


def _tallied(values: NDArray[np.float32]) -> _Counted | None:
    """What the compiled counter counts; None if not all values are finite."""
    from summaries.kinds.tally import tally  # noqa: PLC0415 - needs numba

    inner = tensorflow_edges()
    counts, total, squares, lowest, highest = tally(values, inner)
    if not math.isfinite(squares):
        return None
    edges = _edges(values, "tensorflow", lowest, highest)
    first, last = np.searchsorted(edges, (inner[0], inner[-1]))
    counts[-2] += 0 if last + 1 < len(edges) else counts[-1]  # the last bin includes its upper edge
    return edges, counts[1 - first : len(edges) - first], (lowest, highest, values.size, total, squares)


def _encoded(limits: NDArray[np.float64], counts: NDArray[Any], moments: tuple[float, ...]) -> HistogramProto:
    """The message, from its bytes: given a list for each of hundreds of bins, protobuf takes longer than counting."""
    data = b"".join(bytes([8 * field + 1]) + _DOUBLE.pack(value) for field, value in enumerate(moments, 1))
    for field, column in enumerate((limits, counts), 6):
        packed = column.astype("<f8").tobytes()
        data += bytes([8 * field + 2]) + varint(len(packed)) + packed
    return HistogramProto.FromString(data)


def _sum_of_squares(values: NDArray[Any]) -> float:
    """In blocks: a float32 sum of millions of squares is wrong from the sixth digit on."""
    with np.errstate(over="ignore"):
        blocks = (values[start : start + _BLOCK] for start in range(0, values.size, _BLOCK))
        squares = sum(float(np.dot(block, block)) for block in blocks)
        if math.isinf(squares):  # beyond float32, perhaps
            wide = values.astype(np.float64)
            squares = float(np.dot(wide, wide))
    return squares


def _is_compiled_worth_it(values: NDArray[Any]) -> bool:
    """Whether the compiled counter accepts these values, and loading it pays off soon."""
    global _large_elements  # noqa: PLW0603 - a hint that threads may miscount
    if values.dtype != np.float32 or not _SMALL <= values.size < 1 << 32 or not values.flags.c_contiguous:
        return False
    if "summaries.kinds.tally" in sys.modules:
        return True
    if values.size < _LARGE:
        return False
    _large_elements += values.size
    return "numba" in sys.modules or (_large_elements > _MANY and find_spec("numba") is not None)


def _finite(values: NDArray[Any]) -> NDArray[Any]:
    """The values without NaN, infinities moved to the outermost finite values; in a dtype suited to summing."""
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    if all_finite(values):
        return values
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    bounds = (finite.min(), finite.max()) if finite.size else (-_OUTERMOST, _OUTERMOST)
    return np.clip(wide[~np.isnan(wide)], *bounds)


_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")  # numpy.histogram's names


@cache
def tensorflow_edges() -> NDArray[np.float64]:
    """The default edges, computed by repeated multiplication as in TensorFlow."""
    positive = []
    edge = 1e-12
    while edge < _OUTERMOST:
        positive.append(edge)
        edge *= 1.1
    return np.array([*(-edge for edge in reversed(positive)), 0.0, *positive])


def _edges(values: NDArray[Any], bins: Any, lowest: float, highest: float) -> NDArray[np.float64]:
    """The edges of bins that cover every value."""
    if isinstance(bins, str) and bins != "tensorflow":
        bins = _number_of_bins(values, bins, lowest, highest)
    if isinstance(bins, (int, np.integer)):
        return _even_edges(lowest, highest, int(bins))
    edges = tensorflow_edges() if isinstance(bins, str) else np.asarray(bins, np.float64)
    below = [lowest] if lowest < edges[0] else []
    above = [highest] if highest > edges[-1] else []
    return np.concatenate((below, edges, above))


def _even_edges(lowest: float, highest: float, count: int) -> NDArray[np.float64]:
    if lowest == highest:
        margin = max(0.5, abs(lowest) * 1e-6)  # NumPy's half, unless it would vanish next to the value
        lowest, highest = lowest - margin, highest + margin
    edges = np.linspace(lowest / 2, highest / 2, count + 1) * 2  # halved: the range itself may be beyond float64
    edges[0], edges[-1] = lowest, highest
    return np.unique(edges)  # neighbours that float64 cannot tell apart are one


def _number_of_bins(values: NDArray[Any], rule: str, lowest: float, highest: float) -> int:
    """The number of bins that numpy.histogram's rule asks for, capped: a few far outliers make it ask for billions."""
    # Scaled by a power of two, which changes no ratio, so that differences and squares stay within float64.
    _, exponent = math.frexp(max(abs(lowest), abs(highest)))
    values = np.ldexp(values.astype(np.float64), -exponent)
    spread = math.ldexp(highest, -exponent) - math.ldexp(lowest, -exponent)
    low, high = np.percentile(values, [25, 75])
    reach = 100 * (high - low) or max(abs(low), 1.0)
    middle = np.clip(values, low - reach, high + reach)
    if middle.min() == middle.max():
        return 1
    try:
        edges = np.histogram_bin_edges(middle, rule)
    except ValueError:  # more bins than there are float64 numbers in the range
        return _MAX_BINS
    return int(min(np.ceil(spread / (edges[1] - edges[0]) - 1e-9), _MAX_BINS)) or 1


def _join(edges: NDArray[Any], counts: NDArray[Any], max_bins: int) -> tuple[NDArray[Any], NDArray[Any]]:
    factor = math.ceil(len(counts) / max_bins)
    joined = np.add.reduceat(counts, np.arange(0, len(counts), factor))
    return np.concatenate((edges[:-1:factor], edges[-1:])), joined


def _trim(edges: NDArray[Any], counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Upper limits and counts without the empty bins at both ends; one on the left remains, to give the first edge."""
    occupied = np.flatnonzero(counts)
    first, last = int(occupied[0]), int(occupied[-1])
    return edges[first : last + 2], np.concatenate(([0], counts[first : last + 1]))
