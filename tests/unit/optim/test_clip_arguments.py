"""What clipping takes and gives back: arrays of the same shape and dtype, whatever came; or an error that says why."""

import numpy as np
import pytest
from helpers import run_script

import optim
from optim import IndexedSlices, Variable
from summaries.native import library

CLIPS = {
    "value": lambda t: optim.clip_by_value(t, -1.0, 1.0),
    "norm": lambda t: optim.clip_by_norm(t, 1.0),
    "average norm": lambda t: optim.clip_by_average_norm(t, 1.0),
    "global norm": lambda t: optim.clip_by_global_norm([t], 1.0)[0][0],
}


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("number", "kept"), [(0.5, 0.5), (2.0, 1.0), (-4.0, -1.0)])
def test_an_array_without_dimensions_stays_one(clip, dtype, number, kept):
    for tensor in (np.array(number, dtype), dtype(number)):
        clipped = clip(tensor)
        assert type(clipped) is np.ndarray
        assert (clipped.shape, clipped.dtype, float(clipped)) == ((), dtype, kept)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("outer", [lambda o: o, lambda o: optim.clip_gradients_by_norm(o, 10.0)])
@pytest.mark.parametrize("inner", [lambda o: o, lambda o: optim.clip_gradients_by_percentile(o, 100.0)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_step_clips_variables_without_dimensions(engine, outer, inner, sparse):
    if engine == "compiled" and not library.is_available():
        pytest.skip("there is no compiled code for this machine")
    b, table = Variable(np.float32(0.0), name="b"), Variable(np.zeros((2, 1), np.float32), name="table")
    pairs = [(np.array(5.0, np.float32), b)]
    pairs += [(IndexedSlices(np.full((1, 1), -5.0, np.float32), [1]), table)] if sparse else []
    optimizer = outer(optim.clip_gradients_by_value(inner(optim.GradientDescentOptimizer(1.0)), -1.0, 1.0))
    library.use(engine)
    try:
        optimizer.apply_gradients(pairs, report=True)
    finally:
        library.use(None)
    assert b.value == -1.0
    assert table.value.tolist() == ([[0.0], [1.0]] if sparse else [[0.0], [0.0]])


@pytest.mark.parametrize("bound", [10.0, 1.0])
def test_lists_come_back_as_arrays(bound):
    (clipped, kept), _ = optim.clip_by_global_norm([[3.0, 4.0], None], bound)
    assert type(clipped) is np.ndarray
    assert kept is None
    np.testing.assert_allclose(clipped, np.array([3.0, 4.0]) * min(bound / 5, 1))


def test_values_of_integers_stay_integers():
    clipped = optim.clip_by_value(np.array([-5, 0, 2**40], np.int64), -1, 2**40 - 1)
    assert (clipped.dtype, clipped.tolist()) == (np.int64, [-1, 0, 2**40 - 1])
    assert optim.clip_by_value(np.array([1, 7], np.int32), 2, 5).dtype == np.int32
    with pytest.raises(TypeError, match=r"^bounds of a tensor of int32 must be int32, got 1\.5$"):
        optim.clip_by_value(np.array([1, 7], np.int32), 0, 1.5)


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("tensor", [np.array([1 + 1j]), np.array(["1.0"]), np.array([None])], ids=["c", "U", "O"])
def test_tensors_are_of_real_numbers(clip, tensor):
    with pytest.raises(TypeError) as raised:
        clip(tensor)
    assert str(raised.value) == f"tensors must be real numbers, got {tensor.dtype}"


def test_bounds_of_norms_fit_the_norms():
    with pytest.raises(ValueError, match=r"^clip_norm must broadcast to the norms' shape \(1,\), got \(2,\)$"):
        optim.clip_by_norm(np.ones(1), np.array([0.5, 2.0]))
    with pytest.raises(ValueError, match=r"^clip_norm must broadcast to the norms' shape \(2, 1\), got \(3,\)$"):
        optim.clip_by_norm(np.ones((2, 2)), np.ones(3), axes=1)
    rows = optim.clip_by_norm(np.array([[3.0, 4.0], [6.0, 8.0]]), np.array([[1.0], [20.0]]), axes=np.int64(1))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [6.0, 8.0]])
    with pytest.raises(TypeError, match=r"^axes must be an integer or a list of integers, got 0\.5$"):
        optim.clip_by_norm(np.ones((2, 2)), 1.0, axes=0.5)
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        optim.clip_by_norm(np.ones((2, 2)), 1.0, axes=[0, 2])


class Shaped(list):
    """A tensor of a library that lets one iterate over rows."""

    shape = (2,)


