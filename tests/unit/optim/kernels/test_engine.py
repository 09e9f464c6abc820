"""One question tells which engine serves; what no engine can walk through goes another way."""

import numpy as np
import pytest

from optim import rules
from optim.kernels import compiled, plain, plan
from optim.kernels.engine import engine, is_ready
from optim.kernels.measure import measure, norm, sums_of_squares
from optim.kernels.plan import Plan
from optim.kernels.stats import OF_GRADIENT, SQUARES
from summaries.native import library

needs_library = pytest.mark.skipif(not library.is_available(), reason="no compiled code")


@pytest.fixture
def use():
    yield library.use
    library.use(None)


def test_the_plain_engine_may_be_chosen(use):
    use("plain")
    assert engine() is plain.ENGINE


@needs_library
def test_the_compiled_engine_may_be_chosen(use):
    use("compiled")
    assert engine() is compiled.ENGINE


READY = {
    "contiguous": (np.ones((2, 3), np.float32), True),
    "float64": (np.ones(3), True),
    "without elements": (np.ones(0), False),
    "strided": (np.ones(4)[::2], False),
    "narrow": (np.ones(3, np.float16), False),
    "integers": (np.ones(3, np.int32), False),
    "big endian": (np.ones(3, ">f4"), False),
    "not aligned": (np.frombuffer(bytes(13), np.float32, 3, offset=1), False),
}


@pytest.mark.parametrize(("array", "ready"), READY.values(), ids=READY)
def test_what_an_engine_can_walk_through(array, ready):
    assert is_ready(array) == ready


@needs_library
def test_engines_agree_on_arrays_of_all_kinds(use):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(size).astype(dtype) for size in (0, 5, 70_000) for dtype in ("f2", "f4", "f8", ">f4")]
    arrays.append(rng.standard_normal((30, 40)).T)
    found = {}
    for name in ("plain", "compiled"):
        use(name)
        found[name] = [measure(arrays), sums_of_squares(arrays), norm(arrays), engine().addresses(arrays)]
    for of_plain, of_compiled in zip(*found.values(), strict=True):
        np.testing.assert_array_equal(of_plain, of_compiled)


@needs_library
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_at_addresses(dtype):
    rng = np.random.default_rng(0)
    arrays = [np.maximum(rng.standard_normal(size), 0).astype(dtype) for size in (1, 70_000, 5)]
    arrays += [np.array(odd, dtype) for odd in ([np.inf, np.nan, 1, 0], [1e30, 1e30], [1e-30, 0])]
    memory = compiled.Memory(compiled.ENGINE.addresses(arrays), tuple(array.size for array in arrays), dtype)
    found, wanted = compiled.ENGINE.measure_gradients_at(memory), plain.ENGINE.measure(arrays)
    np.testing.assert_array_equal(found[:, OF_GRADIENT], wanted[:, OF_GRADIENT])
    np.testing.assert_array_equal(compiled.ENGINE.squares_at(memory), wanted[:, SQUARES])


def served(monkeypatch, module):
    """How many variables each later call of the engine's `prepare` is given."""
    counts = []
    real = module.Engine.prepare

    def prepare(self, rule, targets):
        counts.append(len(targets))
        return real(self, rule, targets)

    monkeypatch.setattr(module.Engine, "prepare", prepare)
    return counts


@pytest.mark.parametrize(
    ("name", "by_compiled", "by_plain"),
    [("plain", [], [4]), pytest.param("compiled", [2, 1], [2, 3], marks=needs_library)],
)
def test_a_plan_hands_over_what_is_ready(monkeypatch, use, name, by_compiled, by_plain):
    use(name)
    of_compiled, of_plain = served(monkeypatch, compiled), served(monkeypatch, plain)
    targets = [(np.zeros(4),), (np.zeros((4, 2))[:, 0],), (np.zeros(0),), (np.zeros(3),)]
    of_one_dtype = Plan(rules.GRADIENT_DESCENT, targets)
    gradients = [np.ones(v.shape) for (v,) in targets]
    for step in (1, 2):
        stats = of_one_dtype.run(gradients, (1.0,), report=True)
        assert [v.tolist() for (v,) in targets] == [[-step] * 4, [-step] * 4, [], [-step] * 3]
        assert stats[:, 0].tolist() == [4.0, 4.0, 0.0, 3.0]
    assert (of_compiled, of_plain) == (by_compiled[:1], by_plain[:1])  # prepared once, for what each handles
    of_one_dtype.run([gradients[0], gradients[1], gradients[2], np.ones(6)[::2]], (1.0,))
    assert (of_compiled, of_plain) == (by_compiled, by_plain)


@needs_library
def test_a_plan_follows_the_choice(monkeypatch, use):
    v = np.zeros(3)
    of_one = Plan(rules.GRADIENT_DESCENT, [(v,)])
    counts = {module: served(monkeypatch, module) for module in (plain, compiled)}
    for name in ("plain", "compiled", "plain"):
        use(name)
        of_one.run([np.ones(3)], (1.0,))
    assert v.tolist() == [-3.0] * 3
    assert counts == {plain: [1], compiled: [1]}


@needs_library
def test_numpy_runs_a_rule_without_a_kernel(monkeypatch, use):
    use("compiled")
    monkeypatch.setattr(compiled, "kernel", lambda *_: None)
    counts = served(monkeypatch, plain)
    v = np.zeros(3, np.float32)
    of_one = plan.Plan(rules.GRADIENT_DESCENT, [(v,)])
    for report in (False, True):
        stats = of_one.run([np.ones(3, np.float32)], (1.0,), report=report)
    assert v.tolist() == [-2.0] * 3
    assert stats[0, 0] == 3.0
    assert counts == [1]


@needs_library
def test_a_processor_below_the_kernels_levels_has_numpy(monkeypatch):
    def function(name):
        raise LookupError(name)

    monkeypatch.setattr(compiled, "function", function)
    monkeypatch.setattr(compiled, "_are_for_this_processor", compiled._are_for_this_processor.__wrapped__)
    assert engine() is plain.ENGINE
