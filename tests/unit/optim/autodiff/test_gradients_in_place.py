"""Losses that change something in place: gradients are those of what ran, or there is an error; never another's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from optim import GradientTape, Variable, gradients, trace_graph

START = np.array([0.5, 1.5, -2.0])
MATRIX = np.arange(9.0).reshape(3, 3) / 9


def slopes(loss, start=START, step=1e-6):
    """The loss's gradient by two points, in plain NumPy."""
    return np.array([(loss(start + step * e) - loss(start - step * e)) / (2 * step) for e in np.eye(len(start))])


def used_before(w):
    x = np.exp(w)
    y = np.sin(x)
    x -= 1
    return np.sum(y)


def residual(w):
    h = MATRIX @ w
    r = np.maximum(h, 0)
    h += r
    return np.sum(h**2)


def swish(w):
    x = 2 * w
    gate = 1 / (1 + np.exp(-x))
    x *= gate
    return np.sum(x)


def softmax(w):
    z = 3 * w
    z -= np.max(z)
    e = np.exp(z)
    e /= np.sum(e)
    return np.sum(e * np.arange(3.0))


def accumulator(w):
    total, acc = 0.0, 0 * w
    for i in range(1, 4):
        acc += w * i
        total = total + np.sum(acc**2)
    return total


def inside_a_list(w):
    x = np.exp(w)
    y = np.stack([x, x])
    x += 5
    return np.sum(y**2) + np.sum(x)


def inside_keywords(w):
    x = np.exp(w)
    y = np.clip(2 * w, -10, a_max=x)
    x *= 3
    return np.sum(y**2) + np.sum(x)


def two_names(w):
    x = np.exp(w)
    y = x
    x *= x
    return np.sum(y * w)


def scalar_with_an_alias(w):
    total = np.sum(w)
    old = total
    total += np.sum(w * w)
    return total * old


def scalars_in_a_list(w):
    total, history = np.sum(0 * w), []
    for i in range(3):
        total += np.sum(w) * (i + 1)
        history.append(total)
    return np.sum(np.stack(history) ** 2)


def element_with_an_alias(w):
    x = w[0]
    y = x
    x *= 3
    return x * y


IN_PLACE = [
    used_before,
    residual,
    swish,
    softmax,
    accumulator,
    inside_a_list,
    inside_keywords,
    two_names,
    scalar_with_an_alias,
    scalars_in_a_list,
    element_with_an_alias,
]


