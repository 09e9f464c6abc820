"""What a formula may return and take besides its operations: on either engine it is the plain formula."""

import math

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
        pytest.importorskip("numba", reason="an extra")
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
        np.testing.assert_allclose(stats[i, UPDATE_SQUARES], moved @ moved, rtol=1e-6)
        np.testing.assert_allclose(stats[i, slot_columns(0)][SQUARES], np.float64(slots[i]) @ slots[i], rtol=1e-6)


ALLOWED = (
    "a formula may use arithmetic, comparisons, np.where, and functions of one element such as np.sqrt, got {}; "
    "in conditions, write x != x for np.isnan(x), and np.where(a, np.where(b, x, y), y) for a & b"
)
NO_BRANCH = (
    "a formula runs once for all elements, so it cannot ask whether a comparison holds: write np.where(a, x, y) "
    "instead of `if`, `and`, max or min"
)
NO_NUMBER = (
    "a formula runs once for all elements, so none of them is a number: leave out float and int, and write np.sqrt "
    "instead of math.sqrt"
)
NO_ARRAY = "a formula works on its arguments and on numbers, got {}"
NO_ELEMENTS = (
    "a formula runs once for all elements, so it cannot pick one or count them: leave out len, loops and indices, "
    "and write what happens to each element"
)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda g, v, lr: (np.where((g > 0) & (v > 0), v - lr * g, v),), ALLOWED.format("np.bitwise_and")),
        (lambda g, v, lr: (np.where(~(g > 0), v - lr * g, v),), ALLOWED.format("np.invert")),
        (lambda g, v, lr: (np.where(np.isnan(g), v, v - lr * g),), ALLOWED.format("np.isnan")),
        (lambda g, v, lr: (v - lr * np.clip(g, -1, 1),), ALLOWED.format("np.clip")),
        (lambda g, v, lr: (v - lr * np.add.reduce(g),), ALLOWED.format("np.add.reduce")),
        (lambda g, v, lr: (v - lr * max(g, 0),), NO_BRANCH),
        (lambda g, v, lr: (v if g > v else v - lr * g,), NO_BRANCH),
        (lambda g, v, lr: (v - float(lr) * g,), NO_NUMBER),
        (lambda g, v, lr: (v - int(lr) * g,), NO_NUMBER),
        (lambda g, v, lr: (v - g / math.sqrt(lr),), NO_NUMBER),
        (lambda g, v, lr: (v - lr * g / len(g),), NO_ELEMENTS),
        (lambda g, v, lr: (v - lr * sum(g),), NO_ELEMENTS),
        (lambda g, v, lr: (v - lr * g[0],), NO_ELEMENTS),
        (lambda g, v, lr: (v - lr * g * np.ones(3, "f4"),), NO_ARRAY.format("ndarray")),
        (lambda g, v, lr: (v - lr * np.multiply(g, [1, 2, 3]),), NO_ARRAY.format("list")),
    ],
    ids=[
        "and",
        "not",
        "isnan",
        "a-function-of-arrays",
        "a-reduction",
        "max",
        "if",
        "float",
        "int",
        "math",
        "len",
        "sum",
        "an-index",
        "an-array",
        "a-list",
    ],
)
def test_what_cannot_be_recorded_is_refused(formula, message):
    with pytest.raises(TypeError) as caught:
        plain.ENGINE.prepare(Rule(formula, (), ""), [[np.ones(3, "f4")]])([np.ones(3, "f4")], np.ones(4), False)
    assert str(caught.value) == message


def test_a_number_of_numpy_may_come_first():
    variable = np.array([1, 1], "f4")
    rule = Rule(lambda g, v, lr: (np.where(np.float64(1) > g, v - lr * g, v),), (), "")
    plain.ENGINE.prepare(rule, [[variable]])([np.array([0.5, 2], "f4")], np.array([1, -np.inf, np.inf, 1]), False)
    assert variable.tolist() == [0.5, 1]


@pytest.mark.parametrize("engine", [plain.ENGINE, compiled.ENGINE])
def test_what_the_message_advises_can_be_recorded(engine):
    def advised(g, v, lr):
        both_positive = np.where(g > 0, np.where(v > 0, v - lr * g, v), v)
        return (np.where(g != g, v, both_positive),)  # noqa: PLR0124 - whether it is NaN

    if engine is compiled.ENGINE:
        pytest.importorskip("numba", reason="an extra")
        assert compiled.kernel(Rule(advised, (), ""), "float32", False) is not None
    variable = np.array([1, -1, 1, 1], "f4")
    run = engine.prepare(Rule(advised, (), ""), [[variable]])
    run([np.array([2, 2, -2, np.nan], "f4")], np.array([1.0, -np.inf, np.inf, 0.5]), False)
    assert variable.tolist() == [0, -1, 1, 1]
