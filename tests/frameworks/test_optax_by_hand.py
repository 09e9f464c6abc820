"""Chains of optax, in steps as loops make them: the norms in the state are those that the loop finds by hand."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: make frameworks")
optax = pytest.importorskip("optax", reason="optax is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.optax import gradients_in, measure_gradients  # noqa: E402 - it needs optax

STEPS = 4
ENDS = {
    "sgd": lambda: optax.sgd(0.1, momentum=0.9),
    "adam": lambda: optax.adam(1e-2),
    "adamw": lambda: optax.adamw(1e-2),
    "lion": lambda: optax.lion(1e-3),
    "adafactor": lambda: optax.adafactor(1e-2),
    "lamb": lambda: optax.lamb(1e-2),
    "adagrad": lambda: optax.adagrad(1e-2),
    "rmsprop": lambda: optax.rmsprop(1e-2),
    "amsgrad": lambda: optax.amsgrad(1e-2),
    "muon": lambda: optax.contrib.muon(1e-2),
}
CHAINS = {
    "first": lambda end: optax.chain(measure_gradients(), optax.clip_by_global_norm(0.05), end),
    "alone": lambda end: optax.chain(measure_gradients(), end),
    "after a clip": lambda end: optax.chain(optax.clip(0.05), measure_gradients(), end),
    "scheduled": lambda end: optax.chain(
        measure_gradients(), end, optax.scale_by_schedule(lambda step: 1 / (1 + step))
    ),
    "parts": lambda end: optax.chain(
        measure_gradients(),
        optax.partition({"end": end, "still": optax.set_to_zero()}, {"hidden": {"w": "end"}, "out": "still"}),
    ),
}


def start():
    keys = jax.random.split(jax.random.key(0), 2)
    return {"hidden": {"w": jax.random.normal(keys[0], (8, 16)) / 3}, "out": jax.random.normal(keys[1], (16,)) / 4}


def loss(params, x, y):
    return jax.numpy.mean((jax.numpy.tanh(x @ params["hidden"]["w"]) @ params["out"] - y) ** 2)


def data():
    x = jax.random.normal(jax.random.key(1), (STEPS, 4, 8))
    return x, jax.numpy.sin(x.sum(-1))


@pytest.mark.parametrize(
    ("end", "chain", "how"),
    [
        *((end, chain, "jit") for end in ENDS for chain in CHAINS),
        *(("adam", chain, how) for chain in CHAINS for how in ("eager", "scan")),
    ],
)
def test_norms(end, chain, how):
    optimizer = CHAINS[chain](ENDS[end]())

    def step(carry, batch):
        params, state = carry
        gradients = jax.grad(loss)(params, *batch)
        updates, state = optimizer.update(gradients, state, params)
        return (optax.apply_updates(params, updates), state), (gradients, gradients_in(state) if how == "eager" else 0)

    carry, batches = (start(), optimizer.init(start())), data()
    if how == "scan":
        carry, (gradients, _) = jax.lax.scan(step, carry, batches)
        made = [(jax.tree.map(lambda g: g[-1], gradients), gradients_in(carry[1]))]
    else:
        made, one = [], jax.jit(step) if how == "jit" else step
        for x, y in zip(*batches, strict=True):
            carry, (gradients, _) = one(carry, (x, y))
            made.append((gradients, gradients_in(carry[1])))
    for gradients, reports in made:
        clipped = jax.tree.map(lambda g: jax.numpy.clip(g, -0.05, 0.05) if chain == "after a clip" else g, gradients)
        wanted = {"hidden/w": clipped["hidden"]["w"], "out": clipped["out"]}
        assert {report.name: report.size for report in reports} == {"hidden/w": 128, "out": 16}
        for report in reports:
            by_hand = np.asarray(wanted[report.name], np.float64)
            assert report.gradient_norm == pytest.approx(np.linalg.norm(by_hand), rel=1e-5)
            assert report.gradient_zeros == np.count_nonzero(by_hand == 0)
