"""Losses that change something in place: gradients are those of what ran, or there is an error; never another's."""

import numpy as np
import pytest

from optim import Variable, gradients, trace_graph

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

    with pytest.raises(TypeError, match="shares its memory with another, would change both"):
        gradients(loss, [w])
