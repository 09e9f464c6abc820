"""A fast path is no second meaning: compiled and plain kernels give what the formula gives on whole arrays."""

import itertools
import math

import numpy as np
import pytest
from engines import BOTH, ENGINES
from hypothesis import given, settings
from hypothesis import strategies as st

import optim
from optim import rules
from optim.kernels import threads
from optim.kernels.measure import measure, norm, sums_of_squares
from optim.kernels.plan import Plan
from optim.kernels.scale_and_bounds import Clip
from optim.kernels.stats import LARGEST, LARGEST_OF_SLOTS, NONFINITE, SQUARES, SUM, ZEROS
from optim.rules import Rule
from summaries.native import library

RULES = sorted((name, rule) for name, rule in vars(rules).items() if isinstance(rule, Rule))
DTYPES = [np.float32, np.float64]
SIZES = st.lists(st.sampled_from([0, 1, 7, 33, 4095, 4097, 8_192, 8_321, 70_000]), min_size=1, max_size=4)
CLIPS = st.sampled_from([Clip(), Clip(0.3), Clip(0.5, -0.2, 0.4), Clip(1.0, -math.inf, 0.1), Clip(math.nan)])
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 1e30, -1e30]


def problem(rule, dtype, sizes, seed, specials):
    """(gradients, targets, hyperparameters): slots are positive, some elements of the gradients special."""
    rng = np.random.default_rng(seed)
    gradients = [rng.standard_normal(size).astype(dtype) for size in sizes]
    for gradient in gradients:
        chosen = rng.integers(0, max(gradient.size, 1), min(specials, gradient.size))
        gradient[chosen] = rng.choice(SPECIAL, len(chosen))
    targets = [
        [rng.standard_normal(size).astype(dtype), *(rng.uniform(0.5, 2, size).astype(dtype) for _ in rule.slots)]
        for size in sizes
    ]
    return gradients, targets, rng.uniform(0.1, 0.9, len(rule.hyperparameters))


def by_the_formula(rule, dtype, gradients, targets, hyper, clip):
    scale, low, high = (dtype(number) for number in clip)
    with np.errstate(all="ignore"):
        return [
            rule.formula(np.clip(g * scale, low, high), *arrays, *(dtype(number) for number in hyper))
            for g, arrays in zip(gradients, targets, strict=True)
        ]


def run(engine, rule, gradients, targets, hyper, clip, *, report):
    library.use(engine)
    try:
        copies = [[array.copy() for array in arrays] for arrays in targets]
        return copies, Plan(rule, copies).run(gradients, hyper, clip, report=report)
    finally:
        library.use(None)


@pytest.fixture(scope="module", autouse=True)
def _two_threads():
    threads.set_num_threads(2)
    yield
    threads.set_num_threads(None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "rule"), RULES)
@settings(max_examples=5, deadline=None)
@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1), specials=st.integers(0, 9), clip=CLIPS)
def test_every_engine_is_the_formula(name, rule, dtype, sizes, seed, specials, clip):
    gradients, targets, hyper = problem(rule, dtype, sizes, seed, specials)
    wanted = by_the_formula(rule, dtype, gradients, targets, hyper, clip)
    exact = "**" not in str(rule.formula.__code__.co_consts) and name != "FTRL"
    # Powers: numba's and NumPy's differ in the last place.
    margin = 0.0 if exact else 1e-4 if dtype is np.float32 else 1e-12
    for engine, report in itertools.product(BOTH, (False, True)):
        got, stats = run(engine, rule, gradients, targets, hyper, clip, report=report)
        for new, old in zip(wanted, got, strict=True):
            for array, copy in zip(new, old, strict=True):
                np.testing.assert_allclose(copy, array, rtol=margin, atol=margin)
        if stats is not None:
            check_stats(stats, gradients, targets, got)


@pytest.mark.skipif(not library.is_available(), reason="no compiled code")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "rule"), [each for each in RULES if each[0] != "FTRL"])
@settings(max_examples=10, deadline=None)
@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1), specials=st.integers(0, 9), clip=CLIPS, count=st.integers(1, 3))
def test_engines_give_the_same_bits(name, rule, dtype, sizes, seed, specials, clip, count):
    """All that is updated and measured, whatever the number of threads."""
    made = problem(rule, dtype, sizes, seed, specials)
    arrays, stats = run("plain", rule, *made, clip, report=True)
    threads.set_num_threads(count)
    try:
        same_arrays, same_stats = run("compiled", rule, *made, clip, report=True)
    finally:
        threads.set_num_threads(2)
    np.testing.assert_array_equal(same_stats, stats)
    for one, other in zip(sum(same_arrays, []), sum(arrays, []), strict=True):  # noqa: RUF017 - short
        np.testing.assert_array_equal(one, other)


