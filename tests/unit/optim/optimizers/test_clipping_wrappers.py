"""Clipping around an optimizer: by global norm, by value, by a percentile of the norms so far."""

import math

import numpy as np
import pytest
from optimizing.clipped import NORM5, applied, clip

import optim
from optim import (
    GradientDescentOptimizer,
    Variable,
    clip_gradients_by_norm,
    clip_gradients_by_percentile,
    clip_gradients_by_value,
)

NAN = math.nan


CLIPPED = [
    ((10.0,), [-3.0, -4.0], 10.0, False, 5.0),
    ((5.0,), [-3.0, -4.0], 5.0, False, 5.0),
    ((1.0,), [-0.6, -0.8], 1.0, True, 1.0),
    ((1.0, 10.0), [-0.6, -0.8], 1.0, True, 1.0),
    ((10.0, 1.0), [-0.6, -0.8], 1.0, True, 1.0),
    ((2.0, 1.0, 4.0), [-0.6, -0.8], 1.0, True, 1.0),
]


@pytest.mark.parametrize(("bounds", "updated", "bound", "clipped", "norm_after"), CLIPPED)
def test_clipping(w, bounds, updated, bound, clipped, norm_after):
    report = clip(*bounds)(GradientDescentOptimizer(1.0)).apply_gradients([(NORM5, w)])
    np.testing.assert_allclose(w.value, updated, rtol=1e-6)
    assert (report.global_norm, report.clip_norm, report.clipped) == (5.0, bound, clipped)
    assert report.clipped_global_norm == norm_after
    assert report.nonfinite == 0
    assert NORM5.tolist() == [3, 4]


def test_within_the_bound_the_update_is_the_same_bit_for_bit():
    gradient = np.random.default_rng(0).standard_normal(1000)
    plain, clipped = Variable(np.zeros(1000)), Variable(np.zeros(1000))
    GradientDescentOptimizer(0.1).apply_gradients([(gradient, plain)])
    clip(1e6)(GradientDescentOptimizer(0.1)).apply_gradients([(gradient, clipped)])
    np.testing.assert_array_equal(plain, clipped)


@pytest.mark.parametrize(("bad", "norm"), [(math.nan, math.nan), (math.inf, math.inf), (-math.inf, math.inf)])
def test_without_a_finite_norm(w, bad, norm):
    """Every element becomes NaN, as in TF1, and the report says so."""
    report = clip(1.0)(GradientDescentOptimizer(1.0)).apply_gradients([(np.float32([bad, 1.0]), w)])
    assert np.isnan(w.value).all()
    assert report.global_norm == pytest.approx(norm, nan_ok=True)
    assert report.nonfinite == 1
    assert math.isnan(report.clipped_global_norm)


def test_half_precision_does_not_vanish():
    w = Variable(np.zeros(10_000, np.float16))
    clip(1.0)(GradientDescentOptimizer(1.0)).apply_gradients([(np.full(10_000, 6e4, np.float16), w)])
    np.testing.assert_allclose(w.value, -0.01, rtol=1e-2)


@pytest.mark.parametrize("bound", [0, -1.0, math.nan])
def test_the_bound_must_be_positive(bound):
    with pytest.raises(ValueError, match=rf"^clip_norm must be positive, got {float(bound)}$"):
        clip_gradients_by_norm(GradientDescentOptimizer(1.0), bound)


def test_by_value_nan_stays_nan():
    got, _ = applied(lambda o: clip_gradients_by_value(o, -1.0, 1.0), [NAN, math.inf, -math.inf])
    np.testing.assert_array_equal(got, [NAN, 1.0, -1.0])


def test_by_percentile_is_autoclip():
    rng = np.random.default_rng(0)
    w = Variable(np.zeros(5), name="w")
    optimizer = clip_gradients_by_percentile(optim.GradientDescentOptimizer(1.0), 25.0)
    norms = []
    for _ in range(20):
        gradient = rng.standard_normal(5) * rng.uniform(0, 10)
        norms.append(np.linalg.norm(gradient))
        report = optimizer.apply_gradients([(gradient, w)])
        assert report.clip_norm == pytest.approx(np.percentile(norms, 25.0))
        assert report.clipped == (report.global_norm > report.clip_norm)


def test_by_percentile_forgets_what_is_not_finite():
    w = Variable(np.zeros(1), name="w")
    optimizer = optim.skip_nonfinite_steps(clip_gradients_by_percentile(optim.GradientDescentOptimizer(1.0), 50.0))
    bounds = [optimizer.apply_gradients([(np.array([g]), w)]).clip_norm for g in (1.0, NAN, 3.0)]
    assert bounds == [1.0, None, 2.0]


def test_by_percentile_of_zeros():
    got, report = applied(clip_gradients_by_percentile, [0.0, 0.0])
    assert (got.tolist(), report.clip_norm) == ([0, 0], None)


BAD = {
    "clip_norm must be positive, got 0.0": lambda o: clip_gradients_by_norm(o, 0.0),
    "clip_value_min must be at most clip_value_max, got 1 and -1": lambda o: clip_gradients_by_value(o, 1, -1),
    "percentile must be from 0 to 100, got 101.0": lambda o: clip_gradients_by_percentile(o, 101),
}


@pytest.mark.parametrize(("text", "wrap"), BAD.items(), ids=BAD)
def test_refused(text, wrap):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        wrap(optim.GradientDescentOptimizer(1.0))
    assert str(raised.value) == text
