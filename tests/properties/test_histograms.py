"""Histograms say what NumPy says, whether NumPy's tables or the compiled counter counts; of any dtype and layout."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from summaries import kinds
from summaries.kinds import counting
from summaries.kinds.distribution import distribution
from summaries.native import library

EDGES = kinds.tensorflow_bins.tensorflow_edges()
NEAR = {
    dtype: np.concatenate([np.nextafter(EDGES.astype(dtype), dtype(to)) for to in (np.inf, -np.inf)])
    for dtype in (np.float32, np.float64)
}
NEAR = {dtype: np.concatenate((EDGES.astype(dtype), near)) for dtype, near in NEAR.items()}
ODD = [0.0, -0.0, 1e-45, -1e-45, 1e20, -1e20, 3e38, -3e38, math.nan, math.inf, -math.inf]


@pytest.fixture(params=["plain", "compiled"], scope="module", autouse=True)
def counter(request):
    """Every test with either."""
    try:
        library.use(request.param)
    except ImportError as error:
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_SHARED", 1 << 16)
        patch.setattr(counting, "_PIECE", 1 << 14)
        yield
    library.use(None)


def check(values):
    found = distribution(values)
    wide = values.astype(np.float64).reshape(-1)
    finite = wide[np.isfinite(wide)]
    assert found.all_finite == (len(finite) == len(wide))
    bounds = (finite.min(), finite.max()) if len(finite) else (-1e20, 1e20)
    numbers = np.clip(wide[~np.isnan(wide)], *bounds)
    if not len(numbers):
        assert (found.limits.tolist(), found.counts.tolist(), found.moments) == ([0.0], [0.0], (0.0,) * 5)
        return
    lowest, highest, number, total, squares = found.moments
    assert (lowest, highest, number) == (numbers.min(), numbers.max(), len(numbers))
    assert math.copysign(1, lowest) == math.copysign(1, lowest + 0.0)
    assert total == pytest.approx(math.fsum(numbers), abs=1e-12 * math.fsum(np.abs(numbers)))
    assert squares == pytest.approx(math.fsum(numbers * numbers), rel=1e-12)
    below, above = [lowest] if lowest < EDGES[0] else [], [highest] if highest > EDGES[-1] else []
    edges = np.concatenate((below, EDGES, above))
    counts = np.histogram(numbers, edges)[0]
    first, last = np.flatnonzero(counts)[[0, -1]]
    assert found.limits.tolist() == edges[first : last + 2].tolist()
    assert found.counts.tolist() == [0, *counts[first : last + 1]]


def numbers(dtype):
    width = np.dtype(dtype).itemsize * 8
    largest = float(np.float32(1e38))  # whose squares float64 holds
    floats = st.floats(-largest, largest, width=width)
    return floats | st.sampled_from(NEAR[dtype].tolist()) | st.sampled_from(np.array(ODD, dtype).tolist())


@given(st.data(), st.sampled_from([np.float32, np.float64]))
def test_any_floats(data, dtype):
    check(data.draw(arrays(dtype, st.integers(1, 300), elements=numbers(dtype))))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_number_beside_an_edge(dtype):
    check(NEAR[dtype])
    for start in range(0, len(NEAR[dtype]), 97):  # other first and last bins
        check(NEAR[dtype][start : start + 200])


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f4"])
def test_any_dtype_and_layout(dtype):
    values = (np.random.default_rng(0).normal(size=70_000) * 100).astype(np.int64 if dtype[-2:-1] in "iu" else float)
    values = np.abs(values).astype(dtype) if dtype[0] == "u" else values.astype(dtype)
    frozen = values.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"x" + values.tobytes(), values.dtype, offset=1)
    cube = values[:60].reshape(3, 4, 5).swapaxes(0, 2)
    for array in (values, values[::-3], values.reshape(2, -1).T, cube, frozen, unaligned):
        check(array)


@pytest.mark.parametrize("odd", [[math.nan], [math.inf], [-math.inf, math.nan], ODD])
def test_large_arrays_with_a_few_that_are_not_finite(odd):
    values = np.random.default_rng(0).normal(size=counting._SHARED + 4097).astype(np.float32)
    check(values)
    values[1000 : 1000 + len(odd)] = odd
    values[-1] = odd[-1]
    check(values)


@pytest.mark.parametrize("values", [[math.nan], [math.inf], [-math.inf, math.nan], [math.inf, -math.inf, math.inf]])
def test_nothing_is_finite(values):
    check(np.array(values))


def test_squares_beyond_float64():
    assert distribution(np.array([1e200, -1e200])).moments == (-1e200, 1e200, 2, 0.0, math.inf)
