"""Weight decay as an extension: before the step, of all variables or of some, of rows if the gradient is sparse."""

import copy
import pickle

import numpy as np
import pytest

import optim

MomentumW = optim.extend_with_decoupled_weight_decay(optim.MomentumOptimizer)


def test_it_decays_before_the_step():
    w = optim.Variable([1.0], name="w")
    optimizer = MomentumW(0.1, 0.5, momentum=0.5)
    for _ in range(2):
        optimizer.apply_gradients([(np.float32([1.0]), w)])
    assert w.value[0] == pytest.approx((1 * 0.9 - 0.5) * 0.9 - 0.75)
    assert isinstance(optimizer, optim.MomentumOptimizer)


def test_some_variables():
    w, b = (optim.Variable([1.0], name=name) for name in "wb")
    optimizer = MomentumW(0.5, 1.0, 0.0)
    g = np.float32([0.0])
    optimizer.apply_gradients([(g, w), (g, b)], decay_var_list=[w])
    assert (w.value[0], b.value[0]) == (0.5, 1.0)
    optimizer.minimize(lambda: np.sum(0 * w + 0 * b), decay_var_list=[b])
    assert (w.value[0], b.value[0]) == (0.5, 0.5)
    optimizer.apply_gradients([(g, w), (g, b)])
    assert (w.value[0], b.value[0]) == (0.25, 0.25)


def test_rows_of_a_sparse_gradient():
    w = optim.Variable(np.ones((3, 1)), name="w")
    MomentumW(0.5, 1.0, 0.0).apply_gradients([(optim.IndexedSlices(np.zeros((2, 1)), [1, 1]), w)])
    assert w.value.tolist() == [[1.0], [0.5], [1.0]]


@pytest.mark.parametrize("wrong", [optim.Variable, "Adam", optim.AdamOptimizer()])
def test_only_a_class_of_optimizers(wrong):
    with pytest.raises(TypeError, match="base_optimizer must be a class of optimizers, got"):
        optim.extend_with_decoupled_weight_decay(wrong)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])  # noqa: S301 - its own
def test_it_can_be_copied(copied):
    again = copied(MomentumW(0.5, 1.0, 0.0))
    w = optim.Variable([1.0], name="w")
    again.apply_gradients([(np.float32([0.0]), w)])
    assert (w.value[0], isinstance(again, optim.MomentumOptimizer)) == (0.5, True)
