"""What a step writes to: slots that still fit, memory that no gradient is read from; or nothing at all."""

import threading

import numpy as np
import pytest

import optim
from optim import IndexedSlices, Variable
from optim.kernels.plan import Plan
from optim.rules import MOMENTUM

pytestmark = pytest.mark.usefixtures("each_engine")


def trained(dtype=np.float32, size=64):
    optimizer, w = optim.MomentumOptimizer(0.5, 0.5), Variable(np.ones(size, dtype), name="w")
    optimizer.apply_gradients([(np.ones(size, dtype), w)])
    return optimizer, w


def refused(optimizer, w, pairs, text):
    others = [variable for _, variable in pairs if variable is not w]
    before = [variable.value.copy() for variable in (w, *others, *optimizer.variables())]
    names = optimizer.get_slot_names()
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared
        optimizer.apply_gradients(pairs)
    assert str(raised.value) == text
    assert optimizer.get_slot_names() == names
    for array, variable in zip(before, (w, *others, *optimizer.variables()), strict=True):
        np.testing.assert_array_equal(array, variable.value)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("other", [None, np.float32, np.float64])
def test_a_variable_that_outgrew_its_slots(sparse, other):
    optimizer, w = trained()
    w.value = np.zeros(100_000, np.float32)
    gradient = IndexedSlices(np.ones(1, np.float32), [99_999]) if sparse else np.ones(100_000, np.float32)
    pairs = [(gradient, w)]
    if other is not None:
        pairs.insert(0, (np.ones(3, other), Variable(np.ones(3, other), name="b")))
    text = "slot 'momentum' of 'w' must be float32 of shape (100000,) to match the variable, got float32 of shape (64,)"
    refused(optimizer, w, pairs, text)


def test_a_variable_of_another_dtype():
    optimizer, w = trained()
    w.value = w.value.astype(np.float64)
    text = "slot 'momentum' of 'w' must be float64 of shape (64,) to match the variable, got float32 of shape (64,)"
    refused(optimizer, w, [(np.ones(64), w)], text)


def test_a_slot_of_another_dtype_or_read_only():
    optimizer, w = trained()
    slot = optimizer.get_slot(w, "momentum")
    slot.value = slot.value.astype(np.float64)
    text = "slot 'momentum' of 'w' must be float32 of shape (64,) to match the variable, got float64 of shape (64,)"
    refused(optimizer, w, [(np.ones(64, np.float32), w)], text)
    slot.value = slot.value.astype(np.float32)
    slot.value.flags.writeable = False
    text = "slot 'momentum' of 'w' must be a writable array, got a read-only one"
    refused(optimizer, w, [(np.ones(64, np.float32), w)], text)


def test_arrays_that_fit_may_be_replaced():
    optimizer, w = trained()
    w.value, optimizer.get_slot(w, "momentum").value = np.zeros(3), np.zeros(3)
    optimizer.apply_gradients([(np.ones(3), w)])
    assert w.value.tolist() == [-0.5] * 3


def test_a_plan_over_arrays_that_do_not_fit():
    wanted = r"^momentum needs 1 \+ 1 arrays of the same shape and dtype, got "
    with pytest.raises(ValueError, match=wanted + r"float64 of shape \(3,\), float64 of shape \(2,\)$"):
        Plan(MOMENTUM, [(np.ones(3), np.ones(2))])
    with pytest.raises(ValueError, match=wanted + r"float64 of shape \(3,\)$"):
        Plan(MOMENTUM, [(np.ones(3),)])


def swapped():
    a, b = Variable(np.arange(6, dtype=np.float32), name="a"), Variable(np.ones(6, np.float32), name="b")
    return [(b.value, a), (a.value, b)]


def of_one(size, gradient):
    w = Variable(np.arange(size, dtype=np.float32), name="w")
    return [(gradient(w), w)]


def transposed():
    w = Variable(np.arange(9, dtype=np.float32).reshape(3, 3), name="w")
    return [(w.value.T, w)]