@pytest.mark.parametrize("loss", IN_PLACE, ids=lambda loss: loss.__name__)
def test_what_was_recorded_stays(loss):
    w = Variable(START)
    values = []
    [found] = gradients(lambda: values.append(loss(w)) or values[0], [w])
    assert float(values[0]) == pytest.approx(loss(START))
    np.testing.assert_allclose(found, slopes(loss), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", IN_PLACE, ids=lambda loss: loss.__name__)
def test_its_graph_is_drawn(loss):
    w = Variable(START, name="w")
    graph = trace_graph(lambda: loss(w))
    names = {node.name for node in graph.node}
    assert {name.lstrip("^").partition(":")[0] for node in graph.node for name in node.input} <= names


def test_what_is_the_same_array_counts_as_a_view():
    w = Variable(START)

    def loss():
        x = np.exp(w)
        y = np.real(x)
        x += 1
        return np.sum(y)

    with pytest.raises(TypeError, match="in place would change two recorded values that share memory: write x = x"):
        gradients(loss, [w])


TABLE = np.arange(6.0).reshape(2, 3)
BY_POSITION = {
    "sum": lambda w, out: np.sum(w, 0, None, out),
    "mean": lambda w, out: np.mean(w, 0, None, out),
    "std": lambda w, out: np.std(w, 0, None, out),
    "prod": lambda w, out: np.prod(w, 0, None, out),
    "max": lambda w, out: np.max(w, 0, out),
    "dot": lambda w, out: np.dot(np.ones(2), w, out),
    "clip": lambda w, out: np.clip(w[0], 0, 9, out),
    "cumsum": lambda w, out: np.cumsum(w[0], 0, None, out),
    "cumprod": lambda w, out: np.cumprod(w[0], 0, None, out),
    "take": lambda w, out: np.take(w, 0, 0, out),
    "concatenate": lambda w, out: np.concatenate([w[0]], 0, out),
    "stack": lambda w, out: np.stack([w[0, 0], w[0, 1], w[0, 2]], 0, out),
    "round": lambda w, out: np.round(w[0], 1, out),
    "ptp": lambda w, out: np.ptp(w, 0, out),
    "median": lambda w, out: np.median(w, 0, out),
    "outer": lambda w, out: np.outer(np.ones(1), w[0], out[None]),
    "choose": lambda w, out: np.choose([0, 0, 0], [w[0]], out),
    "fix": lambda w, out: np.fix(w[0], out),
    "sum as a method": lambda w, out: w.sum(0, None, out),
    "nansum": lambda w, out: np.nansum(w, 0, out=out),
    "nanmean": lambda w, out: np.nanmean(w, 0, out=out),
    "add.reduce": lambda w, out: np.add.reduce(w, 0, None, out),
    "einsum": lambda w, out: np.einsum("ij->j", w, out=out),
}


@pytest.mark.parametrize("store", BY_POSITION.values(), ids=BY_POSITION)
def test_out_is_refused_wherever_it_stands(store):
    w = Variable(TABLE)

    def loss():
        store(w, out := np.zeros(3))
        return np.sum(out**2)

    with pytest.raises(TypeError, match="would store a recorded value in an array and lose its gradient"):
        gradients(loss, [w])


OVERWRITING = {
    "put": lambda w: np.put(w, 0, 9.0),
    "place": lambda w: np.place(w, w.value > 0, [9.0]),
    "putmask": lambda w: np.putmask(w, w.value > 0, 9.0),
    "copyto": lambda w: np.copyto(w, 9.0),
    "fill_diagonal": lambda w: np.fill_diagonal(w, 9.0),
    "nan_to_num": lambda w: np.nan_to_num(w, copy=False),
    "median": lambda w: np.median(w, overwrite_input=True),
    "nan_to_num by position": lambda w: np.nan_to_num(w, False),
    "median by position": lambda w: np.median(w, None, None, True),
    "percentile": lambda w: np.percentile(w, 50, overwrite_input=True),
    "out of a sum": lambda w: np.sum(np.ones((1, *w.shape)), 0, out=w),
}


@pytest.mark.parametrize("overwrite", OVERWRITING.values(), ids=OVERWRITING)
def test_a_recorded_variable_is_not_written_to(overwrite):
    w = Variable(TABLE)

    def loss():
        squares = w * w
        overwrite(w)
        return np.sum(squares)

    with pytest.raises(TypeError, match="would write into a recorded Variable: use the function's result"):
        gradients(loss, [w])
    np.testing.assert_array_equal(w.value, TABLE)
    assert w.version == 0


@pytest.mark.parametrize("overwrite", OVERWRITING.values(), ids=OVERWRITING)
def test_writing_to_a_variable_makes_another_version(overwrite):
    w = Variable(TABLE)
    overwrite(w)
    assert w.version == 1


def test_a_variable_that_is_only_read_keeps_its_version():
    w, plain = Variable(TABLE), np.zeros((2, 3))
    np.copyto(plain, w)
    np.sum(w, 0, None, np.zeros(3))
    w.astype(np.float64, copy=False)
    assert w.version == 0
    np.testing.assert_array_equal(plain, TABLE)


def changed(use, array, change):
    """A loss that changes a plain array after its use."""

    def loss(w):
        plain = np.array(array)
        result = use(w, plain)
        change(plain)
        return np.sum(result)

    return loss


def doubled(array):
    array *= 2


CHANGED = {
    "multiply": changed(lambda w, c: w * c, [1.0, 2.0, 3.0], doubled),
    "multiply, not contiguous": changed(lambda w, c: w * c[::2], [1.0, 2.0, 3.0, 4.0, 5.0], doubled),
    "multiply of shape ()": changed(lambda w, c: w * c, 2.0, doubled),
    "getitem": changed(lambda w, c: w[c], [0, 1], doubled),
    "getitem in a tuple": changed(lambda w, c: np.stack([w, w])[0, c], [0, 1], doubled),
    "where": changed(lambda w, c: np.where(c, w, 0.0), [True, False, True], np.ndarray.sort),
    "matmul": changed(lambda w, c: c @ w, MATRIX, doubled),
    "clip": changed(lambda w, c: np.clip(w, -9, a_max=c), [1.0, 2.0, 3.0], doubled),
}


@pytest.mark.parametrize("loss", CHANGED.values(), ids=CHANGED)
def test_an_array_that_was_changed_after_its_use_is_an_error(loss):
    w = Variable(START, name="w")
    message = r"an array of shape \(.*\) was changed after np\..* used it, so its gradient would match neither state"
    with pytest.raises(RuntimeError, match=message):
        gradients(lambda: loss(w), [w])
    with pytest.raises(RuntimeError, match=message):
        trace_graph(lambda: loss(w))
    trace_graph(lambda: loss(w), values=False)


def test_a_buffer_whose_values_no_derivative_needs_may_be_used_again():
    buffer = np.ones(3)

    def loss(w):
        total = 0.0
        for i in range(3):
            buffer[:] = i
            total = total + np.sum((w + buffer) ** 2)
        return total

    w = Variable(START)
    np.testing.assert_allclose(gradients(lambda: loss(w), [w])[0], slopes(loss), rtol=1e-6)


def test_a_list_of_indices_is_kept_as_it_was():
    w, rows = Variable(START), [0, 0]

    def loss():
        picked = w[rows]
        rows[0] = 1
        return np.sum(picked)

    np.testing.assert_array_equal(gradients(loss, [w])[0], [2, 0, 0])


def add_one(w):
    w.value += 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_variable_that_was_changed_behind_its_version_is_an_error(wrapped):
    w = Variable.wrap(START.copy(), name="w") if wrapped else Variable(START, name="w")

    def loss():
        squares = w * w
        add_one(w)
        return np.sum(squares)

    with pytest.raises(RuntimeError, match=r"variable 'w' was changed through its array after the loss read it, so"):
        gradients(loss, [w])
    with GradientTape() as tape:
        squares = np.sum(w * w)
    add_one(w)
    with pytest.raises(RuntimeError, match=r"variable 'w' was changed through its array after the loss read it, so"):
        tape.gradient(squares, w)


@pytest.mark.parametrize(
    "use", [lambda x: np.sum(x * x), lambda x: np.stack([x, x]), lambda x: x + 1, np.asarray, lambda x: x.tolist()]
)
def test_a_recorded_value_in_another_thread_is_an_error(use):
    w = Variable(START)

    def loss():
        x = np.exp(w)
        with ThreadPoolExecutor(1) as pool:
            return np.sum(x) + np.sum(pool.submit(use, x).result())

    with pytest.raises(
        RuntimeError, match="a recorded value was used outside the loss's thread, where nothing is recorded"
    ):
        gradients(loss, [w])


def test_after_the_recording_any_thread_may_use_its_values():
    w = Variable(START)
    with GradientTape() as tape:
        squares = w * w
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: float(np.sum(squares))).result() == np.sum(START**2)
    np.testing.assert_allclose(tape.gradient(squares, w), 2 * START)
