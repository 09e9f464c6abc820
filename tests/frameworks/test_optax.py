"""optax: measured in the chain, inside jit and scan, before clipping."""

import numpy as np
import pytest
from frameworks.examples import check_example

from optim import GradientMonitor
from summaries import SummaryWriter, read_run

jax = pytest.importorskip("jax", reason="jax is not installed: make frameworks")
optax = pytest.importorskip("optax", reason="optax is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.optax import gradients_in, measure_gradients  # noqa: E402 - it needs optax

CLIP = 0.05


def start():
    keys = jax.random.split(jax.random.key(0), 2)
    return {"hidden": {"w": jax.random.normal(keys[0], (8, 17)) / 3}, "out": jax.random.normal(keys[1], (17,)) / 4}


def loss(params, x, y):
    return jax.numpy.mean((jax.numpy.tanh(x @ params["hidden"]["w"]) @ params["out"] - y) ** 2)


def data(steps=6):
    x = jax.random.normal(jax.random.key(1), (steps, 4, 8))
    return x, jax.numpy.sin(x.sum(-1))


def by_hand():
    params, (xs, ys) = start(), data()
    for x, y in zip(xs, ys, strict=True):
        gradients = jax.grad(loss)(params, x, y)
        total = float(optax.tree.norm(gradients))
        yield total, float(optax.tree.norm(gradients["hidden"]["w"])), float(optax.tree.norm(gradients["out"]))
        rate = 0.1 * min(1.0, CLIP / total)
        params = jax.tree.map(lambda p, g, rate=rate: p - rate * g, params, gradients)


def test_before_clipping(logdir):
    optimizer = optax.chain(measure_gradients(), optax.clip_by_global_norm(CLIP), optax.sgd(0.1))

    @jax.jit
    def step(params, state, x, y):
        updates, state = optimizer.update(jax.grad(loss)(params, x, y), state, params)
        return optax.apply_updates(params, updates), state

    params = start()
    state = optimizer.init(params)
    with SummaryWriter(logdir) as writer:
        monitor = GradientMonitor(writer)
        for number, (x, y) in enumerate(zip(*data(), strict=True), 1):
            params, state = step(params, state, x, y)
            report = monitor.observe(number, gradients_in(state), clip_norm=CLIP)
            assert report.clipped
    scalars = read_run(logdir).scalars
    wanted = np.array(list(by_hand()))
    for i, tag in enumerate(("global_norm", "norm/hidden/w", "norm/out")):
        np.testing.assert_allclose(scalars[f"gradients/{tag}"].value, wanted[:, i], rtol=1e-5)
    np.testing.assert_allclose(scalars["gradients/clipped_global_norm"].value, CLIP)


def test_in_a_scan():
    optimizer = optax.chain(measure_gradients(), optax.clip_by_global_norm(CLIP), optax.sgd(0.1))

    def step(carry, batch):
        params, state = carry
        updates, state = optimizer.update(jax.grad(loss)(params, *batch), state, params)
        return (optax.apply_updates(params, updates), state), None

    (_, state), _ = jax.lax.scan(step, (start(), optimizer.init(start())), data())
    total, hidden, out = list(by_hand())[-1]
    reports = gradients_in(state)
    assert [report.gradient_norm for report in reports] == pytest.approx([hidden, out], rel=1e-5)
    assert (reports[0].name, reports[0].size, reports[0].gradient_zeros) == ("hidden/w", 136, 0)
    assert total == pytest.approx(np.hypot(hidden, out), rel=1e-6)


@pytest.mark.parametrize(
    ("values", "norm", "zeros", "nonfinite"),
    [
        ([3.0, 0.0, 4.0], 5.0, 1, 0),
        ([3e30, 0.0, 4e30], 5e30, 1, 0),
        ([3e-30, 4e-30], 5e-30, 0, 0),
        ([0.0, 0.0], 0.0, 2, 0),
        ([np.inf, 1.0], np.inf, 0, 1),
        ([np.nan, 1.0, np.inf], np.nan, 0, 2),
    ],
)
def test_extreme_values(values, norm, zeros, nonfinite):
    transformation = measure_gradients()
    gradients = {"w": jax.numpy.array(values)}
    _, state = jax.jit(transformation.update)(gradients, transformation.init(gradients))
    (report,) = gradients_in(state)
    assert report.gradient_norm == pytest.approx(norm, rel=1e-6, nan_ok=True)
    assert (report.gradient_zeros, report.gradient_nonfinite) == (zeros, nonfinite)


def test_a_chain_without_it():
    with pytest.raises(LookupError) as raised:
        gradients_in(optax.sgd(0.1).init(start()))
    assert str(raised.value) == "the optimizer's state must have one measure_gradients(), got 0"


def test_the_example(logdir):
    check_example("optax", logdir, "hidden/w", 100)
