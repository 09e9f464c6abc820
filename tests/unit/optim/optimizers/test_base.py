"""Slots, the powers of Adam, hyperparameters that change, what is refused, threads that share an optimizer."""

import array
import copy
import threading

import numpy as np
import pytest

import optim
from optim import Variable
from optim.kernels import plan


def trained(optimizer, steps=2, dtype=np.float32, name="w"):
    w = Variable(np.ones(3), name=name, dtype=dtype)
    for _ in range(steps):
        optimizer.apply_gradients([(np.ones(3, dtype), w)])
    return w


SLOTS = {
    "GradientDescent": (optim.GradientDescentOptimizer(0.1), {}),
    "Momentum": (optim.MomentumOptimizer(0.1, 0.9), {"momentum": "w/Momentum"}),
    "Adagrad": (optim.AdagradOptimizer(0.1), {"accumulator": "w/Adagrad"}),
    "Adadelta": (optim.AdadeltaOptimizer(), {"accum": "w/Adadelta", "accum_update": "w/Adadelta_1"}),
    "Adam": (optim.AdamOptimizer(), {"m": "w/Adam", "v": "w/Adam_1"}),
    "Ftrl": (optim.FtrlOptimizer(0.1), {"accum": "w/Ftrl", "linear": "w/Ftrl_1"}),
    "Ftrl, named": (optim.FtrlOptimizer(0.1, accum_name="a", linear_name="z"), {"accum": "w/a", "linear": "w/z"}),
    "Ftrl, one named": (optim.FtrlOptimizer(0.1, accum_name="a"), {"accum": "w/a", "linear": "w/Ftrl"}),
    "Ftrl, named alike": (
        optim.FtrlOptimizer(0.1, accum_name="x", linear_name="x"),
        {"accum": "w/x", "linear": "w/x_1"},
    ),
    "RMSProp": (optim.RMSPropOptimizer(0.1), {"rms": "w/RMSProp", "momentum": "w/RMSProp_1"}),
    "RMSProp, centered": (
        optim.RMSPropOptimizer(0.1, centered=True),
        {"rms": "w/RMSProp", "mg": "w/RMSProp_1", "momentum": "w/RMSProp_2"},
    ),
}


@pytest.mark.parametrize(("optimizer", "slots"), SLOTS.values(), ids=SLOTS)
def test_slots_have_tf1s_names(optimizer, slots):
    assert optimizer.get_slot_names() == []
    w, other = trained(optimizer), Variable([1.0])
    assert optimizer.get_slot_names() == sorted(slots)
    assert {name: optimizer.get_slot(w, name).name for name in slots} == slots
    assert all(optimizer.get_slot(w, name).dtype == np.float32 for name in slots)
    assert all(optimizer.get_slot(other, name) is None for name in slots)
    assert optimizer.get_slot(w, "no such slot") is None


def test_adams_powers_are_among_its_variables():
    optimizer = optim.AdamOptimizer(beta1=0.5, beta2=0.25)
    assert optimizer.variables() == []
    trained(optimizer)
    assert [v.name for v in optimizer.variables()] == ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]
    assert [float(v) for v in optimizer.variables()[:2]] == [0.5**3, 0.25**3]
    trained(optimizer, dtype=np.float64, name="wide")
    assert [v.name for v in optimizer.variables()[:3]] == ["beta1_power", "beta2_power", "w/Adam"]
    assert [v.dtype for v in optimizer.variables()[:2]] == [np.float64] * 2
    assert [float(v) for v in optimizer.variables()[:2]] == [0.5**5, 0.25**5]


@pytest.mark.parametrize("late", [np.float64, np.float32])
def test_a_variable_that_joins_late_finds_adams_powers_where_they_are(late):
    """As in TF1 2.21, where b moves to -0.05455: there is one pair, and every step is counted."""
    optimizer = optim.AdamOptimizer(0.1)
    w, b = Variable(np.zeros(1, np.float32), name="w"), Variable(np.zeros(1, late), name="x")
    for _ in range(4):
        optimizer.apply_gradients([(np.ones(1, np.float32), w)])
    optimizer.apply_gradients([(np.ones(1, np.float32), w), (np.ones(1, late), b)])
    assert b.value[0] == pytest.approx(-0.05455, rel=1e-4)
    assert w.value[0] == pytest.approx(-0.5, rel=1e-5)
    assert [float(power) for power in optimizer.variables()[:2]] == pytest.approx([0.9**6, 0.999**6], rel=1e-6)


def test_a_beta_that_rounds_to_1():
    optimizer, w, wide = optim.AdamOptimizer(beta1=1 - 1e-9), Variable([1.0]), Variable(np.ones(1))
    optimizer.apply_gradients([(np.ones(1), wide)])
    with pytest.raises(ValueError, match=r"^beta1 must be below 1 in float32, got 0\.999999999, which rounds to 1$"):
        optimizer.apply_gradients([(np.float32([1.0]), w)])
    assert (w.value.tolist(), optimizer.get_slot(w, "m")) == ([1.0], None)
    assert wide.value[0] == pytest.approx(0.999)


