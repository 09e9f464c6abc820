"""Gradients of torch and JAX drive our optimizers, and train to where torch's own get."""

import numpy as np
import pytest

import optim

torch = pytest.importorskip("torch", reason="torch is not installed")


def regression(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((200, 5)).astype(np.float32)
    return x, x @ np.float32([1.0, -2.0, 3.0, 0.5, 0.0]) + 0.1 * rng.standard_normal(200).astype(np.float32)


PAIRS = {
    "SGD": (lambda: optim.GradientDescentOptimizer(0.1), lambda p: torch.optim.SGD(p, lr=0.1)),
    "momentum": (lambda: optim.MomentumOptimizer(0.05, 0.9), lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "Nesterov": (
        lambda: optim.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
        lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    ),
    "Adagrad": (
        lambda: optim.AdagradOptimizer(0.5),
        lambda p: torch.optim.Adagrad(p, lr=0.5, initial_accumulator_value=0.1, eps=0.0),
    ),
    "AdamW": (
        lambda: optim.AdamWOptimizer(0.05, epsilon=1e-3, weight_decay=0.1),
        lambda p: torch.optim.AdamW(p, lr=0.05, eps=1e-3, weight_decay=0.1),
    ),
}


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS.values(), ids=PAIRS)
def test_trains_as_torch_does(ours, theirs, clip):
    x, y = map(torch.from_numpy, regression())
    mine = torch.zeros(5, requires_grad=True)
    its = torch.zeros(5, requires_grad=True)
    w = optim.Variable.wrap(mine.detach().numpy(), name="w")  # torch's own memory, updated in place
    optimizer = optim.clip_gradients_by_norm(ours(), 1.0) if clip else ours()
    peer = theirs([its])
    for _ in range(60):
        (gradient,) = torch.autograd.grad(((x @ mine - y) ** 2).mean(), mine)
        optimizer.apply_gradients([(gradient, w)])
        peer.zero_grad()
        ((x @ its - y) ** 2).mean().backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([its], 1.0)
        peer.step()
    np.testing.assert_allclose(w.value, its.detach().numpy(), rtol=1e-3, atol=1e-4)
    losses = [float(((x @ weights.detach() - y) ** 2).mean()) for weights in (mine, its)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_tensor_of_any_floating_dtype(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    w = optim.Variable(np.zeros(2, kind), name="w")
    gradient = torch.tensor([1.0, 2.0], dtype=getattr(torch, dtype), requires_grad=True)
    optim.GradientDescentOptimizer(1.0).apply_gradients([(gradient, w)])
    assert w.value.tolist() == [-1, -2]


def test_jax_gradients():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x, y = regression()
    w = optim.Variable(np.zeros(5, np.float32), name="w")
    mine, its = w.value, torch.zeros(5, requires_grad=True)
    peer = torch.optim.SGD([its], lr=0.1)

    def loss(weights):
        return ((x @ weights - y) ** 2).mean()

    for _ in range(60):
        optim.GradientDescentOptimizer(0.1).apply_gradients([(jax.grad(loss)(mine), w)])
        peer.zero_grad()
        ((torch.from_numpy(x) @ its - torch.from_numpy(y)) ** 2).mean().backward()
        peer.step()
    np.testing.assert_allclose(mine, its.detach().numpy(), rtol=1e-3, atol=1e-4)


def test_a_name_that_only_torch_has_is_explained():
    classes = {name for name in torch.optim.__all__ if isinstance(getattr(torch.optim, name), type)}
    assert {"Adam", "Optimizer", "SGD"} <= classes
    for name in sorted(classes - {"Optimizer"} | {"lr_scheduler", "swa_utils"}):
        with pytest.raises(AttributeError, match=rf"the nearest in it is .*; torch's is torch\.optim\.{name}$"):
            getattr(optim, name)
