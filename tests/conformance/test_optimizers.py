"""Our optimizers beside independent ones, over 100 steps: torch's, and those of libraries around it.

Muon's iteration is in bfloat16 in torch; here it gets the dtype of the weights, as ours does.
"""

import importlib
import sys
import types
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

import optim

torch = pytest.importorskip("torch")

STEPS = 100
TOLERANCE = {"float64": 1e-6, "float32": 1e-4}  # of the largest weight
SHAPES = {"w": (6, 4), "u": (3, 5), "b": (4,)}
# A factor of a gradient that is not square has a kernel at first, whose basis may be any.
OF_SOAP = {"w": (5, 5), "u": (3, 3), "b": (4,)}


def of(library, name):
    return lambda: getattr(pytest.importorskip(library), name)


@cache
def timms_lamb():
    """timm's Lamb, without the models that `import timm` needs."""
    if (found := find_spec("timm")) is None or found.origin is None:
        pytest.skip("timm is not installed")
    for name, path in (("timm", found.submodule_search_locations), ("timm.optim", None)):
        module = types.ModuleType(name)
        module.__path__ = list(path or [f"{found.submodule_search_locations[0]}/optim"])
        sys.modules.setdefault(name, module)
    return importlib.import_module("timm.optim.lamb").Lamb


def prodigy():
    return pytest.importorskip("prodigyopt").Prodigy