def test_state_put_back_continues_bit_for_bit():
    first, second = optim.AdamOptimizer(0.1), optim.AdamOptimizer(0.1)
    w = trained(first, 3)
    other = trained(second, 1)
    other.assign(w)
    for to, source in zip(second.variables(), first.variables(), strict=True):
        to.assign(source)
    for optimizer, variable in ((first, w), (second, other)):
        optimizer.apply_gradients([(np.ones(3, np.float32), variable)])
    np.testing.assert_array_equal(w.value, other.value)


def test_a_copied_optimizer_has_arrays_of_its_own():
    optimizer = optim.MomentumOptimizer(0.5, 0.5)
    w = trained(optimizer, 1)
    twin, twin_w = copy.deepcopy((optimizer, w))
    before = w.value.copy(), optimizer.get_slot(w, "momentum").value.copy()
    twin.apply_gradients([(np.ones(3, np.float32), twin_w)])
    np.testing.assert_array_equal(w.value, before[0])
    np.testing.assert_array_equal(optimizer.get_slot(w, "momentum").value, before[1])
    optimizer.apply_gradients([(np.ones(3, np.float32), w)])
    np.testing.assert_array_equal(twin_w.value, w.value)


def test_a_variables_array_may_be_replaced():
    optimizer = optim.GradientDescentOptimizer(1.0)
    w = trained(optimizer, 1)
    old, w.value = w.value, np.full(3, 5.0, np.float32)
    optimizer.apply_gradients([(np.ones(3, np.float32), w)])
    assert (old.tolist(), w.value.tolist()) == ([0, 0, 0], [4, 4, 4])


RATES = {"number": 0.5, "Variable": Variable(0.5), "callable": lambda: 0.5, "of a Variable": lambda: Variable(0.5)}


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES)
def test_learning_rates(rate):
    assert trained(optim.GradientDescentOptimizer(rate), 1).value.tolist() == [0.5, 0.5, 0.5]


def test_a_step_that_is_interrupted_counts(monkeypatch):
    w, steps = Variable(np.zeros(3, np.float32), name="w"), Variable(0, trainable=False)
    optimizer = optim.AdamOptimizer()
    run = plan.Plan.run

    def interrupted(*args, **options):
        run(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(plan.Plan, "run", interrupted)
    before = w.version
    with pytest.raises(KeyboardInterrupt):
        optimizer.apply_gradients([(np.ones(3, np.float32), w)], steps)
    assert w.value.all()
    assert (steps.value, w.version) == (1, before + 1)
    np.testing.assert_allclose(optimizer.variables()[0].value, 0.9**2, rtol=1e-6)  # β₁'s power


@pytest.mark.parametrize("kind", [optim.AdamOptimizer, optim.NAdamOptimizer, optim.AdamWOptimizer])
def test_powers_that_underflow_are_no_error(kind):
    w, optimizer = Variable(np.zeros(3, np.float32), name="w"), kind(0.1)
    with np.errstate(all="raise"):
        for _ in range(1000):  # 0.9**1000 is less than any float32
            optimizer.apply_gradients([(np.ones(3, np.float32), w)])
    assert optimizer.variables()[0].value < 1e-40


def test_hyperparameters_are_read_at_each_step():
    momentum = Variable(0.0)
    optimizer = optim.MomentumOptimizer(lambda: 1.0, momentum)
    w = trained(optimizer, 1)
    momentum.assign(0.5)
    optimizer.apply_gradients([(np.ones(3, np.float32), w)])
    assert w.value.tolist() == [-1.5, -1.5, -1.5]


BAD = {
    "learning_rate must be at least 0 and finite, got -1.0": lambda: optim.AdamOptimizer(-1.0),
    "learning_rate must be at least 0 and finite, got nan": lambda: optim.GradientDescentOptimizer(float("nan")),
    "learning_rate must be positive and finite, got 0.0": lambda: optim.FtrlOptimizer(0.0),
    "beta1 must be at least 0 and below 1, got 1.0": lambda: optim.AdamOptimizer(beta1=1.0),
    "beta2 must be at least 0 and below 1, got -0.1": lambda: optim.AdamOptimizer(beta2=-0.1),
    "epsilon must be at least 0 and finite, got -1.0": lambda: optim.AdadeltaOptimizer(epsilon=-1.0),
    "rho must be from 0 to 1, got 1.5": lambda: optim.AdadeltaOptimizer(rho=1.5),
    "decay must be from 0 to 1, got -1.0": lambda: optim.RMSPropOptimizer(0.1, decay=-1.0),
    "momentum must be at least 0 and finite, got -0.5": lambda: optim.MomentumOptimizer(0.1, -0.5),
    "initial_accumulator_value must be positive and finite, got 0.0": lambda: optim.AdagradOptimizer(0.1, 0.0),
    "initial_accumulator_value must be at least 0 and finite, got -1.0": lambda: optim.FtrlOptimizer(0.1, -0.5, -1.0),
    "learning_rate_power must be at most 0 and finite, got 0.5": lambda: optim.FtrlOptimizer(0.1, 0.5),
    "l1_regularization_strength must be at least 0 and finite, got -1.0": lambda: optim.FtrlOptimizer(
        0.1, l1_regularization_strength=-1.0
    ),
    "learning_rate must be positive and finite, got inf": lambda: optim.FtrlOptimizer(10**400),
    "name must not be empty, got ''": lambda: optim.AdamOptimizer(name=""),
}


@pytest.mark.parametrize(("text", "make"), BAD.items(), ids=BAD)
def test_hyperparameters_out_of_bounds(text, make):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        make()
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("rate", "error", "text"),
    [
        (-1.0, ValueError, "learning_rate must be at least 0 and finite, got -1.0"),
        ("x", TypeError, "learning_rate must be a number, a Variable or a callable that returns one, got str: 'x'"),
    ],
)
def test_a_rate_that_turns_bad_changes_nothing(rate, error, text):
    optimizer = optim.AdamOptimizer(lambda: rate)
    w = Variable([1.0], name="w")
    with pytest.raises(error) as raised:
        optimizer.apply_gradients([(np.float32([1.0]), w)])
    assert str(raised.value) == text
    assert w.value.tolist() == [1.0]
    assert optimizer.variables() == []


