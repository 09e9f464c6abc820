"""Each tag's value is what plain NumPy computes, for each optimizer, dense and sparse, clipped or not, finite or not.

To 1e-5 of the value; a slot's mean to 1e-5 of the mean of its elements' absolute values, since what cancels leaves the
rounding of its parts.
"""

from collections import Counter

import numpy as np
import pytest

import optim
from optim import IndexedSlices, Variable
from summaries import SummaryWriter, read_run
from summaries.native import library

OPTIMIZERS = {
    "gradient descent": lambda: optim.GradientDescentOptimizer(0.1),
    "momentum": lambda: optim.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: optim.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda: optim.AdagradOptimizer(0.1),
    "Adadelta": lambda: optim.AdadeltaOptimizer(1.0),
    "Adam": lambda: optim.AdamOptimizer(0.01),
    "AdamW": lambda: optim.AdamWOptimizer(0.01),
    "NAdam": lambda: optim.NAdamOptimizer(0.01),
    "Lion": lambda: optim.LionOptimizer(0.01),
    "FTRL": lambda: optim.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "RMSProp": lambda: optim.RMSPropOptimizer(0.01, momentum=0.9),
    "RMSProp, centered": lambda: optim.RMSPropOptimizer(0.01, centered=True),
}
SHAPES = {"kernel": (70, 80), "bias": (7,), "table": (30, 5), "empty": (0, 3), "scalar": ()}
BAD = {"finite": 1.0, "NaN": np.nan, "infinite": -np.inf}
ENGINES = [
    "plain",
    pytest.param("compiled", marks=pytest.mark.skipif(not library.is_available(), reason="no compiled code")),
]
STEPS = 3


@pytest.fixture(params=ENGINES)
def engine(request):
    library.use(request.param)
    yield request.param
    library.use(None)


def gradients_of(rng, dtype, bad):
    """name → gradient; those of the table are rows, one of them twice. One element is special."""
    found = {}
    for name, shape in SHAPES.items():
        array = rng.standard_normal(shape).astype(dtype)
        if array.ndim:
            array[rng.random(shape) < 0.3] = 0.0
        found[name] = array
    found["kernel"][3, 4] = bad
    rows = rng.standard_normal((4, 5)).astype(dtype)
    rows[0, 0] *= bad
    found["table"] = IndexedSlices(rows, [3, 20, 3, 7])
    return found


def dense(gradient, shape):
    if not isinstance(gradient, IndexedSlices):
        return gradient.astype(np.float64)
    array = np.zeros(shape)
    np.add.at(array, gradient.indices, gradient.values.astype(np.float64))
    return array


def root_of_squares(array):
    return np.sqrt(np.sum(np.square(array.astype(np.float64))))


