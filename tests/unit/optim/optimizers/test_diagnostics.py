"""What a report says of Adam is what its definitions say; nearly so for a large variable, which is sampled."""

import numpy as np
import pytest

import optim
from summaries import SummaryWriter, read_run


def by_definition(g, m, s, t, rate=0.1, beta1=0.9, beta2=0.999, epsilon=1e-3):
    variance = s / (1 - beta2**t)
    root = np.sqrt(variance)
    return {
        "update_rms": np.sqrt(np.mean((m / (1 - beta1**t) / (root + epsilon)) ** 2)),
        "gradient_rms": np.sqrt(np.mean(g**2 / np.maximum(variance, epsilon**2))),
        "epsilon_share": np.mean(root < epsilon),
        "momentum_cosine": np.sum(g * m) / np.linalg.norm(g) / np.linalg.norm(m),
        "effective_rate": rate * np.mean(1 / (root + epsilon)),
    }


@pytest.mark.parametrize(("shape", "tolerance"), [((7, 3), 1e-9), ((1000, 100), 0.1)])
@pytest.mark.parametrize("bound", [None, 0.5])
def test_adamw(shape, tolerance, bound):
    random = np.random.default_rng(0)
    w, b = optim.Variable(np.ones(shape), name="w"), optim.Variable(np.ones((2, 2)), name="b")
    optimizer = optim.AdamWOptimizer(0.1, epsilon=1e-3)
    wrapped = optimizer if bound is None else optim.clip_gradients_by_norm(optimizer, bound)
    for _ in range(3):
        g = random.normal(size=shape) * random.choice([1e-5, 1.0], size=(shape[0], 1))
        report = wrapped.apply_gradients([(g, w), (optim.IndexedSlices(np.ones((1, 2)), [0]), b)], diagnostics=True)
    scale = 1.0 if bound is None else bound / report.global_norm
    want = by_definition(g * scale, *(optimizer.get_slot(w, slot).value for slot in "mv"), 3)
    assert report.variables[0].seen == pytest.approx(want, rel=tolerance, abs=tolerance)
    assert report.variables[1].seen == {}


def test_they_are_logged_where_asked_for(tmp_path):
    w = optim.Variable([1.0, 2.0], name="w")
    with SummaryWriter(str(tmp_path)) as writer:
        optimizer = optim.with_summaries(optim.AdamOptimizer(0.1), writer, diagnostics=True)
        report = optimizer.apply_gradients([(np.float32([1.0, -2.0]), w)])
    scalars = read_run(writer.path).scalars
    found = {tag.split("/")[1]: series.value[0] for tag, series in scalars.items() if tag.startswith("optimizer/")}
    assert found == pytest.approx(report.variables[0].seen)
    with SummaryWriter(str(tmp_path / "without")) as writer:
        optim.with_summaries(optim.AdamOptimizer(0.1), writer).apply_gradients([(np.float32([1.0, -2.0]), w)])
    assert not [tag for tag in read_run(writer.path).scalars if tag.startswith("optimizer/")]


def test_radam():
    """Whose ε is added to the root before the correction."""
    random, w = np.random.default_rng(0), optim.Variable(np.ones((7, 3)), name="w")
    optimizer = optim.RAdamOptimizer(0.1, epsilon=1e-3)
    for _ in range(3):
        g = random.normal(size=(7, 3))
        report = optimizer.apply_gradients([(g, w)], diagnostics=True)
    slots = (optimizer.get_slot(w, slot).value for slot in "mv")
    want = by_definition(g, *slots, 3, epsilon=1e-3 / np.sqrt(1 - 0.999**3))
    assert report.variables[0].seen == pytest.approx(want)


@pytest.mark.parametrize(
    ("make", "what"), [(optim.AdafactorOptimizer, "rank_one_error"), (optim.MuonOptimizer, "momentum_cosine")]
)
def test_a_large_matrix_is_judged_by_some_of_its_rows(make, what):
    """Nearly as by all: here by one in eighteen."""
    random, w = np.random.default_rng(0), optim.Variable(np.ones((600, 200)), name="w", dtype=np.float32)
    optimizer = make(1e-3)
    g, h = (random.normal(size=(600, 200)).astype(np.float32) for _ in range(2))
    optimizer.apply_gradients([(g, w)])
    seen = optimizer.apply_gradients([(h, w)], diagnostics=True).variables[0].seen[what]
    if what == "momentum_cosine":
        momentum = optimizer.get_slot(w, "momentum").value
        want = np.sum(h * momentum) / np.linalg.norm(h) / np.linalg.norm(momentum)
    else:
        square = np.float64(h) ** 2
        rank_one = square.mean(1, keepdims=True) * square.mean(0) / square.mean()
        want = np.linalg.norm(square - rank_one) / np.linalg.norm(square)
    assert seen == pytest.approx(want, rel=0.05)