def shifted():
    buffer = np.arange(300_000, dtype=np.float32)
    return [(buffer[1:], Variable.wrap(buffer[:-1], name="w"))]


def of_a_buffer():
    buffer = bytearray(np.arange(8, dtype=np.float32).tobytes())
    w = Variable.wrap(np.frombuffer(buffer, np.float32, 7), name="w")
    return [(np.frombuffer(buffer, np.float32, 7, 4), w)]


def owned_by_the_gradient():
    gradient = np.arange(5, dtype=np.float32)
    return [(gradient, Variable.wrap(gradient[::-1], name="w"))]


def rows():
    a, b = Variable(np.ones((3, 2), np.float32), name="a"), Variable(np.ones((3, 2), np.float32), name="b")
    return [(np.ones((3, 2), np.float32), a), (IndexedSlices(a.value[:2], [2, 0]), b)]


SHARED = {
    "each other's": swapped,
    "itself": lambda: of_one(5, lambda w: w.value),
    "backwards": lambda: of_one(300_000, lambda w: w.value[::-1]),
    "transposed": transposed,
    "shifted": shifted,
    "of a buffer": of_a_buffer,
    "owned by the gradient": owned_by_the_gradient,
    "rows": rows,
}


@pytest.mark.parametrize("pairs", SHARED.values(), ids=SHARED)
@pytest.mark.parametrize("make", [lambda: optim.GradientDescentOptimizer(0.5), lambda: optim.LionOptimizer(0.5)])
def test_a_gradient_that_shares_memory_counts_as_it_was(pairs, make):
    sharing, apart, ours, theirs = pairs(), pairs(), make(), make()
    for _ in range(2):
        copies = [
            (IndexedSlices(g.values.copy(), g.indices) if isinstance(g, IndexedSlices) else g.copy(), v)
            for g, v in apart
        ]
        theirs.apply_gradients(copies)
        ours.apply_gradients(sharing)
        for (_, one), (_, other) in zip(sharing, apart, strict=True):
            np.testing.assert_array_equal(one.value, other.value)


def test_a_gradient_that_is_a_slot():
    optimizer, w = trained()
    optimizer.apply_gradients([(optimizer.get_slot(w, "momentum").value, w)])
    assert optimizer.get_slot(w, "momentum").value[0] == 1.5
    assert w.value[0] == -0.25


def read_only():
    step = Variable(3, name="step")
    step.value.flags.writeable = False
    return step


STEPS = {
    "int": (5, TypeError, "global_step must be a Variable, got int: 5"),
    "array": (np.array(5), TypeError, "global_step must be a Variable, got ndarray: array(5)"),
    "float": (Variable(5.0), TypeError, "global_step must be one integer, got float32 of shape ()"),
    "read-only": (
        read_only(),
        ValueError,
        "global_step 'step' must be writable, got a read-only array",
    ),
    "full": (
        Variable(np.int8(127), name="step"),
        ValueError,
        "global_step 'step' must be wider than int8 to count to 128",
    ),
}


@pytest.mark.parametrize(("step", "error", "text"), STEPS.values(), ids=STEPS)
def test_a_global_step_that_cannot_rise(step, error, text):
    optimizer, w = optim.GradientDescentOptimizer(1.0), Variable([1.0])
    with pytest.raises(error) as raised:
        optimizer.apply_gradients([(np.float32([1.0]), w)], step)
    assert (str(raised.value), w.value.tolist()) == (text, [1.0])


def test_a_matrix_is_an_array():
    v, w = Variable(np.ones((2, 2)), name="v"), Variable(np.ones((2, 2)), name="w")
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
    optim.AdagradOptimizer(1.0, 1.0).apply_gradients([(np.ones((2, 2)), v), (matrix, w)], report=True)
    np.testing.assert_allclose(w.value, 1 - np.asarray(matrix) / np.sqrt(1 + np.square(matrix.A)))


