"""The forecast knows curvature, limit and growth on quadratics; a spike of Adam's is announced; variables stay."""

import numpy as np
import pytest

import optim
from optim.forecast import SpikeForecast

CURVATURES = np.array([1.0, 5.0, 20.0])


def looks(optimizer, steps, start=1.0, curvatures=CURVATURES, noise=None):
    """(loss, Forecast) of each step on a quadratic."""
    w = optim.Variable(np.full(len(curvatures), start), name="w", dtype=np.float64)
    forecast = SpikeForecast(optimizer, lambda: [curvatures * w.value])
    found = []
    for step in range(steps):
        g = curvatures * w.value
        loss = 0.5 * float(g @ w.value)
        before = w.value.tobytes()
        found.append((loss, forecast.look(loss, [(np.full_like(g, np.nan) if step == noise else g, w)])))
        assert w.value.tobytes() == before
        optimizer.apply_gradients([(g, w)])
    return found


def test_curvature_and_limit():
    optimizer = optim.AdamWOptimizer(1e-3, beta1=0.8, beta2=0.9, weight_decay=0.0)
    _, seen = looks(optimizer, 40)[-1]
    w = optimizer.variables()[-1]
    root = np.sqrt(w.value / (1 - 0.9**39))  # the slot v has taken in one step more
    assert seen.limit == pytest.approx(2 * 1.8 / 0.2)
    assert seen.curvature == pytest.approx(1e-3 * max(CURVATURES / root), rel=0.1)


def test_nothing_is_known_at_first():
    first, second = looks(optim.AdamOptimizer(0.1), 2)
    assert np.isnan(first[1].curvature)
    assert first[1].rise == second[1].rise == 0.0


def test_a_spike_is_announced():
    """Bai et al.'s: the loss falls faster than the second moment can follow, and then jumps."""
    found = looks(optim.AdamOptimizer(0.01, beta2=0.99, epsilon=1e-300), 1700, curvatures=np.array([1.0]))
    loss = np.array([loss for loss, _ in found])
    alarm = int(np.argmax([seen.rise > 8 for _, seen in found]))
    lowest = int(loss.argmin())
    assert alarm < lowest
    assert loss[lowest:].max() > 1e10 * loss[lowest]
    assert all(seen.rise < 8 for _, seen in found[: alarm - 1])


def test_gradients_that_are_not_finite_pass():
    found = looks(optim.AdamOptimizer(1e-3), 40, noise=20)
    assert np.isnan(found[20][1].curvature)
    assert np.isfinite(found[-1][1].curvature)
    assert found[-1][1].rise < 8


def test_what_is_refused():
    w = optim.Variable([1.0], name="w")
    forecast = SpikeForecast(optim.MomentumOptimizer(0.1, 0.9), list)
    with pytest.raises(ValueError, match="must have Adam's m and v, got 'Momentum'"):
        forecast.look(1.0, [(np.float32([1.0]), w)])
    with pytest.raises(ValueError, match="reach"):
        SpikeForecast(optim.AdamOptimizer(), list, reach=0)
