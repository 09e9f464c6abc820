"""Descents: levels, what has been learnt, and how straight a curve is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from summaries.auditing.statistics.descent import LEVELS, Descent, autocorrelation

VALUES = arrays(float, st.integers(2, 80), elements=st.floats(-1e6, 1e6))


@given(VALUES)
def test_levels_lie_within_the_curve(values):
    curve = Descent(values)
    assert len(curve.level) == min(LEVELS, len(values))
    assert values.min() <= curve.lowest <= curve.end <= values.max()
    assert curve.fall >= 0


@given(VALUES, st.floats(0.5, 2.0), st.floats(-10, 10))
def test_scale_and_place_do_not_matter(values, factor, shift):
    one, other = Descent(np.round(values, 3)), Descent(factor * np.round(values, 3) + shift)
    assert other.fall == pytest.approx(factor * one.fall, abs=1e-6)
    assert other.jitter == pytest.approx(factor * one.jitter, abs=1e-6)


def test_straightness():
    n = np.arange(60)
    assert Descent(10.0 - 0.1 * n).straightness == pytest.approx(1, abs=0.01)
    assert Descent(0.8**n).straightness < 0.01
    assert Descent(10 - 1e-3 * n**2).straightness > 2


def test_autocorrelation():
    like = autocorrelation(np.sin(2 * np.pi * np.arange(200) / 20))
    assert like[0] == 1
    assert like[20] > 0.8
    assert like[10] < -0.8
    assert not autocorrelation(np.ones(30)).any()
