"""Keras on JAX and on torch, each in a process of its own, since a process has one backend."""

import json
import os
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from frameworks.examples import check_example
from helpers import ROOT, run

from summaries import read_run

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("keras") is None, reason="keras is not installed: make frameworks"),
]


@pytest.fixture(scope="module")
def trained_on(tmp_path_factory):
    """backend → where `keras_trainings` has written, and what it has found."""

    @cache
    def train(backend):
        directory = tmp_path_factory.mktemp(backend)
        run(ROOT / "tests/frameworks/keras_trainings.py", directory, env=os.environ | {"KERAS_BACKEND": backend})
        return directory, json.loads((directory / "found.json").read_text())

    return train


@pytest.fixture(params=["jax", "torch"])
def trained(trained_on, request):
    pytest.importorskip(request.param)
    return trained_on(request.param)


def by_numpy(x, y, w1, b1, w2, b2, clip):
    """For each batch, the norms of gradients before clipping, of all of them, of weights and updates, by hand."""
    for i in range(0, len(x), 4):
        xs, ys = x[i : i + 4], y[i : i + 4]
        hidden = np.tanh(xs @ w1 + b1)
        error = 2 * (hidden @ w2 + b2 - ys) / len(ys)
        back = error @ w2.T * (1 - hidden**2)
        gradients = [xs.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]
        total = np.sqrt(sum((g**2).sum() for g in gradients))
        factor = min(1.0, clip / total)
        norms = [[np.linalg.norm(array) for array in arrays] for arrays in (gradients, (w1, b1, w2, b2))]
        yield norms[0], total, norms[1], [0.1 * factor * norm for norm in norms[0]]
        w1, b1, w2, b2 = (w - 0.1 * factor * g for w, g in zip((w1, b1, w2, b2), gradients, strict=True))


@pytest.mark.parametrize("case", ["unclipped", "clipped", "clipped, scaled"])
def test_before_clipping(trained, case):
    """And in a second training, after Keras has compiled the first one's step."""
    directory, found = trained
    data = np.load(directory / f"{case}.npz")
    arrays = [data[f"arr_{i}"].astype(np.float64) for i in range(6)]
    wanted = list(by_numpy(*arrays, np.inf if case == "unclipped" else 0.05))
    scalars = read_run(directory / case).scalars
    np.testing.assert_allclose(scalars["gradients/global_norm"].value, [total for _, total, *_ in wanted], rtol=1e-5)
    for i, name in enumerate(found[case]):
        kinds = "gradients", "weights", "updates"
        gradients, weights, updates = (scalars[f"{kind}/norm/{name}"] for kind in kinds)
        np.testing.assert_allclose(gradients.value, [norms[i] for norms, *_ in wanted], rtol=1e-5)
        np.testing.assert_allclose(weights.value, [norms[i] for *_, norms, _ in wanted], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(updates.value, [norms[i] for *_, norms in wanted], rtol=1e-4, atol=1e-7)
        assert gradients.step.tolist() == [1, 2, 3, 4, 5, 6]
    assert ("gradients/clip_norm" in scalars) == (case != "unclipped")
    if case != "unclipped":
        np.testing.assert_allclose(scalars["gradients/clipped_global_norm"].value, 0.05, rtol=1e-6)


def test_what_the_model_reports(trained):
    """At the ends of epochs, as Keras itself reports it, and the averages of the epoch so far at due steps."""
    directory, found = trained
    logged, without = (read_run(directory / "reported" / name) for name in "ab")
    for name in ("loss", "val_loss"):
        series = logged.scalars[f"epoch_{name}"]
        assert series.step.tolist() == [12, 18]
        np.testing.assert_allclose(series.value, found["reported"][name], rtol=1e-6)
    assert logged.scalars["batch_loss"].step.tolist() == [8, 10, 12, 14, 16, 18]
    assert logged.hparams["learning_rate"] == pytest.approx(0.1)
    assert not [tag for tag in without.scalars if "loss" in tag]


def test_a_training_that_an_exception_ends(trained):
    """Later ones log what their own callbacks ask for."""
    runs = {name: read_run(trained[0] / "exception" / name) for name in "abcd"}
    assert {name: one.scalars["gradients/global_norm"].step.tolist() for name, one in runs.items()} == {
        "a": [7, 8, 9],
        "b": [10, 11, 12],
        "c": list(range(19, 25)),
        "d": [20, 22, 24],
    }


def test_what_cannot_be_seen_is_refused(trained):
    assert trained[1]["refused"] == (
        "the optimizer must not accumulate gradients, which it does inside of itself, got gradient_accumulation_steps=2"
    )


def test_the_example(logdir):
    check_example("keras", logdir, "sequential/dense_1/kernel", 64)
