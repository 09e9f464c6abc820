"""Arguments for which a derivative would be wrong are errors, and their neighbours are right."""

import numpy as np
import pytest

import optim

X = np.array([0.5, 1.5, -2.0, 3.0])
REFUSED = {
    "np.pad with these arguments is known: with mode='mean'": lambda x: np.pad(x, (1, 0), mode="mean"),
    "np.pad with these arguments is known: with reflect_type='odd'": lambda x: np.pad(
        x, (1, 0), mode="reflect", reflect_type="odd"
    ),
    "np.kron with these arguments is known: of arrays of more than two axes": lambda x: np.kron(
        np.ones(2), np.reshape(x, (1, 2, 2))
    ),
    "np.fft.rfft with these arguments is known: with norm='forward'": lambda x: np.abs(np.fft.rfft(x, norm="forward")),
    "np.fft.rfft with these arguments is known: with a length n other than the array's": lambda x: np.abs(
        np.fft.rfft(x, n=6)
    ),
    "np.fft.irfft with these arguments is known: with a length n other than 2 (m - 1)": lambda x: np.fft.irfft(x, n=4),
    "np.fft.rfftn with these arguments is known: with a shape s other than the array's": lambda x: np.abs(
        np.fft.rfftn(np.reshape(x, (2, 2)), s=(4, 4), axes=(0, 1))
    ),
    "np.var with these arguments is known: of complex numbers": lambda x: np.var(x * (1 + 2j)),
    "np.linalg.norm with these arguments is known: of complex numbers": lambda x: np.linalg.norm(x * (1 + 2j)),
}
RIGHT = {
    "pad, reflect": lambda x: np.pad(x, 2, mode="reflect") * np.arange(8.0),
    "pad, wrap": lambda x: np.pad(x, 2, mode="wrap") * np.arange(8.0),
    "kron of matrices": lambda x: np.kron(np.reshape(x, (2, 2)), np.reshape(x**2, (2, 2))),
    "rfft": lambda x: np.abs(np.fft.rfft(x)) ** 2,
    "irfft": lambda x: np.fft.irfft(x, n=6) ** 2,
    "var": np.var,
    "norms along an axis": lambda x: np.linalg.norm(np.reshape(x, (2, 2)), axis=1),
}


@pytest.mark.parametrize(("text", "function"), REFUSED.items(), ids=REFUSED)
def test_refused(text, function):
    x = optim.Variable(X, name="x")
    with pytest.raises(LookupError) as caught:
        optim.gradients(lambda: np.sum(function(x)), [x])
    assert str(caught.value) == f"no gradient of {text}"


@pytest.mark.parametrize("function", RIGHT.values(), ids=RIGHT)
def test_right(function):
    x = optim.Variable(X, name="x")
    (gradient,) = optim.gradients(lambda: np.sum(function(x)), [x])
    steps = 1e-6 * np.eye(4)
    by_differences = [(np.sum(function(X + step)) - np.sum(function(X - step))) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, by_differences, rtol=1e-6, atol=1e-8)
