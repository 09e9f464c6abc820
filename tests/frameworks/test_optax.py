"""optax: measured in the chain, inside jit and scan, before clipping."""

import json

import numpy as np
import pytest
from frameworks.examples import check_example
from helpers import ROOT, run

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


def test_weights_and_updates_beside_reports(logdir):
    """They are measured where they are; slots need the gradients themselves."""
    optimizer = optax.chain(measure_gradients(), optax.adam(0.1))
    params = start()
    state = optimizer.init(params)
    with SummaryWriter(logdir) as writer:
        monitor = GradientMonitor(writer)
        wanted = []
        for number, (x, y) in enumerate(zip(*data(), strict=True), 1):
            updates, state = optimizer.update(jax.grad(loss)(params, x, y), state, params)
            monitor.observe(number, gradients_in(state), params, updates=updates)
            norms = [float(jax.numpy.linalg.norm(tree["hidden"]["w"])) for tree in (params, updates)]
            wanted.append((*norms, norms[1] / norms[0]))
            params = optax.apply_updates(params, updates)
        _, state = optimizer.update(updates, state, params)
        with pytest.raises(ValueError, match="slots need the gradients themselves, got reports on them, and mu"):
            monitor.observe(number + 1, gradients_in(state), slots={"mu": params})
    scalars = read_run(logdir).scalars
    tags = ("weights/norm/hidden/w", "updates/norm/hidden/w", "updates/ratio/hidden/w")
    np.testing.assert_allclose(np.transpose([scalars[tag].value for tag in tags]), wanted, rtol=1e-5)


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


def test_complex_gradients():
    transformation = measure_gradients()
    gradients = {"w": jax.numpy.array([3 + 4j, 0, 0], "complex64")}
    _, state = jax.jit(transformation.update)(gradients, transformation.init(gradients))
    (report,) = gradients_in(state)
    assert (report.gradient_norm, report.gradient_zeros, report.gradient_nonfinite) == (pytest.approx(5.0), 2, 0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_gradients(logdir, dtype):
    """Measured in the chain, and given directly."""
    gradients = {"w": jax.numpy.array([3.0, 4.0, 0.0]).astype(dtype)}
    transformation = measure_gradients()
    _, state = transformation.update(gradients, transformation.init(gradients))
    for given in (gradients_in(state), gradients):
        report = GradientMonitor(None).observe(1, given)
        assert report.global_norm == pytest.approx(5.0)
        assert report.variables[0].gradient_zeros == 1


def observed(logdir, optimizer, steps, **options):
    """Train on these gradients, and observe each step as a loop does."""
    state = optimizer.init({"w": np.zeros(2, np.float32)})
    with SummaryWriter(logdir) as writer, GradientMonitor(writer, **options) as monitor:
        for number, gradient in enumerate(steps, 1):
            gradients = {"w": np.full(2, gradient, np.float32)}
            _, state = jax.jit(optimizer.update)(gradients, state, gradients)
            monitor.observe(number, gradients_in(state), clip_norm=1.0, loss=gradient)
    return read_run(logdir).scalars


def test_a_step_that_apply_if_finite_skips(logdir):
    """Its state is that of the step before, which was logged already; the next step says what was skipped."""
    chain = optax.chain(measure_gradients(), optax.clip_by_global_norm(1.0), optax.sgd(0.1))
    scalars = observed(logdir, optax.apply_if_finite(chain, 5), [3.0, np.nan, 5.0])
    norms = scalars["gradients/global_norm"]
    assert norms.step.tolist() == [1, 3]
    np.testing.assert_allclose(norms.value, np.sqrt(2) * np.array([3.0, 5.0]), rtol=1e-6)
    assert scalars["gradients/nonfinite"].value.tolist() == [0.0, 1.0]
    assert scalars["train/loss"].step.tolist() == [1, 2, 3]


def test_a_step_that_apply_if_finite_skips_is_an_incident(logdir):
    chain = optax.chain(measure_gradients(), optax.sgd(0.1))
    observed(logdir, optax.apply_if_finite(chain, 5), [3.0, np.nan, 5.0], keep_last=5)
    assert (logdir / "incident=2").exists()


@pytest.mark.parametrize("skips", [False, True])
def test_steps_that_multi_steps_accumulates(logdir, skips):
    """Only every third has an update, of the mean of three gradients."""
    chain = optax.chain(measure_gradients(), optax.clip_by_global_norm(1.0), optax.sgd(0.1))
    options = {"should_skip_update_fn": optax.skip_not_finite} if skips else {}
    gradients = [1.0, np.nan, 2.0, 3.0, 4.0, 5.0, 6.0] if skips else [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    scalars = observed(logdir, optax.MultiSteps(chain, 3, **options).gradient_transformation(), gradients)
    norms = scalars["gradients/global_norm"]
    assert norms.step.tolist() == ([4, 7] if skips else [3, 6])
    np.testing.assert_allclose(norms.value, np.sqrt(2) * np.array([2.0, 5.0]), rtol=1e-6)
    assert scalars["gradients/nonfinite"].value.tolist() == ([2.0, 0.0] if skips else [0.0, 0.0])
    assert scalars["gradients/clipped_fraction"].value.tolist() == [1.0, 1.0]
    assert len(scalars["train/loss"]) == len(gradients)


def test_a_state_before_its_first_update_says_nothing(logdir):
    optimizer = optax.chain(measure_gradients(), optax.sgd(0.1))
    reports = gradients_in(optimizer.init(start()))
    with SummaryWriter(logdir) as writer:
        GradientMonitor(writer).observe(1, reports)
        writer.add_scalar("other", 1.0, 1)
    assert set(read_run(logdir).scalars) == {"other"}


@pytest.fixture(scope="module")
def on_devices():
    """What four devices have measured."""
    return json.loads(run(ROOT / "tests/frameworks/jax_devices.py").splitlines()[-1])


NORMS = {"b": np.sqrt(5.0), "w": float(np.linalg.norm(np.arange(16.0)))}


@pytest.mark.parametrize("case", ["specs", "specs, unchecked"])
def test_parts_within_shard_map_are_summed(on_devices, case):
    found = on_devices[case]
    assert found["told"] == []
    assert found["norms"] == pytest.approx(NORMS)
    assert (found["sizes"], found["zeros"]) == ({"b": 2, "w": 16}, {"b": 0, "w": 1})


@pytest.mark.parametrize("case", ["no specs", "no specs, unchecked"])
def test_parts_within_shard_map_are_told(on_devices, case):
    told = (
        "gradients are measured on each device by itself, over the axis 'x': norms are those of a device's part. "
        "measure_gradients(specs), with the gradients' PartitionSpecs, sums the parts; PartitionSpec() says that each "
        "device has all of them"
    )
    assert on_devices[case]["told"] == [told]


def test_the_state_of_pmap(on_devices):
    assert on_devices["pmap"]["error"] == (
        "the optimizer's state must be that of one device, got measurements of shape (4, 2, 5) for 2 gradients: of a "
        "state from jax.pmap, give jax.tree.map(lambda leaf: leaf[0], state)"
    )
    assert on_devices["pmap"]["norms"] == pytest.approx(NORMS)


def test_a_chain_without_it():
    with pytest.raises(LookupError) as raised:
        gradients_in(optax.sgd(0.1).init(start()))
    assert str(raised.value) == "the optimizer's state must have one measure_gradients(), got 0"


def test_the_example(logdir):
    check_example("optax", logdir, "hidden/w", 100)
