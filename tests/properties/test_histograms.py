"""The compiled counter of histograms says what NumPy's says."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("numba", reason="the compiled counter needs the extra `fast`")
module = importlib.import_module("summaries.kinds.histogram")  # the package has a function of this name
EDGES = module.tensorflow_edges().astype(np.float32)
NEAR_EDGES = np.concatenate((EDGES, np.nextafter(EDGES, np.float32(np.inf)), np.nextafter(EDGES, np.float32(-np.inf))))

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
numbers = finite | st.sampled_from(NEAR_EDGES.tolist()) | st.sampled_from([0.0, -0.0, 1e-45, 1e20, -1e20, 3e38])


@settings(deadline=None)  # the first one compiles
@given(arrays(np.float32, st.integers(1, 300), elements=numbers))
def test_compiled_counts_are_numpys(values):
    check(values)


def test_every_number_beside_an_edge():
    check(NEAR_EDGES)
    for start in range(0, len(NEAR_EDGES), 97):  # other first and last bins
        check(NEAR_EDGES[start : start + 200])


def check(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_is_compiled_worth_it", lambda _: True)
        compiled = module.make_histogram(values)
        patch.setattr(module, "_is_compiled_worth_it", lambda _: False)
        plain = module.make_histogram(values)
    for histogram in (compiled, plain):
        assert histogram.sum == pytest.approx(
            values.sum(dtype=np.float64), abs=1e-12 * float(np.abs(values).sum(dtype=np.float64))
        )
        histogram.sum = 0
        wide = values.astype(np.float64)
        assert histogram.sum_squares == pytest.approx(np.dot(wide, wide), rel=1e-4, abs=1e-37)  # float32 underflows
        histogram.sum_squares = 0
    assert compiled == plain


def test_it_is_loaded_when_it_is_worth_it(monkeypatch):
    large = np.ones(module._LARGE, np.float32)
    small = np.ones(module._SMALL, np.float32)
    counter = SimpleNamespace(is_loaded=True, will_be_called=lambda: True)
    monkeypatch.setattr(module, "COUNTER", counter)
    assert module._is_compiled_worth_it(small)
    assert not module._is_compiled_worth_it(small[:-1])
    assert not module._is_compiled_worth_it(large.astype(np.float64))
    counter.is_loaded = False
    assert not module._is_compiled_worth_it(large[:-1])
    monkeypatch.setattr(module, "_large_elements", module._MANY - 2 * large.size)
    assert [module._is_compiled_worth_it(large) for _ in range(3)] == [False, False, True]
    counter.will_be_called = lambda: False
    assert not module._is_compiled_worth_it(large)


def test_large_arrays():
    size = (1 << 18) + 4097
    values = np.random.default_rng(size).normal(size=size).astype(np.float32)
    check(values)
    for odd in (np.nan, np.inf, -np.inf):  # which NumPy counts
        values[size // 3] = odd
        assert module.make_histogram(values).num == size - np.isnan(odd)