def test_a_tensor_is_no_list_of_its_rows():
    with pytest.raises(TypeError, match=r"^t_list must be a list of tensors, got Shaped$"):
        optim.global_norm(Shaped([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"^t_list must be a list of tensors, got str$"):
        optim.global_norm("ab")


def with_value(value):
    """A Variable whose value was set, and not assigned."""
    variable = Variable([0.0], name="w")
    variable.value = value
    return variable


SGD = optim.GradientDescentOptimizer(0.1)
WRONG = {
    "optimizer must be an Optimizer, got float: 1.0": lambda: optim.clip_gradients_by_norm(1.0, SGD),
    "clip_norm must be a number, a Variable or a callable that returns one, got NoneType: None": lambda: (
        optim.clip_gradients_by_norm(SGD, None)
    ),
    "clip_norm must be a number, a Variable or a callable that returns one, got str: '1'": lambda: (
        optim.clip_by_global_norm([np.ones(2)], "1")
    ),
    "clip_norm must be a number, got list: [[], [1]]": lambda: optim.clip_by_norm(np.ones(2), [[], [1]]),
    "clip_value_min must be a number, got NoneType: None": lambda: optim.clip_gradients_by_value(SGD, None, 1.0),
    "percentile must be a number, got str: '10'": lambda: optim.clip_gradients_by_percentile(SGD, "10"),
    "percentile must be a number, got ndarray: array([1., 2.])": lambda: optim.clip_gradients_by_percentile(
        SGD, np.array([1.0, 2.0])
    ),
    "clip_norm must be a number, got NoneType: None": lambda: optim.clip_by_norm(np.ones(2), None),
    "clip_norm must be a number, got bytes: b'1'": lambda: optim.clip_by_norm(np.ones(2), b"1"),
    "use_norm must be a number, got str: 'a'": lambda: optim.clip_by_global_norm([np.ones(2)], 1.0, "a"),
    "bounds must be real numbers, got None": lambda: optim.clip_by_value(np.ones(2), None, 2.0),
    "t_list must be a list of tensors, got dict": lambda: optim.global_norm({"a": np.ones(2)}),
    "tensors must be arrays, got list of parts of different shapes": lambda: optim.global_norm(
        [[np.ones(2), np.ones(3)]]
    ),
    "tensors must not be masked: compressed() drops masked elements, filled() replaces them": lambda: optim.global_norm(
        [np.ma.masked_less(np.arange(3.0), 1)]
    ),
    "initial_accumulator_value must be a number, got str: '1'": lambda: optim.AdagradOptimizer(0.1, "1"),
    "dense_shape must be a tuple of integers, got 2": lambda: optim.IndexedSlices(np.ones(2), [0, 1], 2),
    "the number of threads must be an integer, got '2'": lambda: optim.set_num_threads("2"),
    "the value of variable 'w' must be a NumPy array, got list: [1.0]": lambda: SGD.apply_gradients(
        [(np.ones(1), with_value([1.0]))]
    ),
    "max_in_a_row must be an integer, got nan": lambda: optim.skip_nonfinite_steps(SGD, float("nan")),
    "learning_rate must be a number, a Variable or a callable that returns one, got str: '0.1'": lambda: (
        optim.GradientDescentOptimizer("0.1")
    ),
}


@pytest.mark.parametrize(("text", "call"), WRONG.items(), ids=WRONG)
def test_wrong_types(text, call):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value) == text


def test_the_bound_on_the_norm_may_change():
    bound, w = Variable(1.0), Variable([0.0])
    optimizer = optim.clip_gradients_by_norm(optim.GradientDescentOptimizer(1.0), bound)
    for number in (1.0, 0.5):
        bound.assign(number)
        assert optimizer.apply_gradients([(np.float32([4.0]), w)]).clip_norm == number
    assert w.value.tolist() == [-1.5]


def test_slices_without_rows():
    table = Variable(np.ones((2, 3), np.float32), name="table")
    none = IndexedSlices(np.zeros((0, 3), np.float32), [])
    optim.AdamOptimizer().apply_gradients([(none, table)], report=True)
    assert (table.value == 1).all()
    assert optim.global_norm([none]) == 0.0
    with pytest.raises(TypeError, match=r"^indices must be integers, got float64$"):
        IndexedSlices(np.zeros((0, 3)), np.zeros(0))


BFLOAT16 = """
import sys
import numpy as np
import torch
import optim

assert "ml_dtypes" not in sys.modules
ones = torch.ones(4, dtype=torch.bfloat16)
assert optim.global_norm([ones]) == 2.0
v = optim.Variable(ones.requires_grad_(), name="v")
assert v.dtype.name == "bfloat16", v.dtype
v.assign(torch.full((4,), 2.0, dtype=torch.bfloat16))
optim.GradientDescentOptimizer(1.0).apply_gradients([(ones, v)])
assert v.value.tolist() == [1.0] * 4
"""


def test_bfloat16_of_torch(tmp_path):
    for module in ("torch", "ml_dtypes"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    run_script(tmp_path, BFLOAT16)
