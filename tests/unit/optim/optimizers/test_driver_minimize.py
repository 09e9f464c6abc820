"""minimize and compute_gradients, by every optimizer and through every wrapper."""

import numpy as np
import pytest

import optim
from optim import AggregationMethod, GradientDescentOptimizer, GradientTape, IndexedSlices, Optimizer, Variable


@pytest.fixture
def w():
    return Variable([1.0, 2.0], name="w")


@pytest.fixture
def b():
    return Variable(0.5, name="b")


OPTIMIZERS = {
    "GradientDescent": lambda: optim.GradientDescentOptimizer(0.1),
    "Momentum": lambda: optim.MomentumOptimizer(0.1, 0.9),
    "Adagrad": lambda: optim.AdagradOptimizer(0.1),
    "Adadelta": lambda: optim.AdadeltaOptimizer(0.1),
    "Adam": lambda: optim.AdamOptimizer(0.1),
    "Ftrl": lambda: optim.FtrlOptimizer(0.1),
    "RMSProp": lambda: optim.RMSPropOptimizer(0.1),
    "AdamW": lambda: optim.AdamWOptimizer(0.1),
    "NAdam": lambda: optim.NAdamOptimizer(0.1),
    "Lion": lambda: optim.LionOptimizer(0.1),
    "clipped by norm": lambda: optim.clip_gradients_by_norm(optim.AdamOptimizer(0.1), 0.5),
    "clipped by value": lambda: optim.clip_gradients_by_value(optim.AdamOptimizer(0.1), -0.5, 0.5),
    "clipped by percentile": lambda: optim.clip_gradients_by_percentile(optim.AdamOptimizer(0.1), 50),
    "skipping": lambda: optim.skip_nonfinite_steps(optim.AdamOptimizer(0.1)),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_minimize_is_compute_and_apply(make):
    variables = [Variable(np.float64([1.0, 2.0]), name="w") for _ in range(2)]
    ours, by_hand = make(), make()
    step = Variable(0, trainable=False)
    for _ in range(3):
        report = ours.minimize(lambda: np.sum(variables[0] ** 2), step)
        loss = np.sum(variables[1].value ** 2)
        by_hand.apply_gradients([(2 * variables[1].value, variables[1])])
        np.testing.assert_array_equal(variables[0].value, variables[1].value)
        assert report.loss == pytest.approx(loss)
    assert int(step) == report.step == 3


def test_var_list_none_means_what_the_loss_read(w, b):
    fixed, counts = Variable([3.0, 4.0], trainable=False, name="fixed"), Variable([0, 1], name="counts")
    unused = Variable([1.0], name="unused")
    pairs = GradientDescentOptimizer(0.1).compute_gradients(lambda: np.sum(w[counts] * fixed) + 0 * len(b.shape))
    assert [variable for _, variable in pairs] == [w]
    pairs = GradientDescentOptimizer(0.1).compute_gradients(lambda: np.sum(b * w * fixed), [w, unused])
    assert [(None if g is None else g.tolist(), v.name) for g, v in pairs] == [([1.5, 2.0], "w"), (None, "unused")]


def test_the_loss_reads_variables_in_order(w, b):
    pairs = GradientDescentOptimizer(0.1).compute_gradients(lambda: np.sum(b * w))
    assert [variable.name for _, variable in pairs] == ["b", "w"]
    assert all(gradient.dtype == np.float32 for gradient, _ in pairs)


def test_a_loss_that_a_tape_recorded(w):
    with GradientTape():
        loss = np.sum(w**2)
    assert GradientDescentOptimizer(0.25).minimize(loss, var_list=[w]).loss == 5
    assert w.value.tolist() == [0.5, 1.0]


def test_grad_loss_weighs(w):
    ((gradient, _),) = GradientDescentOptimizer(1.0).compute_gradients(lambda: w * w, grad_loss=np.array([0.0, 1.0]))
    assert gradient.tolist() == [0, 4]
    assert GradientDescentOptimizer(1.0).minimize(lambda: w * w).loss == 5  # of several elements, the sum


def test_report(w):
    report = GradientDescentOptimizer(0.5).minimize(lambda: np.sum(w**2), report=True)
    assert report.global_norm == pytest.approx(20**0.5)
    assert [variable.name for variable in report.variables] == ["w"]


def test_through_wrappers(w):
    optimizer = optim.clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0)
    report = optimizer.minimize(lambda: 3 * w[0] + 4 * w[1])
    np.testing.assert_allclose(w.value, [0.4, 1.2], rtol=1e-6)
    assert (report.loss, report.global_norm, report.clipped) == (11, 5, True)


