"""AMSGrad takes the steps of its definition in torch; LazyAdam's sparse gradients touch only their rows."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def amsgrad(t, g, v, m, s, h, rate, beta1, beta2, epsilon):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    h = np.maximum(h, s)
    return v - rate * m / (1 - beta1**t) / (np.sqrt(h / (1 - beta2**t)) + epsilon), m, s, h


def test_amsgrads_steps():
    got = taken(optim.AMSGradOptimizer(0.1, 0.8, 0.3, 1e-3))
    want = by_the_paper(amsgrad, 0.0, 0.0, 0.0, rate=0.1, beta1=0.8, beta2=0.3, epsilon=1e-3)
    np.testing.assert_allclose(got, want, rtol=1e-11)


@pytest.mark.usefixtures("each_engine")
def test_lazy_adam_leaves_other_rows_alone():
    w = optim.Variable(np.ones((4, 2)), name="w")
    lazy = optim.LazyAdamOptimizer(0.1)
    lazy.apply_gradients([(np.ones((4, 2)), w)])
    before, m = w.value.copy(), lazy.get_slot(w, "m").value.copy()
    report = lazy.apply_gradients([(optim.IndexedSlices(np.ones((2, 2)), [2, 2]), w)], report=True)
    assert (w.value != before).any(axis=1).tolist() == [False, False, True, False]
    assert (lazy.get_slot(w, "m").value != m).any(axis=1).tolist() == [False, False, True, False]
    assert report.variables[0].update_norm == pytest.approx(np.linalg.norm(w.value - before))


@pytest.mark.usefixtures("each_engine")
def test_lazy_adam_is_adam_with_dense_gradients():
    assert (taken(optim.LazyAdamOptimizer(0.1)) == taken(optim.AdamOptimizer(0.1))).all()
    assert [v.name for v in optim.LazyAdamOptimizer().variables()] == []
