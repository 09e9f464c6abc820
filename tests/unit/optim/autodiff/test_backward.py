"""The way back: what is connected, how terms are added up, and where a gradient stays rows."""

import numpy as np
import pytest

from optim import AggregationMethod, IndexedSlices, Variable, gradients


def lists(found):
    return [None if gradient is None else np.asarray(gradient).tolist() for gradient in found]


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
