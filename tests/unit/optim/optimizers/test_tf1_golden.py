"""Everything that TensorFlow 2.21's tf.compat.v1.train computed for us: variables and slots after every step."""

import json
import os

import numpy as np
import pytest
from helpers import ROOT

import optim

GOLDEN = ROOT / "tests/golden/tf1"

with open(os.path.join(GOLDEN, "cases.json"), encoding="utf-8") as file:
    CASES = json.load(file)["cases"]
with np.load(os.path.join(GOLDEN, "arrays.npz"), allow_pickle=False) as data:
    ARRAYS = dict(data)

TOLERANCE = {"float32": 2e-4, "float64": 2e-5}  # relative; why not closer in float64 is that TF rounds to float32


def cases(kind):
    return [pytest.param(case, id=case["key"]) for case in CASES if case["kind"] == kind]


pytestmark = pytest.mark.usefixtures("each_engine")


def close(got, want):
    kind = TOLERANCE[str(want.dtype)]
    np.testing.assert_allclose(got, want, rtol=kind, atol=kind * 1e-3)


@pytest.mark.parametrize("case", cases("optimizer"))
def test_optimizer(case):
    def recorded(name):
        return ARRAYS[f"{case['key']}/{name}"]

    optimizer = getattr(optim, case["optimizer"])(**case["kwargs"])
    variables = {name: optim.Variable(recorded(f"{name}0"), name=name) for name in "wb"}
    global_step = optim.Variable(0, trainable=False, name="global_step")
    for i in range(case["steps"]):
        if case["sparse"]:
            gradient = optim.IndexedSlices(recorded("values")[i], recorded("indices")[i])
        else:
            gradient = recorded("grad_w")[i]
        pairs = [(gradient, variables["w"]), (recorded("grad_b")[i], variables["b"])]
        optimizer.apply_gradients(pairs, global_step)
        for name, variable in variables.items():
            close(variable.value, recorded(name)[i + 1])
            for slot in case["slots"]:
                close(optimizer.get_slot(variable, slot).value, recorded(f"{slot}_{name}")[i + 1])
    assert optimizer.get_slot_names() == case["slots"]
    assert optim.global_step(global_step) == case["global_step_after"]


def tensors(case):
    names = sorted(name for name in ARRAYS if name.startswith(f"{case['key']}/t"))
    return [ARRAYS[name] for name in names]


def wanted(case):
    names = sorted(name for name in ARRAYS if name.startswith(f"{case['key']}/out"))
    return [ARRAYS[name] for name in names]


@pytest.mark.parametrize("case", cases("clip_by_value"))
def test_clip_by_value(case):
    close(optim.clip_by_value(*tensors(case), case["lo"], case["hi"]), *wanted(case))


@pytest.mark.parametrize("case", cases("clip_by_norm"))
def test_clip_by_norm(case):
    close(optim.clip_by_norm(*tensors(case), case["clip_norm"], case["axes"]), *wanted(case))


@pytest.mark.parametrize("case", cases("clip_by_average_norm"))
def test_clip_by_average_norm(case):
    close(optim.clip_by_average_norm(*tensors(case), case["clip_norm"]), *wanted(case))


@pytest.mark.parametrize("case", cases("global_norm"))
def test_global_norm(case):
    close(optim.global_norm(tensors(case)), *wanted(case))


@pytest.mark.parametrize("case", cases("clip_by_global_norm"))
def test_clip_by_global_norm(case):
    clipped, norm = optim.clip_by_global_norm(tensors(case), case["clip_norm"], case["use_norm"])
    for got, want in zip([*clipped, norm], wanted(case), strict=True):
        close(got, want)


@pytest.mark.parametrize("case", cases("decay"))
def test_decay(case):
    decay = getattr(optim, case["function"])
    step = optim.Variable(0, trainable=False, name="global_step")
    place = "x" if "boundaries" in case["kwargs"] else "global_step"
    schedule = decay(**case["kwargs"], **{place: step})
    for number, want in zip(ARRAYS[f"{case['key']}/step"].tolist(), ARRAYS[f"{case['key']}/out0"], strict=True):
        assert decay(**case["kwargs"], **{place: number}) == schedule.at(number)
        assert schedule.at(number) == pytest.approx(float(want), rel=2e-6, abs=1e-8)


@pytest.mark.parametrize("case", cases("ema"))
def test_moving_average(case):
    values, wanted = ARRAYS[f"{case['key']}/values"], ARRAYS[f"{case['key']}/out0"]
    step = optim.Variable(0, trainable=False, name="global_step")
    v = optim.Variable(values[0], name="v")
    counted = {"num_updates": step} if case["kwargs"].get("num_updates") == "step" else {}
    ema = optim.ExponentialMovingAverage(**{**case["kwargs"], **counted})
    for i, value in enumerate(values):
        v.assign(value)
        step.assign(i)
        ema.apply([v])
        np.testing.assert_allclose(ema.average(v).value, wanted[i], rtol=2e-6, atol=1e-7)
    assert ema.average_name(v) == case["average_name"]


with open(os.path.join(GOLDEN, "..", "tf1_more", "cases.json"), encoding="utf-8") as file:
    MORE = json.load(file)


@pytest.mark.parametrize("case", MORE["decays"], ids=lambda case: case["function"])
def test_every_decay(case):
    decay, kwargs = getattr(optim, case["function"]), case["kwargs"]
    for step, want in zip(case["steps"], case["rates"], strict=True):
        # What is left of a cosine near its end is what float32 left of it.
        assert decay(global_step=step, **kwargs) == pytest.approx(want, rel=5e-6, abs=2e-7 * kwargs["learning_rate"])


@pytest.mark.parametrize("case", MORE["averages"], ids=lambda case: str(case["kwargs"]))
def test_averages_of_plain_arrays(case):
    array, ema = np.empty(3, np.float32), optim.ExponentialMovingAverage(**case["kwargs"])
    for value, want in zip(case["values"], case["averages"], strict=True):
        array[:] = value
        ema.apply([array])
        np.testing.assert_allclose(ema.average(array).value, want, rtol=2e-6, atol=1e-7)
