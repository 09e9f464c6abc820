"""Bounds that follow the gradients: as their papers define them, with their state saved, and what they log."""

import math

import numpy as np
import pytest

import optim
from summaries import SummaryWriter, read_run

NORMS = [*np.random.default_rng(0).lognormal(size=60), 50.0, 1.0, 80.0, 2.0]


def plain():
    return optim.GradientDescentOptimizer(1.0)


FAMILY = {
    "history": lambda: optim.clip_gradients_by_history(plain(), warmup_steps=5),
    "percentile": lambda: optim.clip_gradients_by_percentile(plain(), 80.0),
    "unit": lambda: optim.clip_gradients_by_unit(plain(), 0.1),
    "zscore": lambda: optim.clip_gradients_by_zscore(plain(), warmup_steps=10),
}


def zclip(norms, z0=2.5, alpha=0.97, warmup=25):
    """Kumar et al. 2025, algorithm 1, by the clipped norms."""
    first, taken = norms[:warmup], list(norms[:warmup])
    mean, variance = np.mean(first), np.var(first)
    for norm in norms[warmup:]:
        z = (norm - mean) / np.sqrt(variance)
        kept = mean + z0**2 / z * np.sqrt(variance) if z > z0 else norm
        mean = alpha * mean + (1 - alpha) * kept
        variance = alpha * variance + (1 - alpha) * (kept - mean) ** 2
        taken.append(kept)
    return taken


def test_zclip():
    clip = optim.ZClip()
    got = [min(norm, clip(norm)) for norm in NORMS]
    np.testing.assert_allclose(got, zclip(NORMS), rtol=1e-12)
    assert got[-2] < 80.0
    assert (clip(math.nan), math.isnan(clip.z)) == (math.inf, True)


def test_the_bound_of_a_step_that_is_not_clipped_is_where_clipping_begins():
    clip = optim.ZClip(warmup_steps=4)
    for norm in (1.0, 3.0, 1.0, 3.0):
        clip(norm)
    assert clip(2.0) == 4.5  # a mean of 2, and 2.5 deviations of 1


def test_zclip_of_zeros():
    """A history of zeros says nothing of the first gradient that is none."""
    clip = optim.ZClip(warmup_steps=4)
    assert [clip(0.0) for _ in range(6)] == [math.inf] * 6
    assert clip(3.0) == math.inf
    assert 0 < clip(2.0) < math.inf
    even = optim.ZClip(warmup_steps=4)
    assert [even(2.0) for _ in range(6)][4:] == [2.0, 2.0]
    assert even.z == 0.0


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.usefixtures("each_engine")
def test_a_number_and_an_empty_variable(name, dtype, shape):
    w, optimizer = optim.Variable(np.ones(shape), name="w", dtype=dtype), FAMILY[name]()
    for norm in NORMS:
        optimizer.apply_gradients([(np.full(shape, norm, dtype), w)], report=True)
    assert w.value.shape == shape
    assert np.isfinite(w.value).all()


@pytest.mark.parametrize("name", FAMILY)
def test_what_is_not_finite_is_counted_as_given(name):
    w, optimizer = optim.Variable(np.ones((3, 2)), name="w", dtype=np.float32), FAMILY[name]()
    g = np.ones((3, 2), np.float32)
    g[1, 0] = np.nan
    assert optimizer.apply_gradients([(g, w)], report=True).nonfinite == 1


def test_adagc():
    """Wang et al. 2025, algorithm 1."""
    w = optim.Variable([0.0], name="w", dtype=np.float64)
    optimizer = optim.clip_gradients_by_history(plain(), 1.2, 0.9, 2.0, 3)
    average = math.inf
    for t, norm in enumerate(NORMS):
        before = w.value.copy()
        report = optimizer.apply_gradients([(np.array([norm]), w)])
        kept = norm * min(1, 2.0 / norm) if t < 3 else norm * min(1, 1.2 * average / norm)
        average = min(average, kept) if t < 3 else 0.9 * average + 0.1 * kept
        assert before - w.value == pytest.approx(kept)
        assert (report.clipped, report.global_norm) == (kept < norm * (1 - 1e-12), pytest.approx(norm))


@pytest.mark.parametrize("axis", [0, -1])
def test_agc(axis):
    random = np.random.default_rng(0)
    weights, g = random.normal(size=(2, 5, 4))
    g[:, 1] *= 50
    w = optim.Variable(weights.copy(), name="w")
    report = optim.clip_gradients_by_unit(plain(), 0.5, 1e-3, axis).apply_gradients([(g, w)])
    other = 1 if axis == 0 else 0
    sizes, of_weights = (np.linalg.norm(x, axis=other, keepdims=True) for x in (g, weights))
    want = g * np.minimum(1, 0.5 * np.maximum(of_weights, 1e-3) / sizes)
    np.testing.assert_allclose(weights - w.value, want, rtol=1e-12)
    assert report.clipping["units"] == np.mean(sizes > 0.5 * of_weights)