CASES = {
    "adafactor": (lambda: optim.AdafactorOptimizer(0.05), of("torch.optim", "Adafactor"), {"lr": 0.05}),
    "adafactor decay": (
        lambda: optim.AdafactorOptimizer(0.05, -0.5, 1e-4, 1e-2, 1.5, 0.1),
        of("torch.optim", "Adafactor"),
        {"lr": 0.05, "beta2_decay": -0.5, "eps": (1e-4, 1e-2), "d": 1.5, "weight_decay": 0.1},
    ),
    "ademamix": (
        lambda: optim.AdEMAMixOptimizer(0.01, 0.8, 0.95, 0.99, 5.0, 1e-6, 0.1),
        of("pytorch_optimizer", "AdEMAMix"),
        {
            "lr": 0.01, "betas": (0.8, 0.95, 0.99), "alpha": 5.0, "eps": 1e-6, "weight_decay": 0.1,
            "weight_decouple": True,
        },
    ),
    "ademamix warmup": (
        lambda: optim.AdEMAMixOptimizer(0.01, warmup_steps=60),
        of("pytorch_optimizer", "AdEMAMix"),
        {"lr": 0.01, "alpha": 8.0, "t_alpha_beta3": 60},
    ),
    "amsgrad": (
        lambda: optim.AMSGradOptimizer(0.01, 0.8, 0.9, 1e-6),
        of("torch.optim", "Adam"),
        {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-6, "amsgrad": True},
    ),
    "adamax": (  # torch adds epsilon to the gradient: with one of 0 they are the same
        lambda: optim.AdaMaxOptimizer(0.01, 0.8, 0.9, 0.0),
        of("torch.optim", "Adamax"),
        {"lr": 0.01, "betas": (0.8, 0.9), "eps": 0.0},
    ),
    "lamb": (
        lambda: optim.LambOptimizer(0.01, 0.8, 0.9, 1e-6, 0.1),
        timms_lamb,
        {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-6, "weight_decay": 0.1, "max_grad_norm": None},
    ),
    "muon": (lambda: optim.MuonOptimizer(0.02), of("torch.optim", "Muon"), {"lr": 0.02}),
    "muon other": (
        lambda: optim.MuonOptimizer(0.02, 0.0, 0.8, False, (2.0, -1.5, 0.5), 1e-6, 7, "match_rms_adamw"),
        of("torch.optim", "Muon"),
        {
            "lr": 0.02, "weight_decay": 0.0, "momentum": 0.8, "nesterov": False, "ns_coefficients": (2.0, -1.5, 0.5),
            "eps": 1e-6, "ns_steps": 7, "adjust_lr_fn": "match_rms_adamw",
        },
    ),
    "prodigy": (lambda: optim.ProdigyOptimizer(1.0), prodigy, {"lr": 1.0}),
    "prodigy other": (
        lambda: optim.ProdigyOptimizer(0.7, 0.8, 0.9, 0.95, 1e-6, 0.1, True, True, 1e-3, 2.0, 1.1),
        prodigy,
        {
            "lr": 0.7, "betas": (0.8, 0.9), "beta3": 0.95, "eps": 1e-6, "weight_decay": 0.1,
            "use_bias_correction": True, "safeguard_warmup": True, "d0": 1e-3, "d_coef": 2.0, "growth_rate": 1.1,
        },
    ),
    "radam": (
        lambda: optim.RAdamOptimizer(0.01, beta2=0.98),
        of("torch.optim", "RAdam"),
        {"lr": 0.01, "betas": (0.9, 0.98)},
    ),
    "radam decay": (
        lambda: optim.RAdamOptimizer(0.01, 0.8, 0.97, 1e-6, 0.1, True),
        of("torch.optim", "RAdam"),
        {"lr": 0.01, "betas": (0.8, 0.97), "eps": 1e-6, "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    "radam penalty": (
        lambda: optim.RAdamOptimizer(0.01, 0.8, 0.97, 1e-6, 0.1),
        of("torch.optim", "RAdam"),
        {"lr": 0.01, "betas": (0.8, 0.97), "eps": 1e-6, "weight_decay": 0.1},
    ),
    "schedule-free adamw": (
        lambda: optim.ScheduleFreeAdamW(0.01, 0.8, 0.95, 1e-6, 0.1, 20, 0.5),
        of("schedulefree", "AdamWScheduleFreeReference"),
        {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1, "warmup_steps": 20, "r": 0.5},
    ),
    "schedule-free sgd": (
        lambda: optim.ScheduleFreeSGD(0.05, 0.8, 0.1, 20),
        of("schedulefree", "SGDScheduleFree"),
        {"lr": 0.05, "momentum": 0.8, "weight_decay": 0.1, "warmup_steps": 20},
    ),
    "soap": (lambda: optim.SoapOptimizer(0.01), of("pytorch_optimizer", "SOAP"), {"lr": 0.01}),
    "soap other": (
        lambda: optim.SoapOptimizer(0.01, 0.8, 0.9, 0.7, 1e-6, 0.1, 3, 4),
        of("pytorch_optimizer", "SOAP"),
        {
            "lr": 0.01, "betas": (0.8, 0.9), "shampoo_beta": 0.7, "eps": 1e-6, "weight_decay": 0.1,
            "precondition_frequency": 3, "max_precondition_dim": 4,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_the_same_weights(name, dtype, monkeypatch):
    ours, theirs, arguments = CASES[name]
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda tensor: tensor.clone())
    random = np.random.default_rng(7)
    shapes = OF_SOAP if name == "soap" else SHAPES
    if name.startswith("muon"):
        shapes = {key: shape for key, shape in shapes.items() if len(shape) == 2}
    start = {key: random.normal(size=shape).astype(dtype) for key, shape in shapes.items()}
    variables = {key: optim.Variable(value.copy(), name=key) for key, value in start.items()}
    tensors = {key: torch.tensor(value, requires_grad=True) for key, value in start.items()}
    optimizer, peer = ours(), theirs()(list(tensors.values()), **arguments)
    if hasattr(peer, "train"):
        peer.train()
    for _ in range(STEPS):
        goals = {key: random.normal(size=shape).astype(dtype) for key, shape in shapes.items()}
        optimizer.apply_gradients([(v.value - goals[key] * 2, v) for key, v in variables.items()])
        for key, tensor in tensors.items():
            tensor.grad = tensor.detach() - torch.tensor(goals[key] * 2)
        peer.step()
    same(variables, tensors, dtype)
    if hasattr(peer, "eval"):
        peer.eval()
        optimizer.eval()
        same(variables, tensors, dtype)


def same(variables, tensors, dtype):
    for key, variable in variables.items():
        want = tensors[key].detach().numpy()
        assert np.abs(variable.value - want).max() <= TOLERANCE[dtype] * np.abs(want).max(), key
