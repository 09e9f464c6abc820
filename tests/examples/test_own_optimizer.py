"""The example's AdaMax, written with public names only, does whatever the package's own optimizers do."""

import ast
import copy
import importlib.util
import pickle
import sys

import numpy as np
import pytest
from helpers import ROOT, run

import optim
from optim import IndexedSlices, Variable
from summaries import SummaryWriter, read_run

PROGRAM = ROOT / "examples/own_optimizer.py"


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location("own_optimizer", PROGRAM)
    module = importlib.util.module_from_spec(specification)
    sys.modules["own_optimizer"] = module  # where pickle looks for its classes
    specification.loader.exec_module(module)
    yield module
    del sys.modules["own_optimizer"]


def test_the_program_fits_its_line():
    assert run(PROGRAM).splitlines() == [
        "step   1: loss 7.7500",
        "step  10: loss 3.1118",
        "step 100: loss 0.0001",
        "step 300: loss 0.0000",
        "y = 3.00 x -2.00",
    ]


def test_it_needs_public_names_only():
    tree = ast.parse(PROGRAM.read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert {name for name in names if name.startswith("_")} == {"__init__"}
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"__future__", "collections.abc", "numpy", "optim", "typing"}


def adamax(gradients, v, rate=0.1, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """(v, m, u) after these gradients, in float64, as the paper has it."""
    v, m, u = v.astype(np.float64), np.zeros(v.shape), np.zeros(v.shape)
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        u = np.maximum(beta2 * u, np.abs(g) + epsilon)
        v = v - rate / (1 - beta1**t) * m / u
    return v, m, u


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_the_formula(example, dtype, tolerance):
    rng = np.random.default_rng(0)
    gradients = [rng.standard_normal((4, 3)).astype(dtype) for _ in range(20)]
    w = Variable(rng.standard_normal((4, 3)), name="w", dtype=dtype)
    wanted = adamax(gradients, w.value)
    optimizer = example.AdaMaxOptimizer(0.1)
    for gradient in gradients:
        optimizer.apply_gradients([(gradient, w)])
    for got, right in zip((w, optimizer.get_slot(w, "m"), optimizer.get_slot(w, "u")), wanted, strict=True):
        np.testing.assert_allclose(got.value, right, rtol=tolerance, atol=tolerance)
    assert [variable.name for variable in optimizer.variables()] == ["w/AdaMax", "w/AdaMax_1"]


def test_rows(example):
    rng = np.random.default_rng(1)
    rows = [IndexedSlices(rng.standard_normal((2, 3)), [k, 3], (4, 3)) for k in (0, 1, 0)]
    w = Variable(np.zeros((4, 3)), name="w", dtype=np.float64)
    optimizer = example.AdaMaxOptimizer(0.1)
    for gradient in rows:
        optimizer.apply_gradients([(gradient, w)])
    np.testing.assert_allclose(w.value, adamax([np.asarray(g) for g in rows], np.zeros((4, 3)))[0], rtol=1e-12)


WRAPPERS = {
    "bare": lambda o: o,
    "norm": lambda o: optim.clip_gradients_by_norm(o, 1.0),
    "value": lambda o: optim.clip_gradients_by_value(o, -0.5, 0.5),
    "percentile": lambda o: optim.clip_gradients_by_percentile(o, 50.0),
    "skip": optim.skip_nonfinite_steps,
    "all": lambda o: optim.skip_nonfinite_steps(
        optim.clip_gradients_by_percentile(
            optim.clip_gradients_by_value(optim.clip_gradients_by_norm(o, 1.0), -0.5, 0.5), 50.0
        )
    ),
}


def begin(example, wrap):
    w, step = Variable([1.0, -1.0, 2.0], name="w"), Variable(0, trainable=False, name="global_step")
    return w, step, wrap(example.AdaMaxOptimizer(lambda: 0.1))


def train(w, step, optimizer, steps):
    for _ in range(steps):
        gradient = np.random.default_rng(int(step)).standard_normal(3).astype(np.float32)
        report = optimizer.apply_gradients([(gradient, w)], step)
    return report


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_with_a_saver_it_goes_on_bit_for_bit(example, tmp_path, wrap):
    pytest.importorskip("safetensors", reason="the extra `checkpoint` is not installed")
    w, step, optimizer = begin(example, wrap)
    train(w, step, optimizer, 5)
    path = optim.Saver([w, step, optimizer]).save(tmp_path / "model", step)
    train(w, step, optimizer, 5)
    other_w, other_step, other = begin(example, wrap)
    optim.Saver([other_w, other_step, other]).restore(path)
    assert other.update.steps == 5
    train(other_w, other_step, other, 5)
    for one, same in zip([w, *optimizer.variables()], [other_w, *other.variables()], strict=True):
        assert (one.name, one.value.tobytes()) == (same.name, same.value.tobytes())


CLIPPED = {
    "norm": lambda g: g / np.linalg.norm(g),
    "value": lambda g: np.clip(g, -0.5, 0.5),
    "skip": lambda g: g,
}


@pytest.mark.parametrize(("name", "clip"), CLIPPED.items(), ids=CLIPPED)
def test_under_a_wrapper(example, name, clip):
    gradients = [np.float64([3.0, -4.0]), np.float64([-0.3, 40.0])]
    w = Variable(np.zeros(2), name="w", dtype=np.float64)
    optimizer = WRAPPERS[name](example.AdaMaxOptimizer(0.1))
    for gradient in gradients:
        optimizer.apply_gradients([(gradient, w)])
    np.testing.assert_allclose(w.value, adamax([clip(g) for g in gradients], np.zeros(2))[0], rtol=1e-12)


def test_its_steps_are_reported_and_logged(example, logdir):
    w, step, optimizer = begin(example, WRAPPERS["norm"])
    with SummaryWriter(logdir) as writer:
        report = train(w, step, optim.with_summaries(optimizer, writer), 3)
    ((row),) = report.variables
    u = optimizer.get_slot(w, "u").value
    assert list(row.slots) == ["m", "u"]
    assert (row.slots["u"].max, row.slots["u"].mean) == pytest.approx((u.max(), u.mean()))
    scalars = read_run(writer.path).scalars
    assert scalars["slots/u/max/w"].value[-1] == pytest.approx(u.max())
    assert scalars["train/learning_rate"].value.tolist() == pytest.approx([0.1] * 3)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda parts: pickle.loads(pickle.dumps(parts))])  # noqa: S301 - our own
def test_a_copy_goes_on_alike(example, copied):
    w, optimizer = Variable([1.0, -1.0, 2.0], name="w"), WRAPPERS["all"](example.AdaMaxOptimizer(0.1))
    train(w, Variable(0), optimizer, 3)
    twin_w, twin = copied((w, optimizer))
    train(w, Variable(3), optimizer, 3)
    train(twin_w, Variable(3), twin, 3)
    assert w.value.tobytes() == twin_w.value.tobytes()
