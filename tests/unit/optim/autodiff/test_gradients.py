"""Gradients of losses in plain NumPy: right, of the right dtype, and of what was asked for."""

import threading

import numpy as np
import pytest
from losses import FUNCTIONS, LOSSES, inputs

from optim import (
    AggregationMethod,
    GradientTape,
    IndexedSlices,
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


@pytest.fixture
def w():
    return Variable([1.0, 2.0, 3.0], name="w", dtype=np.float64)


@pytest.fixture
def c():
    return Variable(0.5, name="c")


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


def test_unconnected_is_none(w, c):
    assert lists(gradients(lambda: np.sum(w * 2), [w, c])) == [[2, 2, 2], None]
    assert gradients(lambda: np.sum(np.sign(w) + np.floor(w)), [w]) == [None]
    assert gradients(lambda: 3.0, [w]) == [None]


def test_several_ys_sum(w, c):
    ys = [lambda: np.sum(w * w), lambda: (c * w, 3 * c)]
    assert lists(gradients(ys, [w, c])) == [[2.5, 4.5, 6.5], 9]


def test_grad_ys_weigh(w, c):
    found = gradients([lambda: w * w, lambda: 2 * c], [w, c], grad_ys=[np.array([1.0, 0.0, -1.0]), None])
    assert lists(found) == [[2, 0, -6], 2]
    assert lists(gradients(lambda: w * w, w, grad_ys=Variable([0.0, 1.0, 0.0]))) == [[0, 4, 0]]


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


@pytest.mark.parametrize("method", AggregationMethod)
def test_aggregation_methods(method):
    rng = np.random.default_rng(0)
    table = Variable(rng.standard_normal((100, 20)), name="table")
    factors = rng.standard_normal((7, 100, 20))

    def loss():
        return sum(np.sum(table * factor) for factor in factors) + np.sum(table[[3, 3, 5]]) + np.sum(table[2:4, 1])

    wanted = factors.sum(0)
    np.add.at(wanted, [3, 3, 5], 1)
    wanted[2:4, 1] += 1
    first, second = (gradients(loss, table, aggregation_method=method)[0] for _ in range(2))
    np.testing.assert_allclose(first, wanted)
    assert first.tobytes() == second.tobytes()


def test_aggregation_methods_differ_in_their_order():
    """In float32, 1e8 + 1 - 1e8 depends on it: left to right it is 0, in pairs 1e8 + 1 first, then -1e8 and 1."""
    w = Variable(np.float32(1), name="w")
    terms = np.float32([1, 1e8, -1e8, 1])

    def loss():
        return sum(w * term for term in terms)

    orders = {method: float(gradients(loss, w, aggregation_method=method)[0]) for method in (0, 1, 2)}
    last_first = np.float32(0)
    for term in terms[::-1]:  # the last use's gradient comes first
        last_first += term
    assert orders[AggregationMethod.ADD_N] == orders[AggregationMethod.EXPERIMENTAL_ACCUMULATE_N] == last_first
    assert orders[AggregationMethod.EXPERIMENTAL_TREE] == float((terms[3] + terms[2]) + (terms[1] + terms[0]))
    assert AggregationMethod.DEFAULT is AggregationMethod.ADD_N
    with pytest.raises(ValueError, match=r"^aggregation_method must be an AggregationMethod, got 7$"):
        gradients(loss, w, aggregation_method=7)


ROWS = np.array([[7, -1], [7, 0]])
LOOKUPS = {
    "indexing": lambda table: table[ROWS],
    "take": lambda table: np.take(table, ROWS, axis=0),
    "take, the method": lambda table: table.take(ROWS, 0),
    "a list": lambda table: table[[7, -1, 7, 0]],
    "two lookups": lambda table: np.stack([table[np.array([7, -1])], table[np.array([7, 0])]]),
    "an integer Variable": lambda table: table[Variable([7, -1, 7, 0])],
    "a tuple": lambda table: table[ROWS,],
}


@pytest.mark.parametrize("lookup", LOOKUPS.values(), ids=LOOKUPS)
@pytest.mark.parametrize("method", AggregationMethod)
def test_rows_of_a_large_table_stay_rows(lookup, method):
    table = Variable(np.ones((1000, 3), np.float32), name="table")
    factors = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    (found,) = gradients(
        lambda: np.sum(np.reshape(lookup(table), (2, 2, 3)) * factors), table, aggregation_method=method
    )
    assert isinstance(found, IndexedSlices)
    assert (found.values.dtype, found.dense_shape, len(found.indices)) == (np.float32, (1000, 3), 4)
    wanted = np.zeros((1000, 3), np.float32)
    np.add.at(wanted, ROWS, factors)
    np.testing.assert_array_equal(np.asarray(found), wanted)


DENSE = {
    "a small table": lambda small, table: np.sum(small[[0, 0]]),
    "most rows": lambda small, table: np.sum(table[np.arange(900) % 7]),
    "and all rows": lambda small, table: np.sum(table[[1, 1]]) + np.sum(table**2),
    "columns": lambda small, table: np.sum(table[:, [1, 1]]),
    "a slice": lambda small, table: np.sum(table[3:5]) + np.sum(table[[1]]),
    "rows of a copy": lambda small, table: np.sum((table * 2)[[1, 1]]),
}


@pytest.mark.parametrize("loss", DENSE.values(), ids=DENSE)
def test_else_it_is_dense(loss):
    small, table = Variable(np.ones((5, 3)), name="small"), Variable(np.ones((1000, 3)), name="table")
    found = [g for g in gradients(lambda: loss(small, table), [small, table]) if g is not None]
    assert [type(gradient) for gradient in found] == [np.ndarray]
    ones = np.sum(loss(np.ones((5, 3)), np.ones((1000, 3))))
    more = np.sum(loss(np.full((5, 3), 1 + 1e-6), np.full((1000, 3), 1 + 1e-6)))
    assert np.sum(found[0]) == pytest.approx((more - ones) / 1e-6, rel=1e-4)


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