@pytest.mark.parametrize("gate", [Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH])
@pytest.mark.parametrize("method", AggregationMethod)
def test_gates_and_methods_are_reproducible(gate, method):
    """Bit for bit, though each variable is read many times and every update changes what others' gradients need."""

    def trained():
        rng = np.random.default_rng(0)
        a, b = (Variable(rng.standard_normal((8, 8)).astype(np.float32), name=name) for name in "ab")
        optimizer = optim.MomentumOptimizer(0.01, 0.9)
        for _ in range(5):
            optimizer.minimize(
                lambda: np.mean(np.tanh(a @ b) @ a + b.T @ a) ** 2, gate_gradients=gate, aggregation_method=method
            )
        return a.value.tobytes() + b.value.tobytes()

    assert trained() == trained()


@pytest.mark.parametrize("call", ["minimize", "compute_gradients"])
def test_a_gate_that_is_none(w, call):
    with pytest.raises(ValueError, match="gate_gradients") as raised:
        getattr(GradientDescentOptimizer(1.0), call)(lambda: np.sum(w), gate_gradients=3)
    assert str(raised.value) == "gate_gradients must be GATE_NONE (0), GATE_OP (1) or GATE_GRAPH (2), got 3"


def test_nothing_to_train(w):
    with pytest.raises(ValueError, match=r"^No variables to optimize: the loss read no trainable Variable of floating"):
        GradientDescentOptimizer(1.0).minimize(lambda: 3.0)
    with pytest.raises(ValueError, match=r"^No gradients provided for any variable: \['w'\]$"):
        GradientDescentOptimizer(1.0).minimize(lambda: 3.0, var_list=[w])
    with pytest.raises(TypeError, match=r"^variable 'n' must be of floating dtype to have a gradient, got int64$"):
        GradientDescentOptimizer(1.0).minimize(lambda: np.sum(w), var_list=[Variable(3, name="n")])
    assert w.value.tolist() == [1, 2]


def test_a_refused_step_changes_nothing(w):
    step = Variable(4, trainable=False)
    with pytest.raises(LookupError, match="percentile"):
        GradientDescentOptimizer(1.0).minimize(lambda: np.percentile(w, 50), step)
    assert (w.value.tolist(), int(step), w.version) == ([1, 2], 4, 0)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_embeddings(make):
    """Rows picked from a table train it as the whole gradient does, where the rule is at rest without one."""
    tables = [Variable(np.ones((600, 4)), name="table") for _ in range(2)]
    rows = np.array([3, 3, 599])
    picked = Variable(rows, trainable=False)
    reports = [
        make().minimize(lambda: np.sum(tables[0][picked] ** 2)),
        make().minimize(lambda: np.sum(np.take(tables[1], rows, axis=0) ** 2)),
    ]
    np.testing.assert_array_equal(tables[0].value, tables[1].value)
    assert reports[0] == reports[1]
    assert np.all(tables[0].value[[3, 599]] != 1)
    ((gradient, _),) = make().compute_gradients(lambda: np.sum(tables[0][picked]))
    assert isinstance(gradient, IndexedSlices)


def test_a_tape_knows_when_a_variable_has_moved_on(w):
    with GradientTape(persistent=True) as tape:
        y = np.sum(w**2)
    GradientDescentOptimizer(0.5).apply_gradients([(tape.gradient(y, w), w)])
    with pytest.raises(RuntimeError, match=r"^variables \['w'\] were changed after"):
        tape.gradient(y, w)
    with pytest.raises(RuntimeError, match=r"^variables \['w'\] were changed after"):
        GradientDescentOptimizer(0.5).minimize(y, var_list=[w])
