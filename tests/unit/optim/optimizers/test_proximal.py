"""The proximal optimizers: as TensorFlow 2.21, where its results are at hand, and as their papers."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT
from optimizing.papers import by_the_paper, taken

import optim

RECORDED = Path(ROOT).parent / "shared/reference/tf1-more"
CASES = json.loads((RECORDED / "cases.json").read_text())["cases"] if RECORDED.exists() else []
TOLERANCE = {"float32": 2e-5, "float64": 2e-6}  # relative: TensorFlow rounds hyperparameters to float32


def shrunk(x, by):
    return np.sign(x) * np.maximum(np.abs(x) - by, 0)


def descent(t, g, v, rate, l1, l2):
    return (shrunk(v - rate * g, rate * l1) / (1 + rate * l2),)


def adagrad(t, g, v, a, rate, l1, l2):
    a = a + g**2
    rate = rate / np.sqrt(a)
    return shrunk(v - rate * g, rate * l1) / (1 + rate * l2), a


def dual_averaging(t, g, v, s, a, rate, l1, l2):
    """Duchi et al. 2011, equation 24: from means of gradients, where ours has sums."""
    s, a = s + g, a + g**2
    return -shrunk(s / t, l1) * rate * t / (np.sqrt(a) + rate * t * l2), s, a


VALUES = {"rate": 0.3, "l1": 0.05, "l2": 0.2}
OURS = {
    "learning_rate": 0.3,
    "l1_regularization_strength": 0.05,
    "l2_regularization_strength": 0.2,
}


def test_descent_takes_the_papers_steps():
    got = taken(optim.ProximalGradientDescentOptimizer(**OURS))
    np.testing.assert_allclose(got, by_the_paper(descent, **VALUES), rtol=1e-12)
    assert (got[-1] == 0).sum() < 4


def test_adagrad_takes_the_papers_steps():
    got = taken(optim.ProximalAdagradOptimizer(initial_accumulator_value=0.2, **OURS))
    np.testing.assert_allclose(got, by_the_paper(adagrad, 0.2, **VALUES), rtol=1e-12)


def test_dual_averaging_takes_the_papers_steps():
    step = optim.Variable(0, trainable=False, name="global_step")
    w = optim.Variable(np.zeros(4), name="w", dtype=np.float64)
    optimizer = optim.AdagradDAOptimizer(0.3, step, 0.2, 0.05, 0.2)
    s, a = np.zeros(4), np.full(4, 0.2)
    for t, g in enumerate(np.random.default_rng(0).normal(size=(6, 4)), 1):
        optimizer.apply_gradients([(g, w)], step)
        v, s, a = dual_averaging(t, g, None, s, a, **VALUES)
        np.testing.assert_allclose(w.value, v, rtol=1e-12)


def test_a_strong_l1_makes_weights_exactly_zero():
    w = optim.Variable([1.0, 1e-3], name="w")
    optim.ProximalGradientDescentOptimizer(0.5, l1_regularization_strength=0.1).apply_gradients([(np.zeros(2, "f"), w)])
    assert w.value.tolist() == [pytest.approx(0.95), 0.0]


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_initial_values_are_positive(value):
    step = optim.Variable(0, trainable=False)
    with pytest.raises(ValueError, match="must be positive and finite"):
        optim.AdagradDAOptimizer(0.1, step, initial_gradient_squared_accumulator_value=value)
    with pytest.raises(ValueError, match="must be positive and finite"):
        optim.ProximalAdagradOptimizer(0.1, initial_accumulator_value=value)


@pytest.mark.skipif(not CASES, reason="TensorFlow's results are not at hand")
@pytest.mark.parametrize("case", CASES, ids=[case["key"] for case in CASES])
def test_as_tensorflow(case):
    arrays = recorded()

    def of(name):
        return arrays[f"{case['key']}/{name}"]

    def close(got, want):
        np.testing.assert_allclose(got, want, rtol=TOLERANCE[case["dtype"]], atol=1e-9)

    step = optim.Variable(0, trainable=False, name="global_step")
    given = {"global_step": step} if case["optimizer"] == "AdagradDAOptimizer" else {}
    optimizer = getattr(optim, case["optimizer"])(**case["kwargs"], **given)
    variables = {name: optim.Variable(of(f"{name}0"), name=name) for name in "wb"}
    for i in range(case["steps"]):
        gradient = optim.IndexedSlices(of("values")[i], of("indices")[i]) if case["sparse"] else of("grad_w")[i]
        optimizer.apply_gradients([(gradient, variables["w"]), (of("grad_b")[i], variables["b"])], step)
        for name, variable in variables.items():
            close(variable.value, of(name)[i + 1])
            for slot in case["slots"]:
                close(optimizer.get_slot(variable, slot).value, of(f"{slot}_{name}")[i + 1])
    assert optimizer.get_slot_names() == case["slots"]
    assert optim.global_step(step) == case["global_step_after"]


def recorded():
    with np.load(RECORDED / "arrays.npz", allow_pickle=False) as data:
        return dict(data)