def steps(optimizer, w, norms):
    for norm in norms:
        optimizer.apply_gradients([(np.full(2, norm / math.sqrt(2)), w)])
    return w.value.copy()


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("at", [3, 20])
def test_saved_and_resumed_bit_for_bit(name, at, tmp_path):
    pytest.importorskip("safetensors")

    def fresh():
        return optim.Variable(np.ones(2, np.float64), name="w")

    straight = steps(FAMILY[name](), fresh(), NORMS)
    w, optimizer = fresh(), FAMILY[name]()
    steps(optimizer, w, NORMS[:at])
    path = optim.Saver([w, optimizer]).save(str(tmp_path / "model"))
    again, resumed = fresh(), FAMILY[name]()
    optim.Saver([again, resumed]).restore(path)
    assert steps(resumed, again, NORMS[at:]).tobytes() == straight.tobytes()


@pytest.mark.parametrize(
    ("name", "tags"),
    [
        ("history", {"clipping/variables"}),
        ("unit", {"clipping/units"}),
        ("zscore", {"clipping/z", "clipping/mean", "clipping/deviation"}),
    ],
)
def test_what_is_logged(name, tags, tmp_path):
    w = optim.Variable(np.ones(2, np.float64), name="w")
    with SummaryWriter(str(tmp_path)) as writer:
        steps(optim.with_summaries(FAMILY[name](), writer), w, NORMS)
    scalars = read_run(writer.path).scalars
    assert {tag for tag in scalars if tag.startswith("clipping/")} == tags
    assert scalars["gradients/global_norm"].value[-2] == pytest.approx(80.0)
    assert all(np.isfinite(series.value).all() for series in scalars.values())
    assert scalars["gradients/norm/w"].value[-2] < 80.0 or name == "zscore"


def test_adaptive_clipping_fn_is_tf1s():
    clip = optim.adaptive_clipping_fn(2.0, 0.9, static_max_norm=60.0)
    mean = square = 0.0
    for norm in NORMS:
        log = math.log(norm + 1e-8)
        mean, square = 0.9 * mean + 0.1 * log, 0.9 * square + 0.1 * log**2
        bound = min(math.exp(mean + 2 * math.sqrt(max(1e-8, square - mean**2))), 60.0)
        ((got, name),) = clip([(np.array([norm]), "w")])
        assert got[0] == pytest.approx(norm if norm < bound else math.exp(mean))
        assert (name, clip.bound, clip.clipped) == ("w", pytest.approx(bound), norm >= bound)


def test_adaptive_clipping_fn_forgets_what_is_not_finite():
    clip, other = optim.adaptive_clipping_fn(), optim.adaptive_clipping_fn()
    for norm in (1.0, math.inf, math.nan, 2.0, 1e300, 1e-300, 1e300):
        ((got, _),) = clip([(np.array([norm]), "w")])
        if math.isfinite(norm):
            ((want, _),) = other([(np.array([norm]), "w")])
            assert (got, clip.bound) == (want, other.bound)
        else:
            assert (str(got[0]), clip.clipped) == (str(norm), False)


def test_adaptive_clipping_fn_follows_faster_at_first():
    step = optim.Variable(0, trainable=False)
    clip = optim.adaptive_clipping_fn(global_step=step)
    clip([(np.array([math.e]), "w"), (None, "b")])
    assert clip.bound == pytest.approx(math.exp(1 + 2e-4), rel=1e-3)


def test_gradients_with_their_variables():
    sparse = optim.IndexedSlices(np.array([[3.0]]), [0])
    pairs, norm = optim.clip_gradients_by_global_norm([(sparse, "a"), (np.array([4.0]), "b")], 1.0)
    assert (norm, pairs[0][0].values.tolist(), pairs[1][0].tolist()) == (
        5.0,
        [[pytest.approx(0.6)]],
        [pytest.approx(0.8)],
    )


def test_zclip_in_a_loop_of_ones_own(tmp_path):
    clip = optim.ZClip(warmup_steps=10)
    with SummaryWriter(str(tmp_path)) as writer:
        monitor = optim.GradientMonitor(writer)
        for step, norm in enumerate(NORMS, 1):
            bound = clip(norm)
            report = monitor.observe(
                step, {"w": np.array([norm])}, clip_norm=bound if clip.seen else None, clipping=clip.seen
            )
    scalars = read_run(writer.path).scalars
    assert report.clipping == clip.seen
    assert len(scalars["clipping/z"].value) == len(NORMS) - 10
    assert scalars["gradients/clipped"].value[-2] == 1.0
