"""How an array's elements are distributed: bins, counts and moments. Pure (no I/O)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.kinds.counting import BinCounts, count
from summaries.kinds.sums import add_up, sums_of_blocks
from summaries.kinds.tensorflow_bins import tensorflow_edges
from summaries.values import as_array, as_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Distribution", "check_bins", "distribution"]

_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")  # numpy.histogram's names
_MOST_BINS = 1 << 20  # the most that a caller may ask for by number
_MAX_BINS = 4096  # 'auto' and similar rules may ask for billions when values lie far apart


class Distribution(NamedTuple):
    """What a histogram says.

    Attributes:
        limits: the upper limit of each bin, ascending.
        counts: how many values are in each bin.
        moments: the smallest value, the largest, how many, their sum, the sum of their squares.
        all_finite: whether every element was; NaN is not counted.
    """

    limits: NDArray[np.float64]
    counts: NDArray[Any]
    moments: tuple[float, ...]
    all_finite: bool


_NOTHING = Distribution(np.zeros(1), np.zeros(1), (0.0,) * 5, all_finite=False)


def distribution(array: NDArray[Any], bins: Any = "tensorflow", max_bins: int | None = None) -> Distribution:
    """The distribution of an array.

    Args:
        array: any shape, any dtype of real numbers.
        bins: as in `histogram`.
        max_bins: as in `histogram`.

    Raises:
        TypeError: `max_bins` is not an integer, or the edges are not numbers.
        ValueError: the bins are invalid, or the array is empty.
    """
    check_bins(bins, max_bins)
    if not array.size:
        raise ValueError("values must have at least one element, got an empty array")
    tally = count(array)
    if not tally.number:  # nothing but NaN
        return _NOTHING
    is_ours = isinstance(bins, str) and bins == "tensorflow"
    edges, counts, moments, finite = _by_tensorflow(tally) if is_ours else _by_numpy(array, bins, tally)
    if max_bins is not None:
        edges, counts = _join(edges, counts, max_bins)
    return Distribution(*_trim(edges, counts), moments, finite)


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


def _by_tensorflow(tally: BinCounts) -> Distribution:
    """All bins that TensorFlow has, and one more at either end if a value is beyond; here with their edges."""
    edges, counts = tensorflow_edges(), tally.counts
    below = [tally.lowest] if tally.lowest < edges[0] else []
    above = [tally.highest] if tally.highest > edges[-1] else []
    if not above:
        counts[-2] += counts[-1]  # the last bin includes its upper edge
    limits = np.concatenate((below, edges, above)) if below or above else edges
    return Distribution(limits, counts[1 - len(below) :][: len(limits) - 1], _moments(tally), tally.all_finite)


def _by_numpy(array: NDArray[Any], bins: Any, tally: BinCounts) -> Distribution:
    """What NumPy counts; here with the bins' edges."""
    values = array.reshape(-1)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    if not tally.all_finite:  # infinities are moved to the outermost finite values
        values = np.clip(values[~np.isnan(values)].astype(np.float64), tally.lowest, tally.highest)
    edges = _edges(values, bins, tally.lowest, tally.highest)
    return Distribution(edges, np.histogram(values, edges)[0], _moments(tally), tally.all_finite)


def _moments(tally: BinCounts) -> tuple[float, ...]:
    return tally.lowest, tally.highest, tally.number, tally.total, tally.squares


def _edges(values: NDArray[Any], bins: Any, lowest: float, highest: float) -> NDArray[np.float64]:
    """The edges of bins that cover every value."""
    if isinstance(bins, str):
        bins = _number_of_bins(values, bins, lowest, highest)
    if isinstance(bins, (int, np.integer)):
        return _even_edges(lowest, highest, int(bins))
    edges = np.asarray(bins, np.float64)
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
    extent = float(middle.max() - middle.min())
    if not extent:
        return 1
    try:
        wanted = _ALIKE_EVERYWHERE[rule](middle) if rule in _ALIKE_EVERYWHERE else _by_rule(middle, rule)
    except ValueError:  # more bins than there are float64 numbers in the range
        return _MAX_BINS
    return int(min(np.ceil(spread / (extent / wanted) - 1e-9), _MAX_BINS)) or 1


def _by_rule(values: NDArray[np.float64], rule: str) -> int:
    return len(np.histogram_bin_edges(values, rule)) - 1


def _by_doane(values: NDArray[np.float64]) -> int:
    """Doane's rule: https://doi.org/10.2307/2683757. NumPy's powers differ from processor to processor."""
    n = len(values)
    if n <= 2:  # noqa: PLR2004 - no skewness
        return 1
    beyond = values - _mean(values)
    skewness = _mean(beyond * beyond * beyond) / _mean(beyond * beyond) ** 1.5
    error = math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
    return math.ceil(1 + math.log2(n) + math.log2(1 + abs(skewness) / error))


def _by_stone(values: NDArray[np.float64]) -> int:
    """Stone's rule, the least estimate of the risk: https://doi.org/10.1214/aos/1176346703. NumPy's adds with BLAS."""
    n = len(values)

    def risk(bins: int) -> float:
        counts = np.histogram(values, bins)[0]
        return (2 - (n + 1) * int(np.sum(counts * counts)) / n**2) * bins

    return min(range(1, max(100, math.isqrt(n)) + 1), key=risk)


def _mean(values: NDArray[np.float64]) -> float:
    return add_up(sums_of_blocks(values)[:, 0].tolist()) / len(values)


_ALIKE_EVERYWHERE = {"doane": _by_doane, "stone": _by_stone}


def _join(edges: NDArray[Any], counts: NDArray[Any], max_bins: int) -> tuple[NDArray[Any], NDArray[Any]]:
    factor = math.ceil(len(counts) / max_bins)
    joined = np.add.reduceat(counts, np.arange(0, len(counts), factor))
    return np.concatenate((edges[:-1:factor], edges[-1:])), joined


def _trim(edges: NDArray[Any], counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Upper limits and counts without the empty bins at both ends; one on the left remains, to give the first edge."""
    occupied = counts.nonzero()[0]
    first, last = int(occupied[0]), int(occupied[-1])
    trimmed = counts[first - 1 : last + 1] if first else np.concatenate(([0], counts[: last + 1]))
    return edges[first : last + 2], trimmed
