"""On a quadratic, curvature is what it is; variables come back as they were; two batches tell the noise."""

import numpy as np
import pytest

import optim
from optim import curvature

FACTOR, START = np.split(np.random.default_rng(0).normal(size=(6, 5)), [5])
HESSIAN = FACTOR @ FACTOR.T


def quadratic(start=None):
    w = optim.Variable(START[0] if start is None else start, name="w", dtype=np.float64)
    return w, lambda: 0.5 * float(w.value @ HESSIAN @ w.value), lambda: [HESSIAN @ w.value]


def test_along_the_gradient():
    w, loss, gradients = quadratic()
    g = gradients()[0]
    want = float(g @ HESSIAN @ g / (g @ g))
    before = w.value.tobytes()
    assert curvature.curvature_along(gradients, [(g, w)]) == pytest.approx(want, rel=1e-6)
    assert curvature.critical_sharpness(loss, [(g, w)], tolerance=1e-4) == pytest.approx(want, rel=1e-3)
    assert curvature.critical_sharpness(loss, [(g, w)], first_rate=1e3) == pytest.approx(want, rel=0.05)
    assert w.value.tobytes() == before


def test_along_adams_step():
    w, _, gradients = quadratic()
    optimizer = optim.AdamOptimizer(1e-3, epsilon=1e-3)
    for _ in range(3):
        optimizer.apply_gradients([(gradients()[0], w)])
    g = gradients()[0]
    [(step, _)] = curvature.step_of(optimizer, [(g, w)])
    root = np.sqrt(optimizer.get_slot(w, "v").value / (1 - 0.999**3)) + 1e-3
    np.testing.assert_allclose(step, g / root, rtol=1e-12)
    want = step @ HESSIAN @ step / (step @ g)
    assert curvature.curvature_along(gradients, [(step, w)]) == pytest.approx(want, rel=1e-6)
    [(plain, _)] = curvature.step_of(optim.GradientDescentOptimizer(0.1), [(g, w)])
    assert plain is g


def test_where_no_rate_or_every_rate_raises_the_loss():
    w, _, gradients = quadratic()
    g = gradients()[0]
    assert curvature.critical_sharpness(lambda: float(g @ w.value), [(g, w)]) == 0.0
    assert curvature.critical_sharpness(lambda: float(g @ w.value), [(-g, w)]) == np.inf
    assert np.isnan(curvature.curvature_along(gradients, [(0 * g, w)]))


def test_an_exception_leaves_the_variables_alone():
    w, loss, _ = quadratic()
    before, calls = w.value.tobytes(), []

    def fails():
        calls.append(1)
        if len(calls) > 1:
            raise FloatingPointError
        return loss()

    with pytest.raises(FloatingPointError):
        curvature.critical_sharpness(fails, [(np.ones(5), w)])
    assert w.value.tobytes() == before


def test_the_noise_scale_of_gaussian_gradients():
    random, noise = np.random.default_rng(1), 3.0
    signal = random.normal(size=50)
    pairs = []
    for _ in range(4000):
        small = signal + noise * random.normal(size=(8, 50))
        pairs.append(curvature.gradient_noise_scale([small[0]], [small.mean(axis=0)], 1, 8)[:2])
    of_signal, of_noise = np.mean(pairs, axis=0)
    assert of_signal == pytest.approx(signal @ signal, rel=0.05)
    assert of_noise == pytest.approx(50 * noise**2, rel=0.05)


@pytest.mark.parametrize("sizes", [(0, 4), (4, 4), (8, 4)])
def test_batch_sizes(sizes):
    with pytest.raises(ValueError, match="must be"):
        curvature.gradient_noise_scale([np.ones(1)], [np.ones(1)], *sizes)
