"""An update of whole layers: how it takes dense, sparse, clipped and narrow gradients, what it reports, and saves."""

import copy
import pickle

import numpy as np
import pytest
from engines import using

import optim

MATRIX = {
    "adafactor": lambda: optim.AdafactorOptimizer(0.1),
    "lamb": lambda: optim.LambOptimizer(0.1),
    "lars": lambda: optim.LARSOptimizer(0.1),
    "muon": lambda: optim.MuonOptimizer(0.1),
    "prodigy": optim.ProdigyOptimizer,
    "soap": lambda: optim.SoapOptimizer(0.1, precondition_frequency=2),
}
OTHERS = {
    "proximal_adagrad": lambda: optim.ProximalAdagradOptimizer(0.1),
    "adamax": lambda: optim.AdaMaxOptimizer(0.1),
    "ademamix": lambda: optim.AdEMAMixOptimizer(0.1, warmup_steps=5),
    "amsgrad": lambda: optim.AMSGradOptimizer(0.1),
    "radam": lambda: optim.RAdamOptimizer(0.1, beta2=0.9),
    "schedule_free_adamw": lambda: optim.ScheduleFreeAdamW(0.1),
    "schedule_free_sgd": lambda: optim.ScheduleFreeSGD(0.1),
}
SHAPES = {"w": (5, 4), "u": (3, 6)}


def gradients(steps, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    return [{name: random.normal(size=shape).astype(dtype) for name, shape in SHAPES.items()} for _ in range(steps)]


def fresh(dtype=np.float64):
    random = np.random.default_rng(1)
    return {name: optim.Variable(random.normal(size=s).astype(dtype), name=name) for name, s in SHAPES.items()}


def run(optimizer, variables, steps, **options):
    for step in steps:
        report = optimizer.apply_gradients([(step[name], variables[name]) for name in variables], **options)
    return report


@pytest.mark.parametrize("name", {**MATRIX, **OTHERS})
def test_saved_and_resumed_bit_for_bit(name, tmp_path):
    pytest.importorskip("safetensors")
    make, steps = {**MATRIX, **OTHERS}[name], gradients(8)
    straight = fresh()
    run(make(), straight, steps)
    before, optimizer = fresh(), make()
    run(optimizer, before, steps[:5])
    path = optim.Saver([*before.values(), optimizer]).save(str(tmp_path / "model"), 5)
    after, resumed = fresh(), make()
    optim.Saver([*after.values(), resumed]).restore(path)
    run(resumed, after, steps[5:])
    assert {key: v.value.tobytes() for key, v in after.items()} == {
        key: v.value.tobytes() for key, v in straight.items()
    }


@pytest.mark.parametrize("name", {**MATRIX, **OTHERS})
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))])  # noqa: S301 - its own
def test_a_copy_goes_on_alike(name, copied):
    steps, variables, optimizer = gradients(6), fresh(), {**MATRIX, **OTHERS}[name]()
    run(optimizer, variables, steps[:3])
    other_optimizer, others = copied((optimizer, variables))
    for each, of_each in ((optimizer, variables), (other_optimizer, others)):
        run(each, of_each, steps[3:])
    assert {key: v.value.tobytes() for key, v in variables.items()} == {
        key: v.value.tobytes() for key, v in others.items()
    }


@pytest.mark.parametrize("name", MATRIX)
def test_a_report_changes_nothing_and_has_the_given_gradient(name):
    plain, seen = fresh(), fresh()
    run(MATRIX[name](), plain, gradients(3))
    before = {key: v.value.copy() for key, v in seen.items()}
    optimizer = MATRIX[name]()
    run(optimizer, seen, gradients(3)[:2])
    before = {key: v.value.copy() for key, v in seen.items()}
    report = run(optimizer, seen, gradients(3)[2:], report=True)
    assert all((plain[key].value == seen[key].value).all() for key in plain)
    for one in report.variables:
        given = gradients(3)[2][one.name]
        assert one.gradient_norm == pytest.approx(np.linalg.norm(given))
        assert one.update_norm == pytest.approx(np.linalg.norm(seen[one.name].value - before[one.name]))
        assert one.weight_norm == pytest.approx(np.linalg.norm(seen[one.name].value))


