"""Thinned for drawing, a series keeps its ends, its order, its extremes, and a sign of what is not finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from summaries.auditing.curves import means
from summaries.presenting import thinning
from summaries.presenting.thinning import Zoomable, thin

examples = settings(max_examples=200, deadline=None)
# Few distinct values make ties; any float64 makes infinities, NaN, subnormal and huge values.
values = st.one_of(
    arrays(np.float64, st.integers(0, 300), elements=st.floats()),
    arrays(np.float64, st.integers(0, 300), elements=st.sampled_from([0.0, -0.0, 1.0, -2.0, np.nan, np.inf, -np.inf])),
)
counts = st.integers(1, 60)


def cut(value, stretches):
    """The stretches, by plain slicing: (first index, values) each."""
    width = -(-len(value) // stretches)
    return [(start, value[start : start + width]) for start in range(0, len(value), width)]


@examples
@given(values, counts)
def test_order_ends_and_size(value, stretches):
    kept = thin(value, stretches)
    assert np.all(np.diff(kept) > 0)
    assert len(kept) <= 4 * stretches + 2
    if len(value) > 0:
        assert kept[0] == 0
        assert kept[-1] == len(value) - 1
    if len(value) <= 2 * stretches:
        assert len(kept) == len(value)


@examples
@given(values, st.integers(1, 9), st.data())
def test_any_part_of_a_zoomable_series_is_thinned_as_by_itself(value, stretches, data):
    start = data.draw(st.integers(0, len(value)))
    stop = data.draw(st.integers(start, len(value) + 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thinning, "_BLOCK", 3)  # so that parts of three hundred points are made of blocks
        kept = Zoomable(value).thin(start, stop, stretches)
    assert kept.tolist() == (start + thin(value[start:stop], stretches)).tolist()


@examples
@given(values, counts)
def test_extremes_of_every_stretch_are_kept(value, stretches):
    kept = np.zeros(len(value), bool)
    kept[thin(value, stretches)] = True
    if len(value) == 0:
        return
    for start, stretch in cut(value, stretches):
        finite = stretch[np.isfinite(stretch)]
        shown = stretch[kept[start : start + len(stretch)]]
        shown = shown[np.isfinite(shown)]
        assert (len(shown) == 0) == (len(finite) == 0)
        if len(finite) > 0:
            assert shown.min() == finite.min()
            assert shown.max() == finite.max()


@examples
@given(values, counts)
def test_where_a_stretch_is_not_finite_it_shows(value, stretches):
    kept = np.zeros(len(value), bool)
    kept[thin(value, stretches)] = True
    if len(value) == 0:
        return
    for start, stretch in cut(value, stretches):
        odd = np.flatnonzero(~np.isfinite(stretch))
        if len(odd) > 0:
            assert kept[start + odd[0]]
            assert kept[start + odd[-1]]


@examples
@given(arrays(np.float64, st.integers(0, 9000), elements=st.sampled_from([0.0, 1.0])))
def test_means_are_the_mean(value):
    last, share = means(value)
    assert len(last) == len(share) <= 200
    sizes = np.diff(last, prepend=-1)
    assert sizes.sum() == len(value)
    assert np.all(sizes[:-1] >= 20)
    assert np.allclose(np.sum(sizes * share), value.sum())


def test_one_nan_among_many_points():
    value = np.sin(np.arange(200_000.0))
    value[123_456] = np.nan
    assert 123_456 in thin(value)


@pytest.mark.parametrize("stretches", [0, -1])
def test_no_stretch(stretches):
    with pytest.raises(ValueError, match=rf"^stretches must be at least 1, got {stretches}$"):
        thin(np.arange(3.0), stretches)
