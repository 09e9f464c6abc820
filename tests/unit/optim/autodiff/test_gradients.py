"""Gradients of losses in plain NumPy: right, of the right dtype, and of what was asked for."""

import threading

import numpy as np
import pytest
from optimizing.losses import FUNCTIONS, LOSSES, inputs

from optim import (
    GradientTape,
    Variable,
    gradients,
    stop_gradient,
)

ALL = {**LOSSES, **FUNCTIONS}


def variables_of(values):
    return {name: Variable(value, name=name) for name, value in values.items()}


def difference_quotient(loss, values, direction, step=1e-6):
    """The slope of the loss along a direction, by two points."""
    there, back = ({k: v + sign * step * direction[k] for k, v in values.items()} for sign in (1, -1))
    return float((np.sum(loss(**there)) - np.sum(loss(**back))) / (2 * step))


@pytest.mark.parametrize("loss", ALL.values(), ids=ALL)
def test_against_finite_differences(loss):
    values = inputs()
    variables = variables_of(values)
    found = gradients(lambda: loss(**variables), list(variables.values()))
    rng = np.random.default_rng(5)
    for _ in range(3):
        direction = {name: rng.standard_normal(value.shape) for name, value in values.items()}
        slope = sum(
            float(np.sum(gradient * direction[name]))
            for name, gradient in zip(values, found, strict=True)
            if gradient is not None
        )
        assert slope == pytest.approx(difference_quotient(loss, values, direction), rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("loss", ALL.values(), ids=ALL)
def test_float32_stays_float32(loss):
    doubles, singles = variables_of(inputs()), variables_of(inputs(np.float32))
    exact = gradients(lambda: loss(**doubles), list(doubles.values()))
    found = gradients(lambda: loss(**singles), list(singles.values()))
    for wanted, gradient in zip(exact, found, strict=True):
        assert (gradient is None) == (wanted is None)
        if wanted is not None:
            assert gradient.dtype == np.float32
            np.testing.assert_allclose(gradient, wanted, rtol=0.02, atol=1e-3 * max(1, np.abs(wanted).max()))


def test_float16():
    w = Variable(np.float16([1, 2, 3]))
    (gradient,) = gradients(lambda: np.mean((w * 2.0 - 1) ** 2), w)
    assert gradient.dtype == np.float16
    np.testing.assert_allclose(gradient, np.float16([4 / 3, 4, 20 / 3]), rtol=2e-3)


def lists(found):
    return [None if gradient is None else np.asarray(gradient).tolist() for gradient in found]


# Where a derivative jumps, a number between the slopes on both sides; no NaN.
CORNERS = {
    "abs": (np.abs, [0.0, -2.0], [0, -1]),
    "norm": (np.linalg.norm, [0.0, 0.0], [0, 0]),
    "std": (np.std, [2.0, 2.0], [0, 0]),
    "hypot": (lambda x: np.hypot(x, 0.0), [0.0, 1.0], [0, 1]),
    "maximum of equals": (lambda x: np.maximum(x, 0), [0.0, 1.0], [0.5, 1]),
    "max of equals": (np.max, [3.0, 3.0], [0.5, 0.5]),
    "power 0": (lambda x: x**0, [0.0, 2.0], [0, 0]),
    "power 2": (lambda x: x**2, [0.0, 2.0], [0, 4]),
    "power of 0": (lambda x: np.power(0.0, x), [1.0, 2.0], [0, 0]),
    "product with a zero": (np.prod, [0.0, 5.0], [5, 0]),
    "product with two zeros": (np.prod, [0.0, 0.0], [0, 0]),
    "sinc": (np.sinc, [0.0, 1.0], [0, -1]),
    "tanh, far out": (np.tanh, [0.0, 500.0], [1, 0]),
    "clip": (lambda x: np.clip(x, 0, 1), [0.5, 3.0], [1, 0]),
    "determinant of a singular matrix": (lambda x: np.linalg.det(np.outer([1, 2], x) * 3), [0.0, 1.0], [0, 0]),
}


@pytest.mark.parametrize(("loss", "at", "wanted"), CORNERS.values(), ids=CORNERS)
def test_corners(loss, at, wanted):
    x = Variable(np.array(at))
    np.testing.assert_allclose(gradients(lambda: loss(x), x)[0], wanted, atol=1e-12)


def test_lists_are_arrays(w):
    assert lists(gradients(lambda: np.sum(w * [1, 2, 3]) + w @ [1.0, 0.0, 0.0] + np.dot([1, 1, 1], w), w)) == [
        [3, 3, 4]
    ]


def test_ys_that_a_tape_recorded(w):
    with GradientTape() as tape:
        hidden = np.tanh(w)
        loss = np.sum(hidden**2)
    by_tape = tape.gradient(loss, {"w": w, "hidden": hidden})
    by_function = gradients([loss], [w, hidden])
    np.testing.assert_array_equal(by_tape["w"], by_function[0])
    np.testing.assert_array_equal(by_tape["hidden"], by_function[1])
    np.testing.assert_allclose(by_function[1], 2 * np.tanh(w.value))
    assert float(loss) == pytest.approx(np.sum(np.tanh(w.value) ** 2))  # outside, it is a value like any other


def test_ys_of_several_tapes_sum(w):
    """Each tape has read the Variable on its own."""
    ys = []
    for factor in (1.0, 10.0):
        with GradientTape():
            ys.append(np.sum(w * factor))
    assert lists(gradients([*ys, lambda: np.sum(w**2)], w)) == [[13, 15, 17]]


def test_tapes(w, c):
    with GradientTape(persistent=True) as tape:
        y = np.sum(w) * c
        z = y * y
    assert lists(tape.gradient(z, (w, c))) == [[3, 3, 3], 36]
    assert float(tape.gradient(y, c)) == 6
    once = GradientTape()
    with once:
        y = c * c
    once.gradient(y, c)
    with pytest.raises(RuntimeError, match=r"^a tape computes gradients once: use GradientTape\(persistent=True\)"):
        once.gradient(y, c)


def test_watch(w):
    fixed = Variable([1.0, 2.0, 3.0], trainable=False)
    with GradientTape() as tape:
        tape.watch(fixed)
        y = np.sum(w * fixed**2)
    assert lists(tape.gradient(y, [fixed])) == [[2, 8, 18]]
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch([fixed])
        y = np.sum(w * fixed)
    assert lists(tape.gradient(y, [fixed, w])) == [[1, 2, 3], None]
    assert lists(gradients(lambda: np.sum(fixed * 2), fixed)) == [[2, 2, 2]]  # asked for, and so watched
    with pytest.raises(TypeError, match=r"^watch needs a Variable, got ndarray: wrap it as Variable\(array\)$"):
        tape.watch(np.zeros(3))


def test_second_derivatives(w):
    def penalty():
        (gradient,) = gradients(lambda: np.sum(w**3 * np.tanh(w)[::-1]), w)
        return np.sum(gradient**2)

    def at(values):
        other = Variable(values)
        return float(np.sum(gradients(lambda: np.sum(other**3 * np.tanh(other)[::-1]), other)[0] ** 2))

    numerical = [(at(w.value + e) - at(w.value - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradients(penalty, w)[0], numerical, rtol=1e-6)
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = np.sum(w**3)
        slope = inner.gradient(y, w)
    np.testing.assert_allclose(outer.gradient(slope, w), 6 * w.value)


def test_stop_gradient(w):
    assert lists(gradients(lambda: np.sum(w * stop_gradient(w * 2)), w)) == [[2, 4, 6]]
    copied = stop_gradient(w)
    assert copied is not w.value
    assert copied.tolist() == [1, 2, 3]


def test_in_expressions_variables_are_arrays(w):
    assert type(w + 1) is np.ndarray
    assert np.mean(w) == w.mean() == 2
    assert (w == 2).tolist() == [False, True, False]
    assert {w: "as a key"}[w] == "as a key"
    assert (w.T @ w, len(w), w.ndim, w.size, [float(x) for x in w]) == (14, 3, 1, 3, [1, 2, 3])
    with pytest.raises(TypeError, match=r"^np\.add cannot write into a Variable: use variable\.assign"):
        w += 1


def test_another_thread_records_nothing(w):
    """Its losses and values are its own."""
    seen = []

    def loss():
        thread = threading.Thread(target=lambda: seen.append(np.asarray(w * 2)))
        thread.start()
        thread.join()
        return np.sum(w)

    gradients(loss, w)
    assert [value.tolist() for value in seen] == [[2, 4, 6]]
