"""Histogram summaries: what is counted where, and what is refused, word for word."""

import ml_dtypes
import numpy as np
import pytest

import summaries

REFUSED = {
    "ragged rows": (
        summaries.histogram,
        ("a", [[1, 2], [3]]),
        TypeError,
        "values must be an array of numbers, got list of dtype object",
    ),
    "nothing to count": (
        summaries.histogram,
        ("a", []),
        ValueError,
        "values must have at least one element, got an empty array",
    ),
    "no rule for bins": (
        summaries.histogram,
        ("a", [1], "many"),
        ValueError,
        (
            "bins must be one of ['tensorflow', 'auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'],"
            " a number or edges, got 'many'"
        ),
    ),
    "no bins": (summaries.histogram, ("a", [1], 0), ValueError, "bins must be positive, got 0"),
    "one edge": (
        summaries.histogram,
        ("a", [1], [0.0]),
        ValueError,
        "bins must be at least two edges, finite and ascending, got [0.0]",
    ),
    "falling edges": (
        summaries.histogram,
        ("a", [1], [1.0, 0.0]),
        ValueError,
        "bins must be at least two edges, finite and ascending, got [1.0, 0.0]",
    ),
    "no bins at most": (summaries.histogram, ("a", [1], 3, 0), ValueError, "max_bins must be positive, got 0"),
    "limits without counts": (
        summaries.histogram_raw,
        ("a", 0, 1, 2, 1, 1, [1, 2], [1]),
        ValueError,
        "bucket_limits and bucket_counts must have the same length, got 2 and 1",
    ),
    "a number of bins that is none": (
        summaries.histogram,
        ("a", [1], 3, "3"),
        TypeError,
        "max_bins must be an integer, got str: '3'",
    ),
    "an edge that is no number": (
        summaries.histogram,
        ("a", [1], [0.0, np.nan, 1.0]),
        ValueError,
        "bins must be at least two edges, finite and ascending, got [0.0, nan, 1.0]",
    ),
    "edges that are no numbers": (
        summaries.histogram,
        ("a", [1], ["a", "b"]),
        TypeError,
        "bins must be an array of numbers, got list of dtype <U1",
    ),
    "masked values": (
        summaries.histogram,
        ("a", np.ma.masked_array([1.0, 2.0], [False, True])),
        TypeError,
        "values must not be masked: compressed() drops masked elements, filled() replaces them",
    ),
    "limits that are no list": (
        summaries.histogram_raw,
        ("a", 0, 1, 1, 1, 1, 1, 1),
        ValueError,
        "bucket_limits and bucket_counts must be lists, got shapes () and ()",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def histo(*args, **options):
    return summaries.histogram("h", *args, **options).value[0].histo


def test_every_element_counts_once():
    values = np.random.default_rng(0).normal(size=5000)
    for bins in ("tensorflow", "auto", 7, [-0.5, 0.0, 0.5], [5.0, 6.0]):
        proto = histo(values, bins)
        assert (sum(proto.bucket), proto.num) == (5000, 5000)
        assert len(proto.bucket) == len(proto.bucket_limit)
        assert list(proto.bucket_limit) == sorted(proto.bucket_limit)
        assert proto.bucket_limit[-1] >= proto.max == values.max()


@pytest.mark.parametrize("value", [0.0, -3.5, 1e-30, 1e30, -1e300])
@pytest.mark.parametrize("bins", ["tensorflow", "auto", "fd", 5])
def test_constant_values(value, bins):
    proto = histo(np.full(100, value), bins)
    assert (sum(proto.bucket), proto.min, proto.max) == (100, value, value)


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 5])
def test_values_that_are_no_numbers(bins):
    nothing = histo(np.full(10, np.nan), bins)
    assert (nothing.num, sum(nothing.bucket), nothing.min, nothing.max) == (0, 0, 0, 0)
    some = histo(np.array([np.nan, 1.0, 2.0, np.inf, -np.inf]), bins)
    assert (some.num, sum(some.bucket), some.min, some.max) == (4, 4, 1, 2)
    all_infinite = histo(np.array([np.inf, np.inf, -np.inf]), bins)
    assert (sum(all_infinite.bucket), all_infinite.min, all_infinite.max) == (3, -1e20, 1e20)