def expected(variables, before, gradients, optimizer, bound):
    """tag → value, by plain NumPy on whole arrays; of a mean with its margin."""
    every = [g.values if isinstance(g, IndexedSlices) else g for g in gradients.values()]
    norm = root_of_squares(np.concatenate([array.reshape(-1) for array in every]))
    tags = {"gradients/global_norm": norm, "gradients/nonfinite": sum(np.sum(~np.isfinite(array)) for array in every)}
    if bound is not None:
        tags["gradients/clip_norm"] = bound
        tags["gradients/clipped"] = float(norm > bound)
        tags["gradients/clipped_global_norm"] = np.nan if not np.isfinite(norm) else min(norm, bound)
    margins = {}
    for name, variable in variables.items():
        gradient, now = dense(gradients[name], variable.shape), variable.value.astype(np.float64)
        tags[f"gradients/norm/{name}"] = root_of_squares(gradient)
        tags[f"gradients/zero_fraction/{name}"] = np.mean(gradient == 0) if gradient.size else 0.0
        tags[f"weights/norm/{name}"] = root_of_squares(now)
        tags[f"updates/norm/{name}"] = root_of_squares(now - before[name])
        if root_of_squares(now):  # what is 0 has no ratio
            tags[f"updates/ratio/{name}"] = root_of_squares(now - before[name]) / root_of_squares(now)
        for slot in optimizer.get_slot_names():
            array = optimizer.get_slot(variable, slot).value.astype(np.float64)
            tags[f"slots/{slot}/mean/{name}"] = np.mean(array) if array.size else 0.0
            tags[f"slots/{slot}/norm/{name}"] = root_of_squares(array)
            tags[f"slots/{slot}/max/{name}"] = np.max(array) if array.size else 0.0
            margins[f"slots/{slot}/mean/{name}"] = np.mean(np.abs(array)) if array.size else 0.0
    return tags, margins


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("bound", [None, 1.0, 1e6])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_every_tag(logdir, engine, make, bound, bad):
    rng = np.random.default_rng(0)
    dtype = np.float32
    variables = {name: Variable(rng.standard_normal(shape).astype(dtype), name=name) for name, shape in SHAPES.items()}
    inner = make()
    with SummaryWriter(logdir) as writer, np.errstate(all="ignore"):
        optimizer = inner if bound is None else optim.clip_gradients_by_norm(inner, bound)
        optimizer = optim.with_summaries(optimizer, writer, clock=lambda: 0.0)
        wanted = []
        for step in range(STEPS):
            gradients = gradients_of(rng, dtype, bad if step == 1 else 1.0)
            before = {name: variable.value.astype(np.float64) for name, variable in variables.items()}
            optimizer.apply_gradients([(gradients[name], variable) for name, variable in variables.items()])
            wanted.append(expected(variables, before, gradients, inner, bound))
            if bound is not None:
                clipped = [tags["gradients/clipped"] for tags, _ in wanted]
                wanted[-1][0]["gradients/clipped_fraction"] = np.mean(clipped)
        writer.flush()
        found = read_run(writer.path).scalars
        assert {tag: len(series) for tag, series in found.items()} == {
            "train/learning_rate": STEPS,
            **Counter(tag for tags, _ in wanted for tag in tags),
        }
        for i, (tags, margins) in enumerate(wanted):
            got = np.array([found[tag].value[found[tag].step == i + 1].item() for tag in tags], np.float64)
            values, margin = (np.array([of.get(tag, 0.0) for tag in tags], np.float64) for of in (tags, margins))
            margin[~np.isfinite(margin)] = 0.0
            wrong = ~np.isclose(got, values, 1e-5, 1e-5 * margin, equal_nan=True)
            several = zip(tags, got.tolist(), values.tolist(), wrong.tolist(), strict=True)
            assert [(tag, i + 1, one, other) for tag, one, other, bad in several if bad] == []


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_every_tag_of_other_dtypes(logdir, engine, dtype):
    rng = np.random.default_rng(1)
    w = Variable(rng.standard_normal((300, 50)).astype(dtype), name="w")
    before, gradient = w.value.astype(np.float64), rng.standard_normal(w.shape).astype(dtype)
    with SummaryWriter(logdir) as writer:
        inner = optim.AdamOptimizer(0.01)
        optim.with_summaries(inner, writer).apply_gradients([(gradient, w)])
        writer.flush()
        found = read_run(writer.path).scalars
    tags, margins = expected({"w": w}, {"w": before}, {"w": gradient}, inner, None)
    narrow = 2e-3 if dtype is np.float16 else 0.0  # measured before it is rounded to float16
    for tag, value in tags.items():
        margin = (1e-5 + narrow) * margins.get(tag, abs(value))
        np.testing.assert_allclose(found[tag].value, value, 1e-5 + narrow, margin, err_msg=tag)


def test_a_mean_that_cancels(logdir, engine):
    """Of a million elements of size 1 whose mean is a thousandth."""
    rng = np.random.default_rng(2)
    gradient = rng.standard_normal(1_000_000).astype(np.float32)
    gradient -= np.float32(gradient.astype(np.float64).mean() - 1e-3)
    w = Variable(np.zeros_like(gradient), name="w")
    with SummaryWriter(logdir) as writer:
        optimizer = optim.with_summaries(optim.MomentumOptimizer(0.1, 0.9), writer)
        optimizer.apply_gradients([(gradient, w)])
        slot = optimizer.get_slot(w, "momentum").value
        writer.flush()
        (mean,) = read_run(writer.path).scalars["slots/momentum/mean/w"].value
    assert mean == pytest.approx(slot.astype(np.float64).mean(), rel=1e-4)
