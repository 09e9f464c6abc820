"""Gradients on their way in: what fits its variable, what is refused, word for word, and rows of one index summed."""

import numpy as np
import pytest

from optim import IndexedSlices, Variable
from optim.optimizers.gradient_checks import checked_pairs, unique_rows

ROWS = np.ones((1, 2), np.float32)
THREE = np.ones(3, np.float32)


def variable(shape=(3,), name="w", **options):
    return Variable(np.zeros(shape, np.float32), name=name, **options)


def read_only():
    v = variable()
    v.value.flags.writeable = False
    return v


def twice():
    v = variable()
    return [(THREE, v), (THREE, v)]


NO_PAIRS = "grads_and_vars must be pairs (gradient, Variable), got "
SHAPE = "gradient of 'w' must have the variable's shape "
REFUSED = {
    "no iterable": (lambda: 5, TypeError, NO_PAIRS + "int: 5"),
    "nothing": (list, ValueError, "No variables provided: grads_and_vars is empty"),
    "no pair": (lambda: [5], TypeError, NO_PAIRS + "one that is int: 5"),
    "three": (lambda: [(1, 2, 3)], TypeError, NO_PAIRS + "one that is tuple: (1, 2, 3)"),
    "no Variable": (lambda: [(THREE, 5)], TypeError, "variable must be a Variable, got int: 5"),
    "no gradients": (
        lambda: [(None, variable(name="a")), (None, variable(name="b"))],
        ValueError,
        "No gradients provided for any variable: ['a', 'b']",
    ),
    "twice": (twice, ValueError, "variable 'w' is given twice"),
    "a read-only variable": (
        lambda: [(THREE, read_only())],
        ValueError,
        "variable 'w' must be writable, got a read-only array",
    ),
    "another shape": (lambda: [(THREE[:2], variable())], ValueError, SHAPE + "(3,), got (2,)"),
    "another shape of as many": (lambda: [(THREE, variable((3, 1)))], ValueError, SHAPE + "(3, 1), got (3,)"),
    "another dtype": (
        lambda: [(np.ones(3), variable())],
        ValueError,
        "gradient of 'w' must have the variable's dtype float32, got float64",
    ),
    "another dtype of rows": (
        lambda: [(IndexedSlices(np.ones((1, 2)), [0]), variable((3, 2)))],
        ValueError,
        "gradient of 'w' must have the variable's dtype float32, got float64",
    ),
    "an integer variable": (
        lambda: [(np.ones(3, np.int64), Variable(np.zeros(3, np.int64), name="w"))],
        ValueError,
        "variable 'w' must be of float16, bfloat16, float32, float64, got int64",
    ),
    "no array": (
        lambda: [("text", variable())],
        TypeError,
        "gradient of 'w' must be an array, IndexedSlices or None, got str: 'text'",
    ),
    "rows for one number": (
        lambda: [(IndexedSlices(np.ones(1, np.float32), [0]), variable(()))],
        ValueError,
        "gradient of 'w' must be one number, like the variable, got IndexedSlices",
    ),
    "rows of another length": (
        lambda: [(IndexedSlices(ROWS, [0]), variable((3, 4)))],
        ValueError,
        "gradient of 'w' must have rows of the variable's shape (4,), got (2,)",
    ),
    "rows of another table": (
        lambda: [(IndexedSlices(ROWS, [0], (4, 2)), variable((3, 2)))],
        ValueError,
        SHAPE + "(3, 2), got a dense_shape of (4, 2)",
    ),
    "a row above": (
        lambda: [(IndexedSlices(ROWS, [3]), variable((3, 2)))],
        ValueError,
        "gradient of 'w' must have indices from 0 to 2, got 3",
    ),
    "a row far above": (
        lambda: [(IndexedSlices(ROWS, [7]), variable((3, 2)))],
        ValueError,
        "gradient of 'w' must have indices from 0 to 2, got 7",
    ),
    "a row below": (
        lambda: [(IndexedSlices(ROWS, [-1]), variable((3, 2)))],
        ValueError,
        "gradient of 'w' must have indices from 0 to 2, got -1",
    ),
    "a row below, and one that there is": (
        lambda: [(IndexedSlices(np.ones((2, 2), np.float32), [1, -1]), variable((3, 2)))],
        ValueError,
        "gradient of 'w' must have indices from 0 to 2, got -1",
    ),
    "a row above, and the first": (
        lambda: [(IndexedSlices(np.ones((2, 2), np.float32), [7, 0]), variable((3, 2)))],
        ValueError,
        "gradient of 'w' must have indices from 0 to 2, got 7",
    ),
    "a row of none": (
        lambda: [(IndexedSlices(ROWS, [0]), variable((0, 2)))],
        ValueError,
        "gradient of 'w' must have no indices, since the variable has no rows, got 0",
    ),
}


@pytest.mark.parametrize(("pairs", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(pairs, error, text):
    with pytest.raises(error) as raised:
        checked_pairs(pairs())
    assert str(raised.value) == text


def test_what_fits_is_given_as_it_is():
    a, b, c, d = variable(name="a"), variable((3, 2), name="b"), variable(name="c"), variable((3, 2), name="d")
    rows, none = IndexedSlices(ROWS, [2], (3, 2)), IndexedSlices(ROWS[:0], [])
    gradients, variables = checked_pairs(iter([(THREE, a), [rows, b], (None, c), (none, d)]))
    assert variables == [a, b, d]
    assert [id(gradient) for gradient in gradients] == [id(THREE), id(rows), id(none)]


def test_another_byte_order_is_turned():
    (gradient,), _ = checked_pairs([(THREE.astype(">f4"), variable())])
    assert gradient.dtype == np.float32
    assert gradient.dtype.isnative
    assert gradient.tolist() == [1, 1, 1]


def test_a_variable_without_a_gradient_may_be_given_again():
    v = variable()
    _, variables = checked_pairs([(None, v), (THREE, v)])
    assert variables == [v]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_unique_rows(dtype):
    values = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])
    indices, rows = unique_rows(IndexedSlices(values, np.array([9, 2, 9, 0], dtype)))
    assert (indices.tolist(), rows.tolist()) == ([0, 2, 9], [[7, 8], [3, 4], [6, 8]])
    indices, rows = unique_rows(IndexedSlices(values, np.array([3, 1, 2, 0], dtype)))
    assert (indices.tolist(), rows.tolist()) == ([0, 1, 2, 3], [[7, 8], [3, 4], [5, 6], [1, 2]])
    assert rows.dtype == np.float32