@pytest.mark.parametrize("rule", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"])
@pytest.mark.filterwarnings("ignore:The number of bins estimated may be suboptimal")  # NumPy's, of its own 'stone'
def test_far_outliers_do_not_ask_for_billions_of_bins(rule):
    values = np.concatenate((np.random.default_rng(0).normal(size=1000) * 1e-6, [1e9]))
    proto = histo(values, rule)
    assert sum(proto.bucket) == 1001
    assert len(proto.bucket) <= 4097


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16, ml_dtypes.bfloat16])
def test_histograms_of_every_dtype(dtype):
    proto = histo(np.array([0, 1, 1, 0, 1]).astype(dtype))
    assert (proto.num, proto.sum, proto.sum_squares, proto.max) == (5, 3, 3, 1)


def test_bins_are_joined_to_at_most_so_many():
    values = np.random.default_rng(0).normal(size=1000)
    for most in (1, 2, 10, 1000):
        proto = histo(values, max_bins=most)
        assert sum(proto.bucket) == 1000
        assert len(proto.bucket) <= most + 1  # and the empty one on the left


@pytest.mark.parametrize("count", range(1, 13))
@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 12])
def test_joined_bins_are_as_numpy_counts_them(count, most):
    """Of any number of bins, and also where the last of those that are joined are fewer."""
    values = np.arange(12 * count) / 12  # twelve in each bin
    edges = np.arange(count + 1.0)
    proto = histo(values, edges, most)
    joined = np.append(edges[: -1 : -(-count // most)], edges[-1])
    assert list(proto.bucket_limit) == joined.tolist()
    assert list(proto.bucket) == [0, *np.histogram(values, joined)[0]]


def test_edges_that_do_not_reach_far_enough_are_added_to():
    proto = histo(np.array([-5.0, 0.5, 1.5, 9.0]), [0.0, 1.0, 2.0])
    assert (list(proto.bucket_limit), list(proto.bucket)) == ([-5.0, 0.0, 1.0, 2.0, 9.0], [0, 1, 1, 1, 1])


def test_empty_bins_at_the_ends_are_left_out():
    proto = histo(np.array([2.5, 4.5]), np.arange(8.0))
    assert (list(proto.bucket_limit), list(proto.bucket)) == ([2.0, 3.0, 4.0, 5.0], [0, 1, 0, 1])


def test_bins_of_one_value_lie_around_it():
    proto = histo(np.full(3, 7.0), 2)
    assert (list(proto.bucket_limit), list(proto.bucket)) == ([7.0, 7.5], [0, 3])


def test_sums():
    values = np.array([1.0, -2.0, 4.0])
    proto = histo(values)
    assert (proto.num, proto.sum, proto.sum_squares, proto.min, proto.max) == (3, 3.0, 21.0, -2.0, 4.0)
    wide = histo(np.float32([3e38, -3e38]))
    assert (wide.sum, wide.sum_squares) == (0.0, pytest.approx(2 * float(np.float32(3e38)) ** 2))


def test_a_rule_sees_a_far_outlier_at_a_hundred_times_the_middle_half():
    values = np.append(np.linspace(0, 1, 999), 200.0)
    low, high = np.percentile(values, [25, 75])
    seen = np.append(values[:-1], high + 100 * (high - low))
    width = np.diff(np.histogram_bin_edges(seen, "sturges"))[0]
    proto = histo(values, "sturges")
    count = int(np.ceil(200 / width))
    assert proto.bucket_limit[1] == pytest.approx(200 / count)
    nearby = np.append(values[:-1], 3.0)  # within reach: as NumPy sees it
    assert histo(nearby, "sturges").bucket_limit[1] == pytest.approx(np.histogram_bin_edges(nearby, "sturges")[1])


def test_complex_numbers_lose_their_imaginary_parts():
    with pytest.warns(np.exceptions.ComplexWarning):
        got = summaries.histogram("a", np.array([1 + 2j, 3 - 1j]))
    assert got == summaries.histogram("a", [1.0, 3.0])


def test_the_squares_of_millions_of_float32():
    values = np.tile(np.random.default_rng(0).normal(size=1000).astype(np.float32), 2000)
    exact = np.square(values.astype(np.float64)).sum()
    assert summaries.histogram("a", values).value[0].histo.sum_squares == pytest.approx(exact, rel=1e-7)
