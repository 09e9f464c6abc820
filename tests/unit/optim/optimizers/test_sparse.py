"""IndexedSlices: rows of the same index are summed, rows that are not named stay, or decay where the rule says so."""

import numpy as np
import pytest

import optim
from optim import GradientDescentOptimizer, IndexedSlices, Variable

OPTIMIZERS = {
    "GradientDescent": lambda: optim.GradientDescentOptimizer(0.1),
    "Momentum": lambda: optim.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: optim.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adagrad": lambda: optim.AdagradOptimizer(0.1),
    "Adadelta": lambda: optim.AdadeltaOptimizer(0.1),
    "Ftrl": lambda: optim.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
    "Ftrl, power": lambda: optim.FtrlOptimizer(0.1, learning_rate_power=-0.3, l1_regularization_strength=0.1),
    "RMSProp": lambda: optim.RMSPropOptimizer(0.1, momentum=0.5),
    "RMSProp, centered": lambda: optim.RMSPropOptimizer(0.1, centered=True),
    "Adam": optim.AdamOptimizer,
    "NAdam": optim.NAdamOptimizer,
    "AdamW": optim.AdamWOptimizer,
    "Lion": lambda: optim.LionOptimizer(0.1),
}
AT_REST = {"Adam", "NAdam", "AdamW", "Lion"}


def table(rows=70, columns=3000, seed=0):
    """Large enough for several blocks of rows."""
    return Variable(np.random.default_rng(seed).standard_normal((rows, columns)), name="table")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rows_of_the_same_index_count_together(name):
    rng = np.random.default_rng(1)
    once, twice = table(), table()
    optimizers = OPTIMIZERS[name](), OPTIMIZERS[name]()
    for _ in range(3):
        rows = rng.standard_normal((4, 3000))
        optimizers[0].apply_gradients([(IndexedSlices(np.stack([rows[0] + rows[1], *rows[2:]]), [69, 3, 0]), once)])
        optimizers[1].apply_gradients([(IndexedSlices(rows, [69, 69, 3, 0]), twice)])
    np.testing.assert_allclose(once.value, twice.value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_named_rows_move_as_with_a_dense_gradient(name):
    rng = np.random.default_rng(2)
    sparse, dense = table(), table()
    start = sparse.value.copy()
    optimizers = OPTIMIZERS[name](), OPTIMIZERS[name]()
    for _ in range(3):
        rows = rng.standard_normal((2, 3000))
        whole = np.zeros(dense.shape)
        whole[[5, 50]] = rows
        optimizers[0].apply_gradients([(IndexedSlices(rows, [5, 50]), sparse)])
        optimizers[1].apply_gradients([(whole, dense)])
    np.testing.assert_allclose(sparse.value[[5, 50]], dense.value[[5, 50]], rtol=1e-9, atol=1e-12)
    if name in AT_REST:
        np.testing.assert_allclose(sparse.value, dense.value, rtol=1e-9, atol=1e-12)
    else:
        rest = np.setdiff1d(np.arange(70), [5, 50])
        np.testing.assert_array_equal(sparse.value[rest], start[rest])


def test_no_rows():
    w = table(3, 2)
    start = w.value.copy()
    optim.AdagradOptimizer(0.1).apply_gradients([(IndexedSlices(np.zeros((0, 2)), np.zeros(0, int)), w)])
    np.testing.assert_array_equal(w.value, start)


def test_the_norm_counts_each_row_for_itself():
    """As TF1's global_norm; duplicates are summed in the update alone."""
    w = Variable(np.zeros((2, 1)), name="w")
    slices = IndexedSlices(np.array([[3.0], [4.0]]), [1, 1])
    optimizer = optim.clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0)
    report = optimizer.apply_gradients([(slices, w)])
    assert report.global_norm == 5.0
    np.testing.assert_allclose(w.value, [[0.0], [-7 / 5]])


def test_values_are_clipped_before_they_are_summed():
    w = Variable(np.zeros((2, 1)), name="w")
    optimizer = optim.clip_gradients_by_value(GradientDescentOptimizer(1.0), -1.0, 1.0)
    optimizer.apply_gradients([(IndexedSlices(np.array([[3.0], [4.0]]), [1, 1]), w)])
    np.testing.assert_array_equal(w.value, [[0.0], [-2.0]])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_clip_that_comes_to_nan_stays_in_the_named_rows(name):
    """As where it is clipped beforehand: a norm that is not finite says nothing of rows that are not named."""
    ours, wanted = (Variable(np.ones((5, 1), np.float32), name="w") for _ in range(2))
    slices = IndexedSlices(np.float32([[1], [np.inf]]), [0, 2])
    optim.clip_gradients_by_norm(OPTIMIZERS[name](), 1.0).apply_gradients([(slices, ours)])
    (clipped,), _ = optim.clip_by_global_norm([slices], 1.0)
    OPTIMIZERS[name]().apply_gradients([(clipped, wanted)])
    np.testing.assert_array_equal(ours.value, wanted.value)
    assert np.isnan(ours.value[:, 0]).tolist() == [True, False, True, False, False]


def test_a_report_of_infinities_of_both_signs_warns_of_nothing():
    """In blocks of rows of their own; pytest makes warnings errors."""
    gradient = np.ones((70_000, 1), np.float32)
    gradient[0], gradient[-1] = np.inf, -np.inf
    optimizer, w = optim.AdamOptimizer(0.1), Variable(np.zeros((70_000, 1), np.float32), name="w")
    report = optimizer.apply_gradients([(IndexedSlices(gradient, np.arange(70_000)), w)], report=True)
    assert (report.variables[0].gradient_nonfinite, w.version) == (2, 1)