def check_stats(stats, gradients, before, after):
    for row, g, (old, *_), (new, *slots) in zip(stats, gradients, before, after, strict=True):
        with np.errstate(all="ignore"):
            wanted = [squares(g), squares(new), squares(new - old), np.sum(g == 0), np.sum(~np.isfinite(g))]
            margins = [1e-2] * len(wanted)
            for slot in slots:
                wanted += [squares(slot), np.sum(slot, dtype=np.float64)]
                # A lane's sum is float32's: what cancels leaves a rounding of its parts.
                margins += [1e-2, 1e-2 + 1e-5 * np.nan_to_num(np.sum(np.abs(slot), dtype=np.float64))]
        largest = [np.fmax.reduce(slot, initial=-math.inf) for slot in slots]
        is_largest = np.zeros(len(row), bool)
        is_largest[LARGEST_OF_SLOTS] = True
        for got, want, margin in zip(row[~is_largest], wanted, margins, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=margin)
        for got, want in zip(row[is_largest], largest, strict=True):
            assert got == want


def squares(array):
    double = array.astype(np.float64)
    return np.sum(double * double)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=30, deadline=None)
@given(
    sizes=SIZES,
    seed=st.integers(0, 2**32 - 1),
    exponent=st.integers(-300, 300),
    dtype=st.sampled_from(DTYPES),
    shuffle=st.randoms(use_true_random=False),
)
def test_the_norm(engine, sizes, seed, exponent, dtype, shuffle):
    """Of any magnitude, in any order."""
    exponent = exponent if dtype is np.float64 else exponent // 9
    rng = np.random.default_rng(seed)
    arrays = [(rng.standard_normal(size) * 10.0**exponent).astype(dtype) for size in sizes]
    unit = 10.0**exponent
    wanted = unit * math.sqrt(sum(squares(array.astype(np.float64) / unit) for array in arrays))
    library.use(engine)
    try:
        got = norm(arrays)
        shuffle.shuffle(arrays)
        assert norm(arrays) == got
    finally:
        library.use(None)
    assert got == pytest.approx(wanted, rel=1e-6)


# Blocks of 4,096 squares in 32 lanes.
ALIKE = 4096 / 16 * 2**-24 / 2


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20, deadline=None)
@given(
    value=st.floats(0.5, 2, width=32),
    size=st.sampled_from([4097, 160 << 10, 400_000]),
    step=st.sampled_from([1, -1, 3]),
)
def test_elements_that_are_alike_are_summed_as_well(engine, value, size, step):
    """Their squares are all rounded the same way, so errors add up."""
    array = np.full(size * abs(step), value, np.float32)[::step]
    library.use(engine)
    try:
        assert norm([array]) == pytest.approx(math.sqrt(size) * value, rel=ALIKE)
        plan = Plan(rules.GRADIENT_DESCENT, [(np.zeros(size, np.float32),)])
        assert math.sqrt(plan.run([array], (0.1,), report=True)[0, SQUARES]) == pytest.approx(
            math.sqrt(size) * value, rel=ALIKE
        )
        bound = 0.5 * math.sqrt(size) * value
        (clipped,), _ = optim.clip_by_global_norm([array], bound)
        assert norm([clipped]) <= bound * (1 + ALIKE)
    finally:
        library.use(None)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=30, deadline=None)
@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1), specials=st.integers(0, 9))
def test_measuring_changes_nothing_and_is_what_numpy_says(engine, dtype, sizes, seed, specials):
    arrays, _, _ = problem(rules.GRADIENT_DESCENT, dtype, sizes, seed, specials)
    before = [array.copy() for array in arrays]
    library.use(engine)
    try:
        measured, of_squares = measure(arrays), sums_of_squares(arrays)
    finally:
        library.use(None)
    for row, square, array, old in zip(measured, of_squares, arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)
        with np.errstate(all="ignore"):
            total, size = np.sum(array, dtype=np.float64), np.sum(np.abs(array), dtype=np.float64)
            np.testing.assert_allclose([row[SQUARES], square], squares(array), rtol=1e-5)
            np.testing.assert_array_equal(row[[ZEROS, NONFINITE]], [np.sum(array == 0), np.sum(~np.isfinite(array))])
            np.testing.assert_allclose(row[SUM], total, rtol=1e-5, atol=1e-5 * np.nan_to_num(size, posinf=0.0))
        assert row[LARGEST] == np.fmax.reduce(array, initial=-math.inf)


@pytest.mark.skipif(not library.is_available(), reason="no compiled code")
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=50, deadline=None)
@given(
    sizes=SIZES, seed=st.integers(0, 2**32 - 1), specials=st.integers(0, 9), exponent=st.integers(-40, 38),
    count=st.integers(1, 3),
)  # fmt: skip
def test_engines_measure_the_same_bits(dtype, sizes, seed, specials, exponent, count):
    arrays, _, _ = problem(rules.GRADIENT_DESCENT, dtype, sizes, seed, specials)
    with np.errstate(all="ignore"):
        arrays = [(array * 10.0**exponent).astype(dtype) for array in arrays]
    found = []
    for engine, number in (("plain", 2), ("compiled", 2), ("compiled", count)):
        threads.set_num_threads(number)
        library.use(engine)
        try:
            found.append((measure(arrays), sums_of_squares(arrays)))
        finally:
            library.use(None)
            threads.set_num_threads(2)
    for measured, squared in found[1:]:
        np.testing.assert_array_equal(measured, found[0][0])
        np.testing.assert_array_equal(squared, found[0][1])
        np.testing.assert_array_equal(squared, measured[:, SQUARES])
