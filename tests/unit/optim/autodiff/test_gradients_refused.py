"""Losses without a gradient: what cannot be recorded, or differentiated, is an error that says so, and never none."""

import math

import numpy as np
import pytest

from optim import Variable, gradients, stop_gradient


def assigned(index, make):
    def loss(w):
        plain = np.zeros(3)
        plain[index] = make(w)
        return np.sum(plain)

    return loss


def view_changed(w):
    hidden = w * 2
    part = hidden[:2]
    part += 1
    return np.sum(hidden)


def viewed_changed(w):
    hidden = w * 2
    part = hidden[:2]
    hidden += 1
    return np.sum(part)


def element_changed(w):
    hidden = w * 2
    hidden[0] = 1
    return np.sum(hidden)


def into_array(change):
    def loss(w):
        plain = np.zeros(3)
        change(plain, w)
        return np.sum(plain)

    return loss


# What NumPy cannot be made to record is an error, and not a gradient of zero.
LOUD = {
    "array of elements": lambda w: np.sum(np.array([w[0], w[1]])),
    "array of objects": lambda w: np.sum(np.array([w, w * 2], dtype=object)),
    "asarray": lambda w: np.sum(np.asarray(w)),
    "asarray of a result": lambda w: np.sum(np.asarray(w * 2)),
    "ascontiguousarray": lambda w: np.sum(np.ascontiguousarray(w)),
    "sum of a list": lambda w: np.sum([w[0], w[1]]),
    "a plain array's dot": lambda w: np.ones(3).dot(w),
    "math": lambda w: math.sin(w[0]),
    "float": lambda w: float(w[0]) * w[0],
    "int": lambda w: int(w[0]) * w[0],
    "item": lambda w: np.sum(w).item(),
    "tolist": lambda w: sum(w.tolist()),
    "an element of a plain array": assigned(0, np.sum),
    "a slice of a plain array": assigned(slice(None), lambda w: w * 1),
    "an element": element_changed,
    "a view in place": view_changed,
    "what has a view in place": viewed_changed,
    "a plain array in place": into_array(lambda plain, w: plain.__iadd__(w)),
    "out": into_array(lambda plain, w: np.add(w, 1, out=plain)),
    "out of a reduction": lambda w: np.sum(w, out=np.zeros(())),
    "add.at": into_array(lambda plain, w: np.add.at(plain, [0, 1, 2], w)),
    "copyto": into_array(np.copyto),
    "put": into_array(lambda plain, w: np.put(plain, [0, 1, 2], w)),
    "putmask": into_array(lambda plain, w: np.putmask(plain, [True] * 3, w)),
    "full": lambda w: np.sum(np.full(3, w[0])),
    "full_like": lambda w: np.sum(np.full_like(np.zeros(3), w[0])),
    "where=": lambda w: np.sum(np.add(w, 1, where=[True, False, True])),
    "fromiter": lambda w: np.sum(np.fromiter((x for x in w), float)),
    "vectorize": lambda w: np.sum(np.vectorize(lambda x: x * x)(w)),
    "frompyfunc": lambda w: np.sum(np.frompyfunc(lambda x: x * x, 1, 1)(w)),
    "r_": lambda w: np.sum(np.r_[w, w]),
    "reduceat": lambda w: np.sum(np.add.reduceat(w, [0, 1])),
    "a complex loss": lambda w: np.sum(np.exp(1j * w)),
}


@pytest.mark.parametrize("loss", LOUD.values(), ids=LOUD)
def test_never_silently_none(loss, w):
    with pytest.raises((TypeError, ValueError, LookupError)):
        gradients(lambda: loss(w), w)
    assert w.value.tolist() == [1, 2, 3]


def test_the_error_says_what_to_do(w):
    with pytest.raises(TypeError) as raised:
        gradients(lambda: np.sum(np.asarray(w * 2)), w)
    assert str(raised.value) == (
        "conversion to a plain array would lose the gradient of a recorded value of shape (3,). Use NumPy functions on "
        "the value itself (np.stack([a, b]) for np.array([a, b]), np.dot(a, b) for a.dot(b)), or stop_gradient(value) "
        "if no gradient is wanted"
    )


NO_GRADIENT = {
    "percentile": lambda w: np.percentile(w, 50),
    "cumprod": lambda w: np.sum(np.cumprod(w)),
    "interp": lambda w: np.interp(0.5, [0, 1, 2], w),
    "linalg.qr": lambda w: np.sum(np.linalg.qr(np.outer(w, w) + np.eye(3))[1]),
}


@pytest.mark.parametrize(("name", "loss"), NO_GRADIENT.items(), ids=NO_GRADIENT)
def test_an_operation_without_gradient_is_named(name, loss, w, c):
    with pytest.raises(LookupError, match=rf"^no gradient of np\.{name} is known$"):
        gradients(lambda: loss(w) * c, w)
    assert gradients(lambda: stop_gradient(loss(w)) * c, w) == [None]
    assert gradients(lambda: loss(stop_gradient(w)) * c, c)[0] is not None  # not on the way to c


def test_arguments_without_gradient_are_named(w):
    with pytest.raises(LookupError, match=r"^no gradient of np\.diff with these arguments is known: "):
        gradients(lambda: np.sum(np.diff(w, prepend=w[0])), w)


REFUSED = {
    "integers": (
        lambda w: (lambda: np.sum(w), Variable([1, 2], name="n")),
        TypeError,
        "variable 'n' must be of floating dtype to have a gradient, got int64",
    ),
    "an array": (
        lambda w: (lambda: np.sum(w), np.zeros(2)),
        TypeError,
        "each x must be a Variable or a recorded value, got ndarray: array([0., 0.])",
    ),
    "nothing returned": (
        lambda w: (lambda: None, w),
        TypeError,
        "a loss must return an array or number, got NoneType: None",
    ),
    "not recorded": (
        lambda w: (np.float64(3), w),
        TypeError,
        "a y must be a recorded value or a loss, got float64: np.float64(3.0)",
    ),
}


@pytest.mark.parametrize(("make", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(make, error, text, w):
    ys, xs = make(w)
    with pytest.raises(error) as raised:
        gradients(ys, xs)
    assert str(raised.value) == text


def test_weights_that_do_not_fit(w):
    with pytest.raises(ValueError, match=r"^grad_ys must have the shape \(3,\) of its y, got \(2,\)$"):
        gradients(lambda: w * 2, w, grad_ys=np.ones(2))
    with pytest.raises(ValueError, match=r"^grad_ys must contain one array for each of 1 ys, got 2$"):
        gradients(lambda: w * 2, w, grad_ys=[None, None])


def test_a_variable_changed_under_way(w):
    mean = Variable(np.zeros(3), trainable=False, name="mean")

    def loss():
        result = np.sum(w * mean)
        mean.assign(stop_gradient(w))
        return result

    with pytest.raises(RuntimeError, match=r"^variables \['mean'\] were changed after the loss read them, so its"):
        gradients(loss, w)


def test_a_loss_that_fails_leaves_nothing_behind(w):
    with pytest.raises(ZeroDivisionError):
        gradients(lambda: 1 / 0, w)
    assert type(w * 2) is np.ndarray
