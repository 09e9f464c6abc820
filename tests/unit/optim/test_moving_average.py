"""ExponentialMovingAverage: TF1's formulas, for variables and for plain arrays, and what it refuses."""

import copy
import gc

import numpy as np
import pytest

import optim
from optim import ExponentialMovingAverage, Variable
from optim.kernels import plain
from summaries.native import library

pytestmark = pytest.mark.usefixtures("each_engine")


VALUES = np.random.default_rng(0).standard_normal((6, 3))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_variables_shadow_starts_at_its_value(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    v = Variable(VALUES[0], name="v", dtype=dtype)
    ema, expected = ExponentialMovingAverage(0.9), v.value.astype(np.float64)
    for value in VALUES:
        v.assign(value.astype(dtype))
        ema.apply([v])
        expected -= (1 - 0.9) * (expected - v.value.astype(np.float64))
    shadow = ema.average(v)
    assert (shadow.dtype, shadow.trainable, shadow.name) == (v.dtype, False, "v/ExponentialMovingAverage")
    rounding = {"float16": 2e-2, "bfloat16": 2e-1, "float32": 1e-6, "float64": 1e-14}[dtype]
    np.testing.assert_allclose(shadow.value.astype(np.float64), expected, rtol=rounding, atol=rounding / 10)


@pytest.mark.parametrize("num_updates", [None, 5])
@pytest.mark.parametrize("zero_debias", [False, True])
def test_a_plain_array_starts_at_zero_and_is_debiased_when_asked(num_updates, zero_debias):
    array, ema = np.empty(3), ExponentialMovingAverage(0.9, num_updates, zero_debias)
    decay = 0.9 if num_updates is None else 0.4
    expected = np.zeros(3)
    for t, value in enumerate(VALUES, 1):
        array[:] = value
        ema.apply([array])
        expected -= (1 - decay) * (expected - value)
        wanted = expected / (1 - decay**t) if zero_debias else expected
        np.testing.assert_allclose(ema.average(array).value, wanted, rtol=1e-13)


def test_zero_debias_leaves_variables_alone():
    v = Variable([1.0])
    ema = ExponentialMovingAverage(0.5, zero_debias=True)
    ema.apply([v])
    assert ema.average(v).value.tolist() == [1.0]


def test_num_updates_may_be_a_step_that_rises():
    step, v = Variable(0, trainable=False), Variable([0.0], dtype=np.float64)
    ema = ExponentialMovingAverage(0.999, num_updates=step)
    ema.apply([v])
    v.assign([1.0])
    expected = 0.0
    for n in (0, 1, 10, 10**6):
        step.assign(n)
        ema.apply([v])
        expected += (1 - min(0.999, (1 + n) / (10 + n))) * (1 - expected)
        assert ema.average(v).value[0] == pytest.approx(expected, rel=1e-12)


def test_many_variables_of_several_dtypes_and_layouts():
    variables = [Variable(VALUES, name="a", dtype=np.float32), Variable(VALUES, name="b", dtype=np.float64)]
    variables.append(Variable.wrap(np.asfortranarray(VALUES), name="c"))
    variables.append(Variable(np.zeros((0, 3)), name="d"))
    ema = ExponentialMovingAverage(0.5)
    ema.apply(variables)
    for variable in variables[:3]:
        variable.assign(VALUES + 1)
    ema.apply(variables[:2])
    ema.apply(variables[2:])
    for variable in variables[:3]:
        np.testing.assert_allclose(ema.average(variable).value, VALUES + 0.5, rtol=1e-6)


def test_large_arrays_by_threads():
    v = Variable(np.zeros(1 << 19), name="v")
    ema = ExponentialMovingAverage(0.75)
    ema.apply([v])
    v.value[...] = np.arange(1 << 19)
    ema.apply([v])
    np.testing.assert_array_equal(ema.average(v).value, np.arange(1 << 19) / 4)


def test_a_variables_array_may_be_replaced_and_a_copy_goes_its_own_way():
    v, ema = Variable([0.0]), ExponentialMovingAverage(0.5)
    ema.apply([v])
    v.value = np.ones(1, np.float32)
    ema.apply([v])
    assert ema.average(v).value.tolist() == [0.5]
    twin, twin_v = copy.deepcopy((ema, v))
    twin.apply([twin_v])
    assert (ema.average(v).value.tolist(), twin.average(twin_v).value.tolist()) == ([0.5], [0.75])


def test_arrays_that_are_gone_are_forgotten():
    ema = ExponentialMovingAverage(0.5)
    for _ in range(100):
        ema.apply([np.ones(3)])
    gc.collect()
    assert not ema._of_arrays


def test_names():
    w, b, step = Variable([1.0], name="w"), Variable([1.0], name="b"), Variable(0, trainable=False, name="step")
    ema = ExponentialMovingAverage(0.9, name="EMA")
    assert ema.average(w) is None
    assert ema.average(np.ones(2)) is None
    assert ema.average_name(w) == "w/EMA"
    assert ema.variables_to_restore() == {}
    ema.apply([w])
    assert ema.variables_to_restore() == {"w/EMA": w}
    assert ema.variables_to_restore([w, b, step]) == {"w/EMA": w, "b/EMA": b, "step": step}
    with pytest.raises(ValueError, match=r"^variables must have different names, got \['w', 'w'\]$"):
        ema.variables_to_restore([w, Variable([2.0], name="w")])


REFUSED = {
    "var_list must hold Variables and NumPy arrays, got float: 1.0": 1.0,
    "'step' must be of float16, bfloat16, float32, float64, got int64": Variable(0, name="step"),
    "the array must be of float16, bfloat16, float32, float64, got complex128": np.zeros(2, complex),
}


@pytest.mark.parametrize(("text", "item"), REFUSED.items(), ids=REFUSED)
def test_what_is_no_floating_variable(text, item):
    good, ema = Variable([1.0]), ExponentialMovingAverage(0.9)
    with pytest.raises(TypeError) as raised:
        ema.apply([good, item])
    assert str(raised.value) == text
    assert ema.average(good) is None


def test_changed_shapes_and_repeats_are_refused():
    v, ema = Variable([1.0], name="v"), ExponentialMovingAverage(0.9)
    ema.apply([v])
    v.value = np.ones(2)
    with pytest.raises(ValueError, match=r"^'v' was float32 of shape \(1,\) before, got float64 of shape \(2,\)$"):
        ema.apply([v])
    with pytest.raises(ValueError, match=r"^var_list must contain each variable once, got one twice$"):
        ema.apply([Variable([1.0]), good := Variable([1.0]), good])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ExponentialMovingAverage(1.5), "decay must be from 0 to 1, got 1.5"),
        (lambda: ExponentialMovingAverage(0.9, -1), "num_updates must be at least 0 and finite, got -1.0"),
        (lambda: ExponentialMovingAverage(0.9, name=""), "name must not be empty, got ''"),
    ],
)
def test_out_of_bounds(make, text):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        make()
    assert str(raised.value) == text


def test_compiled_equals_plain():
    library.use(None)
    if not library.is_available():
        pytest.skip("there is no compiled code for this machine")
    shadows = []
    try:
        for engine in ("plain", "compiled"):
            library.use(engine)
            v = Variable(VALUES[0], name="v")
            ema = ExponentialMovingAverage(0.9)
            for value in VALUES:
                v.assign(value)
                ema.apply([v])
            shadows.append(ema.average(v).value)
    finally:
        library.use(None)
    np.testing.assert_allclose(*shadows, rtol=3e-7)


def test_one_pass_allocates_no_array_of_the_variables_size(monkeypatch):
    import tracemalloc

    v, ema = Variable(np.zeros(1 << 22), name="v"), ExponentialMovingAverage(0.9)
    for _ in range(2):
        ema.apply([v])  # what is kept: the shadow, scratch of a few blocks, kernels
    tracemalloc.start()
    ema.apply([v])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < v.value.nbytes / 8
    assert v.value.size > plain._BLOCK


def test_it_is_public():
    assert optim.ExponentialMovingAverage is ExponentialMovingAverage
