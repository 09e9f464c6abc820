"""Keras on JAX and on torch, each in a process of its own, since a process has one backend."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from frameworks.examples import check_example

from summaries import read_run

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("keras") is None, reason="keras is not installed: make frameworks"),
]

PROGRAM = """
import json, sys
import numpy as np
import keras
from optim.integrations.keras import GradientCallback

logdir, options = sys.argv[1], json.loads(sys.argv[2])
rng = np.random.default_rng(0)
x = rng.standard_normal((24, 8)).astype("float32")
y = np.sin(x.sum(1, keepdims=True))
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(17, "tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1, **options), "mse")
start = [np.array(w) for w in model.get_weights()]
model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0)
model.set_weights(start)
model.optimizer._iterations.assign(0)
model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0, callbacks=[GradientCallback(logdir)])
assert "apply" not in vars(model.optimizer)
np.savez(logdir + "/data.npz", x, y, *start)
print(json.dumps([v.path for v in model.trainable_variables]))
"""


def by_numpy(x, y, w1, b1, w2, b2, clip):
    """For each batch, the norms of the gradients before clipping, computed by hand."""
    for i in range(0, len(x), 4):
        xs, ys = x[i : i + 4], y[i : i + 4]
        hidden = np.tanh(xs @ w1 + b1)
        error = 2 * (hidden @ w2 + b2 - ys) / len(ys)
        back = error @ w2.T * (1 - hidden**2)
        gradients = [xs.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]
        total = np.sqrt(sum((g**2).sum() for g in gradients))
        yield [np.linalg.norm(g) for g in gradients], total, [np.linalg.norm(w) for w in (w1, b1, w2, b2)]
        factor = min(1.0, clip / total)
        w1, b1, w2, b2 = (w - 0.1 * factor * g for w, g in zip((w1, b1, w2, b2), gradients, strict=True))


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize(
    "options", [{}, {"global_clipnorm": 0.05}, {"global_clipnorm": 0.05, "loss_scale_factor": 8.0}]
)
def test_before_clipping(logdir, backend, options):
    """And in a second training, after Keras has compiled the first one's step."""
    pytest.importorskip(backend)
    command = [sys.executable, "-c", PROGRAM, str(logdir), json.dumps(options)]
    done = subprocess.run(
        command, env=os.environ | {"KERAS_BACKEND": backend}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = json.loads(done.stdout.splitlines()[-1])
    data = np.load(logdir / "data.npz")
    arrays = [data[f"arr_{i}"].astype(np.float64) for i in range(6)]
    wanted = list(by_numpy(*arrays, options.get("global_clipnorm", np.inf)))
    scalars = read_run(logdir).scalars
    np.testing.assert_allclose(scalars["gradients/global_norm"].value, [total for _, total, _ in wanted], rtol=1e-5)
    for i, name in enumerate(names):
        gradients, weights = (scalars[f"{kind}/norm/{name}"] for kind in ("gradients", "weights"))
        np.testing.assert_allclose(gradients.value, [norms[i] for norms, _, _ in wanted], rtol=1e-5)
        np.testing.assert_allclose(weights.value, [norms[i] for _, _, norms in wanted], rtol=1e-5, atol=1e-7)
        assert gradients.step.tolist() == [1, 2, 3, 4, 5, 6]
    assert ("gradients/clip_norm" in scalars) == ("global_clipnorm" in options)
    if "global_clipnorm" in options:
        np.testing.assert_allclose(scalars["gradients/clipped_global_norm"].value, 0.05, rtol=1e-6)


REPORTED = """
for name, options in (("a", {}), ("b", {"log_metrics": False})):
    callback = GradientCallback(logdir + "/" + name, every_n_steps=2, **options)
    history = model.fit(x, y, validation_data=(x, y), batch_size=4, epochs=2, verbose=0, callbacks=[callback])
    if name == "a":
        found = history.history
print(json.dumps(found))
"""


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_what_the_model_reports(logdir, backend):
    """At the ends of epochs, as Keras itself reports it, and the averages of the epoch so far at due steps."""
    pytest.importorskip(backend)
    command = [sys.executable, "-c", PROGRAM + REPORTED, str(logdir), "{}"]
    done = subprocess.run(
        command, env=os.environ | {"KERAS_BACKEND": backend}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    history = json.loads(done.stdout.splitlines()[-1])
    run, without = (read_run(logdir / name) for name in "ab")
    for name in ("loss", "val_loss"):
        series = run.scalars[f"epoch_{name}"]
        assert series.step.tolist() == [12, 18]
        np.testing.assert_allclose(series.value, history[name], rtol=1e-6)
    assert run.scalars["batch_loss"].step.tolist() == [8, 10, 12, 14, 16, 18]
    assert run.hparams["learning_rate"] == pytest.approx(0.1)
    assert not [tag for tag in without.scalars if "loss" in tag]


AFTER_AN_EXCEPTION = """

class Ends(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            raise RuntimeError("no more data")

def fit(*callbacks):
    model.fit(x, y, batch_size=4, epochs=1, verbose=0, callbacks=list(callbacks))

for name in "ab":
    try:
        fit(GradientCallback(logdir + "/" + name), Ends())
    except RuntimeError:
        assert "apply" in vars(model.optimizer)
fit()
assert "apply" not in vars(model.optimizer) and "make_train_function" not in vars(model)
fit(GradientCallback(logdir + "/c"), GradientCallback(logdir + "/d", every_n_steps=2))
assert "apply" not in vars(model.optimizer)
"""


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_training_that_an_exception_ends(logdir, backend):
    """Later ones log what their own callbacks ask for."""
    pytest.importorskip(backend)
    command = [sys.executable, "-c", PROGRAM + AFTER_AN_EXCEPTION, str(logdir), "{}"]
    done = subprocess.run(
        command, env=os.environ | {"KERAS_BACKEND": backend}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    steps = {name: read_run(logdir / name).scalars["gradients/global_norm"].step.tolist() for name in "abcd"}
    assert steps == {
        "a": [7, 8, 9],
        "b": [10, 11, 12],
        "c": list(range(19, 25)),
        "d": [20, 22, 24],
    }


def test_what_cannot_be_seen_is_refused(logdir):
    program = PROGRAM.replace("0.1, **options", "0.1, gradient_accumulation_steps=2")
    environment = os.environ | {"KERAS_BACKEND": "jax" if find_spec("jax") else "torch"}
    command = [sys.executable, "-c", program, str(logdir), "{}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ValueError: the optimizer must not accumulate gradients, which it does inside of itself, got "
        "gradient_accumulation_steps=2"
    )


def test_the_example(logdir):
    check_example("keras", logdir, "sequential/dense_1/kernel", 64)