@pytest.mark.parametrize("name", sorted(set(MATRIX) - {"lars"}))
def test_a_sparse_gradient_counts_as_a_dense_one(name):
    dense, sparse = ({"w": fresh()["w"]} for _ in range(2))
    rows = np.random.default_rng(3).normal(size=(3, 4))
    whole = np.zeros((5, 4))
    np.add.at(whole, [1, 3, 1], rows)
    for variables, gradient in ((dense, whole), (sparse, optim.IndexedSlices(rows, [1, 3, 1]))):
        run(MATRIX[name](), variables, [{"w": gradient}] * 3)
    np.testing.assert_allclose(sparse["w"].value, dense["w"].value, rtol=1e-12)


@pytest.mark.parametrize("name", MATRIX)
def test_gradients_are_clipped_first(name):
    clipped, by_hand = fresh(), fresh()
    run(optim.clip_gradients_by_norm(MATRIX[name](), 0.5), clipped, gradients(3))
    optimizer = MATRIX[name]()
    for step in gradients(3):
        values, _ = optim.clip_by_global_norm(list(step.values()), 0.5)
        run(optimizer, by_hand, [dict(zip(step, values, strict=True))])
    for key, variable in clipped.items():
        np.testing.assert_allclose(variable.value, by_hand[key].value, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(set(MATRIX) - {"soap"}))  # whose basis of a kernel is rounding's
def test_narrow_variables_are_computed_as_float32(name):
    narrow, wide = fresh(np.float16), fresh(np.float32)
    run(MATRIX[name](), narrow, gradients(3, np.float16))
    run(MATRIX[name](), wide, gradients(3, np.float32))
    for key, variable in narrow.items():
        assert variable.value.dtype == np.float16
        np.testing.assert_allclose(variable.value, wide[key].value, rtol=0.05, atol=0.02)


@pytest.mark.parametrize("name", sorted(set(MATRIX) - {"muon"}))
@pytest.mark.usefixtures("each_engine")
def test_a_single_number_and_an_empty_variable(name):
    number, one = optim.Variable(np.array(2.0), name="n"), optim.Variable(np.array([2.0]), name="n")
    for variable in (number, one):
        empty, optimizer = optim.Variable(np.ones((0, 3)), name="e"), MATRIX[name]()
        for _ in range(3):
            optimizer.apply_gradients([(np.full(variable.shape, 0.5), variable), (np.ones((0, 3)), empty)], report=True)
    assert number.value.shape == ()
    assert number.value == one.value[0]


@pytest.mark.parametrize("name", {**MATRIX, **OTHERS})
def test_every_engine_takes_the_same_steps(name):
    """Formulas that do not come compiled: numba compiles them where it is installed, and NumPy runs them elsewhere."""
    paths = []
    for engine in ("plain", None):
        with using(engine):
            variables = fresh()
            run({**MATRIX, **OTHERS}[name](), variables, gradients(5))
            paths.append(variables)
    for key in SHAPES:
        np.testing.assert_allclose(paths[0][key].value, paths[1][key].value, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kernels", ["plain", "compiled"])
@pytest.mark.parametrize("bound", [None, 0.5])
@pytest.mark.parametrize("name", MATRIX)
def test_the_gradient_is_reported_as_given(name, bound, kernels):
    """Whether a pass of the step has measured it, or one for the report alone."""
    with using(kernels):
        variables, given = fresh(np.float32), gradients(1, np.float32)[0]
        given["w"][0, :2] = 0.0
        optimizer = MATRIX[name]() if bound is None else optim.clip_gradients_by_norm(MATRIX[name](), bound)
        report = run(optimizer, variables, [given, given], report=True)
    for variable, g in zip(report.variables, given.values(), strict=True):
        assert variable.gradient_norm == pytest.approx(np.linalg.norm(g), rel=1e-6)
        assert (variable.gradient_zeros, variable.gradient_nonfinite) == (np.count_nonzero(g == 0), 0)
        assert variable.weight_norm == pytest.approx(np.linalg.norm(variables[variable.name].value), rel=1e-6)
