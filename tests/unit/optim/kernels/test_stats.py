"""Columns of stats mean the same wherever they are filled."""

import numpy as np
import pytest

from optim import rules
from optim.kernels.measure import measure
from optim.kernels.plan import Plan
from optim.kernels.stats import (
    ARRAY_WIDTH,
    LARGEST,
    NONFINITE,
    OF_GRADIENT,
    SLOT_WIDTH,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
    combined,
    slot_columns,
    stats_width,
)
from summaries.native import library

ENGINES = [
    "plain",
    pytest.param("compiled", marks=pytest.mark.skipif(not library.is_available(), reason="no compiled code")),
]


@pytest.fixture(params=ENGINES)
def _engine(request):
    library.use(request.param)
    yield
    library.use(None)


@pytest.mark.usefixtures("_engine")
def test_a_gradient_and_a_slot_have_the_columns_of_an_array():
    g = np.float32([3.0, 0.0, -4.0, 0.0])
    v, m, s = np.ones(4, np.float32), np.full(4, 2.0, np.float32), np.full(4, 3.0, np.float32)
    old = v.copy()
    stats = Plan(rules.ADAM, [(v, m, s)]).run([g], (0.1, 0.5, 0.5, 1e-8), report=True)
    of_gradient, of_variable, *of_slots = measure([g, v, m, s])
    assert stats.shape == (1, stats_width(2))
    assert stats[0, OF_GRADIENT].tolist() == of_gradient[OF_GRADIENT].tolist() == [25.0, 2.0, 0.0]
    assert stats[0, WEIGHT_SQUARES] == pytest.approx(of_variable[SQUARES])
    assert stats[0, UPDATE_SQUARES] == pytest.approx(np.sum((v - old) ** 2))
    for k, of_slot in enumerate(of_slots):
        assert stats[0, slot_columns(k)] == pytest.approx(of_slot[:SLOT_WIDTH])


@pytest.mark.usefixtures("_engine")
def test_an_array_is_measured():
    (row,) = measure([np.array([3.0, 0.0, -5.0, 0.0])])
    assert row.tolist() == [34.0, -2.0, 3.0, 2.0, 0.0]
    assert [*range(ARRAY_WIDTH)] == [SQUARES, SUM, LARGEST, ZEROS, NONFINITE]
    (row,) = measure([np.float32([np.inf, np.nan, 1.0])])
    assert row[[ZEROS, NONFINITE]].tolist() == [0.0, 2.0]


def test_parts_are_combined():
    parts = np.zeros((3, stats_width(1)))
    parts[:, SQUARES] = [1.0, 2.0, 4.0]
    parts[:, slot_columns(0)] = [[1.0, np.inf, -3.0], [2.0, -np.inf, -2.0], [3.0, 0.5, -1.0]]
    whole = combined(parts, np.array([0, 2]))
    assert whole[:, SQUARES].tolist() == [3.0, 4.0]
    np.testing.assert_array_equal(whole[:, slot_columns(0)], [[3.0, np.nan, -2.0], [3.0, 0.5, -1.0]])
    assert combined(parts, np.arange(3)) is parts


@pytest.mark.usefixtures("_engine")
def test_no_elements_have_no_largest():
    empty = np.ones(0, np.float32)
    assert measure([empty]).tolist() == [[0.0, 0.0, -np.inf, 0.0, 0.0]]
    stats = Plan(rules.MOMENTUM, [(empty, empty)]).run([empty], (0.1, 0.5), report=True)
    assert stats.tolist() == [[0.0] * 7 + [-np.inf]]


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_do_not_depend_on_strides(dtype):
    ready = np.random.default_rng(0).standard_normal((300, 401)).astype(dtype)
    others = [np.asfortranarray(ready), np.repeat(ready, 2, axis=1)[:, ::2], ready[::-1].copy()[::-1]]
    wanted = measure([ready])[0]
    for measured in measure(others):
        np.testing.assert_array_equal(measured, wanted)

    def stepped(gradient):
        variable = np.zeros((300, 401), dtype)
        return Plan(rules.GRADIENT_DESCENT, [(variable,)]).run([gradient], (0.1,), report=True), variable

    for gradient in others:
        for got, want in zip(stepped(gradient), stepped(ready), strict=True):
            np.testing.assert_array_equal(got, want)