@pytest.mark.parametrize("optimizer", [GradientDescentOptimizer(1.0), optim.AdamOptimizer(1.0)])
def test_the_report_is_of_the_whole_variable(optimizer):
    """Of the dense gradient that the rows stand for: with an optimizer that moves the named rows, or all."""
    slices = IndexedSlices(np.array([[3.0, 4.0], [-1.0, 0.0], [1.0, 0.0]]), [2, 0, 0])
    w = Variable(np.full((4, 2), 5.0), name="w")
    start = w.value.copy()
    (row,) = optimizer.apply_gradients([(slices, w)], report=True).variables
    assert (row.size, row.gradient_norm, row.gradient_zeros, row.gradient_zero_fraction) == (8, 5.0, 6, 0.75)
    assert row.weight_norm == pytest.approx(np.linalg.norm(w.value))
    assert row.update_norm == pytest.approx(np.linalg.norm(w.value - start))


def test_the_report_of_slots_is_of_all_rows():
    w = Variable(np.full((4, 2), 5.0), name="w")
    optimizer = optim.AdagradOptimizer(1.0, initial_accumulator_value=0.5)
    (row,) = optimizer.apply_gradients([(IndexedSlices(np.array([[3.0, 4.0]]), [2]), w)], report=True).variables
    slot = optimizer.get_slot(w, "accumulator").value
    got = row.slots["accumulator"]
    assert (got.mean, got.norm, got.max) == pytest.approx((slot.mean(), np.linalg.norm(slot), slot.max()))


ROWS = np.zeros((1, 2))
REFUSED = {
    "above": (IndexedSlices(ROWS, [3]), "gradient of 'w' must have indices from 0 to 2, got 3"),
    "below": (IndexedSlices(ROWS, [-1]), "gradient of 'w' must have indices from 0 to 2, got -1"),
    "rows": (
        IndexedSlices(np.zeros((1, 3)), [0]),
        "gradient of 'w' must have rows of the variable's shape (2,), got (3,)",
    ),
    "dtype": (
        IndexedSlices(ROWS.astype(np.float32), [0]),
        "gradient of 'w' must have the variable's dtype float64, got float32",
    ),
    "dense shape": (
        IndexedSlices(ROWS, [0], (4, 2)),
        "gradient of 'w' must have the variable's shape (3, 2), got a dense_shape of (4, 2)",
    ),
}


def test_variables_without_rows_refuse_slices():
    scalar, empty = Variable(1.0, name="scalar"), Variable(np.zeros((0, 2), np.float32), name="empty")
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        GradientDescentOptimizer(1.0).apply_gradients([(IndexedSlices(np.float32([1]), [0]), scalar)])
    assert str(raised.value) == "gradient of 'scalar' must be one number, like the variable, got IndexedSlices"
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        GradientDescentOptimizer(1.0).apply_gradients([(IndexedSlices(np.ones((1, 2), np.float32), [0]), empty)])
    assert str(raised.value) == "gradient of 'empty' must have no indices, since the variable has no rows, got 0"


@pytest.mark.parametrize(("slices", "text"), REFUSED.values(), ids=REFUSED)
def test_a_refused_call_changes_nothing(slices, text):
    w, other = Variable(np.ones((3, 2)), name="w"), Variable(np.ones(2), name="other")
    step = Variable(0, trainable=False, name="global_step")
    optimizer = optim.AdamOptimizer()
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        optimizer.apply_gradients([(np.ones(2), other), (slices, w)], step)
    assert str(raised.value) == text
    assert (w.value == 1).all()
    assert (other.value == 1).all()
    assert int(step) == 0
    assert optimizer.variables() == []


NARROW = {
    "overflows on the way": (60000, 50000, lambda: GradientDescentOptimizer(2.0)),
    "underflows on the way": (0, 2e-5, lambda: GradientDescentOptimizer(1e-3)),
    "underflows where it is clipped": (0, 1, lambda: optim.clip_gradients_by_norm(GradientDescentOptimizer(1e6), 1e-8)),
    "and where the formula is another": (
        0,
        1,
        lambda: optim.clip_gradients_by_norm(
            optim.clip_gradients_by_value(optim.MomentumOptimizer(1e6, 0.9), -1.0, 1.0), 1e-8
        ),
    ),
}


@pytest.mark.parametrize(("start", "gradient", "optimizer"), NARROW.values(), ids=NARROW)
def test_narrow_rows_are_rounded_once(start, gradient, optimizer):
    dense, sparse = (Variable(np.array([start]), dtype=np.float16) for _ in range(2))
    g = np.array([gradient], np.float16)
    optimizer().apply_gradients([(g, dense)])
    optimizer().apply_gradients([(IndexedSlices(g, [0]), sparse)])
    assert np.isfinite(dense.value).all()
    if gradient == 2e-5:  # one row is too little for a float16; a thousand are not
        sparse = Variable(np.array([start]), dtype=np.float16)
        optimizer().apply_gradients([(IndexedSlices(np.repeat(g, 1000), np.zeros(1000, int)), sparse)])
        assert -3e-5 < sparse.value[0] < -1e-5
    else:
        assert dense.value[0] not in (0, start)
        assert sparse.value.tolist() == dense.value.tolist()


def test_a_dense_shape_of_one_is_any():
    """As TensorFlow takes it, which does not look at it."""
    w = Variable(np.zeros((3, 2)), name="w")
    GradientDescentOptimizer(1.0).apply_gradients([(IndexedSlices(np.ones((1, 2)), [2], (1,)), w)])
    assert w.value.tolist() == [[0.0, 0.0], [0.0, 0.0], [-1.0, -1.0]]
