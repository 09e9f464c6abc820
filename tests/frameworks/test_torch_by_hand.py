"""Every optimizer of torch in every kind of loop: what the hook logs is what the loop finds by hand.

Each training runs twice, without the hook, which gives the norms by hand, and with it, which must change nothing.
"""

import contextlib
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from frameworks.reference_loop import batches, network

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.torch import attach  # noqa: E402 - it needs torch

STEPS, BOUND = 4, 0.05
OPTIMIZERS = {
    "SGD": partial(torch.optim.SGD, lr=0.1),
    "Nesterov": partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": partial(torch.optim.Adam, lr=1e-2),
    "AMSGrad": partial(torch.optim.Adam, lr=1e-2, amsgrad=True),
    "AdamW": partial(torch.optim.AdamW, lr=1e-2),
    "Adamax": partial(torch.optim.Adamax, lr=1e-2),
    "NAdam": partial(torch.optim.NAdam, lr=1e-2),
    "RAdam": partial(torch.optim.RAdam, lr=1e-2),
    "RMSprop": partial(torch.optim.RMSprop, lr=1e-2),
    "Adagrad": partial(torch.optim.Adagrad, lr=1e-2),
    "Adadelta": torch.optim.Adadelta,
    "Rprop": partial(torch.optim.Rprop, lr=1e-2),
    "ASGD": partial(torch.optim.ASGD, lr=1e-2),
    "Adafactor": partial(torch.optim.Adafactor, lr=1e-2),
    "foreach": partial(torch.optim.Adam, lr=1e-2, foreach=True),
    "fused": partial(torch.optim.AdamW, lr=1e-2, fused=True),
    "maximize": partial(torch.optim.SGD, lr=1e-3, maximize=True),
    "decay": partial(torch.optim.SGD, lr=0.1, weight_decay=0.1),
}
WAYS = ["plain", "norm", "value", "accumulated", "closure", "zeros", "groups", "float64", "autocast", "frozen"]


def train(make, way, logdir=None):
    """For each step, name → the gradient before clipping, and the weights before it; and the weights in the end."""
    model = network(torch)
    if way == "float64":
        model.double()
    if way == "frozen":
        model[0].bias.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = make([{"params": trained[:1]}, {"params": trained[1:], "lr": 2e-2}] if way == "groups" else trained)
    hook = attach(optimizer, logdir, model) if logdir else None
    found = []
    micro = 3 if way == "accumulated" else 1
    data = iter(batches(torch, STEPS * micro))

    def gradients():
        for _ in range(micro):
            x, y = next(data)
            context = torch.autocast("cpu", torch.bfloat16) if way == "autocast" else contextlib.nullcontext()
            with context:
                dtype = next(model.parameters()).dtype
                loss = torch.nn.functional.mse_loss(model(x.to(dtype)), y.to(dtype)) / micro
            loss.backward()
        found.append(
            {name: (p.grad.clone(), p.detach().clone()) for name, p in model.named_parameters() if p.requires_grad}
        )
        if way == "norm":
            torch.nn.utils.clip_grad_norm_(trained, BOUND)
        if way == "value":
            torch.nn.utils.clip_grad_value_(trained, BOUND / 10)
        return loss

    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=way != "zeros")
        if way == "closure":
            optimizer.step(gradients)
        else:
            gradients()
            optimizer.step()
    if hook:
        hook.remove()
    return found, {name: p.detach().clone() for name, p in model.named_parameters()}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_norms(logdir, make, way):
    wanted, ends = train(make, way)
    again, ends_with_it = train(make, way, logdir)
    assert len(again) == STEPS
    assert all(torch.equal(end, ends_with_it[name]) for name, end in ends.items())
    scalars = read_run(logdir).scalars

    def check(tag, values, **tolerance):
        series = scalars[tag]
        want = np.array(values)[series.step - 1]
        np.testing.assert_allclose(series.value, want, **{"rtol": 1e-5, "atol": 1e-12, **tolerance}, err_msg=tag)
        return len(want)

    norm = torch.linalg.vector_norm
    total = [float(norm(torch.stack([norm(g.double()) for g, _ in step.values()]))) for step in wanted]
    assert check("gradients/global_norm", total) == STEPS
    for name in wanted[0]:
        assert check(f"gradients/norm/{name}", [float(norm(step[name][0].double())) for step in wanted]) == STEPS
        weights = [step[name][1].double() for step in wanted] + [ends[name].double()]
        logged = weights[1:] if way == "closure" else weights[:-1]  # which is when the gradients are known
        check(f"weights/norm/{name}", [float(norm(w)) for w in logged])
        updates = [float(norm(after - before)) for before, after in pairwise(weights)]
        assert check(f"updates/norm/{name}", updates, rtol=1e-4, atol=1e-7 * float(norm(weights[0])))
    assert ("gradients/norm/0.bias" in scalars) == (way != "frozen")
    if way == "norm":
        np.testing.assert_allclose(scalars["gradients/clip_norm"].value, BOUND)
        assert scalars["gradients/clipped"].value.tolist() == [float(value > BOUND) for value in total]
    elif way != "value":
        assert "gradients/clip_norm" not in scalars