@pytest.mark.parametrize("order", [">f8", "<f8", ">f4"])
def test_byte_order(order):
    wide = np.dtype(order).newbyteorder("=")
    w, same = Variable(np.ones(3, order), name="w"), Variable(np.ones(3, wide), name="w")
    g = np.array([1.0, 1e-9, 3.0])
    for variable, gradient in ((w, g.astype(order)), (same, g.astype(wide)), (w, g.astype(wide))):
        optim.AdamOptimizer(0.1).apply_gradients([(gradient, variable)])
    optim.AdamOptimizer(0.1).apply_gradients([(g.astype(order), same)])
    assert w.dtype == np.dtype(order)
    np.testing.assert_allclose(w.value, same.value, rtol=1e-13 if wide.itemsize == 8 else 1e-6)


def test_first_steps_at_once_without_a_lock():
    for _ in range(20):
        optimizer, barrier, errors = optim.AdamOptimizer(), threading.Barrier(4), []
        variables = [Variable(np.ones(3, np.float32)) for _ in range(20)]

        def train(optimizer=optimizer, barrier=barrier, errors=errors, variables=variables):
            barrier.wait()
            try:
                optimizer.apply_gradients([(np.ones(3, np.float32), variable) for variable in variables])
            except Exception as error:  # noqa: BLE001 - shown below
                errors.append(error)

        workers = [threading.Thread(target=train) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert errors == []
        assert len(optimizer.variables()) == 42


def test_a_refused_step_is_not_counted_as_skipped():
    rates = iter([0.5, -1.0])
    optimizer = optim.skip_nonfinite_steps(optim.GradientDescentOptimizer(lambda: next(rates)))
    w = Variable([1.0])
    assert optimizer.apply_gradients([(np.float32([np.nan]), w)]).skipped
    with pytest.raises(ValueError, match=r"^learning_rate must be at least 0 and finite, got -1\.0$"):
        optimizer.apply_gradients([(np.float32([np.nan]), w)])
    assert (optimizer.skipped_steps, optimizer.skipped_in_a_row) == (1, 1)


@pytest.mark.parametrize("rule", [optim.GradientDescentOptimizer, optim.AdamOptimizer])
def test_rows_are_measured_before_they_are_clipped(rule):
    table = Variable(np.ones((4, 2), np.float32), name="table")
    rows = IndexedSlices(np.float32([[3.0, 0.0], [0.0, 4.0], [0.0, np.inf]]), [0, 2, 3])
    optimizer = optim.clip_gradients_by_value(rule(0.5), -1.0, 1.0)
    first = optimizer.apply_gradients([(IndexedSlices(rows.values[:2], rows.indices[:2]), table)], report=True)
    assert (first.global_norm, first.nonfinite, first.variables[0].gradient_norm) == (5.0, 0, 5.0)
    assert first.variables[0].gradient_zeros == first.variables[0].size - 2
    second = optimizer.apply_gradients([(rows, table)], report=True)
    assert (second.nonfinite, second.variables[0].gradient_nonfinite) == (1, 1)
    assert np.isfinite(table.value).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_a_detailed_report_has_the_norm(sparse):
    w = Variable(np.ones((2, 1), np.float32), name="w")
    g = np.float32([[3.0], [4.0]])
    pairs = [(IndexedSlices(g, [0, 1]) if sparse else g, w)]
    report = optim.GradientDescentOptimizer(0.5).apply_gradients(pairs, report=True)
    assert (report.global_norm, report.nonfinite) == (5.0, 0)


def test_a_percentile_leaves_out_norms_of_0():
    w = Variable([0.0])
    optimizer = optim.clip_gradients_by_percentile(optim.GradientDescentOptimizer(0.0), 10.0)
    bounds = [optimizer.apply_gradients([(np.float32([g]), w)]).clip_norm for g in (0, 0, 2, 0, 0, 0, 1e6)]
    assert bounds[:6] == [None, None, 2, 2, 2, 2]
    assert bounds[6] == pytest.approx(2 + (1e6 - 2) * 0.1)
