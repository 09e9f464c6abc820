"""What a formula may return and take besides its operations: on either engine it is the plain formula."""

import numpy as np
import pytest

from optim.kernels import compiled, plain
from optim.kernels.stats import SQUARES, UPDATE_SQUARES, slot_columns
from optim.rules import Rule


def remembers(g, v, before, lr):
    return v - lr * g, v


def swaps(g, v, other, lr):
    return other, v


def notes_the_rate(g, v, rate, lr):
    return v - lr * g, lr


def notes_a_number(g, v, number, lr):
    return v - 2 * lr * g, 3.0


def rests(g, v, slot, lr):
    return v, slot


def has_numbers_of_numpy(g, v, most, lr):
    return v - np.float32(2) * lr * g, np.where(g > np.float64(0), g, -np.inf)


@pytest.mark.parametrize("engine", [plain.ENGINE, compiled.ENGINE])
@pytest.mark.parametrize(
    "formula", [remembers, swaps, notes_the_rate, notes_a_number, rests, has_numbers_of_numpy], ids=lambda f: f.__name__
)
def test_it_is_the_plain_formula(formula, engine):
    if engine is compiled.ENGINE:
        pytest.importorskip("numba", reason="the extra `fast`")
    rng = np.random.default_rng(0)
    gradients, variables, slots = ([rng.standard_normal(size).astype("f4") for size in (9, 4100)] for _ in range(3))
    before = [variable.copy() for variable in variables]
    wanted = [
        formula(*one, np.float32(0.5)) for one in zip(gradients, before, [slot.copy() for slot in slots], strict=True)
    ]
    run = engine.prepare(Rule(formula, ("slot",), ""), list(zip(variables, slots, strict=True)))
    stats = run(gradients, np.array([1.0, -np.inf, np.inf, 0.5]), True)
    for i, (variable, slot) in enumerate(wanted):
        np.testing.assert_array_equal(variables[i], variable)
        np.testing.assert_array_equal(slots[i], np.broadcast_to(np.float32(slot), slots[i].shape))
        moved = np.float64(variables[i] - before[i])
        np.testing.assert_allclose(stats[i, UPDATE_SQUARES], moved @ moved, rtol=1e-5)
        np.testing.assert_allclose(stats[i, slot_columns(0)][SQUARES], np.float64(slots[i]) @ slots[i], rtol=1e-5)
