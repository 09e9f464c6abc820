"""Formulas against their papers, an element at a time; TF1's seven are checked against TF1 itself."""

import math

import numpy as np
import pytest

import optim
from optim import rules
from optim.kernels.tracing import trace
from optim.rules import Rule

RULES = {name: rule for name, rule in vars(rules).items() if isinstance(rule, Rule)}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_names_its_reference_and_its_slots(rule):
    assert rule.reference
    assert len(rule.formula(*[0.5] * len(rule.parameters))) == 1 + len(rule.slots)


OF_OPTIMIZERS = {
    name: rule for name, rule in RULES.items() if rule.parameters[0] == "g" and not name.startswith("PRODIGY")
}
AT_REST = dict.fromkeys(["weight_decay", "penalty", "l1", "l2"], 0.0)


@pytest.mark.parametrize("rule", OF_OPTIMIZERS.values(), ids=OF_OPTIMIZERS)
def test_what_moves_at_rest(rule):
    """With fresh momentum slots and a gradient of 0, only what says so moves."""
    hyper = dict.fromkeys(rule.hyperparameters, 0.5) | AT_REST
    slots = [0.0 if slot in {"momentum", "m", "m_slow", "mg", "gradient_accumulator"} else 1.0 for slot in rule.slots]
    v = 0.0 if {"linear", "gradient_accumulator"} & set(rule.slots) else 1.0
    if "linear" in rule.slots:
        slots[1] = 0.0
    moved = rule.formula(0.0, v, *slots, *(hyper[name] for name in rule.hyperparameters))[0] != v
    assert moved == ("decay" in rule.hyperparameters and rule not in (rules.RMSPROP, rules.RMSPROP_CENTERED))


def steps(optimizer, gradients, start=1.0, dtype=np.float64):
    w = optim.Variable(np.array([start]), name="w", dtype=dtype)
    for g in gradients:
        optimizer.apply_gradients([(np.array([g], dtype), w)])
    return float(w.value[0])


GRADIENTS = [0.5, -2.0, 0.1, 3.0]


def test_adamw_is_the_papers():
    rate, beta1, beta2, epsilon, decay, v, m, s = 0.1, 0.8, 0.9, 1e-3, 0.3, 1.0, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, 1):
        m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g * g
        corrected_m, corrected_s = m / (1 - beta1**t), s / (1 - beta2**t)
        v = v - rate * decay * v - rate * corrected_m / (math.sqrt(corrected_s) + epsilon)
    assert steps(optim.AdamWOptimizer(rate, beta1, beta2, epsilon, decay), GRADIENTS) == pytest.approx(v, rel=1e-12)


def test_adamw_without_memory_goes_by_signs():
    gradients = [100.0, 1e-3, -1e-3]
    w = steps(optim.AdamWOptimizer(0.1, 0.0, 0.0, 1e-8, 0.0), gradients, dtype=np.float32)
    assert w == pytest.approx(0.9, rel=1e-4)  # from 1, a tenth down twice, and up once


def test_nadam_is_the_papers_with_one_beta():
    rate, beta1, beta2, epsilon, v, m, s = 0.1, 0.8, 0.9, 1e-3, 1.0, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, 1):
        m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g * g
        alpha = rate * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        v -= alpha * (beta1 * m + (1 - beta1) * g) / (math.sqrt(s) + epsilon)
    assert steps(optim.NAdamOptimizer(rate, beta1, beta2, epsilon), GRADIENTS) == pytest.approx(v, rel=1e-12)


def test_lion_is_the_papers():
    rate, beta1, beta2, decay, v, m = 0.1, 0.8, 0.9, 0.3, 1.0, 0.0
    for g in GRADIENTS:
        c = beta1 * m + (1 - beta1) * g
        v -= rate * (math.copysign(1, c) + decay * v)
        m = beta2 * m + (1 - beta2) * g
    assert steps(optim.LionOptimizer(rate, beta1, beta2, decay), GRADIENTS) == pytest.approx(v, rel=1e-12)


def test_float64_keeps_hyperparameters_that_float32_would_round():
    assert steps(optim.GradientDescentOptimizer(0.1), [1.0]) == 0.9
    adam = optim.AdamOptimizer(0.1, beta2=0.99999)
    assert steps(adam, [1e-3]) == pytest.approx(1 - 0.1 / (1 + 1e-8 / math.sqrt(1e-5) / 1e-3), rel=1e-15)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_variables_are_computed_as_float32(dtype):
    pytest.importorskip("ml_dtypes")
    wide = steps(optim.AdamOptimizer(0.1), GRADIENTS, dtype=np.float32)
    assert steps(optim.AdamOptimizer(0.1), GRADIENTS, dtype=np.dtype(dtype)) == pytest.approx(wide, rel=2e-2)


@pytest.mark.parametrize("name", ["AdEMAMixOptimizer", "AMSGradOptimizer", "RAdamOptimizer", "ScheduleFreeAdamW"])
def test_an_element_is_divided_once(name):
    """A division takes as long as ten multiplications, by which a number of the step is divided by beforehand."""
    operations = trace(getattr(optim, name)().update.rule).operations
    assert [one.function for one in operations if one.result.varies].count(np.divide) == 1
