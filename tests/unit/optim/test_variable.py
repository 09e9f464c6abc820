"""Variables are live arrays; IndexedSlices are rows and where they belong."""

import numpy as np
import pytest

from optim import IndexedSlices, Variable, global_step

DTYPES = [
    ([1.0, 2.0], None, np.float32),
    (1.0, None, np.float32),
    ([1, 2], None, np.int64),
    (np.float64([1.0, 2.0]), None, np.float64),
    (np.float64(1.0), None, np.float64),
    (np.float16([1.0]), None, np.float16),
    ([1.0, 2.0], np.float64, np.float64),
    ([1, 2], np.float32, np.float32),
    (Variable(np.float64([1.0])), None, np.float64),
]


@pytest.mark.parametrize(("initial_value", "dtype", "expected"), DTYPES)
def test_dtype(initial_value, dtype, expected):
    variable = Variable(initial_value, dtype=dtype)
    assert variable.dtype == expected
    np.testing.assert_array_equal(variable, np.asarray(initial_value))


def test_the_initial_value_is_copied():
    initial = np.zeros(2)
    variable = Variable(initial)
    variable.assign([1.0, 2.0])
    assert initial.tolist() == [0, 0]


def test_attributes():
    variable = Variable([[1.0, 2.0]], trainable=False, name="w")
    assert (variable.shape, variable.trainable, variable.name) == ((1, 2), False, "w")
    assert (Variable(0.0).trainable, Variable(0.0).name) == (True, "Variable")
    assert repr(variable) == "Variable('w', shape=(1, 2), dtype=float32)"


def test_assign_keeps_the_array():
    variable = Variable([1.0, 2.0])
    array = variable.value
    variable.assign([3.0, 4.0])
    assert variable.value is array
    assert array.tolist() == [3, 4]


@pytest.mark.parametrize("value", [5.0, [5.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [[1.0], [2.0]]], ids=str)
def test_assign_refuses_another_shape(value):
    """Also one that NumPy would broadcast."""
    variable = Variable([1.0, 2.0], name="w")
    with pytest.raises(ValueError, match="shape") as raised:
        variable.assign(value)
    assert str(raised.value) == f"variable 'w' has shape (2,), got a value of shape {np.shape(value)}"
    assert variable.value.tolist() == [1, 2]
    assert variable.version == 0


@pytest.mark.parametrize("value", [7, [7], [[7]], np.int8(7)], ids=str)
def test_an_integer_is_an_index(value):
    assert range(10)[Variable(value)] == 7


def test_what_is_no_index():
    for value in (7.0, [7.0]):
        with pytest.raises(TypeError):
            range(10)[Variable(value)]
    with pytest.raises(ValueError, match="array of size 1"):
        range(10)[Variable([1, 2])]


def test_in_numpy_expressions():
    variable = Variable([1.0, 2.0])
    assert (np.asarray(variable) * 2).tolist() == [2, 4]
    assert np.dot(variable, variable) == 5
    assert np.asarray(variable) is variable.value
    assert np.array(variable) is not variable.value
    assert np.asarray(variable, np.float64).dtype == np.float64
    assert (int(Variable(3)), float(Variable(0.5))) == (3, 0.5)


def test_wrap():
    array = np.zeros((2, 2))[:, 0]
    variable = Variable.wrap(array, trainable=False, name="w")
    variable.assign([1.0, 2.0])
    assert variable.value is array
    assert array.tolist() == [1, 2]
    assert (variable.trainable, variable.name) == (False, "w")


def test_wrap_refuses():
    with pytest.raises(TypeError, match=r"^Variable\.wrap needs a NumPy array, got list$"):
        Variable.wrap([1.0])
    array = np.zeros(2)
    array.flags.writeable = False
    with pytest.raises(ValueError, match=r"^Variable\.wrap needs a writable array, got a read-only one$"):
        Variable.wrap(array)


def test_indexed_slices():
    slices = IndexedSlices([[1.0, 2.0], [3.0, 4.0]], [0, 5], (6, 2))
    assert (slices.values.shape, slices.indices.tolist(), slices.dense_shape) == ((2, 2), [0, 5], (6, 2))
    assert slices.dtype == np.float64
    assert repr(slices) == "IndexedSlices(values of shape (2, 2), dense_shape=(6, 2))"


NO_SLICES = [
    ([[1.0]], [0.0], TypeError, "indices must be integers, got float64"),
    ([[1.0]], [0, 1], ValueError, "indices must contain one index for each row of (1, 1), got (2,)"),
    (1.0, 0, ValueError, "indices must contain one index for each row of (), got ()"),
]


@pytest.mark.parametrize(("values", "indices", "error", "text"), NO_SLICES)
def test_indexed_slices_refuse(values, indices, error, text):
    with pytest.raises(error) as raised:
        IndexedSlices(values, indices)
    assert str(raised.value) == text


@pytest.mark.parametrize("value", [7, [7], [[7]], np.int8(7)])
def test_global_step(value):
    assert global_step(Variable(value, trainable=False)) == 7


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7.0, "global_step must be one integer, got float32 of shape ()"),
        ([1, 2], "global_step must be one integer, got int64 of shape (2,)"),
    ],
)
def test_no_global_step(value, text):
    with pytest.raises(TypeError) as raised:
        global_step(Variable(value))
    assert str(raised.value) == text