class OnlyAnArray:
    """What has the protocol's method and nothing else."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0], np.float32 if dtype is None else dtype)


GRADIENTS = {
    "array.array": array.array("f", [1.0, 2.0]),
    "__array__": OnlyAnArray(),
    "memoryview": memoryview(np.float32([1.0, 2.0])),
    "read-only": np.frombuffer(np.float32([1.0, 2.0]).tobytes(), np.float32),
    "strided": np.float32([1.0, 9.0, 2.0])[::2],
    "a Variable": Variable([1.0, 2.0]),
    "a subclass": np.float32([1.0, 2.0]).view(np.recarray),
}


@pytest.mark.parametrize("gradient", GRADIENTS.values(), ids=GRADIENTS)
def test_any_array_is_a_gradient(gradient):
    w = Variable([0.0, 0.0], name="w")
    optim.GradientDescentOptimizer(1.0).apply_gradients([(gradient, w)])
    assert w.value.tolist() == [-1, -2]


def test_dlpack_alone_is_enough():
    class Capsule:
        def __dlpack__(self, **options):
            return np.float32([1.0, 2.0]).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    w = Variable([0.0, 0.0], name="w")
    optim.GradientDescentOptimizer(1.0).apply_gradients([(Capsule(), w)])
    assert w.value.tolist() == [-1, -2]


@pytest.mark.parametrize("gradient", [[1.0], 1.0, "text", b"1234", object()])
def test_what_is_no_array_is_refused(gradient):
    with pytest.raises(TypeError, match=r"^gradient of 'w' must be an array, IndexedSlices or None, got "):
        optim.GradientDescentOptimizer(1.0).apply_gradients([(gradient, Variable([0.0], name="w"))])


def test_locking_makes_steps_from_several_threads_count():
    optimizer = optim.clip_gradients_by_norm(optim.GradientDescentOptimizer(1.0, use_locking=True), 1e9)
    w, step = Variable(np.zeros(1000)), Variable(0, trainable=False, name="global_step")

    def work():
        for _ in range(50):
            optimizer.apply_gradients([(np.full(1000, -1.0), w)], step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(step) == 200
    assert (w.value == 200).all()


def test_the_report_of_each_variable():
    w = Variable([3.0, 4.0, 0.0], name="w")
    gradient = np.float32([1.0, 0.0, -2.0])
    optimizer = optim.MomentumOptimizer(0.5, 0.9)
    report = optimizer.apply_gradients([(gradient, w)], report=True)
    (row,) = report.variables
    assert report.global_norm == pytest.approx(5**0.5)
    assert (row.name, row.size, row.gradient_zeros, row.gradient_nonfinite) == ("w", 3, 1, 0)
    assert row.gradient_norm == pytest.approx(5**0.5)
    assert row.gradient_zero_fraction == pytest.approx(1 / 3)
    assert row.weight_norm == pytest.approx(np.linalg.norm(w.value))
    assert row.update_norm == pytest.approx(5**0.5 / 2)
    assert row.update_ratio == pytest.approx(row.update_norm / row.weight_norm)
    slot = row.slots["momentum"]
    assert (slot.mean, slot.norm, slot.max) == pytest.approx((-1 / 3, 5**0.5, 1.0))
    assert optimizer.apply_gradients([(gradient, w)]).variables == ()
